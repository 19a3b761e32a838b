cat > code.mjs <<'END'
export function chunk(list, size) {
  const chunks = []
  for (let at = 0; at < list.length; at += size) chunks.push(list.slice(at, at + size))
  return chunks
}
END
