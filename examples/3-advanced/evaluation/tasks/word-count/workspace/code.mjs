export function wordCount(text) {
  return text.split(' ').length
}
