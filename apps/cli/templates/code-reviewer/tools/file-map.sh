# Prints the files of the workspace with their number of lines, the longest first.
echo "## Files (lines)"
find . -type f -not -path '*/.delta/*' -not -path './.git/*' -not -path '*/node_modules/*' -exec wc -l {} + |
  grep -v ' total$' | sort -rn | head -n 100
