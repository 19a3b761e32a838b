import type { Step, Trace } from '@delta/trace'
import { type StoredEvent, withSubAgents, writerFor } from '@delta/trace/internal'
import type { FileHead, FileRun, FileStep, FileSteps, FileText, RunRow, Text, WholeStep } from './api.js'
import { ASSETS, readAssets } from './assets.js'
import { beginning } from './cards.js'
import { type Catalog, openCatalog } from './catalog.js'
import { Refusal } from './errors.js'
import { blockText } from './request-detail.js'
import { costs, difference, imageOf, pagesOf, runPage, wholeStep } from './routes.js'
import type { ShownRun } from './shown-run.js'
import { sourceChart } from './sources.js'
import { stepChanges } from './step-changes.js'
import type { StepPages } from './step-pages.js'
import { documentHead, runTranscript, stepsTranscript } from './transcript.js'

/** What the file holds beside the runs and their sub-agents. */
export interface ExportHtmlOptions {
  /** True: whole texts. Default: the first 16 KiB of each. */
  full?: boolean | undefined
  /** True: what looks like a secret is replaced, and so are the home directory (`~`) and the work directories (`.`). */
  redact?: boolean | undefined
  /** The home directory. Default: that of this process. */
  home?: string | undefined
  /** Where the built page lies. Default: beside this module. */
  assets?: string | undefined
}

/** What an exported file has become. */
export interface ExportedHtml {
  /** Runs that are no sub-agents of others in the file, their steps, and their sub-agents. */
  runs: number
  steps: number
  subAgents: number
  /** Texts of which the file holds only the beginning. */
  shortened: number
  /** Ids of runs that were still going on. */
  running: string[]
}

/**
 * Writes the page of some runs and their sub-agents as one HTML file that needs no server and loads nothing. A run that goes on is
 * written up to the last whole line of its journal.
 *
 * @returns The file in pieces; then what it holds.
 * @throws {ViewError} `ERR_VIEW_ASSETS`.
 * @example
 * const trace = await openTrace('.delta/20261120_093000_a1b2c3')
 * for await (const piece of exportHtml([trace])) process.stdout.write(piece)
 */
export async function* exportHtml(
  traces: readonly Trace[],
  options: ExportHtmlOptions = {},
): AsyncGenerator<string, ExportedHtml> {
  const [script, style] = pageParts(options.assets ?? ASSETS)
  const all = new Map<string, Trace>()
  for (const root of traces)
    for await (const { trace } of withSubAgents(root)) all.set(trace.run.directory, trace)
  let count = 0
  const catalog = openCatalog([...all.keys()], { newKey: () => `r${++count}` })
  await catalog.refresh()
  const written = writer([...all.values()], options)
  const { runs } = catalog.list(0)
  const named = traces.flatMap(({ run }) => {
    const row = catalog.rowAt(run.directory)
    const isCalled = runs.some(({ key, caller }) => key === row?.key && caller?.key !== undefined)
    return row === undefined || isCalled ? [] : [row.key]
  })
  const head = written.json({
    at: Date.now(),
    runs,
    named,
    isWhole: options.full === true,
  } satisfies FileHead)
  const shown = (JSON.parse(head) as FileHead).runs

  yield documentHead(shown, { script, style })
  yield island('file', head)
  for (const row of shown) {
    yield runTranscript(row)
    yield* runIslands(catalog.run(row.key), { catalog, named, written })
  }
  yield `<script type="module">${script}</script>\n</body>\n</html>\n`
  return {
    runs: named.length,
    steps: runs.filter(({ key }) => named.includes(key)).reduce((sum, { steps }) => sum + steps, 0),
    subAgents: runs.length - named.length,
    shortened: written.shortened(),
    running: runs.filter(({ status }) => status === 'RUNNING').map(({ id }) => id),
  }
}

/** The script and the style sheet of the page. A script within HTML must not hold what ends it. */
function pageParts(directory: string): [script: string, style: string] {
  const assets = [...readAssets(directory)]
  const [script = '', style = ''] = ['.js', '.css'].map((end) =>
    assets.flatMap(([path, { bytes }]) => (path.endsWith(end) ? [bytes.toString()] : [])).join('\n'),
  )
  return [script.trim().replace(/<(?=\/script|!--)/gi, '\\x3c'), style.trim()]
}

