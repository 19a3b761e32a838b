export function chunk(list, size) {
  const chunks = []
  for (let at = 0; at + size <= list.length; at += size) chunks.push(list.slice(at, at + size))
  return chunks
}
