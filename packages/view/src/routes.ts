import type { IncomingMessage, ServerResponse } from 'node:http'
import { type CostKey, cacheMisses, costTable, diffRuns, type Trace } from '@delta/trace'
import { readBlob, type StoredEvent, sumOf } from '@delta/trace/internal'
import type { CacheTable, CostTable, DiffAnswer, RunPage, WholeStep } from './api.js'
import { beginning, childCard, IMAGE_TYPES, LARGEST_IMAGE_BYTES, questionOf } from './cards.js'
import type { Catalog } from './catalog.js'
import { commandsFor, quoted } from './commands.js'
import { Refusal } from './errors.js'
import { sendLive } from './live.js'
import { rawText, sendRaw } from './raw.js'
import { blockText, requestDetail } from './request-detail.js'
import { searchIn } from './search.js'
import type { ShownRun } from './shown-run.js'
import { sourceChart } from './sources.js'
import { stepChanges } from './step-changes.js'
import { type StepPages, stepPages } from './step-pages.js'
import { unhurried } from './unhurried.js'

/** A request that may see runs. */
export interface Asked {
  url: URL
  request: IncomingMessage
  response: ServerResponse
  catalog: Catalog
  /** Aborted when the server ends. */
  closing: AbortSignal
}

/** What a route of a run answers: a value is sent as JSON, undefined was sent already. */
type Answer = Promise<object | undefined>

/** Answers a request. @throws {Refusal} */
export async function route(asked: Asked): Promise<void> {
  const { url, response, request } = asked
  const answer = await answerTo(asked)
  if (answer === undefined) return
  const body = Buffer.from(JSON.stringify(answer))
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  })
  response.end(request.method === 'HEAD' || url === undefined ? undefined : body)
}

async function answerTo(asked: Asked): Answer {
  const { url, catalog } = asked
  const [api, what = '', key = '', ...rest] = url.pathname.split('/').slice(1)
  if (api !== 'api') throw nothingThere()
  if (what === 'runs' && key !== '') return answerAbout(catalog.run(key), rest, asked)
  if (key !== '') throw nothingThere()
  switch (what) {
    case 'runs':
      await catalog.refresh()
      return catalog.list(wholeNumber(url, 'since') ?? 0)
    case 'cost':
      return costs(asked)
    case 'diff':
      return difference(asked)
    case 'live': {
      const run = catalog.run(url.searchParams.get('run') ?? '')
      const after = wholeNumber(url, 'after') ?? 0
      await sendLive(asked.response, { run, pages: pagesOf(run, catalog), after, closing: asked.closing })
      return undefined
    }
    default:
      throw nothingThere()
  }
}

async function answerAbout(run: ShownRun, [what, number, ...rest]: string[], asked: Asked): Answer {
  const { url, catalog, request, response } = asked
  if (what === 'steps' && number !== undefined) return answerAboutStep(run, number, rest, asked)
  if (what === 'images' && number !== undefined && rest.length === 0) return sendImage(run, number, response)
  if (number !== undefined) throw nothingThere()
  switch (what) {
    case undefined:
      return runPage(run, catalog)
    case 'steps':
      return stepList(pagesOf(run, catalog), url)
    case 'sources': {
      const { trace, summary } = await run.whole()
      return sourceChart(trace, summary.lastIteration)
    }
    case 'search':
      await sendMatches(run, url.searchParams.get('q') ?? '', { request, response })
      return undefined
    default:
      throw nothingThere()
  }
}

/** `/api/runs/:id`. */
export async function runPage(run: ShownRun, catalog: Catalog): Promise<RunPage> {
  const { summary, columns } = await run.whole()
  const { cost, tokens, wall_time: wall } = Object(summary.limits) as Record<string, unknown>
  const wallMs = typeof wall === 'number' ? wall : millisecondsIn(wall)
  const row = catalog.row(run)
  return {
    run: row,
    totals: summary.totals,
    columns: columns.columns(),
    limits: {
      ...(typeof cost === 'number' && { cost }),
      ...(typeof tokens === 'number' && { tokens }),
      ...(wallMs !== undefined && { wallMs }),
    },
    ...(summary.humanRequest && { question: questionOf(summary.humanRequest) }),
    children: summary.children.map((child) => childCard(child, catalog.rowAt(child.directory))),
    commands: commandsFor(run.directory, row),
  }
}

