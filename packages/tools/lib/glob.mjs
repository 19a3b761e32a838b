/**
 * What a glob of `search` says about a path: one without a slash is about the name, at any depth.
 *
 * @param {string} glob As in .gitignore, with `{a,b}` besides. A `!` in front turns it round.
 * @returns {(path: string) => boolean} For a path seen from where the search begins.
 */
export function globTest(glob) {
  const isNegated = glob.startsWith('!')
  const matches = matcherOf(isNegated ? glob.slice(1) : glob)
  return (path) => matches(path) !== isNegated
}

/**
 * Which paths a `.gitignore` leaves out. The last line that is about a path counts; what lies in a directory that is left out is never
 * asked about.
 *
 * @param {string} text
 * @returns {(path: string, isDirectory: boolean) => boolean} For a path seen from the directory of the file.
 */
export function ignoreTest(text) {
  const rules = text.split(/\r?\n/).flatMap((line) => {
    const [, mark = '', glob = '', slash] = /^(!?)(.*?)(\/?)$/.exec(line.replace(/(?<!\\)\s+$/, '')) ?? []
    if (glob === '' || line.startsWith('#')) return []
    return [{ isIgnored: mark === '', matches: matcherOf(glob), isForDirectories: slash === '/' }]
  })
  return (path, isDirectory) =>
    rules.findLast(({ matches, isForDirectories }) => (isDirectory || !isForDirectories) && matches(path))
      ?.isIgnored ?? false
}

/**
 * What is wrong with a glob of `search`; undefined if nothing is.
 *
 * @param {string} glob
 * @returns {string | undefined}
 */
export function globFault(glob) {
  const alone = partsOf(glob).find((part) => /^[[{}]$/.test(part))
  if (alone === undefined) return undefined
  const other = { '[': ']', '{': '}', '}': '{' }[alone]
  return `"${alone}" without its "${other}"; for the character itself write "\\${alone}"`
}

/**
 * A part of a glob, as a step through a path: from the places to which the parts before it lead, to all those to which it leads.
 * All at once and none twice: so no glob tries ways one after another, however many `*` it has.
 *
 * @typedef {(path: string, places: number[]) => number[]} Step Places in ascending order.
 */

/** @param {string} glob @returns {(path: string) => boolean} */
function matcherOf(glob) {
  const isAnchored = glob.replace(/\/$/, '').includes('/')
  const steps = [...(isAnchored ? [] : [throughDirectories]), ...partsOf(glob.replace(/^\//, '')).map(stepOf)]
  return (path) => walked(steps, path, [0]).at(-1) === path.length
}

/** @type {(steps: Step[], path: string, places: number[]) => number[]} */
function walked(steps, path, places) {
  let reached = places
  for (const step of steps) {
    if (reached.length === 0) break
    reached = step(path, reached)
  }
  return reached
}

/** @param {string} glob @returns {string[]} */
function partsOf(glob) {
  return glob.match(/\\.|\*\*\/|\/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|[^\\*?[{}/]+|./gs) ?? []
}

/** @param {string} part @returns {Step} */
function stepOf(part) {
  if (part === '**/') return throughDirectories
  if (part === '/**') return toTheEnd
  if (part.startsWith('*')) return throughName
  if (part === '?') return characterStep(/[^/]/)
  if (part.startsWith('\\') && part.length > 1) return literalStep(part.slice(1))
  if (part.startsWith('[') && part.length > 1) return classStep(part)
  if (part.startsWith('{') && part.length > 1) return alternativeStep(part.slice(1, -1).split(','))
  return literalStep(part)
}

/** @type {Step} */
function throughDirectories(path, places) {
  const slashes = []
  for (let at = path.indexOf('/', places[0]); at >= 0; at = path.indexOf('/', at + 1)) slashes.push(at + 1)
  return union([places, slashes])
}

/** @type {Step} */
function toTheEnd(path, places) {
  return places.some((at) => path[at] === '/') ? [path.length] : []
}

/** @type {Step} */
function throughName(path, places) {
  /** @type {number[]} */
  const reached = []
  for (const place of places) {
    if (place <= (reached.at(-1) ?? -1)) continue // in a name that another place has reached the end of
    const end = path.indexOf('/', place)
    for (let at = place; at <= (end < 0 ? path.length : end); at += 1) reached.push(at)
  }
  return reached
}

/** @param {RegExp} expression For one character. @returns {Step} */
function characterStep(expression) {
  return (path, places) => places.filter((at) => expression.test(path.charAt(at))).map((at) => at + 1)
}

/** @param {string} text @returns {Step} */
function literalStep(text) {
  return (path, places) => places.filter((at) => path.startsWith(text, at)).map((at) => at + text.length)
}

/** @param {string[]} globs Without a `{` in them. @returns {Step} */
function alternativeStep(globs) {
  const ways = globs.map((glob) =>
    (glob.match(/\\.|\*+|\?|\[!?\]?[^\]]*\]|./gs) ?? []).map((part) => stepOf(part)),
  )
  return (path, places) => union(ways.map((steps) => walked(steps, path, places)))
}

/** @param {number[][]} lists */
function union(lists) {
  return [...new Set(lists.flat())].sort((one, other) => one - other)
}

/** @param {string} part `[a-z]`, or `[!a-z]` @returns {Step} */
function classStep(part) {
  const isNegated = /^\[[!^]/.test(part)
  const members = part.slice(isNegated ? 2 : 1, -1).replace(/[\\\]^[]/g, '\\$&')
  return /[^-]-[^-]/.test(members) && !isOrdered(members)
    ? literalStep(part)
    : characterStep(new RegExp(`[${isNegated ? '^/' : ''}${members}]`, 's'))
}

/** `[z-a]` is no range. @param {string} members */
function isOrdered(members) {
  return [...members.matchAll(/(.)-(.)/gs)].every(([, from = '', to = '']) => from <= to)
}
