# Prints every note, the oldest first.
echo "## Notes"
for note in notes/*.md; do
  [ -f "$note" ] && printf '\n### %s\n\n' "$note" && cat "$note"
done
exit 0
