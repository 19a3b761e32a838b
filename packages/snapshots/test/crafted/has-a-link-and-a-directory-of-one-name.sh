# says: "a" lacks its directory
link=$(blob ..)
inner=$(echo "100644 pwned $id" | tree)
sub=$(echo "100644 , $(meta '755 1 .' '644 1 pwned')" | tree)
echo $(printf '120000 a %s\n40000 a %s\n' $link $inner | tree) $(printf '100644 , %s\n40000 a %s\n' $(meta '755 1 .' '777 1 a') $sub | tree)
