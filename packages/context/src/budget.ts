import type { ChatMessage } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { keepFrom, messagesOf, type SizedMessage, sizeMessage, type Turn } from './conversation.js'
import { ContextError } from './errors.js'
import { type ContextManifest, sourceName } from './manifest.js'
import type { Part } from './sources.js'
import type { Meter } from './tokens.js'

/**
 * Fits the parts into `max_tokens` of their sources and `total_max_tokens` of the whole.
 *
 * Blocks of text with a limit of their own are cut at the end; without one they stay whole. The journal takes what is
 * left, as `fitJournal` says.
 *
 * @throws {ContextError} `ERR_CONTEXT_BUDGET`: what must stay does not fit.
 */
export async function fitIntoBudget(
  parts: readonly Part[],
  { totalMaxTokens }: ContextManifest,
  meter: Meter,
): Promise<Part[]> {
  const fitted: Part[] = []
  for (const part of parts) fitted.push(part.source.type === 'journal' ? part : await fitText(part, meter))

  let left = totalMaxTokens ?? Number.POSITIVE_INFINITY
  for (const part of fitted) if (part.source.type !== 'journal') left -= meter.tokensOf(part.turns)
  if (left < 0) throw tooSmall(fitted, totalMaxTokens, meter)

  for (const [index, part] of fitted.entries()) {
    if (part.source.type !== 'journal') continue
    const budget = Math.min(left, part.source.maxTokens ?? left)
    if (budget === Number.POSITIVE_INFINITY) continue
    const journal = await fitJournal(part, budget, meter)
    if (journal === undefined) throw tooSmall(fitted, part.source.maxTokens ?? totalMaxTokens, meter)
    left -= meter.tokensOf(journal.turns)
    fitted[index] = journal
  }
  return fitted
}

function tooSmall(parts: readonly Part[], limit: number | undefined, meter: Meter): ContextError {
  const needs = parts.map((part) => {
    if (part.source.type !== 'journal') return `"${sourceName(part.source)}" ${meter.tokensOf(part.turns)}`
    const users = part.turns.filter(({ kind }) => kind === 'user')
    return `"${sourceName(part.source)}" at least ${meter.tokensOf(users)} for what users said, and the last iteration`
  })
  const message = `context.yaml: ${limit} tokens are too few for what must stay: ${needs.join(', ')}.`
  const hint = 'Raise total_max_tokens, or give the largest source max_tokens.'
  const [largest] = parts.toSorted((one, other) => meter.tokensOf(other.turns) - meter.tokensOf(one.turns))
  return new ContextError('ERR_CONTEXT_BUDGET', `${message}\n${hint}`, largest && sourceName(largest.source))
}

const CUT_HERE = '\n[cut here: the rest exceeds max_tokens]'

/**
 * Cuts the end of a text, and marks it. A text of which nothing would be left is left out: the model is better off without a
 * block than with the mark of its cut, and a person is told.
 */
async function fitText(part: Part, meter: Meter): Promise<Part> {
  const { source, turns, header = '' } = part
  const limit = source.maxTokens
  const block = turns[0]?.messages[0]
  if (limit === undefined || block === undefined || meter.tokens(block) <= limit) return part

  const text = textOf(block.message.content)
  const shortened = await shrink(block, limit, meter, (kept) => cleanHead(text, kept) + CUT_HERE)
  const beginning = text.slice(0, header.length + 1) // a title says nothing without what is below it
  const says = textOf(shortened.message.content).startsWith(beginning)
  if (!says || meter.tokens(shortened) > limit) {
    const why = `max_tokens ${limit} is too few for the beginning of its ${meter.tokens(block)}`
    const warning = `context.yaml: "${sourceName(source)}" is left out: ${why}. Raise it.`
    return { ...part, turns: [], note: `left out: ${why}`, warning }
  }
  const note = `cut from ${meter.tokens(block)} to ${meter.tokens(shortened)} tokens (max_tokens)`
  return { ...part, turns: [{ kind: 'system', messages: [shortened] }], note }
}

