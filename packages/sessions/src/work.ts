import { mkdtempSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { endProcesses } from './jobs.js'
import type { SessionPaths } from './paths.js'

const PREFIX = 'work-'

/**
 * A new directory for what one command needs while it runs, `0700`. No two commands ever share one:
 * a command whose `delta-sessions` was killed may still be running, and writes into its own.
 */
export function makeWorkDirectory(paths: SessionPaths): string {
  return mkdtempSync(join(paths.directory, PREFIX))
}

/** It holds plain files only, and removing those one by one costs half of `rmSync`. */
export function removeWorkDirectory(work: string): void {
  for (const name of readdirSync(work)) unlinkSync(join(work, name))
  rmdirSync(work)
}

/**
 * Clears up after a command whose `delta-sessions` was killed: ends what still runs of it (by the
 * mark in its environment), and removes its directory. Called with the session locked.
 */
export async function settleCrash(paths: SessionPaths, mark: string): Promise<void> {
  const left = readdirSync(paths.directory).filter((name) => name.startsWith(PREFIX))
  if (left.length === 0) return
  await endProcesses(mark)
  for (const name of left) removeWorkDirectory(join(paths.directory, name))
}
