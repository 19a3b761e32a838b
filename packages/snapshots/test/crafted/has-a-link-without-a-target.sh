# says: a link has no target
echo $(echo "120000 a $(blob '')" | tree) $(m '755 1 .' '644 1 a')
