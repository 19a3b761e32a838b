import { basename, join } from 'node:path'
import { JournalError } from '@delta/journal'
import { costOf, readBody, recordsIn, runPaths } from '@delta/journal/internal'
import type { Rates } from '@delta/journal/runs'
import type { CountedTokens, PaidEvent } from './prices.js'
import { arePartsReadable, type RequestRecord, readRecord, type SentBlock } from './request-record.js'
import { type Share, shareInput } from './shares.js'

/** A block of a request, with its share of what the provider counted. */
export interface CostedBlock extends SentBlock, Share {}

/** A request to the model, and what its answer cost. */
export interface SentRequest {
  /** The record, relative to the run's directory. Empty if there is none. */
  ref: string
  /** The iteration. */
  n: number
  /** When it was recorded, just before it was sent. Undefined without a record. */
  at: Date | undefined
  /** The model that answered, else the one that was asked. */
  model: string
  provider: string | null
  /** Size of the body; 0 if the journal does not say. */
  bytes: number
  /** SHA-256 of the body, in hexadecimal. Empty without a record. */
  sha256: string
  /** Null: the provider did not count them, or there was no answer. */
  tokens: CountedTokens | null
  /** The tokens of the request as the context estimated them. */
  estimate: number
  /** US dollars for a million tokens. Null: not known. */
  price: Rates | null
  /** US dollars. Null: not known. */
  cost: number | null
  /** True when an answer came that this run paid for. */
  isPaid: boolean
  /** In the order of the request. With `rewrittenBy`, what they were before. */
  blocks: CostedBlock[]
  /** The hook that changed it after its blocks were measured. */
  rewrittenBy?: string
  finishReason?: string
  /** The API that it was sent to. */
  api?: string
  /** The lines of `io/parts.jsonl` that it is made of: messages by first and last, null for none. */
  parts?: { parameters: number; messages: [first: number, last: number][] | null; list?: string }
  /** How long the model took. Milliseconds; undefined without an answer. */
  durationMs?: number
  /**
   * The body, byte for byte as it was sent.
   *
   * @throws {JournalError} `ERR_REQUEST_CORRUPT`, `ERR_REQUEST_NOT_FOUND`.
   */
  body(): Promise<string>
  /** The answer as the provider sent it; undefined if none is recorded. */
  response(): Promise<unknown>
}

/** What is known of a request from the journal. */
interface Known {
  n: number
  ref: string | undefined
  /** The event of its answer. */
  event?: PaidEvent
  /** The model that the agent names. */
  model: string
  isPaid: boolean
}

/** Reads the record of a request. Without one, what the journal says is all. */
export async function sentRequest(runDirectory: string, known: Known): Promise<SentRequest> {
  const { n, ref, event, model, isPaid } = known
  const record: Partial<RequestRecord> = (ref && (await readRecord(runDirectory, ref))) || {}
  const { blocks = [], rewritten_by: rewrittenBy, wire, parts, duration_ms: durationMs } = record
  const tokens = event?.tokens ?? null
  const estimate = blocks.reduce((sum, block) => sum + block.tokens, 0)
  const finishReason = event && 'finish_reason' in event ? event.finish_reason : undefined
  const name = ref === undefined ? undefined : basename(ref)
  return {
    ref: ref ?? '',
    n,
    at: record.timestamp === undefined ? undefined : new Date(record.timestamp),
    model: event?.model ?? model,
    provider: event?.provider ?? null,
    bytes: (event && 'request_bytes' in event ? event.request_bytes : undefined) ?? 0,
    sha256: record.sha256 ?? '',
    tokens,
    estimate,
    price: event?.price ?? null,
    cost: costIn(event),
    isPaid,
    blocks: shareInput(blocks, ({ tokens: weight }) => weight, tokens),
    ...(rewrittenBy !== undefined && { rewrittenBy }),
    ...(finishReason !== undefined && { finishReason }),
    ...(wire && { api: wire.api }),
    ...(parts && { parts }),
    ...(durationMs !== undefined && { durationMs }),
    async body() {
      if (!arePartsReadable(runDirectory)) throw tooLarge(runDirectory)
      return name === undefined ? '' : readBody(runDirectory, name)
    },
    async response() {
      return ref === undefined ? undefined : (await readRecord(runDirectory, ref))?.response
    },
  }
}

function tooLarge(runDirectory: string): JournalError {
  const { parts: path } = runPaths(runDirectory)
  const message = `${path}: It is larger than 256 MiB, and is not read. The run itself is not affected.`
  return new JournalError('ERR_REQUEST_CORRUPT', message, { path })
}

function costIn(event: PaidEvent | undefined): number | null {
  if (!event?.price) return null
  if (event.tokens) return costOf(event.tokens, event.price)
  const isFree = Object.values(event.price).every((rate) => typeof rate !== 'number' || rate === 0)
  return isFree ? 0 : null
}

/** Finds the record of the last request of an iteration, for requests that no event names. */
export function lastRecordOf(runDirectory: string): (n: number) => string | undefined {
  let byIteration: Map<string | undefined, string> | undefined
  return (n) => {
    byIteration ??= new Map(
      recordsIn(runPaths(runDirectory).invocations).map((name) => [/_(\d+)\.json$/.exec(name)?.[1], name]),
    )
    const name = byIteration.get(String(n))
    return name === undefined ? undefined : join('io', 'invocations', name)
  }
}
