import { lstatSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JournalError } from '../errors.js'
import { asWriteError } from '../files/write-error.js'
import { runPaths } from '../run-paths.js'

/**
 * What keeps a run from being written whose journal is whole: a file, or a link to no directory, where it has a directory.
 *
 * @returns Undefined when nothing does; what is missing is made.
 */
export function obstacleIn(runDirectory: string): JournalError | undefined {
  const { lease, parts, invocations, toolExecutions, hooks, configuration } = runPaths(runDirectory)
  const path = [lease, dirname(parts), invocations, toolExecutions, hooks, configuration].find(isInTheWay)
  return path === undefined ? undefined : asWriteError({ code: 'EEXIST' }, path)
}

function isInTheWay(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined && !leadsToDirectory(path)
  } catch {
    return false // below a file, which is the obstacle, or not to be seen, which opening says
  }
}

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false // a link to nothing, or in a circle
  }
}
