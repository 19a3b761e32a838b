import { ContextError } from '../errors.js'
import type { ContextManifest } from '../manifest/manifest.js'
import { sourceName } from '../manifest/manifest.js'
import type { Part } from '../part.js'
import { fitJournal } from './fit-journal.js'
import type { Meter } from './meter.js'
import { shortenText } from './shorten.js'

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
  const isUnlimited = ({ source }: Part) => source.maxTokens === undefined
  if (totalMaxTokens === undefined && parts.every(isUnlimited)) return [...parts]

  const fitted: Part[] = []
  for (const part of parts) fitted.push(part.source.type === 'journal' ? part : await fitText(part, meter))

  let left = totalMaxTokens ?? Number.POSITIVE_INFINITY
  for (const part of fitted) if (part.source.type !== 'journal') left -= meter.tokensOf(part.turns)
  if (left < 0) throw tooSmall(fitted, totalMaxTokens, meter)

  for (const [index, part] of fitted.entries()) {
    if (part.source.type !== 'journal') continue
    const journal = await fitJournal(part, Math.min(left, part.source.maxTokens ?? left), meter)
    if (journal === undefined) throw tooSmall(fitted, part.source.maxTokens ?? totalMaxTokens, meter)
    left -= meter.tokensOf(journal.turns)
    fitted[index] = journal
  }
  return fitted
}

async function fitText(part: Part, meter: Meter): Promise<Part> {
  const limit = part.source.maxTokens
  const tokens = meter.tokensOf(part.turns)
  if (limit === undefined || tokens <= limit) return part
  const message = await shortenText(part, limit, meter)
  if (message === undefined)
    return withoutText(part, `max_tokens ${limit} is too few for the beginning of its ${tokens}`)
  return {
    ...part,
    turns: [{ kind: 'system', messages: [message] }],
    note: `cut from ${tokens} to ${meter.tokens(message)} tokens (max_tokens)`,
  }
}

/** The model is better off without a block than with the mark of its cut, and a person is told. */
function withoutText(part: Part, why: string): Part {
  const warning = `context.yaml: "${sourceName(part.source)}" is left out: ${why}. Raise it.`
  return { ...part, turns: [], note: `left out: ${why}`, warning }
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
  const source = largest === undefined ? {} : { source: sourceName(largest.source) }
  return new ContextError('ERR_CONTEXT_BUDGET', `${message}\n${hint}`, source)
}
