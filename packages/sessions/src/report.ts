import { parseVariables, type Variables } from './environment.js'

/** What a process reports of its end, see `Driver`. */
export interface Report {
  variables: Variables
  workDirectory: string
  /** What it left running, as the shell lists it. */
  jobs: string
  /** What could not be kept: JSON lines. */
  lost: string
}

/**
 * Reads a report: NUL-separated entries, the environment as `NAME=value` and everything else under
 * names no variable can have, `=cwd=…`, `=jobs=…`, `=lost=…`, and `=done=` as the last.
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
  const [workDirectory, jobs = '', lost = '', done] = ['=cwd', '=jobs', '=lost', '=done'].map(take)
  if (workDirectory === undefined || done === undefined) return undefined
  return { variables: entries, workDirectory: workDirectory.replace(/\n$/, ''), jobs, lost }
}
