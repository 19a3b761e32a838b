/** What other programs call it; commander's own guess, by the letters, leads elsewhere or nowhere. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  version: '--version',
  '-v': '--version',
  new: 'init',
  create: 'init',
  start: 'run',
  resume: 'continue',
  retry: 'continue',
  answer: 'continue',
  list: 'list-runs',
  ls: 'list-runs',
  runs: 'list-runs',
  ps: 'list-runs',
  status: 'list-runs',
  log: 'show',
  logs: 'show',
  watch: 'show --follow',
  follow: 'show --follow',
  tail: 'show --follow',
  check: 'config --strict',
  validate: 'config --strict',
}

const UNKNOWN = /^(error: unknown (?:command|option) '([^']+)'\n)(?:\(Did you mean .*\?\)\n)?/

/**
 * The parser's complaint about a command that does not exist, with the command that was meant: one that other programs
 * call so (as `-v`, which some take for a command), the only one with that last word (`lint`), or the only one that begins so (`exp`).
 */
export function withMeantCommand(text: string, names: readonly string[]): string {
  return text.replace(UNKNOWN, (whole, complaint: string, typed: string) => {
    const meant = meantBy(typed, names)
    return meant === undefined ? whole : `${complaint}(Did you mean ${meant}?)\n`
  })
}

function meantBy(typed: string, names: readonly string[]): string | undefined {
  const other = Object.hasOwn(OTHER_NAMES, typed) ? OTHER_NAMES[typed] : undefined
  const isHere = other?.startsWith('-')
    ? names.includes('init') // an option of delta itself, and of no group
    : names.some((name) => other === name || other?.startsWith(`${name} `))
  if (isHere) return other
  return (
    onlyOne(names.filter((name) => name.endsWith(` ${typed}`))) ??
    onlyOne(names.filter((name) => name.startsWith(typed)))
  )
}

function onlyOne(names: readonly string[]): string | undefined {
  return names.length === 1 ? names[0] : undefined
}
