import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { createRun, type NewEvent } from '@delta/journal/runs'
import { importRun, isTraceError } from '@delta/trace'
import { placeToWork, type RunsFlags, rememberPlace } from '@delta/workspace'
import { existingWorkDirectory, explainSystemError } from '@delta/workspace/internal'
import { EXIT, type Terminal } from '../terminal.js'
import { print } from '../text.js'
import { UsageError } from '../usage.js'

interface ImportFlags extends RunsFlags {
  workDir: string
  format: 'atif'
}

/** `delta import`: makes a run of what another program wrote. It has a journal and nothing else, and is not the workspace's latest. */
export async function execute(flags: ImportFlags, terminal: Terminal, file: string): Promise<number> {
  const events = eventsIn(file, flags, terminal)
  const place = placeToWork(existingWorkDirectory(flags, terminal), flags, terminal)
  rememberPlace(place, terminal)()
  const { workDirectory } = place
  const run = await createRun(workDirectory, {
    ...place,
    latest: false,
    events: ({ runId, epoch }) => events.map((event) => startedHere(event, { runId, epoch, workDirectory })),
  })
  run.close()
  print(terminal, `${run.runId}\n`)
  return EXIT.completed
}

function startedHere(
  event: NewEvent,
  { runId, epoch, workDirectory }: { runId: string; epoch: number; workDirectory: string },
): NewEvent {
  if (event.type !== 'ENGINE_START') return event
  const place = { work_dir: workDirectory, workspace_id: basename(workDirectory) }
  return { ...event, run_id: runId, ...place, engine: { epoch } }
}

function eventsIn(file: string, { format }: ImportFlags, { cwd }: Terminal): NewEvent[] {
  try {
    return importRun(readFileSync(resolve(cwd, file), 'utf8'), format)
  } catch (cause) {
    const reason = isTraceError(cause) ? cause.message : explainSystemError(cause)
    if (reason === undefined) throw cause
    throw new UsageError(`${file}: ${reason}`, { cause })
  }
}
