import { createContext, Script } from 'node:vm'
import type { Matches } from '@delta/tool-expander'

/** How long the patterns of one call may take. */
const LIMIT_MS = 1000

const TOO_SLOW = `took longer than ${LIMIT_MS} ms to match its pattern. Send another value. The tool's author must write a pattern without a repeat inside a repeat`

/**
 * A matcher that spends at most 1,000 ms, over all its matches. A pattern with a repeat inside a repeat can take years, and the
 * process handles no signal meanwhile. Make one for each call.
 */
export function limitedMatcher(): Matches {
  let leftMs = LIMIT_MS
  let isRefused = false
  return (expression, text) => {
    if (isRefused) return true // the call is refused already; only the slow value is named
    const started = performance.now()
    const matched = leftMs > 0 ? testWithin(Math.ceil(leftMs), expression, text) : TOO_SLOW
    leftMs -= performance.now() - started
    isRefused = matched === TOO_SLOW
    return matched
  }
}

/** Only a script can be interrupted. It is compiled at the first match. */
let script: { test: Script; globals: { expression?: RegExp; text?: string } } | undefined

function testWithin(timeout: number, expression: RegExp, text: string): boolean | string {
  script ??= { test: new Script('expression.test(text)'), globals: createContext({}) }
  const { test, globals } = script
  Object.assign(globals, { expression, text })
  try {
    return test.runInContext(globals, { timeout }) === true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    return TOO_SLOW
  } finally {
    delete globals.text // it may be a secret
  }
}
