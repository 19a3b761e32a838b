import { isUtf8 } from 'node:buffer'
import { unlinkSync } from 'node:fs'
import type { CapturedOutput } from './captured.js'
import { redactFile } from './redact-file.js'
import type { Redactor } from './redactor.js'

/** What is kept of one stream: small text here, everything else in a file. */
export interface StreamRecord {
  bytes: number
  /** The file with every byte, when the output was large or is not UTF-8. */
  path?: string
  /** The whole output, when it is small text. */
  text?: string
}

/** Larger outputs stay in their file. */
export const INLINE_BYTES = 32 * 1024

/**
 * Decides where one stream's output stays, and removes its file when it fits into the record.
 * Known secrets are taken out of both.
 */
export function settleStream(captured: CapturedOutput, known: Redactor): StreamRecord {
  const { bytes, head, path } = captured
  if (bytes <= INLINE_BYTES && captured.omittedBytes === 0 && isUtf8(head)) {
    if (path !== undefined) unlinkSync(path)
    return { bytes, text: known.active ? known.text(captured.text) : captured.text }
  }
  if (path === undefined) return { bytes }
  if (known.active) redactFile(path, known)
  return { bytes, path }
}
