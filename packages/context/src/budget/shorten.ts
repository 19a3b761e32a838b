import { type ChatMessage, textOf } from '@delta/model'
import type { Turn } from '../conversation/turn.js'
import { type SizedMessage, sizeMessage } from '../conversation/turn.js'
import type { Part } from '../part.js'
import type { Meter } from './meter.js'

/** Less than this of a result tells the model nothing. */
const FEWEST_RESULT_TOKENS = 40

const CUT_HERE = '\n[cut here: the rest exceeds max_tokens]'

/** A block of text without its end, which is marked. Undefined if there is no room for more than its title. */
export async function shortenText(
  { turns, header }: Part,
  tokens: number,
  meter: Meter,
): Promise<SizedMessage | undefined> {
  const block = turns[0]?.messages[0]
  if (block === undefined) throw new TypeError('only a block that has text can be cut')
  const text = textOf(block.message.content)
  const shortened = await shrink(block, tokens, meter, (characters) => {
    return cleanHead(text, characters) + CUT_HERE
  })
  const beginning = text.slice(0, header.length + 1) // a title says nothing without what is below it
  const says = textOf(shortened.message.content).startsWith(beginning)
  return says && meter.tokens(shortened) <= tokens ? shortened : undefined
}

/**
 * A cycle whose results are cut in the middle, the longest ones first, so that it has at most so many tokens.
 * Undefined if that cannot be done without cutting what the model itself said.
 */
export async function shortenResults(cycle: Turn, tokens: number, meter: Meter): Promise<Turn | undefined> {
  const [thought, ...results] = cycle.messages
  if (thought === undefined) return undefined
  const budget = tokens - meter.tokens(thought)
  const share = fairShare(results.map(meter.tokens), budget)
  if (results.length === 0 || share < FEWEST_RESULT_TOKENS) return undefined

  const shortened: SizedMessage[] = []
  for (const result of results) {
    const text = textOf(result.message.content)
    shortened.push(
      meter.tokens(result) <= share
        ? result
        : await shrink(result, share, meter, (kept) => cutMiddle(text, kept)),
    )
  }
  return { kind: 'cycle', messages: [thought, ...shortened] }
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
    const message = { ...original.message, content: cut(Math.max(0, characters)) } as ChatMessage
    const sized = sizeMessage(message)
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
