import { createHash, type Hash } from 'node:crypto'

/**
 * SHA-256 in hex of texts one after the other, for lists that mostly begin with all of the one before: then only what is
 * new is hashed. Texts that are the same are mostly the same objects, too, and compared at once.
 */
export function growingDigest(): (texts: readonly string[]) => string {
  let known: string[] = []
  let hash: Hash = createHash('sha256')

  return (texts) => {
    const goesOn = known.length <= texts.length && known.every((text, index) => text === texts[index])
    if (!goesOn) {
      known = []
      hash = createHash('sha256')
    }
    const added = texts.slice(known.length)
    hash.update(added.join('')) // at once: a call for each text costs more
    known.push(...added)
    return hash.copy().digest('hex')
  }
}
