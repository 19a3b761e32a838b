import { isKnownEvent, readRequest, type StoredEvent, streamJournal } from '@delta/journal'
import { contextOfStep } from '../context-of-step.js'
import { followJournal } from '../follow.js'
import { eventDescriber } from '../present/attribute.js'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { styleFor } from '../present/style.js'
import { findShownRun } from '../shown-run.js'
import { EXIT, type Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'
import { wholeNumber } from '../whole-number.js'

interface ShowFlags {
  workDir: string
  step?: string
  request?: string
  follow?: boolean
  verbose?: boolean
  json?: boolean
}

/** `delta show`: a run as its journal tells it. Reads only, so it may be used while the run goes on. */
export async function execute(
  flags: ShowFlags,
  terminal: Terminal,
  runId: string | undefined,
): Promise<number> {
  const run = await findShownRun(flags, runId, terminal)
  if (flags.request !== undefined) {
    print(terminal, await readRequest(run.directory, wholeNumber('--request', flags.request)))
    return EXIT.completed
  }
  const step = flags.step === undefined ? undefined : wholeNumber('--step', flags.step)
  const showEvent = printerFor(flags, terminal)
  if (step === undefined) {
    const events = flags.follow ? followJournal(run) : streamJournal(run.journalPath)
    for await (const event of events) showEvent(event)
    return EXIT.completed
  }
  let found = false
  for await (const event of streamJournal(run.journalPath)) {
    if (!('iteration' in event) || event.iteration !== step) continue
    if (!found && !flags.json) print(terminal, await contextOfStep(run.directory, event))
    found = true
    showEvent(event)
  }
  if (found) return EXIT.completed
  throw new UsageError(`--step ${step}: run ${run.runId} has ${run.lastIteration} iterations.`)
}

function printerFor({ json, verbose, step }: ShowFlags, terminal: Terminal): (event: StoredEvent) => void {
  if (json) return (event) => void print(terminal, `${JSON.stringify(event)}\n`)
  const detail = {
    style: styleFor(terminal.stdout, terminal.env),
    verbose: verbose === true || step !== undefined,
    transcript: true,
  }
  const describe = eventDescriber(detail)
  return (event) => {
    const lines = isKnownEvent(event) ? describe(event) : [`   ${printable(event.type)}`]
    for (const line of lines) terminal.stdout.write(`${line}\n`) // safe already, and coloured
  }
}
