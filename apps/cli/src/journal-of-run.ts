import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The journal of a run of any layout: the first one kept it in `execution/`. */
export function journalOfRun(directory: string): string {
  const old = join(directory, 'execution', 'journal.jsonl')
  const journal = join(directory, 'journal.jsonl')
  return !existsSync(journal) && existsSync(old) ? old : journal
}