/** `90s`, `30m`, `4h`. */
function millisecondsIn(text: unknown): number | undefined {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(String(text)) ?? []
  const units: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 }
  return count === undefined ? undefined : Number(count) * (units[unit] ?? 0)
}

async function stepList(pages: StepPages, url: URL): Answer {
  const [before, after] = [wholeNumber(url, 'before'), wholeNumber(url, 'after')]
  if (before !== undefined && after !== undefined) throw new Refusal(400, 'Give before or after, not both.')
  const bound = before === undefined ? { after: after ?? 0 } : { before }
  if (url.searchParams.get('failed') === '1') return pages.failed(bound)
  return before === undefined && after === undefined ? pages.newest() : pages.around(bound)
}

async function answerAboutStep(
  run: ShownRun,
  number: string,
  [what, ...rest]: string[],
  asked: Asked,
): Answer {
  const { request, response, catalog } = asked
  if (!/^\d{1,9}$/.test(number)) throw nothingThere()
  const n = Number(number)
  const pages = pagesOf(run, catalog)
  const [step, before] = await pages.step(n)
  if (what === 'changes' && rest.length === 0) return stepChanges((await run.whole()).trace, n)
  const send = async (text: string | undefined): Promise<undefined> => {
    if (text === undefined) throw new Refusal(404, 'It is not recorded.')
    await sendRaw(request, response, rawText(text))
  }
  if (what === undefined) return wholeStep(run, pages, [step, before])
  if (what === 'request' && rest.length === 0) return send(await step.request?.body())
  if (what === 'response' && rest.length === 0) {
    const answer = await step.request?.response()
    return send(answer === undefined ? undefined : JSON.stringify(answer, undefined, 2))
  }
  const [first = '', stream, ...more] = rest
  if (what === 'blocks' && stream === undefined)
    return send(await blockText(run.directory, step, Number(first)))
  const call = step.calls.find(({ actionId }) => actionId === decoded(first))
  const isOutput = what === 'calls' && (stream === 'stdout' || stream === 'stderr') && more.length === 0
  if (!isOutput || call === undefined) throw nothingThere()
  await sendRaw(request, response, {
    size: await call.outputBytes(stream),
    read: (from, bytes) => call.output(stream, from, bytes),
    fileName: `step-${n}-${call.name.replace(/[^\w-]/g, '-')}.${stream}.txt`,
  })
  return undefined
}

const LARGEST_LINE_BYTES = 64 * 1024

/** `/api/runs/:id/steps/:n`. @param events - Of the step and around it, in order. */
export async function wholeStep(
  run: ShownRun,
  pages: StepPages,
  [step, before]: Awaited<ReturnType<StepPages['step']>>,
  events: AsyncIterable<StoredEvent> | Iterable<StoredEvent> = run.reader().eventsNear(step.n),
): Promise<WholeStep> {
  const detail = await requestDetail(run.directory, step, before)
  const said = new Set([...step.said, ...step.starts].map(({ seq }) => seq))
  const journal: WholeStep['journal'] = []
  for await (const event of unhurried(events)) {
    const { iteration } = event as { iteration?: number }
    if ((iteration ?? 0) > step.n + 1) break // the snapshot of a step may follow the thought of the next
    if (iteration !== step.n && !said.has(event.seq)) continue
    journal.push({
      seq: event.seq,
      type: event.type,
      line: beginning(JSON.stringify(event), LARGEST_LINE_BYTES),
    })
  }
  return { card: await pages.card(step, before), ...(detail && { request: detail }), journal }
}

async function sendImage(run: ShownRun, blob: string, response: ServerResponse): Answer {
  const { type, bytes } = await imageOf(run, decoded(blob))
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length })
  response.end(bytes)
  return undefined
}

/** An image of the run that a page may show. @throws {Refusal} 404 */
export async function imageOf(run: ShownRun, blob: string): Promise<{ type: string; bytes: Buffer }> {
  run.reader() // it may be read
  const bytes = await imageIn(run.directory, blob)
  const type = typeOfImage(bytes)
  if (type === undefined || bytes.length > LARGEST_IMAGE_BYTES)
    throw new Refusal(404, 'It is not an image that can be shown.')
  return { type, bytes }
}

