import { closeSync, openSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { endProcesses } from './jobs.js'
import type { SessionPaths } from './store.js'

const PREFIX = 'work-'

/**
 * A new, empty file for what one command leaves when it ends, `0600`. No two commands ever share one:
 * a command whose `delta-sessions` was killed may still be running, and writes into its own.
 */
export function makeWorkFile(paths: SessionPaths): string {
  const unique = `${process.pid.toString(36)}-${Math.random().toString(36).slice(2)}`
  const path = join(paths.directory, `${PREFIX}${unique}`)
  closeSync(openSync(path, 'wx', 0o600))
  return path
}

/** Removes the work files there are, with those named after them. Called with the session locked. */
export function removeWorkFiles(paths: SessionPaths): void {
  for (const name of workFiles(paths)) unlinkSync(join(paths.directory, name))
}

/**
 * Clears up after a command whose `delta-sessions` was killed: ends what still runs of it (by the
 * mark in its environment), and removes its files. Called with the session locked.
 */
export async function settleCrash(paths: SessionPaths, mark: string): Promise<void> {
  if (workFiles(paths).length === 0) return
  await endProcesses((each) => each === mark)
  removeWorkFiles(paths)
}

/** Also what a killed writer left beside a file. */
function workFiles({ directory }: SessionPaths): string[] {
  return readdirSync(directory).filter((name) => name.startsWith(PREFIX) || /\.[0-9a-f]{8}\.tmp$/.test(name))
}
