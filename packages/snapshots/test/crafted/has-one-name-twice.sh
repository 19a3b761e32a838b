# says: files/a twice
echo $(printf "100644 a $id\n100644 a $id\n" | tree) $(m '755 1 .' '644 1 a')
