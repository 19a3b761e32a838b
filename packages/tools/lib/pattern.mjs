import { createContext, Script } from 'node:vm'
import { Refusal } from './call.mjs'

/** How long the lines of a batch may take. */
const USUAL_MS = 5000
const TEST = new Script('lines.map((line) => expression.test(line))')

/**
 * Which of some lines a regular expression of JavaScript matches. One that tries ways without end, as `(a+)+$` does, is ended: only
 * a script of its own can be.
 *
 * @param {string} pattern
 * @param {number} [timeoutMs] For each batch of lines.
 * @returns {(lines: string[], name: string) => boolean[]} For lines of a file, which the refusal names.
 */
export function lineTest(pattern, timeoutMs = USUAL_MS) {
  const context = createContext({ expression: expressionOf(pattern), lines: /** @type {string[]} */ ([]) })
  return (lines, name) => {
    context.lines = lines
    try {
      return TEST.runInContext(context, { timeout: timeoutMs })
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      throw new Refusal(
        `The pattern takes too long on ${name}. Write it without repetitions in repetitions, as a+ for (a+)+, or search less.`,
      )
    }
  }
}

/** @param {string} pattern */
function expressionOf(pattern) {
  try {
    return new RegExp(pattern, 'u')
  } catch (error) {
    throw new Refusal(`The pattern is not a regular expression: ${/** @type {Error} */ (error).message}`)
  }
}
