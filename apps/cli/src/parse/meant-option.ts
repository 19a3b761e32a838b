import type { OptionEntry } from '../table/entry.js'

/** Names from other programs and our own pages. The parser's own guess goes by spelling, and would miss these. */
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

/** Adds the option of this command that was probably meant to the parser's complaint about an unknown one. */
export function withMeantOption(text: string, options: readonly OptionEntry[]): string {
  return text.replace(UNKNOWN, (whole, complaint: string, typed: string) => {
    const meant = Object.hasOwn(OTHER_NAMES, typed) ? OTHER_NAMES[typed] : undefined
    const isHere = options.some(({ flags }) => flags.split(/[ ,]+/).includes(meant ?? ''))
    return isHere ? `${complaint}(Did you mean ${meant}?)\n` : whole
  })
}
