import { repairRun } from '@delta/journal'
import { print, printJson, say } from '../present/print.js'
import { printable } from '../present/printable.js'
import { findShownRun } from '../runs/shown-run.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'
import { placeToLook, type RunsFlags } from '../workspace/find-place.js'

/** `delta journal repair`: sets damaged lines aside, so that the run can go on. Deletes nothing. */
export async function execute(
  flags: RunsFlags & { workDir: string; json?: boolean; force?: boolean },
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await findShownRun(placeToLook(flags, terminal), runId)
  const { text, ...result } = await repairRun(run.directory, {
    force: flags.force ?? false,
    onWait: (message) => say(terminal, `note: ${message}`),
  })
  if (flags.json) printJson(terminal, result)
  else print(terminal, `${printable(text)}\n`)
  return result.problem === undefined ? EXIT.completed : EXIT.failed
}
