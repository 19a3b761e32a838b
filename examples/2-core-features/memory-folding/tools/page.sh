# Prints one page of the book: much that does not matter and, on page 7, what does.
echo "Page $1 of 100"
if [ "$1" -eq 7 ]; then echo "Captain Flint wrote: the treasure lies under the old oak."; fi
for line in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  echo "Line $line of page $1: wind, waves, rigging, biscuit, and a parrot that would not be quiet."
done
