# says: "d/a" lacks its directory
inner=$(echo "100644 a $id" | tree)
echo $(echo "40000 d $inner" | tree) $(m '755 1 .')