async function imageIn(directory: string, blob: string): Promise<Buffer> {
  try {
    return Buffer.from(readBlob(directory, blob))
  } catch (error) {
    throw new Refusal(404, (error as Error).message)
  }
}

/** By its first bytes: what a journal says of it may be wrong. */
function typeOfImage(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12)
  const [png, jpeg, webp, gif] = IMAGE_TYPES
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return png
  if (head.startsWith('\xff\xd8\xff')) return jpeg
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return webp
  return /^GIF8[79]a/.test(head) ? gif : undefined
}

const MOST_MATCHES = 1000

async function sendMatches(
  run: ShownRun,
  wanted: string,
  { request, response }: Pick<Asked, 'request' | 'response'>,
): Promise<void> {
  if (wanted === '') throw new Refusal(400, 'Give q, the text to search for.')
  const events = unhurried(run.reader().eventsNear(1))
  response.writeHead(200, { 'Content-Type': 'application/x-ndjson; charset=utf-8' })
  let count = 0
  for await (const match of searchIn(events, wanted)) {
    if (request.destroyed || response.destroyed || count++ === MOST_MATCHES) break
    response.write(`${JSON.stringify(match)}\n`)
  }
  response.end()
}

const COST_KEYS: readonly string[] = ['source', 'step', 'tool', 'call', 'model', 'run'] satisfies CostKey[]

/** `/api/cost`. @throws {Refusal} */
export async function costs({
  url,
  catalog,
}: Pick<Asked, 'url' | 'catalog'>): Promise<CostTable | CacheTable> {
  const by = url.searchParams.get('by') ?? 'source'
  const ids = (url.searchParams.get('ids') ?? '').split(',')
  const runs = ids.map((key) => catalog.run(key))
  const traces: Trace[] = []
  for (const run of runs) traces.push((await run.whole()).trace)
  const words = runs.map(({ directory }) => quoted(directory)).join(' ')
  if (by === 'cache') {
    const [trace] = traces
    if (trace === undefined || traces.length > 1) throw new Refusal(400, 'by=cache is for one run.')
    const rows: CacheTable['rows'] = []
    for await (const miss of cacheMisses(trace)) rows.push(miss)
    return { by, rows, command: `delta cost --cache ${words}` }
  }
  if (!COST_KEYS.includes(by)) throw new Refusal(400, `by: choose one of ${COST_KEYS.join(', ')}, cache.`)
  const rows = await costTable(traces, by as CostKey)
  const totals = traces.map(({ run }) => run.totals)
  const prices = totals.map((each) => each.prices ?? '').sort()
  const weights = totals.map(({ all }) =>
    Object.values(all.tokens).reduce((sum, count) => sum + count, all.estimated),
  )
  const weight = weights.reduce((sum, each) => sum + each, 0)
  const priced = totals.reduce((sum, { all }, index) => sum + all.priced * (weights[index] ?? 0), 0)
  return {
    by: by as CostKey,
    rows,
    sum: sumOf(rows),
    priced: weight === 0 ? 1 : priced / weight,
    prices: prices.at(-1) || null,
    command: `delta cost --by ${by} ${words}`,
  }
}

/** `/api/diff`. @throws {Refusal} */
export async function difference({ url, catalog }: Pick<Asked, 'url' | 'catalog'>): Promise<DiffAnswer> {
  const runs = ['a', 'b'].map((name) => catalog.run(url.searchParams.get(name) ?? ''))
  const [a, b] = [await runs[0]?.whole(), await runs[1]?.whole()]
  if (a === undefined || b === undefined) throw nothingThere()
  const words = runs.map(({ directory }) => quoted(directory)).join(' ')
  return { diff: await diffRuns(a.trace, b.trace), command: `delta diff ${words}` }
}

/** The steps of a run, with the rows of the runs around it. */
export function pagesOf(run: ShownRun, catalog: Catalog): StepPages {
  return stepPages(run, { row: () => catalog.row(run), rowAt: catalog.rowAt })
}

/** A number in the address; undefined if it is not there. @throws {Refusal} 400 */
function wholeNumber({ searchParams }: URL, name: string): number | undefined {
  const text = searchParams.get(name)
  if (text === null) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal(400, `${name}: must be a whole number.`)
}

/** @throws {Refusal} 404: it is not an encoded text. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw nothingThere()
  }
}

function nothingThere(): Refusal {
  return new Refusal(404, 'There is nothing at this address.')
}
