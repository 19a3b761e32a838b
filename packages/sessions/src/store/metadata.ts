import { replaceFile } from '@delta/durable'
import { damaged } from '../errors.js'
import { readWhole } from './files.js'
import type { SessionPaths } from './paths.js'

/** `metadata.json`. Unknown members are kept. */
export interface SessionMetadata {
  session_id: string
  /** What was started: `bash`, `sh`, `python3`, or a path to one of them. */
  command: string
  /** Where that was when the session started. */
  program: string
  created_at: string
  last_executed_at: string | null
  status: 'active'
  work_dir: string
  execution_count: number
  /** The run that started the session, if one did: `cleanup` in that run removes it. */
  run_id?: string
  /** Names of variables whose values are never stored. */
  secret_names: string[]
  /** Commands that were left running, until `end`. */
  background_jobs: BackgroundJob[]
}

export interface BackgroundJob {
  pid: number
  /** The process's start time, which tells it from a later one with the same number. */
  start: string
  command: string
}

/** @throws {SessionError} `ERR_SESSION_DAMAGED`: not what we wrote. */
export function readMetadata(paths: SessionPaths): SessionMetadata {
  let value: unknown
  try {
    value = JSON.parse(readWhole(paths.metadata).toString('utf8'))
  } catch (error) {
    throw damaged(paths.metadata, error)
  }
  if (!isMetadata(value)) throw damaged(paths.metadata)
  return value
}

/** Replaces the whole file at once. */
export function writeMetadata(paths: SessionPaths, metadata: SessionMetadata): void {
  replaceFile(paths.metadata, `${JSON.stringify(metadata, null, 2)}\n`)
}

function isMetadata(value: unknown): value is SessionMetadata {
  if (typeof value !== 'object' || value === null) return false
  const { session_id, command, program, created_at, execution_count, secret_names, background_jobs } =
    value as Record<string, unknown>
  const texts = [session_id, command, program, created_at].every((one) => typeof one === 'string')
  return (
    texts &&
    Number.isInteger(execution_count) &&
    Array.isArray(secret_names) &&
    secret_names.every((name) => typeof name === 'string') &&
    Array.isArray(background_jobs) &&
    background_jobs.every(isJob)
  )
}

function isJob(value: unknown): boolean {
  const { pid, start } = Object(value) as Record<string, unknown>
  return Number.isInteger(pid) && Number(pid) > 1 && typeof start === 'string'
}
