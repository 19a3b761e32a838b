import { blockedPathError, verifyRun } from '@delta/journal/internal'
import { repairRun } from '@delta/journal/runs'
import { describeError, waysOut } from '../errors.js'
import { type ShownRunFlags, shownRun } from '../find-shown-run.js'
import { EXIT, type Terminal } from '../terminal.js'
import { print, printable, printJson, say } from '../text.js'

/** `delta journal verify`: what is right and wrong with a run's journal, and whether the run can go on. Changes nothing. */
export async function verify(
  flags: ShownRunFlags & { json?: boolean },
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await shownRun(flags, terminal, runId)
  const { text, wayOut, ...report } = verifyRun(run.directory)
  if (flags.json) printJson(terminal, report)
  else print(terminal, `${printable([text, ...waysOut({ wayOut, path: report.path })].join('\n'))}\n`)
  if (!report.ok) return EXIT.failed
  const problem = run.problem ?? blockedPathError(run.directory)
  if (problem === undefined) return EXIT.completed
  say(terminal, `But the run cannot go on: ${describeError(problem)}`)
  return EXIT.failed
}

/** `delta journal repair`: sets damaged lines aside, so that the run can go on. Deletes nothing. */
export async function repair(
  flags: ShownRunFlags & { json?: boolean; force?: boolean },
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await shownRun(flags, terminal, runId)
  const { text, ...result } = await repairRun(run.directory, { force: flags.force ?? false })
  if (flags.json) printJson(terminal, result)
  else print(terminal, `${printable(text)}\n`)
  return result.problem === undefined ? EXIT.completed : EXIT.failed
}
