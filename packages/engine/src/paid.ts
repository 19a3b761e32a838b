import type { Agent } from '@delta/config-loader'
import { answersSince } from '@delta/journal/internal'
import { isKnownEvent, type NewEvent, type StoredEvent } from '@delta/journal/runs'
import { normaliseUsage } from '@delta/model'
import { FREE, providerAt } from '@delta/model/internal'
import { VENDORS } from '@delta/model/vendors'
import type { EngineOptions } from './options.js'
import { type PriceAnswer, type RunState, record } from './run-state.js'

/** @returns What prices the answers of an agent's model. */
export function pricing(
  agent: Agent,
  { prices, credentials, model: own }: Pick<EngineOptions, 'prices' | 'credentials' | 'model'>,
): PriceAnswer {
  const { llm, model: defined } = agent
  const rows = [prices?.first, agent.prices, prices?.last].filter((list) => list !== undefined)
  const provider = own || defined ? undefined : llm.provider
  const vendor = VENDORS.find(({ id, url }) => id === provider && url !== undefined)
  const address = vendor && (credentials?.baseUrl ?? llm.baseUrl ?? vendor.url)
  // a replay costs nothing either
  const free = provider === 'script' || provider === 'replay' ? 'script' : null
  const paidTo = address === undefined ? free : providerAt(address)
  const isAsked = rows.length > 0 || (address !== undefined && paidTo !== null)
  return async ({ usage, model, waitedMs = 0 }) => {
    const tokens = normaliseUsage(usage)
    const table = isAsked ? await import('@delta/model/prices') : undefined
    const request = { models: [model, llm.model], provider: paidTo, rows, tokens }
    return {
      ...(usage === Object(usage) ? { usage: usage as Record<string, unknown> } : {}),
      ...(tokens ? { tokens } : {}),
      ...(model === undefined ? {} : { model }),
      provider: paidTo,
      price: table ? table.ratesFor(request) : free && FREE,
      ...(waitedMs > 0 ? { waited_ms: waitedMs } : {}),
    }
  }
}

/**
 * Journals each answer that came and was not used: a kill, a signal or a hook ended an engine before its `THOUGHT`. It was paid for.
 */
export async function recordLostAnswers(state: RunState): Promise<void> {
  const { lastIteration } = state.run.summary()
  const known = namedIn(await state.run.events())
  const answers = answersSince(state.run.directory, lastIteration, { except: known })
  for (const { ref, iteration, usage, model } of answers) {
    const lost: NewEvent = {
      type: 'ERROR',
      iteration,
      error_message: `The answer of iteration ${iteration} was lost when the engine ended. It was paid for.`,
      error_details: { code: 'lost_answer', llm_invocation_ref: ref },
      recoverable: true,
      tokens: null, // of an answer that nobody counted, too
      ...(await state.priceAnswer({ usage, model })),
    }
    record(state, lost)
  }
}

/** The records of requests that an event names. */
function namedIn(events: readonly StoredEvent[]): Set<unknown> {
  return new Set(
    events.filter(isKnownEvent).map((event) => {
      if (event.type === 'THOUGHT') return event.llm_invocation_ref
      return event.type === 'ERROR' ? Object(event.error_details).llm_invocation_ref : undefined
    }),
  )
}
