import { UsageError } from './usage-error.js'

/** The value of a flag that is a whole number of at least 1. */
export function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
  throw new UsageError(`${flag} ${text}: give a whole number of at least 1.`)
}
