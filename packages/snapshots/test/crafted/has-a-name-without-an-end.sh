# says: the path ","
echo $(echo "100644 , $id" | tree) $(m '755 1 .')
