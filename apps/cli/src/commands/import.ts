import { basename, resolve } from 'node:path'
import { readIfThere } from '@delta/durable'
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
    return importRun(textIn(resolve(cwd, file)), format)
  } catch (cause) {
    const { code } = Object(cause) as NodeJS.ErrnoException
    const reason = isTraceError(cause) ? cause.message : (REFUSED[code ?? ''] ?? explainSystemError(cause))
    if (reason === undefined) throw cause
    throw new UsageError(`${file}: ${reason}`, { cause })
  }
}

/** Text of twice the size is more than Node.js can hold. */
const MOST_BYTES = 256 * 1024 * 1024

/** What is not read at all: a pipe would be waited for, and a device may have no end. */
const REFUSED: Readonly<Record<string, string>> = {
  ENODEV: 'is not a file.',
  ESPIPE: 'is not a file.',
  EFBIG: 'is larger than 256 MB.',
}

/** @throws The system's error. */
function textIn(path: string): string {
  const bytes = readIfThere(path, { mostBytes: MOST_BYTES })
  if (bytes) return bytes.toString()
  throw Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT', syscall: 'open' })
}
