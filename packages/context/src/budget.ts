import { ContextError } from './errors.js'
import type { ContextManifest } from './manifest.js'
import type { Meter } from './meter.js'
import { type Part, tokensOf, type WeighedTurn } from './part.js'
import { shortenResults, shortenText } from './shorten.js'
import { sourceName } from './source-name.js'

/**
 * Fits the parts into `max_tokens` of their sources and `total_max_tokens` of the whole.
 *
 * Blocks of text with a limit of their own are cut at the end; without one they stay whole. The journal takes what is
 * left: whole cycles, the newest first. What users said stays always, and so does the last cycle, in which only
 * results may be shortened.
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
  for (const part of fitted) if (part.source.type !== 'journal') left -= tokensOf(part.turns)
  if (left < 0) throw tooSmall(fitted, totalMaxTokens)

  for (const [index, part] of fitted.entries()) {
    if (part.source.type !== 'journal') continue
    const journal = await fitJournal(part, Math.min(left, part.source.maxTokens ?? left), meter)
    if (journal === undefined) throw tooSmall(fitted, part.source.maxTokens ?? totalMaxTokens)
    left -= tokensOf(journal.turns)
    fitted[index] = journal
  }
  return fitted
}

async function fitText(part: Part, meter: Meter): Promise<Part> {
  const limit = part.source.maxTokens
  const tokens = tokensOf(part.turns)
  if (limit === undefined || tokens <= limit) return part
  const message = await shortenText(part.turns[0]?.messages[0], limit, meter)
  return {
    ...part,
    turns: [{ kind: 'system', messages: [message] }],
    note: `cut from ${tokens} to ${message.tokens} tokens (max_tokens)`,
  }
}

/** Undefined if not even the users' messages and the last cycle fit. */
async function fitJournal(part: Part, budget: number, meter: Meter): Promise<Part | undefined> {
  const all = tokensOf(part.turns)
  if (all <= budget) return part

  const last = part.turns.findLastIndex(({ kind }) => kind === 'cycle')
  const must = part.turns.filter(({ kind }, index) => kind === 'user' || index >= last)
  const needed = tokensOf(must)
  if (needed > budget) return shortenLast(part, must, budget - needed, meter)

  const kept = keepNewest(part.turns, must, budget - needed)
  const before = cycles(part.turns)
  return {
    ...part,
    turns: kept,
    note: `dropped the ${before - cycles(kept)} oldest of ${before} iterations to stay within ${budget} tokens`,
  }
}

/** Goes back from the end until a turn does not fit; what must stay has been paid for. */
function keepNewest(
  turns: readonly WeighedTurn[],
  must: readonly WeighedTurn[],
  budget: number,
): WeighedTurn[] {
  const kept = new Set(must)
  let left = budget
  for (const turn of turns.toReversed()) {
    if (kept.has(turn)) continue
    left -= tokensOf([turn])
    if (left < 0) break
    kept.add(turn)
  }
  return turns.filter((turn) => kept.has(turn))
}

async function shortenLast(
  part: Part,
  must: readonly WeighedTurn[],
  excess: number,
  meter: Meter,
): Promise<Part | undefined> {
  const last = must.find(({ kind }) => kind === 'cycle')
  const shortened = last && (await shortenResults(last, tokensOf([last]) + excess, meter))
  if (shortened === undefined) return undefined
  const dropped = cycles(part.turns) - 1
  return {
    ...part,
    turns: must.map((turn) => (turn === last ? shortened : turn)),
    note: `dropped the ${dropped} oldest iterations and shortened the results of the last one to stay within the budget`,
  }
}

function cycles(turns: readonly WeighedTurn[]): number {
  return turns.filter(({ kind }) => kind === 'cycle').length
}

function tooSmall(parts: readonly Part[], limit: number | undefined): ContextError {
  const needs = parts.map((part) => {
    if (part.source.type !== 'journal') return `"${sourceName(part.source)}" ${tokensOf(part.turns)}`
    const users = part.turns.filter(({ kind }) => kind === 'user')
    return `"${sourceName(part.source)}" at least ${tokensOf(users)} for what users said, and the last iteration`
  })
  const message = `context.yaml: ${limit} tokens are too few for what must stay: ${needs.join(', ')}.`
  const hint = 'Raise total_max_tokens, or give the largest source max_tokens.'
  const [largest] = parts.toSorted((one, other) => tokensOf(other.turns) - tokensOf(one.turns))
  const source = largest === undefined ? {} : { source: sourceName(largest.source) }
  return new ContextError('ERR_CONTEXT_BUDGET', `${message}\n${hint}`, source)
}
