import type { FileChange, Trace } from '@delta/trace'
import { structuredPatch } from 'diff'
import type { ChangedFile, StepChanges } from './api.js'
import { beginning } from './cards.js'

/** Lines are compared of files up to this size. */
const LARGEST_FILE_BYTES = 1_000_000
const LARGEST_DIFF_BYTES = 64 * 1024
/** Of more files only the names are told. */
const MOST_DIFFS = 100

/** What a step did to the files, with a unified diff of each. */
export async function stepChanges(trace: Trace, n: number): Promise<StepChanges> {
  const changes = await trace.changes(n)
  if (changes === null || 'unknown' in changes) {
    const unknown = changes === null ? null : changes.unknown
    return { files: null, unknown, steps: [], omitted: [], omittedCount: 0 }
  }
  const { iterations: steps, files, omitted, omittedCount } = changes
  const shown: ChangedFile[] = []
  for (const [index, file] of files.entries()) shown.push(await changedFile(file, index < MOST_DIFFS))
  const reasons = omitted.map(({ path, why: reason }) => ({ path, reason }))
  return { files: shown, unknown: null, steps, omitted: reasons, omittedCount }
}

async function changedFile(change: FileChange, withDiff: boolean): Promise<ChangedFile> {
  const { path, kind, before, after } = change
  const isComparable = [before, after].every((file) => (file?.size ?? 0) <= LARGEST_FILE_BYTES)
  const [old, now] = withDiff && isComparable ? [await textOf(before), await textOf(after)] : []
  if (old === undefined || now === undefined) return { path, kind, added: null, removed: null, diff: null }
  const { hunks } = structuredPatch('', '', old, now, '', '', { context: 3, timeout: 1000 }) ?? { hunks: [] }
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    ...lines,
  ])
  const added = lines.filter((line) => line.startsWith('+')).length
  const removed = lines.filter((line) => line.startsWith('-')).length
  return { path, kind, added, removed, diff: beginning(lines.join('\n'), LARGEST_DIFF_BYTES) }
}

/** Undefined for bytes that are no text. A file that is not there is empty. */
async function textOf(file: FileChange['before']): Promise<string | undefined> {
  if (file === null) return ''
  const bytes = await file.read()
  return bytes.includes(0) ? undefined : bytes.toString()
}
