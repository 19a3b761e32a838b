import type { ChatMessage } from '@delta/model'
import { textOf } from '@delta/model/internal'
import { keepFrom, type MessageGroup, messagesOf } from './conversation.js'
import { ContextError } from './errors.js'
import { type ContextManifest, sourceName } from './manifest.js'
import { type Media, type Sized, type SizedMessage, sizeMessage } from './size.js'
import type { Part } from './sources.js'
import type { Meter } from './tokens.js'

/** Cuts each text with `max_tokens` at its end. One without stays whole. */
export async function fitTexts(parts: readonly Part[], meter: Meter): Promise<Part[]> {
  const fitted: Part[] = []
  for (const part of parts) fitted.push(part.source.type === 'journal' ? part : await fitText(part, meter))
  return fitted
}

/**
 * Fits parts, of which the texts are cut, into `total_max_tokens` of the whole, the definitions of the tools among it. The journal
 * gets the tokens that are left, or its own `max_tokens`.
 *
 * @throws {ContextError} `ERR_CONTEXT_BUDGET`: the parts that must stay do not fit.
 */
export async function fitIntoBudget(
  parts: readonly Part[],
  { totalMaxTokens, tools }: Pick<ContextManifest, 'totalMaxTokens'> & { tools: Sized | undefined },
  meter: Meter,
): Promise<Part[]> {
  const fitted = [...parts]
  const whole = { limit: totalMaxTokens, tools }
  let left = (totalMaxTokens ?? Number.POSITIVE_INFINITY) - (tools ? meter.tokens(tools) : 0)
  for (const part of fitted) if (part.source.type !== 'journal') left -= meter.tokensOf(part.groups)
  if (left < 0) throw tooSmall(fitted, whole, meter)

  for (const [index, part] of fitted.entries()) {
    if (part.source.type !== 'journal') continue
    const { maxTokens = left } = part.source
    const budget = Math.min(left, maxTokens)
    if (budget === Number.POSITIVE_INFINITY) continue
    const journal = await fitJournal(part, budget, meter)
    if (journal === undefined) throw tooSmall(fitted, maxTokens < left ? { limit: maxTokens } : whole, meter)
    left -= meter.tokensOf(journal.groups)
    fitted[index] = journal
  }
  return fitted
}

/** @param what - The limit, and the definitions of the tools if they count in it. */
function tooSmall(
  parts: readonly Part[],
  { limit, tools }: { limit: number | undefined; tools?: Sized | undefined },
  meter: Meter,
): ContextError {
  const ofTools = tools ? meter.tokens(tools) : 0
  const needs = parts.map((part) => {
    if (part.source.type !== 'journal') return `"${sourceName(part.source)}" ${meter.tokensOf(part.groups)}`
    const users = part.groups.filter(({ kind }) => kind === 'user')
    return `"${sourceName(part.source)}" at least ${meter.tokensOf(users)} for what users said, and the last iteration`
  })
  const all = tools ? [`the tools ${ofTools}`, ...needs] : needs
  const message = `context.yaml: ${limit} tokens are too few for what must stay: ${all.join(', ')}.`
  const largestFirst = parts.toSorted(
    (one, other) => meter.tokensOf(other.groups) - meter.tokensOf(one.groups),
  )
  const largestText = largestFirst.find(({ source }) => source.type !== 'journal') // a journal can be shortened
  if (tools && ofTools > (largestText ? meter.tokensOf(largestText.groups) : 0)) {
    const hint = 'Raise total_max_tokens, or give the agent fewer tools.'
    return new ContextError('ERR_CONTEXT_BUDGET', `${message}\n${hint}`, 'tools')
  }
  const hint = 'Raise total_max_tokens, or give the largest source max_tokens.'
  const [largest] = largestFirst
  return new ContextError('ERR_CONTEXT_BUDGET', `${message}\n${hint}`, largest && sourceName(largest.source))
}

const CUT_HERE = '\n[cut here: the rest exceeds max_tokens]'

/** Cuts the end of a text, and marks the cut. A text without room for its beginning is left out, with a warning. */
async function fitText(part: Part, meter: Meter): Promise<Part> {
  const { source, groups, header = '' } = part
  const limit = source.maxTokens
  const block = groups[0]?.messages[0]
  if (limit === undefined || block === undefined || meter.tokens(block) <= limit) return part

  const text = textOf(block.message.content)
  const isText = typeof block.message.content === 'string' // nobody can read a piece of an image
  const shortened = isText
    ? await shrink(block, limit, meter, (kept) => cleanHead(text, kept) + CUT_HERE)
    : block
  const beginning = text.slice(0, header.length + 1) // a header alone is of no use
  const isCutBelow = textOf(shortened.message.content).startsWith(beginning)
  if (!isCutBelow || meter.tokens(shortened) > limit) {
    const what = isText ? 'the beginning of its' : 'its'
    const why = `max_tokens ${limit} is too few for ${what} ${meter.tokens(block)}`
    const warning = `context.yaml: "${sourceName(source)}" is left out: ${why}. Raise it.`
    return { ...part, groups: [], note: `left out: ${why}`, warnings: [...(part.warnings ?? []), warning] }
  }
  const note = `cut from ${meter.tokens(block)} to ${meter.tokens(shortened)} tokens (max_tokens)`
  return { ...part, groups: [{ kind: 'system', messages: [shortened] }], note }
}

