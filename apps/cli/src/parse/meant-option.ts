import type { OptionEntry } from '../table/entry.js'

/** What other programs, and our own pages, call it; the parser's own guess, by the letters, leads elsewhere or nowhere. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  '--workspace': '--work-dir',
  '--directory': '--work-dir',
  '--dir': '--work-dir',
  '--cwd': '--work-dir',
  '--prompt': '--message',
  '--output': '--format',
  '-f': '--follow',
}

const UNKNOWN = /^(error: unknown option '([^'=]+)[^']*'\n)(?:\(Did you mean .*\?\)\n)?/

/** The parser's complaint about an option that does not exist, with the option of that command that was meant. */
export function withMeantOption(text: string, options: readonly OptionEntry[]): string {
  return text.replace(UNKNOWN, (whole, complaint: string, typed: string) => {
    const meant = Object.hasOwn(OTHER_NAMES, typed) ? OTHER_NAMES[typed] : undefined
    const isHere = options.some(({ flags }) => flags.split(/[ ,]+/).includes(meant ?? ''))
    return isHere ? `${complaint}(Did you mean ${meant}?)\n` : whole
  })
}
