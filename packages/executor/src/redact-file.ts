import { closeSync, openSync, readSync, renameSync } from 'node:fs'
import { writeWhole } from './pump.js'
import type { Redactor } from './redactor.js'
import { checkPath, requireThat } from './usage.js'

const CHUNK_BYTES = 1024 * 1024

/** Takes known secrets out of a file: it is rewritten beside and renamed, if it holds any at all. */
export function redactFile(path: string, known: Redactor): void {
  checkPath('redactFile: the path', path)
  const isRedactor = typeof Object(known).foundIn === 'function' && typeof Object(known).filter === 'function'
  requireThat(isRedactor, 'redactFile: the redactor', 'what createRedactor makes')
  if (!known.foundIn(chunksOf(path))) return
  const beside = `${path}.redacted`
  const target = openSync(beside, 'w', 0o600)
  try {
    const filter = known.filter()
    for (const chunk of chunksOf(path)) writeWhole(target, filter.push(chunk))
    writeWhole(target, filter.end())
  } finally {
    closeSync(target)
  }
  renameSync(beside, path)
}

/** The file's bytes, in one buffer that is used again and again. */
function* chunksOf(path: string): Generator<Buffer> {
  const source = openSync(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let count = readSync(source, buffer); count > 0; count = readSync(source, buffer)) {
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(source)
  }
}