/**
 * Fits a conversation into a budget of tokens by dropping its oldest iterations, each as a whole. Messages of users always
 * stay, and so does the last iteration, in which only results may be shortened. Undefined if even that does not fit.
 */
async function fitJournal(part: Part, budget: number, meter: Meter): Promise<Part | undefined> {
  const { groups } = part
  if (meter.tokensOf(groups) <= budget) return part

  const before = countIterations(groups)
  const last = groups.findLastIndex(({ kind }) => kind === 'iteration')
  const must = await keep(part, last, meter)
  const excess = meter.tokensOf(must) - budget
  if (excess > 0) {
    const shortened = await shortenLast(must, excess, meter)
    const dropped = before > 1 ? `dropped the ${before - 1} oldest iterations and ` : ''
    const note = `${dropped}shortened the results of the last iteration to stay within the budget`
    return shortened && { ...part, groups: shortened, note }
  }
  const room = budget - meter.tokensOf(must.filter(staysAlways))
  const kept = await keep(part, firstKept(groups, room, meter), meter)
  const dropped = before - countIterations(kept)
  const note = `dropped the ${dropped} oldest of ${before} iterations to stay within ${budget} tokens`
  return { ...part, groups: kept, note }
}

function countIterations(groups: readonly MessageGroup[]): number {
  return groups.filter(({ kind }) => kind === 'iteration').length
}

async function keep({ source, groups }: Part, start: number, meter: Meter): Promise<MessageGroup[]> {
  const kept = keepFrom(groups, start, source.type === 'journal' ? source.dropped : undefined)
  await meter.count(messagesOf(kept.filter(({ kind }) => kind === 'dropped')))
  return kept
}

/** The mark counts here at its longest: as if only the last iteration were kept. */
function staysAlways({ kind }: MessageGroup): boolean {
  return kind === 'user' || kind === 'dropped'
}

/**
 * The index of the first group that is kept. The last iteration fits.
 *
 * Among the iterations that leave the room at least half full, the first one kept is that whose number is divisible by the highest
 * power of two. So the beginning stays the same for many iterations, and a provider's cache stays of use. Nothing is remembered:
 * the same journal always gives the same answer.
 */
function firstKept(groups: readonly MessageGroup[], room: number, meter: Meter): number {
  const fitting: { index: number; power: number; taken: number }[] = []
  let taken = 0
  for (let index = groups.length - 1; index >= 0; index--) {
    const group = groups[index]
    if (group === undefined || staysAlways(group)) continue
    taken += meter.tokensOf([group])
    if (taken > room) break
    if (group.kind === 'iteration') fitting.push({ index, power: powerOfTwo(group.iteration), taken })
  }
  const ample = fitting.filter((start) => start.taken >= room / 2)
  const highest = Math.max(...ample.map(({ power }) => power))
  const start = ample.find(({ power }) => power === highest) ?? fitting.at(-1)
  return start?.index ?? groups.length
}

/** The highest power of two that divides a number. */
function powerOfTwo(iteration = 1): number {
  return iteration & -iteration
}

/** A shorter result is of no use to the model. */
const FEWEST_RESULT_TOKENS = 40

/**
 * Cuts the results of the last iteration in the middle, the longest first, until `excess` tokens are saved. Undefined if that is
 * impossible without cutting the model's own words.
 */
async function shortenLast(
  groups: readonly MessageGroup[],
  excess: number,
  meter: Meter,
): Promise<MessageGroup[] | undefined> {
  const last = groups.find(({ kind }) => kind === 'iteration')
  const [thought, ...results] = last?.messages ?? []
  if (thought === undefined || results.length === 0) return undefined
  const sizes = results.map(meter.tokens)
  const share = fairShare(sizes, sizes.reduce((sum, size) => sum + size) - excess)
  if (share < FEWEST_RESULT_TOKENS) return undefined

  const messages = [thought]
  for (const result of results) {
    messages.push(meter.tokens(result) <= share ? result : await shortenResult(result, share, meter))
  }
  return groups.map((group) => (group === last ? { kind: 'iteration', messages } : group))
}

/** Leaves out the images and files of a result first, and cuts its text if that is not enough. */
async function shortenResult(result: SizedMessage, tokens: number, meter: Meter): Promise<SizedMessage> {
  const { content } = result.message
  if (content === null || typeof content === 'string')
    return shrink(result, tokens, meter, (kept) => cutMiddle(content ?? '', kept))
  const text = content.map((part) => (part.type === 'text' ? part.text : leftOut(part))).join('')
  const plain = sizeMessage({ ...result.message, content: text } as ChatMessage)
  await meter.count([plain])
  return meter.tokens(plain) <= tokens ? plain : shortenResult(plain, tokens, meter)
}

function leftOut({ type, media_type }: Media): string {
  return `\n[${type} ${media_type} left out to stay within the token budget]\n`
}

/** The size to which the longest are shortened so that all fit. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget
  for (const [index, size] of sizes.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (sizes.length - index))
    if (size > share) return share
    left -= size
  }
  return budget
}

/** Cuts by the tokens that a character of this text costs, and again until the meter is content. */
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

/** The first characters, without half of a surrogate pair at the end. */
function cleanHead(text: string, characters: number): string {
  return text.slice(0, characters).replace(/[\ud800-\udbff]$/, '')
}
