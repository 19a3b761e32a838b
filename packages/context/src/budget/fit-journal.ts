import { keepFrom } from '../conversation/conversation.js'
import type { Turn } from '../conversation/turn.js'
import { messagesOf, type Part } from '../part.js'
import type { Meter } from './meter.js'
import { shortenResults } from './shorten.js'

/**
 * Fits a conversation into so many tokens: whole cycles, the newest ones. What users said stays always, and so does the
 * last cycle, in which only results may be shortened. Undefined if not even that fits.
 */
export async function fitJournal(part: Part, budget: number, meter: Meter): Promise<Part | undefined> {
  if (meter.tokensOf(part.turns) <= budget) return part

  const last = part.turns.findLastIndex(({ kind }) => kind === 'cycle')
  const must = await keep(part, last, meter)
  const excess = meter.tokensOf(must) - budget
  if (excess > 0) return shortenLast(part, must, excess, meter)

  const room = budget - meter.tokensOf(must.filter(staysAlways))
  const kept = await keep(part, firstKept(part.turns, room, meter), meter)
  const before = cycles(part.turns)
  return {
    ...part,
    turns: kept,
    note: `dropped the ${before - cycles(kept)} oldest of ${before} iterations to stay within ${budget} tokens`,
  }
}

async function keep({ source, turns }: Part, start: number, meter: Meter): Promise<Turn[]> {
  const kept = keepFrom(turns, start, source.type === 'journal' ? source.dropped : undefined)
  await meter.count(messagesOf(kept.filter(({ kind }) => kind === 'dropped')))
  return kept
}

/** The mark is longest when only the last cycle is kept, and room for that one is kept free. */
function staysAlways({ kind }: Turn): boolean {
  return kind === 'user' || kind === 'dropped'
}

/**
 * The turn with which what is kept begins; the last cycle is known to fit.
 *
 * Of the cycles that leave the room at least half full, it is the one whose number is divisible by the highest power of
 * two. So the beginning stays the same for many iterations and a provider's cache is of use, though nothing is
 * remembered: the same journal always gives the same answer.
 */
function firstKept(turns: readonly Turn[], room: number, meter: Meter): number {
  const fitting: { index: number; power: number; taken: number }[] = []
  let taken = 0
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index]
    if (turn === undefined || staysAlways(turn)) continue
    taken += meter.tokensOf([turn])
    if (taken > room) break
    if (turn.kind === 'cycle') fitting.push({ index, power: powerOfTwo(turn.iteration), taken })
  }
  const ample = fitting.filter((start) => start.taken >= room / 2)
  const highest = Math.max(...ample.map(({ power }) => power))
  const start = ample.find(({ power }) => power === highest) ?? fitting.at(-1)
  return start?.index ?? turns.length
}

/** The highest power of two that divides a number. */
function powerOfTwo(iteration = 1): number {
  return iteration & -iteration
}

async function shortenLast(
  part: Part,
  must: readonly Turn[],
  excess: number,
  meter: Meter,
): Promise<Part | undefined> {
  const last = must.find(({ kind }) => kind === 'cycle')
  const shortened = last && (await shortenResults(last, meter.tokensOf([last]) - excess, meter))
  if (shortened === undefined) return undefined
  const dropped = cycles(part.turns) - 1
  return {
    ...part,
    turns: must.map((turn) => (turn === last ? shortened : turn)),
    note: `${dropped === 0 ? '' : `dropped the ${dropped} oldest iterations and `}shortened the results of the last iteration to stay within the budget`,
  }
}

function cycles(turns: readonly Turn[]): number {
  return turns.filter(({ kind }) => kind === 'cycle').length
}
