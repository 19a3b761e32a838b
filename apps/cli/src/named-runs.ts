import { findRuns, openTrace, type PriceOptions, type Trace, type TracedRun } from '@delta/trace'
import { directoryAt, type ShownRunFlags, shownRun } from './find-shown-run.js'
import type { Terminal } from './terminal.js'
import { UsageError } from './usage.js'

/**
 * The runs that a person named, each once, newest first. An id, or nothing, names one run; a directory may hold many.
 *
 * @throws {UsageError} There are none.
 */
export async function namedRuns(
  named: readonly string[],
  flags: ShownRunFlags,
  terminal: Terminal,
  options: PriceOptions = {},
): Promise<Trace[]> {
  const runs = new Map<string, Trace>()
  const add = async (run: string | TracedRun) => {
    const trace = await openTrace(run, options)
    runs.set(trace.run.directory, trace)
  }
  if (named.length === 0) await add((await shownRun(flags, terminal, undefined)).directory)
  for (const each of named) {
    const directory = directoryAt(each, terminal)
    if (directory === undefined) await add((await shownRun(flags, terminal, each)).directory)
    else for await (const run of findRuns([directory], options)) await add(run)
  }
  if (runs.size === 0)
    throw new UsageError(`No runs in ${named.join(', ')}. Name a run, a workspace, or a directory of runs.`)
  return [...runs.values()].sort((one, other) => (beginningOf(one) < beginningOf(other) ? 1 : -1))
}

function beginningOf({ run: { metadata, runId } }: Trace): string {
  return `${metadata.created_at ?? ''} ${runId}`
}
