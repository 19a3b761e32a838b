import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { openAtOnce } from '@delta/durable/internal'
import { type ContextVariables, whereItLeads } from './variables.js'

/** About four times a context window of a million tokens. */
export const LARGEST_TEXT = 16 * 1024 * 1024
/** Providers take no larger images. */
export const LARGEST_MEDIA = 5_000_000

/** Why a file cannot be read, and what to do. */
export interface Refusal {
  message: string
  hint: string
  isMissing?: true
}

/** Reads a file for a model: at most `largest` bytes. */
export function readBytes(
  path: string,
  largest: number,
  variables: ContextVariables,
): { bytes: Buffer } | Refusal {
  try {
    const file = openAtOnce(path)
    try {
      return readOpen(file, path, largest, variables)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const create = 'Create the file, or say that it may be missing: on_missing: skip'
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { isMissing: true, message: 'does not exist', hint: create }
    if (code === 'EISDIR') return { message: 'is a directory, not a file', hint: 'Name a file in it.' }
    return {
      message: `cannot be read: ${message}`,
      hint: 'Change its permissions, or name another file.',
    }
  }
}

function readOpen(
  file: number,
  path: string,
  largest: number,
  variables: ContextVariables,
): { bytes: Buffer } | Refusal {
  const status = fstatSync(file, { bigint: true })
  const target = whereItLeads(path, variables, status)
  if (target !== undefined)
    return {
      message: `is a link that leads out of the workspace, to ${target}`,
      hint: 'A tool may have made it. Copy the file into the workspace, or name it by its own path.',
    }
  if (status.size > largest) {
    const message = `is larger than ${Math.floor(largest / 1_000_000)} MB`
    return { message, hint: largest === LARGEST_TEXT ? TEXT_HINT : 'Make it smaller.' }
  }
  return { bytes: readFileSync(file) }
}

const TEXT_HINT = 'Name a text file, or extract what the model needs with a computed_file.'

/** UTF-8 text, without its byte order mark. */
export function textIn(bytes: Buffer): string | Refusal {
  if (bytes.includes(0)) return { message: 'is not a text file: it contains NUL bytes', hint: TEXT_HINT }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { message: 'is not UTF-8 text', hint: TEXT_HINT }
  }
}
