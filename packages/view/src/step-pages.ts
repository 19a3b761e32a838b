import type { Step } from '@delta/trace'
import type { RunRow, StepCard, StepList } from './api.js'
import { type CardOptions, cardOf } from './cards.js'
import { Refusal } from './errors.js'
import type { ShownRun } from './shown-run.js'
import { unhurried } from './unhurried.js'

const CARDS = 48

/** The steps of a run, 48 at a time. */
export interface StepPages {
  /** The newest, read from the end of the journal. */
  newest(): Promise<StepList>
  /** Those before a step, or after one. */
  around(bound: { before: number } | { after: number }): Promise<StepList>
  /** Those that have a failure. */
  failed(bound: { before: number } | { after: number }): Promise<StepList>
  /** What is new or has grown after an event, at most the newest 48. */
  after(seq: number): Promise<{ steps: StepCard[]; seq: number }>
  /** A step, and the one before it. @throws {Refusal} 404 */
  step(n: number): Promise<[step: Step, before: Step | undefined]>
  card(step: Step, before: Step | undefined): Promise<StepCard>
  /** The row as it is now. */
  row(): RunRow
}

/** @param options.row - The row of the run, and of one that a call started. */
export function stepPages(
  run: ShownRun,
  { row, rowAt }: { row: () => RunRow; rowAt: CardOptions['rowAt'] },
): StepPages {
  const options = (before: Step | undefined, isWhole = false): CardOptions => ({
    before,
    path: `/api/runs/${run.key}`,
    reader: run.reader(),
    rowAt,
    isWhole,
  })

  /** @param before - The step before the first. */
  async function cardsOf(steps: readonly Step[], before?: Step): Promise<StepCard[]> {
    const cards: StepCard[] = []
    for (const [index, step] of steps.entries())
      cards.push(await cardOf(step, options(steps[index - 1] ?? before)))
    return cards
  }

  async function newest(): Promise<StepList> {
    const { steps, events, hasAll } = await run.reader().end(CARDS + 1)
    if (events.length === 0 && run.row.steps > 0) return around({ before: run.row.steps + 1 }) // it is damaged
    const hasBefore = !hasAll || steps.length > CARDS
    const before = steps.length > CARDS ? steps.shift() : undefined
    return list(await cardsOf(steps, before), { hasBefore, hasAfter: false, seq: events.at(-1)?.seq ?? 0 })
  }

  async function around(bound: { before: number } | { after: number }): Promise<StepList> {
    const all = run.reader().index.steps
    const wanted =
      'before' in bound
        ? all.filter(({ n }) => n < bound.before).slice(-CARDS)
        : all.filter(({ n }) => n > bound.after).slice(0, CARDS)
    const from = wanted[0]?.n ?? ('before' in bound ? bound.before : bound.after + 1)
    const to = wanted.at(-1)?.n ?? from - 1
    const steps = wanted.length === 0 ? [] : await stepsIn(from - 1, to)
    const before = (steps[0]?.n ?? from) < from ? steps.shift() : undefined
    const [hasBefore, hasAfter] = [(all[0]?.n ?? from) < from, (all.at(-1)?.n ?? to) > to]
    return list(await cardsOf(steps, before), { hasBefore, hasAfter, seq: 0 })
  }

  async function failed(bound: { before: number } | { after: number }): Promise<StepList> {
    const all = (await run.whole()).columns.failed()
    const wanted =
      'before' in bound
        ? all.filter((n) => n < bound.before).slice(-CARDS)
        : all.filter((n) => n > bound.after).slice(0, CARDS)
    const cards: StepCard[] = []
    for await (const n of unhurried(wanted)) {
      const [step, before] = await stepWith(n)
      cards.push(await cardOf(step, options(before)))
    }
    const hasBefore = wanted.length > 0 && all[0] !== wanted[0]
    const hasAfter = wanted.length > 0 && all.at(-1) !== wanted.at(-1)
    return list(cards, { hasBefore, hasAfter, seq: 0 })
  }

  async function after(seq: number): Promise<{ steps: StepCard[]; seq: number }> {
    for (let count = FIRST_GROWN; ; count *= 4) {
      const { steps, events, hasAll } = await run.reader().end(Math.min(count, CARDS + 1))
      const isEnough = hasAll || count > CARDS || (events[0]?.seq ?? 0) <= seq + 1
      if (!isEnough) continue
      const fresh = events.filter((event) => event.seq > seq)
      if (fresh.length === 0) return { steps: [], seq }
      const iterations = fresh.map(
        (event) => (event as { iteration?: number }).iteration ?? steps.at(-1)?.n ?? 0,
      )
      const first = steps.findIndex(({ n }) => n >= Math.min(...iterations))
      const grown = first === -1 ? [] : steps.slice(first)
      return { steps: await cardsOf(grown, steps[first - 1]), seq: events.at(-1)?.seq ?? seq }
    }
  }

  async function stepsIn(from: number, to: number): Promise<Step[]> {
    const steps: Step[] = []
    for await (const step of unhurried(run.reader().steps({ from, to }))) steps.push(step)
    return steps
  }

  async function stepWith(n: number): Promise<[Step, Step | undefined]> {
    const steps = await stepsIn(n - 1, n)
    const step = steps.find((each) => each.n === n)
    if (step === undefined) throw new Refusal(404, `This run has no step ${n}.`)
    return [step, steps.find((each) => each.n < n)]
  }

  function list(steps: StepCard[], more: Omit<StepList, 'run' | 'steps'>): StepList {
    return { run: row(), steps, ...more }
  }

  return {
    newest,
    around,
    failed,
    after,
    step: stepWith,
    card: (step, before) => cardOf(step, options(before, true)),
    row,
  }
}

const FIRST_GROWN = 3
