import { mkdirSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { namesIn, readIfThere, replaceFile } from '@delta/durable'
import type { Run, RunSummary } from '@delta/journal/runs'

/** Names of the agent's files that have changed or gone since the run's last start; empty if none were kept. */
export function changedFiles({ directory }: { directory: string }, agent: Agent): string[] {
  const before = lastKept(join(directory, 'configuration'))
  if (before === undefined) return []
  const { files } = agent.snapshot
  const isItself = agent.home !== undefined && agent.home === realpathSync(before) // it was loaded from there
  const names = new Set([...Object.keys(files), ...(isItself ? [] : namesIn(before))])
  return [...names].filter((name) => readIfThere(join(before, name))?.toString() !== files[name])
}

/** The kept `agent.yaml` is the agent as it was loaded. */
const AGENT_YAML = 'agent.yaml, what it imports, or what is set for the run'

/** A line with the agent's files that have changed since the run's last start; undefined without a change. */
export function agentChanges(run: Pick<RunSummary, 'directory'>, agent: Agent): string | undefined {
  return changeNotice(changedFiles(run, agent))
}

export function changeNotice(changed: readonly string[]): string | undefined {
  const names = changed.map((name) => (name === 'agent.yaml' ? AGENT_YAML : name))
  return names.length === 0 ? undefined : `Changed since this run was last started: ${names.join(', ')}`
}

/**
 * Copies the agent's files to `configuration/<seq>/` when they differ from the last copy; `seq` is that of the `ENGINE_START`.
 * The copy is a record for people and never executed. The directory gets its number once it is complete and on disk: otherwise
 * files missing after a crash or on a full disk would count as changed.
 */
export function keepConfiguration(
  run: Run,
  agent: Agent,
  { seq, sync }: { seq: number; sync: boolean | undefined },
): void {
  if (lastKept(run.paths.configuration) && changedFiles(run, agent).length === 0) return
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
