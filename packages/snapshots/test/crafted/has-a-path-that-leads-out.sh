# says: the path "../pwned"
echo $(echo "100644 ..\x2fpwned $id" | tree) $(m '755 1 .' '644 1 ..')
