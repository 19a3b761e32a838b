import { basename } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { liesInParentRun } from '@delta/config-loader/internal'
import { watchAnswers } from '@delta/journal/internal'
import { normaliseUsage, type Tokens } from '@delta/model'
import { FREE, mergeRows, type PriceRow, providerAt } from '@delta/model/internal'
import { VENDORS } from '@delta/model/vendors'
import { EngineError } from './errors.js'
import type { Purse } from './limits.js'
import type { EngineOptions } from './options.js'
import { type PriceAnswer, type RunState, record } from './run-state.js'

/** The prices of an agent's model. */
export interface Pricing {
  /** The rows of the person, the agent and its caller in one list, as the run records them; without the shipped ones. */
  rows: readonly PriceRow[]
  priceAnswer: PriceAnswer
}

type PricingOptions = Pick<EngineOptions, 'prices' | 'credentials' | 'model' | 'env'>

/**
 * What a run prices its answers with.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_PRICE`: a limit of dollars holds, and nobody knows a price.
 */
export async function pricing(agent: Agent, options: PricingOptions, purse: Purse): Promise<Pricing> {
  const rows = rowsFor(agent, options, purse)
  const { provider, address, ratesFor } = ratesOf(agent, options, rows)
  if (purse.costLimit !== undefined && !(await isPriced(agent, options, rows)))
    throw noPrice(agent, address, purse.costLimit)
  const priceAnswer: PriceAnswer = async ({ usage, model, waitedMs = 0 }) => {
    const tokens = normaliseUsage(usage)
    return {
      ...(usage === Object(usage) ? { usage: usage as Record<string, unknown> } : {}),
      ...(tokens ? { tokens } : {}),
      ...(model === undefined ? {} : { model }),
      provider,
      price: await ratesFor(model, tokens),
      ...(waitedMs > 0 ? { waited_ms: waitedMs } : {}),
    }
  }
  return { rows, priceAnswer }
}

/** True if a limit of dollars can hold for the agent, so that a run with one begins. */
export async function hasPrice(agent: Agent, options: PricingOptions): Promise<boolean> {
  return isPriced(agent, options, ownRows(agent, options))
}

async function isPriced(agent: Agent, options: PricingOptions, rows: readonly PriceRow[]): Promise<boolean> {
  const isToldLater = agent.llm.model === undefined && rows.length > 0 // by the name of the model that answers
  return isToldLater || (await ratesOf(agent, options, rows).ratesFor(undefined, null)) !== null
}

function ratesOf(agent: Agent, options: PricingOptions, rows: readonly PriceRow[]) {
  const { address, provider } = paidTo(agent, options)
  const free = provider === 'script' ? FREE : null
  const isAsked = rows.length > 0 || (address !== undefined && provider !== null)
  const ratesFor = async (model: string | undefined, tokens: Tokens | null) => {
    const table = isAsked ? await import('@delta/model/prices') : undefined
    return table ? table.ratesFor({ models: [model, agent.llm.model], provider, rows: [rows], tokens }) : free
  }
  return { address, provider, ratesFor }
}

function ownRows(agent: Agent, { prices }: PricingOptions): readonly PriceRow[] {
  return mergeRows([prices?.first, agent.prices, prices?.last])
}

/** Where a limit of a run above holds, a model may not choose prices: only the caller's count, and those of an author's file. */
function rowsFor(agent: Agent, options: PricingOptions, purse: Purse): readonly PriceRow[] {
  if (purse.prices === undefined) return ownRows(agent, options)
  const { env = process.env } = options
  const { home, snapshot } = agent
  const isSet = snapshot.overrides.some((text) => /^prices\b/.test(text))
  const isOfAuthor = home !== undefined && !snapshot.isDefined && !isSet && !liesInParentRun(home, env)
  return mergeRows([purse.prices, isOfAuthor ? agent.prices : undefined])
}

/** Who is paid for an answer; a replay costs nothing, like a script. */
function paidTo({ llm, model: defined }: Agent, { credentials, model: own }: PricingOptions) {
  const name = own || defined ? undefined : llm.provider
  const vendor = VENDORS.find(({ id, url }) => id === name && url !== undefined)
  const address = vendor && (credentials?.baseUrl ?? llm.baseUrl ?? vendor.url)
  if (address !== undefined) return { address, provider: providerAt(address) }
  return { provider: name === 'script' || name === 'replay' ? 'script' : null }
}

function noPrice({ llm }: Agent, address: string | undefined, costLimit: string): EngineError {
  const at = address && URL.canParse(address) ? ` at ${new URL(address).origin}` : ''
  const needs = `needs a price for ${llm.model ?? 'the model'}${at}`
  const message =
    costLimit === 'own'
      ? `agent.yaml: limits.cost ${needs}. Add one under prices:, or use limits.tokens.`
      : `limits.cost of run ${basename(costLimit)} ${needs}. Add one under prices: of its agent, or use limits.tokens there.`
  return new EngineError('ERR_ENGINE_NO_PRICE', message)
}

/** Journals each answer that came and was not used: a kill, a signal or a hook ended an engine before its `THOUGHT`. */
export async function recordLostAnswers(state: RunState): Promise<void> {
  const answers = watchAnswers()
  for (const event of await state.run.events()) answers.add(event)
  for (const lost of answers.lostIn(state.run.directory)) {
    const { usage, model } = lost
    const paid = lost.price === undefined ? await state.priceAnswer({ usage, model: model ?? undefined }) : {}
    record(state, { ...lost, ...paid })
  }
}
