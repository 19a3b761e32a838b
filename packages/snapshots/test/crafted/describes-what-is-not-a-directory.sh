# says: 5\tmeta/files/b
echo $(echo "100644 a $id" | tree) $(printf '100644 , %s\n100644 b %s\n' $(meta '755 1 .' '644 1 a') $id | tree)
