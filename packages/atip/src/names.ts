/** The longest tool name a provider accepts. */
const MAX_LENGTH = 64

/**
 * Joins the words of a command into the one name a model calls it by. Providers accept letters,
 * digits, "_" and "-", so other characters become "_"; a name that is too long is cut and ends in
 * a checksum of the whole, so that it stays the same from run to run.
 */
export function flatName(words: readonly string[], separator = '_'): string {
  const plain = words.join(separator)
  const name = /^[\w-]*$/.test(plain)
    ? plain
    : words.map((word) => word.replace(/[^\w-]/g, '_')).join(separator)
  if (name.length <= MAX_LENGTH) return name
  const checksum = fnv1a(words.join('\0'))
  return `${name.slice(0, MAX_LENGTH - checksum.length - 1)}_${checksum}`
}

/** FNV-1a, 32 bits: enough to tell names apart, and it needs no Node module. */
function fnv1a(text: string): string {
  let hash = 0x811c9dc5
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  }
  return hash.toString(16).padStart(8, '0')
}