/** Makes JSON of answers: with texts cut, and what looks like a secret replaced. */
interface Writer {
  json(value: object): string
  text(text: string): Text
  shortened(): number
}

const LARGEST_TEXT_BYTES = 16 * 1024

function writer(traces: readonly Trace[], { full = false, redact = false, home }: ExportHtmlOptions): Writer {
  let shortened = 0
  // each run has directories of its own, and one may be named in the texts of another
  const distinct = new Map(traces.map(({ run }) => [redact ? run.metadata.work_dir : null, run]))
  const writers = [...distinct.values()].map((run) =>
    writerFor(run, { redact, ...(home !== undefined && { home }) }),
  )
  const clean = <Value extends object>(value: Value) =>
    writers.reduce((made, write) => JSON.parse(write(made)) as Value, value)
  // half of a secret would not look like one, so a text is cut last
  const cut = ({ text, bytes }: Text): Text => {
    const short = full ? text : beginning(text, LARGEST_TEXT_BYTES).text
    if (short.length < text.length) shortened += 1
    return { text: short, bytes }
  }
  return {
    json: (value) => JSON.stringify(clean(value), (_, each: unknown) => (isText(each) ? cut(each) : each)),
    text: (text) => cut(clean({ text, bytes: Buffer.byteLength(text) })),
    shortened: () => shortened,
  }
}

function isText(value: unknown): value is Text {
  const { text, bytes } = Object(value) as Partial<Text>
  return typeof text === 'string' && typeof bytes === 'number'
}

function island(name: string, json: string): string {
  return `<script type="application/json" data-delta="${name}">${json.replaceAll('<', '\\u003c')}</script>\n`
}

interface Around {
  catalog: Catalog
  named: readonly string[]
  written: Writer
}

const STEPS_IN_ISLAND = 200

async function* runIslands(run: ShownRun, around: Around): AsyncGenerator<string> {
  const { catalog, written } = around
  const row = catalog.row(run)
  if (row.status === 'EMPTY' || (row.status === 'DAMAGED' && row.steps === 0)) return // its row says so
  const steps = run.reader().index.steps.map(({ n }) => n)
  const starts = steps.filter((_, index) => index % STEPS_IN_ISLAND === 0)
  const answers = await answersAbout(run, row, around)
  const { columns } = await run.whole()
  const about: FileRun = { answers, islands: starts, steps, failed: columns.failed() }
  yield island(`run ${run.key}`, written.json(about))
  const pages = pagesOf(run, catalog)
  for (const [index, start] of starts.entries()) {
    const numbers = steps.slice(index * STEPS_IN_ISLAND, (index + 1) * STEPS_IN_ISLAND)
    const held = await stepsOf(run, pages, { numbers, written })
    yield island(`steps ${run.key} ${start}`, JSON.stringify(held))
    yield stepsTranscript(held.steps.map((step) => step.whole))
  }
}

/** What the page asks for about a run, by path. */
async function answersAbout(run: ShownRun, row: RunRow, around: Around): Promise<FileRun['answers']> {
  const { catalog } = around
  const { key } = run
  const answers: FileRun['answers'] = { [`/api/runs/${key}`]: await runPage(run, catalog) }
  const { trace, summary } = await run.whole()
  answers[`/api/runs/${key}/sources`] = await sourceChart(trace, summary.lastIteration)
  for (const by of ['source', 'step', 'tool', 'model', 'cache']) {
    const path = `/api/cost?ids=${key}&by=${by}`
    answers[path] = await costs({ url: new URL(path, 'http://file'), catalog })
  }
  for (const other of comparedWith(row, around)) {
    const path = `/api/diff?a=${key}&b=${other}`
    answers[path] = await difference({ url: new URL(path, 'http://file'), catalog })
  }
  return answers
}

/** The first of the named runs is compared with each of the others, and a fork with the run it was made from. All pairs would be too many. */
function comparedWith({ key, forkOf }: RunRow, { catalog, named }: Around): string[] {
  const [first] = named
  if (!named.includes(key)) return []
  return named.filter((other) => {
    if (other === key) return false
    const isForkOfThis = catalog.row(catalog.run(other)).forkOf?.key === key
    return key === first || other === first || other === forkOf?.key || isForkOfThis
  })
}

