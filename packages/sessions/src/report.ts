import { parseVariables, type Variables } from './environment.js'
import type { ExecResult } from './result.js'

/** What a process reports of its end, see `Driver`. */
export interface Report {
  /** The final environment. */
  variables: Variables
  /** Names of variables left out because their value is, or holds, a secret. */
  withheld: string[]
  workDirectory: string
  /** What it left running, as the shell lists it. */
  jobs: string
  /** What could not be kept. */
  lost: NonNullable<ExecResult['not_kept']>
  /** The driver's own part of the state, from which the next process restores the rest. */
  own?: Buffer
}

/**
 * Reads a report as the Python program writes it: NUL-separated entries, the environment as `NAME=value`
 * and everything else under names no variable can have, `=cwd=…`, `=jobs=…`,
 * `=lost=…` (JSON), and `=done=` as the last.
 *
 * @returns undefined when it is not complete: the process did not come to its end.
 */
export function parseReport(bytes: Buffer): Report | undefined {
  const entries = parseVariables(bytes)
  const take = (name: string) => {
    const value = entries.get(name)?.toString('utf8')
    entries.delete(name)
    return value
  }
  const [workDirectory, jobs = '', lost = '[]', done] = ['=cwd', '=jobs', '=lost', '=done'].map(take)
  if (workDirectory === undefined || done === undefined) return undefined
  return { variables: entries, withheld: [], workDirectory, jobs, lost: JSON.parse(lost) }
}
