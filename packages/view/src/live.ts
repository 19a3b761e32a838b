import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { stateOfJournal } from '@delta/trace/internal'
import type { Column, LiveMessage } from './api.js'
import { questionOf } from './cards.js'
import type { ShownRun } from './shown-run.js'
import type { StepPages } from './step-pages.js'

const LOOK_AGAIN_MS = 250
const SILENT_MS = 15_000

/** Sends what happens in a run after an event, until the client goes away. */
export async function sendLive(
  response: ServerResponse,
  { run, pages, after, closing }: { run: ShownRun; pages: StepPages; after: number; closing: AbortSignal },
): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  const leaving = AbortSignal.any([closing, gone.signal])
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
  response.write(': live\n\n')

  let seq = after
  let state: string | undefined
  let columns: readonly Column[] = []
  let row = ''
  let saidAt = performance.now()
  while (!leaving.aborted) {
    const now = stateOfJournal(run.directory)
    if (now !== state || run.row.status === 'RUNNING') {
      const grown = now === state ? { steps: [], seq } : await pages.after(seq)
      const { summary, columns: fold } = await run.whole()
      const known = columns
      columns = fold.columns().map((column) => ({ ...column, tokens: { ...column.tokens } }))
      const changed = columns.slice(firstChange(known, columns))
      const question = summary.humanRequest ? questionOf(summary.humanRequest) : null
      const said = JSON.stringify([pages.row(), question])
      if (grown.steps.length > 0 || said !== row) {
        seq = Math.max(seq, grown.seq)
        send({ steps: grown.steps, run: pages.row(), question, columns: changed })
      }
      row = said
      state = now
    }
    if (performance.now() - saidAt > SILENT_MS) keepAlive()
    await wait(LOOK_AGAIN_MS, undefined, { signal: leaving }).catch(() => undefined)
  }
  response.end()

  function send(message: LiveMessage): void {
    saidAt = performance.now()
    response.write(`id: ${seq}\ndata: ${JSON.stringify(message)}\n\n`)
  }

  function keepAlive(): void {
    saidAt = performance.now()
    response.write(': still here\n\n')
  }
}

function firstChange(known: readonly Column[], columns: readonly Column[]): number {
  const index = columns.findIndex((column, at) => JSON.stringify(column) !== JSON.stringify(known[at]))
  return index === -1 ? columns.length : index
}
