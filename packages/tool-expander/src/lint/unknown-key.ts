import { shapes } from '../schema.js'
import type { Entry } from './entry.js'
import { findingAbout, type LintFinding } from './finding.js'

/** A key that means nothing: a mistake in writing, as a rule. */
export function unknownKey({ parameter, path }: Entry): LintFinding[] {
  const known = Object.keys(shapes().Parameter.shape)
  return Object.keys(parameter)
    .filter((key) => !known.includes(key) && !key.startsWith('x-'))
    .map((key) => {
      const nearest = known.find((name) => isNear(name, key))
      const hint = nearest === undefined ? 'Keys of your own begin with x-.' : `Did you mean ${nearest}?`
      return findingAbout('unknown-key', `${path}.${key}`, `${key} means nothing here.`, hint)
    })
}

/** One letter more, less or other, or two letters changed places. */
function isNear(known: string, written: string): boolean {
  let same = 0
  while (same < known.length && known[same] === written[same]) same += 1
  const [a, b] = [known.slice(same), written.slice(same)]
  return (
    a.slice(1) === b || a === b.slice(1) || a.slice(1) === b.slice(1) || `${a[1]}${a[0]}${a.slice(2)}` === b
  )
}
