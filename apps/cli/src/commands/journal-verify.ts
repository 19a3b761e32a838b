import { verifyJournal } from '@delta/journal'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { findShownRun } from '../runs/shown-run.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { withExactCommands } from '../usage/exact-commands.js'

/** `delta journal verify`: what is right and wrong with a run's journal. Changes nothing. */
export async function execute(
  flags: { workDir: string; json?: boolean },
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await findShownRun(flags, runId, terminal)
  const { text, ...report } = verifyJournal(run.journalPath, { ofRun: true })
  const shown = printable(withExactCommands(text, run.journalPath, terminal.env))
  print(terminal, `${flags.json ? JSON.stringify(report, null, 2) : shown}\n`)
  if (!report.ok) return EXIT.failed
  if (run.problem === undefined) return EXIT.completed
  terminal.stderr.write(`But the run cannot go on: ${printable(run.problem)}\n`)
  return EXIT.failed
}
