/** Names from other programs. Commander's own guess goes by spelling, and would miss these. */
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
 * Adds the command that was probably meant to the parser's complaint about an unknown one: a name from other programs (also
 * `-v`), the only command with that last word (`lint`), or the only one with that prefix (`exp`).
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