/**
 * Fits a conversation into so many tokens: whole cycles, the newest ones. What users said stays always, and so does the
 * last cycle, in which only results may be shortened. Undefined if not even that fits.
 */
async function fitJournal(part: Part, budget: number, meter: Meter): Promise<Part | undefined> {
  const { turns } = part
  if (meter.tokensOf(turns) <= budget) return part

  const before = countCycles(turns)
  const last = turns.findLastIndex(({ kind }) => kind === 'cycle')
  const must = await keep(part, last, meter)
  const excess = meter.tokensOf(must) - budget
  if (excess > 0) {
    const shortened = await shortenLast(must, excess, meter)
    const dropped = before > 1 ? `dropped the ${before - 1} oldest iterations and ` : ''
    const note = `${dropped}shortened the results of the last iteration to stay within the budget`
    return shortened && { ...part, turns: shortened, note }
  }
  const room = budget - meter.tokensOf(must.filter(staysAlways))
  const kept = await keep(part, firstKept(turns, room, meter), meter)
  const dropped = before - countCycles(kept)
  const note = `dropped the ${dropped} oldest of ${before} iterations to stay within ${budget} tokens`
  return { ...part, turns: kept, note }
}

function countCycles(turns: readonly Turn[]): number {
  return turns.filter(({ kind }) => kind === 'cycle').length
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

/** Less than this of a result tells the model nothing. */
const FEWEST_RESULT_TOKENS = 40

/**
 * Cuts the results of the cycle in the middle, the longest ones first, until so many tokens are saved.
 * Undefined if that cannot be done without cutting what the model itself said.
 */
async function shortenLast(
  turns: readonly Turn[],
  excess: number,
  meter: Meter,
): Promise<Turn[] | undefined> {
  const last = turns.find(({ kind }) => kind === 'cycle')
  const [thought, ...results] = last?.messages ?? []
  if (thought === undefined || results.length === 0) return undefined
  const sizes = results.map(meter.tokens)
  const share = fairShare(sizes, sizes.reduce((sum, size) => sum + size) - excess)
  if (share < FEWEST_RESULT_TOKENS) return undefined

  const messages = [thought]
  for (const result of results) {
    const text = textOf(result.message.content)
    const fits = meter.tokens(result) <= share
    messages.push(fits ? result : await shrink(result, share, meter, (kept) => cutMiddle(text, kept)))
  }
  return turns.map((turn) => (turn === last ? { kind: 'cycle', messages } : turn))
}

/** The largest size to which the longest have to come down so that all fit. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (sizes.length - index))
    if (size > share) return share
    left -= size
  }
  return budget
}

/** Cuts by what a character of this text costs, and cuts again if the meter says that it was not enough. */
async function shrink(
  original: SizedMessage,
  tokens: number,
  meter: Meter,
  cut: (characters: number) => string,
): Promise<SizedMessage> {
  const length = textOf(original.message.content).length
  let characters = Math.floor((length * tokens) / meter.tokens(original))
  for (;;) {
    const sized = sizeMessage({ ...original.message, content: cut(Math.max(0, characters)) } as ChatMessage)
    await meter.count([sized])
    const taken = meter.tokens(sized)
    if (taken <= tokens || characters <= 0) return sized
    characters = Math.min(characters - 1, Math.floor(((characters * tokens) / taken) * 0.98))
  }
}

function cutMiddle(text: string, characters: number): string {
  const head = cleanHead(text, Math.ceil(characters / 2))
  const tail = text.slice(text.length - Math.floor(characters / 2)).replace(/^[\udc00-\udfff]/, '')
  return `${head}\n[${text.length - head.length - tail.length} characters left out to stay within the token budget]\n${tail}`
}

/** Never ends within a character. */
function cleanHead(text: string, characters: number): string {
  return text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
}
