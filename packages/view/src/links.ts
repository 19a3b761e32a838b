import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'

/** What the readers of a run open below its directory without being told the name by its journal. */
const PARTS = [
  'journal.jsonl',
  'metadata.json',
  'execution',
  'execution/journal.jsonl',
  'io',
  'io/parts.jsonl',
  'io/blobs',
  'io/invocations',
  'io/tool_executions',
  'runtime_io',
  'configuration',
  'lease',
  'snapshots',
  'snapshots/objects',
]

/** The part of a run that is a link out of it, or to nothing. A tool may have put it there, to have another file shown. */
export function linkOutOf(directory: string): string | undefined {
  return PARTS.find((part) => {
    const path = join(directory, part)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return false
    return !existsSync(path) || !realpathSync.native(path).startsWith(directory + sep)
  })
}
