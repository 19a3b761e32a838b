/**
 * What a glob of `search` says about a path: one without a slash is about the name, at any depth.
 *
 * @param {string} glob As in .gitignore, with `{a,b}` besides. A `!` in front turns it round.
 * @returns {(path: string) => boolean} For a path seen from where the search begins.
 */
export function globTest(glob) {
  const isNegated = glob.startsWith('!')
  const expression = expressionOf(isNegated ? glob.slice(1) : glob)
  return (path) => expression.test(path) !== isNegated
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
    return [{ isIgnored: mark === '', expression: expressionOf(glob), isForDirectories: slash === '/' }]
  })
  return (path, isDirectory) =>
    rules.findLast(
      ({ expression, isForDirectories }) => (isDirectory || !isForDirectories) && expression.test(path),
    )?.isIgnored ?? false
}

/** @param {string} glob */
function expressionOf(glob) {
  const isAnchored = glob.replace(/\/$/, '').includes('/')
  const parts =
    glob.replace(/^\//, '').match(/\\.|\*\*\/|\/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|./gs) ?? []
  return new RegExp(`^${isAnchored ? '' : '(?:.*/)?'}${parts.map(partOf).join('')}$`, 's')
}

/** @param {string} part @returns {string} */
function partOf(part) {
  if (part === '**/') return '(?:.*/)?'
  if (part === '/**') return '/.*'
  if (part.startsWith('*')) return '[^/]*'
  if (part === '?') return '[^/]'
  if (part.startsWith('\\') && part.length > 1) return literal(part.slice(1))
  if (part.startsWith('[') && part.length > 1) return classOf(part)
  if (part.startsWith('{') && part.length > 1)
    return `(?:${part.slice(1, -1).split(',').map(inner).join('|')})`
  return literal(part)
}

/** @param {string} glob */
function inner(glob) {
  return (glob.match(/\\.|\*+|\?|\[!?\]?[^\]]*\]|./gs) ?? []).map(partOf).join('')
}

/** @param {string} part `[a-z]`, or `[!a-z]` */
function classOf(part) {
  const isNegated = /^\[[!^]/.test(part)
  const members = part.slice(isNegated ? 2 : 1, -1).replace(/[\\\]^[]/g, '\\$&')
  return /[^-]-[^-]/.test(members) && !isOrdered(members)
    ? literal(part)
    : `[${isNegated ? '^/' : ''}${members}]`
}

/** `[z-a]` is no range. @param {string} members */
function isOrdered(members) {
  return [...members.matchAll(/(.)-(.)/gs)].every(([, from = '', to = '']) => from <= to)
}

/** @param {string} text */
function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')
}
