# says: the path "/tmp/pwned"
echo $(echo "100644 \x2ftmp\x2fpwned $id" | tree) $(m '755 1 .' '644 1 pwned')
