import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LeftOut } from '@delta/model'

/** What one source of `context.yaml`, or the definitions of the tools, is of a request, as its record says. */
export interface SentBlock {
  /** `tools` for the definitions. */
  source_id: string
  type: 'file' | 'text' | 'computed_file' | 'journal' | 'tools'
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

/** Undefined if there is no such record: in a run of an old layout, or after a power cut. */
export async function readRecord(runDirectory: string, ref: string): Promise<RequestRecord | undefined> {
  try {
    const path = join(runDirectory, ref)
    if (!(await stat(path)).isFile()) return undefined // reading a pipe would block
    const { request: _, ...record } = JSON.parse(await readFile(path, 'utf8'))
    return { ...record, blocks: [record.blocks ?? []].flat() }
  } catch {
    return undefined
  }
}