async function stepsOf(
  run: ShownRun,
  pages: StepPages,
  { numbers, written }: { numbers: readonly number[]; written: Writer },
): Promise<FileSteps> {
  const held: FileSteps = { steps: [], texts: [], images: {} }
  const pool = textPool(held.texts, written)
  const { trace } = await run.whole()
  const [first = 0, last = 0] = [numbers[0], numbers.at(-1)]
  const events = await eventsOf(run, first, last)
  let before: Step | undefined
  for await (const step of run.reader().steps({ from: first - 1, to: last })) {
    const earlier = before
    before = step
    if (step.n < first) continue
    const whole = await wholeStep(run, pages, [step, earlier], events)
    const changes = await stepChanges(trace, step.n)
    const texts: FileStep['texts'] = {}
    for await (const [path, text] of textsOf(run, step)) texts[path] = pool(path, text)
    const isKnown = changes.files !== null || changes.unknown !== null
    const shown = { whole, ...(isKnown && { changes }) }
    held.steps.push({ ...(JSON.parse(written.json(shown)) as typeof shown), texts })
    await addImages(run, whole, held.images)
  }
  return held
}

/** Adds texts to an island, and gives their indexes. */
function textPool(texts: FileText[], written: Writer): (path: string, text: string) => number {
  const indexes = new Map<string, number>()
  /** The last one of each path. */
  const lasts = new Map<string, { index: number; text: string }>()
  return (path, text) => {
    const known = indexes.get(text)
    if (known !== undefined) return known
    const held = written.text(text)
    const last = lasts.get(path)
    const index = texts.push(last ? likeOther(held, last) : held) - 1
    indexes.set(text, index)
    lasts.set(path, { index, text: held.text })
    return index
  }
}

function likeOther({ text, bytes }: Text, other: { index: number; text: string }): FileText {
  const most = Math.min(text.length, other.text.length)
  let start = 0
  while (start < most && text[start] === other.text[start]) start += 1
  let end = 0
  while (end < most - start && text.at(-1 - end) === other.text.at(-1 - end)) end += 1
  return { text: text.slice(start, text.length - end), bytes, like: [other.index, start, end] }
}

/** Read once for all of these steps. */
async function eventsOf(run: ShownRun, first: number, last: number): Promise<StoredEvent[]> {
  const events: StoredEvent[] = []
  for await (const event of run.reader().eventsNear(first)) {
    if (((event as { iteration?: number }).iteration ?? 0) > last + 1) break
    events.push(event)
  }
  return events
}

/** What the routes below a step send as plain text. */
async function* textsOf(run: ShownRun, step: Step): AsyncGenerator<[path: string, text: string]> {
  const { request, calls } = step
  const body = await request?.body()
  if (body !== undefined) yield ['request', body]
  const answer = await request?.response()
  if (answer !== undefined) yield ['response', JSON.stringify(answer, undefined, 2)]
  for (const index of request?.blocks.keys() ?? []) {
    const text = await blockText(run.directory, step, index)
    if (text !== undefined) yield [`blocks/${index}`, text]
  }
  for (const call of calls)
    for (const stream of ['stdout', 'stderr'] as const) {
      const size = await call.outputBytes(stream)
      if (size > 0)
        yield [
          `calls/${encodeURIComponent(call.actionId)}/${stream}`,
          (await call.output(stream, 0, size)).toString(),
        ]
    }
}

async function addImages(run: ShownRun, { card }: WholeStep, images: FileSteps['images']): Promise<void> {
  for (const { path } of [...card.said, ...card.calls].flatMap(({ media }) => media)) {
    if (path === undefined || path in images) continue
    try {
      const { type, bytes } = await imageOf(run, decodeURIComponent(path.split('/').at(-1) ?? ''))
      images[path] = `data:${type};base64,${bytes.toString('base64')}`
    } catch (error) {
      if (!(error instanceof Refusal)) throw error // it is not there any more, or is no image: its name stays
    }
  }
}
