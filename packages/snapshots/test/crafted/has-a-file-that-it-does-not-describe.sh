# says: "a" lacks its directory or attributes
echo $(echo "100644 a $id" | tree) $(m '755 1 .')
