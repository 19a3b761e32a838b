import { type Context, createContext, runInContext } from 'node:vm'
import type { Matches } from '@delta/tool-expander'

/** How long the patterns of one answer may take. */
const LIMIT_MS = 1000

const NO_TIME_LEFT = `was not compared with its pattern: other values of this answer took the ${LIMIT_MS} ms there are. Send the call again`
const TOO_SLOW = `took longer than ${LIMIT_MS} ms to match its pattern. Send another value. The tool's author must write a pattern without a repeat inside a repeat`

/**
 * A matcher for each call of one answer, which spend at most 1,000 ms together. A pattern with a repeat inside a repeat can take
 * years, and the process handles no signal meanwhile.
 */
export function patternBudget(): PatternBudget {
  let leftMs = LIMIT_MS
  let globals: Context | undefined // a context takes a millisecond: it is made for the first pattern
  return () => {
    let isRefused = false
    return (expression, text) => {
      if (isRefused) return true // only the slow value is named
      isRefused = leftMs <= 0
      if (isRefused) return NO_TIME_LEFT
      globals ??= createContext({})
      const started = performance.now()
      const matched = testWithin(Math.ceil(leftMs), Object.assign(globals, { expression, text }))
      leftMs -= performance.now() - started
      isRefused = leftMs <= 0
      return isRefused ? TOO_SLOW : matched
    }
  }
}

/** Makes the matcher of each call. */
export type PatternBudget = () => Matches

/** Only a script of `node:vm` can be interrupted. */
function testWithin(timeout: number, globals: Context): boolean | string {
  try {
    return runInContext('expression.test(text)', globals, { timeout }) === true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return TOO_SLOW
  }
}
