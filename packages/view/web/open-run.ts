import { batch, type ReadonlySignal, signal } from '@preact/signals'
import type {
  Column,
  LiveMessage,
  Question,
  RunPage,
  RunRow,
  SourceChart,
  StepCard,
  StepList,
} from '../src/api.js'
import { get, live } from './client.js'
import { explain } from './state.js'

/** A run that is on the screen: its title, and the cards that were looked at lately. */
export interface OpenRun {
  key: string
  row: ReadonlySignal<RunRow | undefined>
  /** Undefined until the whole journal was read once; the steps do not wait for it. */
  page: ReadonlySignal<RunPage | undefined>
  columns: ReadonlySignal<readonly Column[]>
  question: ReadonlySignal<Question | undefined>
  /** How many rows the list has: the number of the last step. */
  count: ReadonlySignal<number>
  /** Grows when cards arrive or change. */
  version: ReadonlySignal<number>
  problem: ReadonlySignal<string | undefined>
  isLoaded: ReadonlySignal<boolean>
  /** Undefined: not loaded. Null: there is no such step. */
  card(n: number): StepCard | null | undefined
  /** Loads the cards of these steps, if they are not there. */
  need(from: number, to: number): void
  /** The next step with a failure, in a direction; undefined if there is none. */
  failure(from: number, direction: 1 | -1): Promise<number | undefined>
  /** Tokens by source. It reads a file for each request: asked for once, and again when the run has grown by a step. */
  sources(): Promise<SourceChart>
  close(): void
}

/** As many cards as the server gives at once. */
const PAGE = 48
/** Pages that are kept: about two thousand cards. */
const MOST_PAGES = 40

export function openRun(key: string): OpenRun {
  const path = `/api/runs/${encodeURIComponent(key)}`
  const row = signal<RunRow>()
  const page = signal<RunPage>()
  const columns = signal<readonly Column[]>([])
  const question = signal<Question>()
  const count = signal(0)
  const version = signal(0)
  const problem = signal<string>()
  const isLoaded = signal(false)
  const closing = new AbortController()
  let chart: { count: number; answer: Promise<SourceChart> } | undefined
  /** By page; the one that was used last is at the end. */
  const pages = new Map<number, Map<number, StepCard>>()
  /** Pages that are asked for; what was scrolled past is not waited for. */
  const loading = new Map<number, AbortController>()
  const complete = new Set<number>()

  function put(cards: readonly StepCard[]): void {
    for (const card of cards) {
      const number = pageOf(card.n)
      const cardsOfPage = pages.get(number) ?? new Map<number, StepCard>()
      pages.delete(number)
      pages.set(number, cardsOfPage.set(card.n, card))
    }
    for (const number of pages.keys()) {
      if (pages.size <= MOST_PAGES) break
      pages.delete(number)
      complete.delete(number)
    }
    count.value = Math.max(count.value, row.value?.steps ?? 0, cards.at(-1)?.n ?? 0)
    version.value += 1
  }

  async function load(number: number): Promise<void> {
    if (loading.has(number) || complete.has(number)) return
    const leaving = new AbortController()
    loading.set(number, leaving)
    try {
      const signal = AbortSignal.any([closing.signal, leaving.signal])
      const list = await get<StepList>(`${path}/steps?after=${number * PAGE}`, signal)
      complete.add(number)
      put(list.steps)
    } catch (error) {
      if (!closing.signal.aborted && !leaving.signal.aborted) problem.value = explain(error)
    } finally {
      if (loading.get(number) === leaving) loading.delete(number)
    }
  }

  async function begin(): Promise<void> {
    try {
      const newest = await get<StepList>(`${path}/steps`, closing.signal)
      batch(() => {
        row.value = newest.run
        put(newest.steps)
        const [first, last] = [newest.steps[0]?.n ?? 1, newest.steps.at(-1)?.n ?? 0]
        for (let number = pageOf(first); number <= pageOf(last); number++)
          if (!newest.hasBefore || first <= number * PAGE + 1) complete.add(number)
        isLoaded.value = true
      })
      performance.mark('steps')
      readPage()
      if (mayGrow(newest.run))
        for await (const message of live(key, newest.seq, closing.signal)) take(message)
    } catch (error) {
      if (!closing.signal.aborted) problem.value = explain(error)
    }
  }

  async function readPage(): Promise<void> {
    try {
      const answer = await get<RunPage>(path, closing.signal)
      batch(() => {
        page.value = answer
        if (columns.value.length === 0) columns.value = answer.columns
        question.value = answer.question
        row.value = answer.run
        put([])
      })
    } catch (error) {
      if (!closing.signal.aborted) problem.value = explain(error)
    }
  }

  function take({ steps, run, question: asked, columns: fresh }: LiveMessage): void {
    batch(() => {
      row.value = run
      question.value = asked ?? undefined
      const [first] = steps
      // what lies between was missed: it is read when somebody looks at it
      if (first && first.n > count.value + 1) complete.clear()
      put(steps)
      const from = fresh[0]?.from
      if (from !== undefined)
        columns.value = [...columns.value.filter((column) => column.from < from), ...fresh]
    })
  }

  begin()
  return {
    key,
    row,
    page,
    columns,
    question,
    count,
    version,
    problem,
    isLoaded,
    card(n) {
      const card = pages.get(pageOf(n))?.get(n)
      return card ?? (complete.has(pageOf(n)) ? null : undefined)
    },
    need(from, to) {
      if (to < from) return
      for (const [number, leaving] of loading)
        if (number < pageOf(from) || number > pageOf(to)) {
          leaving.abort()
          loading.delete(number)
        }
      for (let number = pageOf(from); number <= pageOf(to); number++) load(number)
    },
    async failure(from, direction) {
      const bound = direction === 1 ? `after=${from}` : `before=${from}`
      const { steps } = await get<StepList>(`${path}/steps?failed=1&${bound}`, closing.signal)
      return (direction === 1 ? steps[0] : steps.at(-1))?.n
    },
    sources() {
      if (chart?.count !== count.value)
        chart = { count: count.value, answer: get<SourceChart>(`${path}/sources`, closing.signal) }
      return chart.answer
    },
    close: () => closing.abort(),
  }
}

function pageOf(n: number): number {
  return Math.floor((n - 1) / PAGE)
}

/** A run that waits or was interrupted may go on while the page is open. */
function mayGrow({ status }: RunRow): boolean {
  return status !== 'GONE' && status !== 'DAMAGED'
}
