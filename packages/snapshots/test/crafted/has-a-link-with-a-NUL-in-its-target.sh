# says: a link has no target
echo $(echo "120000 a $(blob 'a\0b')" | tree) $(m '755 1 .' '644 1 a')
