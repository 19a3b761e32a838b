import { existsSync } from 'node:fs'
import { sayToRun, shortName } from '@delta/engine/internal'
import { refuseLinkedRun } from '@delta/journal/internal'
import { type RunSummary, readRun } from '@delta/journal/runs'
import { commandToContinue, isCell, placeOfRun } from '@delta/workspace/internal'
import { readMessage } from '../engine-options.js'
import { type ShownRunFlags, shownRun } from '../find-shown-run.js'
import { EXIT, type Terminal } from '../terminal.js'
import { printable, say } from '../text.js'
import { UsageError } from '../usage.js'

interface SayFlags extends ShownRunFlags {
  message: string
}

/** `delta say`: says something to a running run, which reads it before its next request, and before it would complete. */
export async function execute(flags: SayFlags, terminal: Terminal, named: string): Promise<number> {
  if (terminal.env.DELTA_RUN_ID !== undefined)
    throw new UsageError('delta say: not from within a run. A tool speaks to its run by what it prints.')
  const run = await shownRun(flags, terminal, named)
  refuseLinkedRun(run.directory)
  refuse(run)
  const message = await readMessage(flags.message, terminal)
  const said = sayToRun(run.directory, message ?? '')
  if ('problem' in said) throw new UsageError(`Nothing was said. ${said.problem}`)
  const { status } = await readRun(run.directory, { tolerant: true })
  const isLate = status !== 'RUNNING' && existsSync(said.path)
  const how = isLate
    ? `it has ended meanwhile. To let it read this: ${toContinue(run)}`
    : 'it reads this next. If it ends before, delta continue does.'
  say(terminal, `Said to run ${shortName(run.runId)}: ${how}`)
  return EXIT.completed
}

/** @throws {UsageError} The run is not running, waits for an answer, or belongs to an evaluation. */
function refuse(run: RunSummary): void {
  const name = `Run ${shortName(run.runId)}`
  if (isCell(run.directory))
    throw new UsageError(`${name} belongs to an evaluation; a word would change the experiment.`)
  const { status, humanRequest, imported, replay } = run
  if (status === 'RUNNING') return
  if (imported !== undefined) throw new UsageError(`${name} was imported, and cannot be continued.`)
  if (replay !== undefined) throw new UsageError(`${name} is a replay, and cannot be continued.`)
  if (status === 'WAITING_FOR_INPUT') {
    const what = printable(JSON.stringify(humanRequest?.prompt ?? ''))
    throw new UsageError(`${name} waits for an answer to ${what}: ${toContinue(run)} -i`)
  }
  const how =
    status === 'INTERRUPTED' ? 'was interrupted' : status === 'EMPTY' ? 'has not begun' : 'has ended'
  throw new UsageError(`${name} ${how}: ${toContinue(run)} -m …`)
}

function toContinue({ directory, runId }: RunSummary): string {
  return commandToContinue(placeOfRun(directory), runId)
}
