# says: its tree has "160000 commit
echo $(echo "160000 a $id" | tree) $(m '755 1 .' '644 1 a')
