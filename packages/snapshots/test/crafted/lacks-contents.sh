# says: BAD\tfiles/a
echo $(echo "100644 a $(printf '1%.0s' {1..40})" | tree) $(m '755 1 .' '644 1 a')
