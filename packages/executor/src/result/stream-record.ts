import { isUtf8 } from 'node:buffer'
import { unlinkSync } from 'node:fs'
import type { CapturedOutput } from '../channels.js'
import type { Redactor } from '../redact.js'
import { redactFile } from '../redact.js'

/** What is kept of one stream: small text here, everything else in a file. */
export interface StreamRecord {
  /** All that was written. */
  bytes: number
  /** The file with every byte, when the output was large or is not UTF-8. */
  path?: string
  /** The whole output, when it is small text. */
  text?: string
}

/** Larger outputs stay in their file. */
const INLINE_BYTES = 32 * 1024

/**
 * Decides what a record holds of one stream: its text when that is small, else the file.
 * Known secrets are taken out of both. The file of a small text stays until `removeInlined`.
 */
export function settleStream(captured: CapturedOutput, known: Redactor): StreamRecord {
  const { bytes, head, path } = captured
  if (bytes <= INLINE_BYTES && isUtf8(head)) return { bytes, text: known.text(captured.text) }
  if (path === undefined) return { bytes }
  if (known.active) redactFile(path, known)
  return { bytes, path }
}

/**
 * Removes the output files of a call whose text the result holds.
 * A caller that survives crashes does so itself, once the result is safe on disk.
 */
export function removeInlined(
  outputPrefix: string,
  { stdout, stderr }: { stdout: StreamRecord; stderr: StreamRecord },
): void {
  const { stdoutPath, stderrPath } = outputPaths(outputPrefix)
  if (stdout.path === undefined) removeFile(stdoutPath)
  if (stderr.path === undefined) removeFile(stderrPath)
}

/** `rmSync` does the same at many times the price. */
function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Where a call's output goes while it runs, and stays when it is large or binary. */
export function outputPaths(prefix: string): { stdoutPath: string; stderrPath: string } {
  return { stdoutPath: `${prefix}.stdout`, stderrPath: `${prefix}.stderr` }
}
