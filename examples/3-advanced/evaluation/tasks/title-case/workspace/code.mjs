export function titleCase(text) {
  return text.replace(/\b[a-z]/, (letter) => letter.toUpperCase())
}
