# sh check.sh NAME|all: calls functions with 7 and 3. HANGS is a file: while it is missing, the check of half makes it and hangs.
wrong=0
while read -r name expected; do
  [ "$1" = all ] || [ "$1" = "$name" ] || continue
  if [ "$1" = half ] && [ ! -e "$HANGS" ]; then : > "$HANGS"; sleep 60; fi
  found=$(sh "lib/$name.sh" 7 3)
  if [ "$found" = "$expected" ]; then echo "ok    $name"; continue; fi
  echo "WRONG $name: $found, not $expected" >&2
  wrong=1
done < expected.txt
exit $wrong
