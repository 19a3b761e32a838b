export function slug(title) {
  return title.toLowerCase().trim().replace(' ', '-')
}
