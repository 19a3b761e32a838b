# says: the path "../pwned"
inner=$(echo "100644 pwned $id" | tree)
echo $(echo "40000 .. $inner" | tree) $(m '755 1 .')
