# says: the path ",x"
echo $(echo "100644 ,x $id" | tree) $(m '755 1 .' '644 1 x')
