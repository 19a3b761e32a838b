import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findAgentHome } from '@delta/engine'
import { type RunSummary, replaceFile } from '@delta/journal'
import { placeOfRun } from '../place.js'
import { openState, readState, type StateFolder } from '../state-directory.js'

/**
 * The runs that this user started or said to trust, by the token in the file `owner` of their directory: its path, without
 * symbolic links, and its inode; of a run that was somebody else's also the `agent_home` that it goes on with, whatever its
 * journal says. A run's journal names the directory whose commands `continue` runs, and its mode and owner prove nothing: a
 * clone or an archive may hold one.
 */
export const RUNS: StateFolder = { name: 'runs', holds: 'which runs are yours' }

/** True if its token is listed and its directory is where it was, or was moved; a copy is another run. */
export function isOwnRun(runDirectory: string, env: NodeJS.ProcessEnv): boolean {
  return listed(runDirectory, env) !== undefined
}

/**
 * Prepares to list runs as this user's.
 *
 * @returns Lists a run, or where it is now, under the token in its directory; under a new one if that is another run's.
 * @throws {UsageError} The state directory cannot be written.
 */
export function listingOwnRuns(
  env: NodeJS.ProcessEnv,
): (runDirectory: string, trusted?: { agentHome: string }) => void {
  const remember = openState(RUNS, env)
  return (runDirectory, trusted) => {
    const here = { path: realpathSync(runDirectory), inode: statSync(runDirectory).ino }
    const known = listed(runDirectory, env)
    if (known?.path === here.path && known.inode === here.inode) return
    const token = (known && tokenIn(runDirectory)) ?? newTokenIn(runDirectory)
    remember(token, { ...known, ...here, ...(trusted && { agent_home: trusted.agentHome }) })
  }
}

/** The directory of the agent of a run: what was trusted or, of a run that this user started, what its journal says. */
export async function agentHomeOf(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  const home = listed(run.directory, env)?.agent_home
  return typeof home === 'string' ? home : findAgentHome(run)
}

function listed(runDirectory: string, env: NodeJS.ProcessEnv): ReturnType<typeof readState> {
  const token = tokenIn(runDirectory)
  if (token === undefined || isBehindLink(runDirectory)) return undefined
  const known = readState(RUNS, token, env)
  const isSame = known?.path === realpathSync(runDirectory) || known?.inode === statSync(runDirectory).ino
  return isSame ? known : undefined
}

/** Such a link may have come with the workspace, and lead to a run of another one. */
function isBehindLink(runDirectory: string): boolean {
  const { workDirectory, runsDirectory } = placeOfRun(runDirectory)
  const base = runsDirectory ?? workDirectory
  return realpathSync(runDirectory) !== join(realpathSync(base), relative(base, runDirectory))
}

function newTokenIn(runDirectory: string): string {
  const token = randomBytes(16).toString('hex')
  replaceFile(join(runDirectory, 'owner'), `${token}\n`)
  return token
}

/** Longer than any token: a file that is not ours. */
const MOST_BYTES = 100

function tokenIn(runDirectory: string): string | undefined {
  const path = join(runDirectory, 'owner')
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (!what?.isFile() || what.size > MOST_BYTES) return undefined
  return readFileSync(path, 'utf8').trim()
}
