import type { EngineStart } from '@delta/journal/runs'
import { recordedParts } from '../recorded-parts.js'
import type { Trace } from '../trace.js'
import { chatOf, textOf } from './as-chat.js'

/** What a run began with: what no event says stands in its first request. */
export interface Beginning {
  /** The start of the first engine that was not copied from another run. */
  start: EngineStart | undefined
  /** The system messages at the beginning of the first request that is recorded. */
  system: { at: Date; text: string }[]
  /** The definitions of its tools, as Chat Completions spells them. */
  tools: object[]
}

/** Reads a run as far as its first recorded request. */
export async function beginningOf(trace: Trace): Promise<Beginning> {
  const starts: EngineStart[] = []
  const parts = recordedParts(trace.run.directory)
  let began: Date | undefined // a reader may order messages by their times, and these are the first
  for await (const step of trace.steps()) {
    starts.push(...step.starts)
    began ??= step.at
    const chat = await chatOf(step.request, parts)
    if (chat === undefined) continue
    const end = chat.messages.findIndex(({ role }) => role !== 'system')
    const system = chat.messages.slice(0, end === -1 ? undefined : end)
    const at = began
    return {
      start: firstOf(starts),
      system: system.map((message) => ({ at, text: textOf(message) })),
      tools: chat.tools,
    }
  }
  return { start: firstOf(starts), system: [], tools: [] }
}

function firstOf(starts: readonly EngineStart[]): EngineStart | undefined {
  return starts.find(({ inherited }) => !inherited) ?? starts[0]
}
