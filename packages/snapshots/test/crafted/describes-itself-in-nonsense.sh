# says: attributes read "999 x ."
echo $(echo "100644 a $id" | tree) $(m '999 x .')
