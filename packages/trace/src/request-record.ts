import { statSync } from 'node:fs'
import { LARGEST_TEXT_BYTES, readText, runPaths } from '@delta/journal/internal'
import type { LeftOut } from '@delta/model'
import { pathInRun } from './path-in-run.js'

/** What one source of `context.yaml`, or the definitions of the tools, is of a request, as its record says. */
export interface SentBlock {
  /** `tools` for the definitions. */
  source_id: string
  type: 'file' | 'text' | 'computed_file' | 'skills' | 'journal' | 'tools'
  /** Number of chat messages that it is, or is part of. */
  messages: number
  /** Index of the first of them in the conversation. */
  message?: number
  /** First byte of a text in the UTF-8 content of that message. */
  from?: number
  /** The byte after the last one of a text. */
  to?: number
  /** How many of the first bytes of a text are its header. */
  header_bytes?: number
  bytes: number
  /** Estimated. */
  tokens: number
  sha256: string
  note?: string
}

/** The record of a request: a file in `io/invocations/`. */
export interface RequestRecord {
  iteration: number
  timestamp: string
  sha256: string
  wire?: { api: string; list?: string }
  /** The lines of `io/parts.jsonl` that it is made of. */
  parts?: { parameters: number; messages: [number, number][] | null; list?: string }
  blocks: SentBlock[]
  rewritten_by?: string
  left_out?: LeftOut[]
  response?: unknown
  duration_ms?: number
}

/**
 * Undefined if there is no such record: in a run of an old layout, or after a power cut. One that is larger than 256 MiB, or holds
 * what no engine writes, counts as none: a tool may have written it.
 */
export async function readRecord(runDirectory: string, ref: string): Promise<RequestRecord | undefined> {
  try {
    const path = pathInRun(runDirectory, ref)
    if (path === undefined) return undefined
    const { request: _, ...record } = Object(JSON.parse(readText(path)))
    const all = { ...record, blocks: record.blocks ?? [] }
    return isRecord(all) ? all : undefined
  } catch {
    return undefined
  }
}

/** False for an `io/parts.jsonl` of more than 256 MiB: it would fill the memory. */
export function arePartsReadable(runDirectory: string): boolean {
  const { size = 0 } = statSync(runPaths(runDirectory).parts, { throwIfNoEntry: false }) ?? {}
  return size <= LARGEST_TEXT_BYTES
}

function isRecord(record: Fields): record is Fields & RequestRecord {
  const { timestamp, sha256, rewritten_by, duration_ms, wire, parts, left_out } = record
  return (
    [timestamp, sha256, rewritten_by].every((text) => text === undefined || typeof text === 'string') &&
    (duration_ms === undefined || isAmount(duration_ms)) &&
    (wire === undefined || typeof Object(wire).api === 'string') &&
    (parts === undefined || areParts(Object(parts))) &&
    (left_out === undefined || isListOf(left_out, isObject)) &&
    isListOf(record.blocks, isBlock)
  )
}

type Fields = Record<string, unknown>

/** More messages than any request has: a list of them is made of two numbers. */
const MOST_MESSAGES = 1e6

function areParts({ parameters, messages, list = '' }: Fields): boolean {
  if (!isCount(parameters) || typeof list !== 'string') return false
  if (messages === null) return true
  if (!isListOf(messages, isRange)) return false
  return messages.reduce((sum, [first, last]) => sum + last - first + 1, 0) <= MOST_MESSAGES
}

function isRange(value: unknown): value is [first: number, last: number] {
  return isListOf(value, isCount) && value.length === 2 && Number(value[0]) <= Number(value[1])
}

function isBlock(value: unknown): value is SentBlock {
  if (!isObject(value)) return false
  const {
    source_id,
    type,
    messages = 0,
    message = 0,
    from = 0,
    to = 0,
    header_bytes = 0,
    bytes,
    tokens,
  } = value
  return (
    typeof source_id === 'string' &&
    typeof type === 'string' &&
    (value.note === undefined || typeof value.note === 'string') &&
    [messages, message, from, to, header_bytes, bytes, tokens].every(isCount)
  )
}

function isListOf<Item>(value: unknown, is: (item: unknown) => item is Item): value is Item[] {
  return Array.isArray(value) && value.every(is)
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

/** No line, byte or token of a request has a larger number: sums of these stay exact. */
const MOST = 1e9

function isCount(value: unknown): value is number {
  return isAmount(value) && Number.isInteger(value)
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= MOST
}
