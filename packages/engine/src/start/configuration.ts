import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { namesIn, readIfThere, replaceFile } from '@delta/durable'
import type { Run, RunSummary } from '@delta/journal/runs'

/** Names of the agent's files that have changed or gone since the run's last start; none if nothing was kept then. */
export function changedFiles({ directory }: { directory: string }, agent: Agent): string[] {
  const before = lastKept(join(directory, 'configuration'))
  if (before === undefined) return []
  const { files } = agent.snapshot
  const names = new Set([...Object.keys(files), ...namesIn(before)])
  return [...names].filter((name) => readIfThere(join(before, name))?.toString() !== files[name])
}

/** A line on what has changed in an agent since a run was last started; undefined if nothing has. */
export function agentChanges(run: Pick<RunSummary, 'directory'>, agent: Agent): string | undefined {
  return changeNotice(changedFiles(run, agent), agent)
}

export function changeNotice(changed: readonly string[], { snapshot }: Agent): string | undefined {
  const { hasImports, overrides } = snapshot
  const main = [
    'agent.yaml',
    ...(hasImports ? ['what it imports'] : []),
    ...(overrides.length > 0 ? ['what is set for the run'] : []),
  ].join(' or ')
  const names = changed.map((name) => (name === 'agent.yaml' ? main : name))
  return names.length === 0 ? undefined : `Changed since this run was last started: ${names.join(', ')}`
}

/**
 * Keeps what the agent's files say in `configuration/<seq>/`, `seq` being that of the `ENGINE_START`; only when they
 * differ from the last ones kept. A record for people: it is never executed. The directory gets its number only once it is complete
 * and on disk: otherwise the files missing from it, after a crash or on a full disk, would seem to have changed.
 */
export function keepConfiguration(
  run: Run,
  agent: Agent,
  { seq, sync }: { seq: number; sync: boolean | undefined },
): void {
  if (lastKept(run.paths.configuration) && changedFiles(run, agent).length === 0) return
  const unfinished = join(run.paths.configuration, 'unfinished')
  const kept = join(run.paths.configuration, String(seq))
  for (const path of [unfinished, kept]) removeLeftover(path)
  for (const [name, text] of Object.entries(agent.snapshot.files)) {
    const path = join(unfinished, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    replaceFile(path, text, { sync })
  }
  renameSync(unfinished, kept)
}

/** From an engine that was killed here, or from a start whose `seq` is used again after its damaged journal was repaired. */
function removeLeftover(path: string): void {
  if (existsSync(path)) rmSync(path, { recursive: true }) // checked first: recursive removal loads more of Node.js
}

function lastKept(directory: string): string | undefined {
  const newest = namesIn(directory)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b)
    .at(-1)
  return newest === undefined ? undefined : join(directory, String(newest))
}
