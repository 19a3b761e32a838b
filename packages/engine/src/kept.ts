import { mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { changedKeys } from '@delta/config-loader/internal'
import { readIfThere, replaceFile } from '@delta/durable'
import { namesIn } from '@delta/durable/internal'
import type { Run, RunSummary } from '@delta/journal/runs'

/** A file of the agent that has changed or gone since the run's last start. */
export interface Change {
  /** As it is kept: `agent.yaml` is the agent as it was loaded, with its imports and what is set. */
  file: string
  /** In YAML, the paths of the keys that differ; otherwise, or if the file is new or gone, none. */
  keys: string[]
}

/** What has changed in the agent since the run's last start; empty if its files were not kept. */
export function changesSince({ directory }: Pick<RunSummary, 'directory'>, agent: Agent): Change[] {
  const before = lastKept(join(directory, 'configuration'))
  if (before === undefined) return []
  const { files } = agent.snapshot
  const isItself = agent.home !== undefined && agent.home === realpathSync(before) // it was loaded from there
  const names = new Set([...Object.keys(files), ...(isItself ? [] : namesIn(before))])
  return [...names].flatMap((file) => {
    const [old, now] = [readIfThere(join(before, file))?.toString(), files[file]]
    if (old === now) return []
    if (old === undefined || now === undefined || !file.endsWith('.yaml')) return [{ file, keys: [] }]
    const keys = changedKeys(old, now)
    return keys?.length === 0 ? [] : [{ file, keys: keys ?? [] }]
  })
}

const MAX_KEYS = 5

/** `agent.yaml: llm.stream; system_prompt.md`; undefined without a change. */
export function changesInWords(changes: readonly Change[]): string | undefined {
  const files = changes.map(({ file, keys }) => {
    const more = keys.length > MAX_KEYS ? ', …' : ''
    return keys.length === 0 ? file : `${file}: ${keys.slice(0, MAX_KEYS).join(', ')}${more}`
  })
  return files.length === 0 ? undefined : files.join('; ')
}

/** A line with what has changed in the agent since the run's last start; undefined without a change. */
export function changeNotice(changes: readonly Change[]): string | undefined {
  const words = changesInWords(changes)
  return words && `Changed since this run was last started: ${words}`
}

/**
 * Copies the agent's files to `configuration/<seq>/` when they differ from the last copy; `seq` is that of the `ENGINE_START`.
 * The copy is a record for people and never executed. The directory gets its number once it is complete and on disk: otherwise
 * files missing after a crash or on a full disk would count as changed.
 */
export function keepConfiguration(
  run: Run,
  agent: Agent,
  { seq, isChanged, sync }: { seq: number; isChanged: boolean; sync: boolean | undefined },
): void {
  if (!isChanged && lastKept(run.paths.configuration)) return
  const unfinished = join(run.paths.configuration, 'unfinished')
  const kept = join(run.paths.configuration, String(seq))
  // left by an engine that was killed here, or by a start whose `seq` is reused after a repair of the journal
  for (const path of [unfinished, kept]) rmSync(path, { recursive: true, force: true })
  for (const [name, text] of Object.entries(agent.snapshot.files)) {
    const path = join(unfinished, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    replaceFile(path, text, { sync })
  }
  renameSync(unfinished, kept)
}

/** The newest kept configuration. */
export function lastKept(directory: string): string | undefined {
  const newest = namesIn(directory)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b)
    .at(-1)
  return newest === undefined ? undefined : join(directory, String(newest))
}
