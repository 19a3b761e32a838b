import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { type Run, replaceFile } from '@delta/journal'
import { readIfThere } from '../read-if-there.js'

/** Names of the agent's files that differ from those of the run's last start, or are gone; none if nothing was kept then. */
export function changedFiles(run: Run, agent: Agent): string[] {
  const before = lastKept(run.paths.configuration)
  if (before === undefined) return []
  const { files } = agent.snapshot
  const names = new Set([...Object.keys(files), ...namesIn(before)])
  return [...names].filter((name) => readIfThere(join(before, name)) !== files[name])
}

/**
 * Keeps what the agent's files say in `configuration/<seq>/`, `seq` being that of the `ENGINE_START`; only when they
 * differ from the last ones kept. A record for the reader: it is never executed. It gets its number when it is whole and on the
 * disk: half of it, from a crash or a full disk, would look as if the other half had changed.
 */
export function keepConfiguration(
  run: Run,
  agent: Agent,
  { seq, sync }: { seq: number; sync: boolean | undefined },
): void {
  if (lastKept(run.paths.configuration) && changedFiles(run, agent).length === 0) return
  const unfinished = join(run.paths.configuration, 'unfinished')
  const kept = join(run.paths.configuration, String(seq))
  for (const path of [unfinished, kept]) makeRoom(path)
  for (const [name, text] of Object.entries(agent.snapshot.files)) {
    const path = join(unfinished, name)
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    replaceFile(path, text, { durable: sync })
  }
  renameSync(unfinished, kept)
}

/** What an engine left that did not finish, and under the number of a start that was set aside with a damaged journal. */
function makeRoom(path: string): void {
  if (existsSync(path)) rmSync(path, { recursive: true }) // which loads what removes whole trees
}

function lastKept(directory: string): string | undefined {
  const newest = namesIn(directory)
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => a - b)
    .at(-1)
  return newest === undefined ? undefined : join(directory, String(newest))
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
