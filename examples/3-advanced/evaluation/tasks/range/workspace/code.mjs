export function range(first, last) {
  return Array.from({ length: last - first }, (_, at) => first + at)
}
