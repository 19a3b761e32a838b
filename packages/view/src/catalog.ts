import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { setImmediate as breathe } from 'node:timers/promises'
import type { RunsAt } from '@delta/trace'
import { cellReader, runDirectoriesAt } from '@delta/trace/internal'
import type { RunList, RunRow } from './api.js'
import { Refusal } from './errors.js'
import { type ShownRun, shownRun } from './shown-run.js'

/** The runs that are shown, by keys that say nothing of where they lie. */
export interface Catalog {
  /** Looks for runs that are new, changed or gone, if the last time was a while ago. */
  refresh(): Promise<void>
  /** Newest first; only those that changed after `since`. */
  list(since: number): RunList
  /** @throws {Refusal} 404 */
  run(key: string): ShownRun
  keyOf(directory: string): string | undefined
  /** The row of a run, with the keys of its caller and of the run that it is a fork of. */
  row(run: ShownRun): RunRow
  /** The row of the run in a directory, as a journal names it; undefined if it is not shown. */
  rowAt(directory: string): RunRow | undefined
  size(): number
}

/** A walk over the directories takes at most a twentieth of the time. */
const WALKS_SHARE = 20
const LOOK_AGAIN_MS = 1000
const RUNS_AT_ONCE = 25

/**
 * Opens nothing outside the places: a link out of them is not followed.
 *
 * @param options.newKey - Called for each run that is found.
 */
export function openCatalog(places: readonly RunsAt[], { newKey = randomKey } = {}): Catalog {
  const runs = new Map<string, ShownRun>()
  const byDirectory = new Map<string, ShownRun>()
  const roots = places.map(rootOf)
  const cellAt = cellReader()
  let version = 0
  let nextWalkAt = 0
  let refreshing: Promise<void> | undefined
  let refreshedAt = Number.NEGATIVE_INFINITY

  function walk(): void {
    const began = performance.now()
    if (began < nextWalkAt) return
    for (const place of places)
      for (const directory of directoriesAt(place)) {
        const path = realPath(directory)
        if (path === undefined || byDirectory.has(path)) continue
        if (!roots.some((root) => path === root || path.startsWith(root + sep))) continue
        const run = shownRun(path, {
          key: newKey(),
          nextVersion: () => ++version,
          cellAt,
        })
        runs.set(run.key, run)
        byDirectory.set(path, run)
      }
    nextWalkAt = performance.now() + WALKS_SHARE * (performance.now() - began)
  }

  async function refreshNow(): Promise<void> {
    walk()
    let count = 0
    for (const run of runs.values()) {
      await run.refresh()
      if (++count % RUNS_AT_ONCE === 0) await breathe()
    }
    refreshedAt = performance.now()
  }

  function row(run: ShownRun, known = keysById()): RunRow {
    const { caller, forkOf } = run.row
    if (!caller && !forkOf) return run.row
    const keyFor = (id: string) => {
      const key = known.get(id)
      return key === undefined ? {} : { key }
    }
    return {
      ...run.row,
      ...(caller && { caller: { ...caller, ...keyFor(caller.id) } }),
      ...(forkOf && { forkOf: { ...forkOf, ...keyFor(forkOf.id) } }),
    }
  }

  function keysById(): Map<string, string> {
    return new Map([...runs.values()].map((run) => [run.row.id, run.key]))
  }

  return {
    refresh() {
      if (performance.now() - refreshedAt < LOOK_AGAIN_MS) return Promise.resolve()
      refreshing ??= refreshNow().finally(() => {
        refreshing = undefined
      })
      return refreshing
    },
    list(since) {
      const changed = [...runs.values()].filter((run) => run.version > since)
      const known = keysById()
      const rows = changed
        .map((run) => row(run, known))
        .sort((one, other) => (other.startedAt ?? 0) - (one.startedAt ?? 0))
      return { runs: rows, since: version }
    },
    run(key) {
      const run = runs.get(key)
      if (run === undefined)
        throw new Refusal(
          404,
          'There is no such run here. It may have been there before `delta view` was started again.',
        )
      return run
    },
    keyOf: (directory) => byDirectory.get(realPath(directory) ?? '')?.key,
    row: (run) => row(run),
    rowAt: (directory) => byDirectory.get(realPath(directory) ?? '')?.row,
    size: () => runs.size,
  }
}

function randomKey(): string {
  return randomBytes(9).toString('base64url')
}

function rootOf(place: RunsAt): string {
  const path = typeof place === 'string' ? place : (place.runsDirectory ?? place.workDirectory)
  return realPath(path) ?? resolve(path)
}

function directoriesAt(place: RunsAt): string[] {
  try {
    return runDirectoriesAt(place, { below: true })
  } catch {
    return [] // it was deleted, or cannot be read any more
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined
  }
}
