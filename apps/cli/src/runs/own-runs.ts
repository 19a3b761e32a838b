import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { findAgentHome } from '@delta/engine'
import { type RunSummary, replaceFile } from '@delta/journal'
import { placeOfRun } from '../place.js'
import { openState, readState, type StateFile } from '../state-directory.js'

interface OwnRun {
  /** What the file `owner` of its directory holds. */
  token: string
  /** Of its directory, without symbolic links. */
  path: string
  inode: number
  /** Of a run that was somebody else's: where the agent lies that it goes on with, whatever its journal says. */
  agent_home?: string
}

/**
 * The runs that this user started or said to trust. A run's journal names the directory whose commands `continue` runs, and
 * its mode and owner prove nothing: a clone or an archive may hold one.
 */
export const RUNS: StateFile<OwnRun> = {
  name: 'runs.jsonl',
  holds: 'which runs are yours',
  parse(line) {
    const { token, path, inode } = Object(line) as Partial<Record<string, unknown>>
    return typeof token === 'string' && typeof path === 'string' && typeof inode === 'number'
      ? { ...Object(line), token, path, inode }
      : undefined
  },
  subject: ({ token }) => token,
  isCurrent: ({ path }) => existsSync(path),
}

/** True if its token is listed and its directory is where it was, or was moved; a copy is another run. */
export function isOwnRun(runDirectory: string, env: NodeJS.ProcessEnv): boolean {
  return listed(runDirectory, env) !== undefined
}

/** True of a run that no engine has given a token: one before 0.2 began it, or a program that embeds the engine. */
export function hasToken(runDirectory: string): boolean {
  return tokenIn(runDirectory) !== undefined
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
  const state = openState(RUNS, env)
  return (runDirectory, trusted) => {
    const here = { path: realpathSync(runDirectory), inode: statSync(runDirectory).ino }
    const known = listed(runDirectory, env)
    if (known?.path === here.path && known.inode === here.inode) return
    const token = known?.token ?? randomBytes(16).toString('hex')
    if (known === undefined) replaceFile(join(runDirectory, 'owner'), `${token}\n`)
    state.add({ ...known, token, ...here, ...(trusted && { agent_home: trusted.agentHome }) })
  }
}

/** The directory of the agent of a run: what was trusted or, of a run that this user started, what its journal says. */
export async function agentHomeOf(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  return listed(run.directory, env)?.agent_home ?? findAgentHome(run)
}

function listed(runDirectory: string, env: NodeJS.ProcessEnv): OwnRun | undefined {
  const token = tokenIn(runDirectory)
  if (token === undefined || isBehindLink(runDirectory)) return undefined
  const known = readState(RUNS, env).entries.find((each) => each.token === token)
  const isSame = known?.path === realpathSync(runDirectory) || known?.inode === statSync(runDirectory).ino
  return isSame ? known : undefined
}

/** Such a link may have come with the workspace, and lead to a run of another one. */
function isBehindLink(runDirectory: string): boolean {
  const { workDirectory, runsDirectory } = placeOfRun(runDirectory)
  const base = runsDirectory ?? workDirectory
  return realpathSync(runDirectory) !== join(realpathSync(base), relative(base, runDirectory))
}

/** Longer than any token: a file that is not ours. */
const MOST_BYTES = 100

function tokenIn(runDirectory: string): string | undefined {
  const path = join(runDirectory, 'owner')
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (!what?.isFile() || what.size > MOST_BYTES) return undefined
  return readFileSync(path, 'utf8').trim()
}
