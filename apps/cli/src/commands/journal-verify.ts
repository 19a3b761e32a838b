import { obstacleIn, verifyJournal } from '@delta/journal'
import { print, printJson, say } from '../present/print.js'
import { printable } from '../present/printable.js'
import { findShownRun } from '../runs/shown-run.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { withExactCommands } from '../usage/exact-commands.js'
import { placeToLook, type RunsFlags } from '../workspace/find-place.js'

/** `delta journal verify`: what is right and wrong with a run's journal, and whether the run can go on. Changes nothing. */
export async function execute(
  flags: RunsFlags & { workDir: string; json?: boolean },
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await findShownRun(placeToLook(flags, terminal), flags, runId, terminal)
  const { text, ...report } = verifyJournal(run.journalPath, { ofRun: true })
  if (flags.json) printJson(terminal, report)
  else print(terminal, `${printable(withExactCommands(text, run.journalPath, terminal.env))}\n`)
  if (!report.ok) return EXIT.failed
  const problem = run.problem ?? obstacleIn(run.directory)?.message
  if (problem === undefined) return EXIT.completed
  say(terminal, `But the run cannot go on: ${problem}`)
  return EXIT.failed
}
