import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { namesIn } from '@delta/durable/internal'
import type { JournalError } from './errors.js'
import { readText, replaceFile } from './files.js'
import { parseJson } from './lines.js'
import type { RunPaths } from './run-paths.js'

let lastMs = 0

/** The time, for a file's name: a millisecond later than the last one when it would repeat it. */
export function recordStamp(time: Date): string {
  lastMs = Math.max(time.getTime(), lastMs + 1)
  return new Date(lastMs).toISOString().replace(/[-:.Z]/g, '')
}

/**
 * A name for a record: `20261120T093000123_<label>`, without an extension.
 *
 * No two calls of one process return the same name, even when the clock stands
 * still or goes backwards. Whatever the label holds, the name is one safe path
 * component: other characters than letters, digits, `_` and `-` become `-`.
 *
 * @param options.labelFirst - `<label>_20261120T093000123`: sorts by label, then by time.
 */
export function recordName(
  time: Date,
  label: string,
  options: { labelFirst?: boolean | undefined } = {},
): string {
  const safeLabel = label.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 64) || 'unnamed'
  const parts = [recordStamp(time), safeLabel]
  return (options.labelFirst ? parts.reverse() : parts).join('_')
}

/**
 * Creates a record file (0600) under a new name; not synced, because a record is evidence and not the truth. A clock that was set back repeats names of an earlier process; then the next
 * millisecond is free.
 *
 * @returns Its path.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
export function createRecord(directory: string, label: string, text: string): string {
  for (;;) {
    const path = join(directory, `${recordName(new Date(), label)}.json`)
    if (existsSync(path)) continue
    replaceFile(path, text, { sync: false })
    return path
  }
}

/**
 * Replaces what a record file holds: a reader sees it whole, as it was or as it is. A run goes on without evidence that a full
 * disk has no room for.
 *
 * @returns False for a full disk; the record is as it was.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
export function completeRecord(path: string, text: string): boolean {
  try {
    replaceFile(path, text, { sync: false })
    return true
  } catch (error) {
    const { code } = Object((error as JournalError).cause) as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') return false
    throw error
  }
}

/** The record of a command. It is on disk before the command starts. */
export interface CommandRecord {
  readonly path: string
  /** Its path relative to the run directory; goes into `execution_ref`. */
  readonly ref: string
  /** Replaces what it holds by what came of the command. False if the disk is full; it then holds what it held. */
  complete(outcome: object): boolean
}

/** @param options.fence - Called before something is written; throws when this writer has lost the right to write. */
export function recordCommand(
  { toolExecutions }: Pick<RunPaths, 'toolExecutions'>,
  { name, about, fence }: { name: string; about: object; fence: () => void },
): CommandRecord {
  fence()
  const path = createRecord(toolExecutions, name, textOf(about))

  function complete(outcome: object): boolean {
    fence()
    return completeRecord(path, textOf(outcome))
  }

  return { path, ref: `io/tool_executions/${basename(path)}`, complete }
}

function textOf(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** The names of the records of requests in a directory, oldest first. */
export function recordsIn(directory: string): string[] {
  return namesIn(directory)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

/** The iteration that the name of a record tells. */
export function iterationOf(name: string): number {
  return Number(/_(\d+)\.json$/.exec(name)?.[1])
}

/** Older versions wrote records in place: one that a crash tore is that of a request that was never answered. */
export function readRecord(path: string): Record<string, unknown> {
  return Object(parseJson(readText(path)))
}
