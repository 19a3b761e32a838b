# sh count.sh FILE: appends the number of words of each *.txt here to FILE. It takes SECONDS_PER_FILE (2) seconds for each one.
counts=$1
touch "$counts"
for file in *.txt; do
  grep -q " $file\$" "$counts" && continue
  sleep "${SECONDS_PER_FILE:-2}"
  wc -w "$file" | tee -a "$counts"
done
