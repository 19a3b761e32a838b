import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { LoadedAgent } from '@delta/config-loader'
import { replaceFile } from '@delta/durable'
import type { RunAgentOptions } from '@delta/engine'
import { findAgentHome, parentRun } from '@delta/engine/internal'
import { migratedDirectory } from '@delta/journal/internal'
import type { RunSummary } from '@delta/journal/runs'
import { commandAt, commandToContinue, type Place, placeOfRun } from './place.js'
import { readLine } from './read-line.js'
import { openState, readState, type StateFile, statePath } from './state-directory.js'
import type { Terminal } from './terminal.js'
import { say } from './text.js'
import { UsageError } from './usage.js'

interface OwnRun extends Partial<Said> {
  /** What the file `owner` of its directory holds. */
  token: string
  /** Of its directory, without symbolic links. */
  path: string
  inode: number
  /** The file system of the inode. Entries of older versions have none. */
  dev?: number
}

/**
 * What a run goes on with, whatever its journal says. Of a run that an older version listed, only the agent may be known, and
 * only where the run was trusted.
 */
interface Said {
  /** Where the agent lies. */
  agent_home: string
  /** What was set in the agent, as `--set` takes it. */
  set: string[]
  allowed: RunSummary['allowed']
}

/**
 * The runs that this user started or said to trust. A run's journal names the directory whose commands `continue` runs, and
 * its mode and owner prove nothing: a clone or an archive may hold one.
 */
const RUNS: StateFile<OwnRun> = {
  name: 'runs.jsonl',
  holds: 'which runs are yours',
  fields: { token: 'string', path: 'string', inode: 'number' },
  subject: 'token',
}

/** True if its token is listed and its directory is where it was, or was moved; a copy is another run. */
export function isOwnRun(runDirectory: string, env: NodeJS.ProcessEnv): boolean {
  return listed(runDirectory, env) !== undefined
}

/**
 * Prepares to list runs as this user's.
 *
 * @returns Lists a run, or where it is now, under the token in its directory; under a new one if it begins now, or if the token
 *   is another run's.
 * @throws {UsageError} The state directory cannot be written.
 */
export function listingOwnRuns(env: NodeJS.ProcessEnv): ListRun {
  const state = openState(RUNS, env)
  return (runDirectory, said, { begins = false } = {}) => {
    const { ino: inode, dev } = statSync(runDirectory)
    const known = begins ? undefined : listed(runDirectory, env)
    const entry = {
      ...known,
      token: known?.token ?? newTokenIn(runDirectory),
      path: realpathSync(runDirectory),
      inode,
      dev,
      ...(known === undefined ? said : saidNow(known, said)),
    }
    if (!isDeepStrictEqual(entry, known)) state.add(entry)
  }
}

export type ListRun = (runDirectory: string, said: Said, options?: { begins?: boolean }) => void

/**
 * What was allowed at first stays. A tool of the run may have chosen another agent: it counts only where the listed one is
 * gone.
 */
function saidNow(known: OwnRun, { agent_home, set }: Said): Partial<Said> {
  const isGone = known.agent_home !== undefined && !existsSync(known.agent_home)
  return { ...(isGone && { agent_home }), ...(known.set && { set }) }
}

/** What a run of this agent goes on with. */
export function saidOf(
  agent: LoadedAgent,
  { allowed, sources }: Pick<RunAgentOptions, 'allowed' | 'sources'>,
): Said {
  const { importRoots: roots = [] } = allowed ?? {}
  const digest = sources?.workspaceEnvDigest
  return {
    agent_home: agent.home,
    set: agent.snapshot.overrides,
    allowed: {
      ...(roots.length > 0 && { import_roots: [...roots] }),
      ...(digest !== undefined && { workspace_env_digest: digest }),
    },
  }
}

/** The directory of the agent of a run: the listed one, or else what its journal says. */
export async function agentHomeOf(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  return listed(run.directory, env)?.agent_home ?? findAgentHome(run)
}

/** A run with what was set and allowed as it is listed, whatever its journal says; undefined if it is not this user's. */
export function ownRun(run: RunSummary, env: NodeJS.ProcessEnv): RunSummary | undefined {
  const known = listed(run.directory, env)
  if (known?.set === undefined) return known && run
  const { allowed: _, ...rest } = run
  return { ...rest, overrides: known.set, ...(known.allowed && { allowed: known.allowed }) }
}

function listed(runDirectory: string, env: NodeJS.ProcessEnv): OwnRun | undefined {
  const token = tokenIn(runDirectory)
  if (token === undefined || isBehindLink(runDirectory)) return undefined
  const known = readState(RUNS, env).entries.find((each) => each.token === token)
  if (known === undefined || known.path === realpathSync(runDirectory)) return known
  const { ino, dev } = statSync(runDirectory)
  const isMoved = known.inode === ino && (known.dev ?? dev) === dev
  return isMoved ? known : undefined
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

/** A run that may continue. */
export interface TrustedRun {
  /** Without what was set for it or allowed, if it is another's. */
  run: RunSummary
  /** To be called with its directory once it goes on: from then on it is listed as this user's, with what it goes on with. */
  list: ListRun
  isNew: boolean
}

interface Asked {
  place: Place
  flags: { trustRun?: boolean; agent?: string }
  terminal: Terminal
  /** True for `delta run`, which can start another run instead. */
  mayStart?: boolean
}

/**
 * Lets a run go on that this user started, or says to trust; a tool's process only one that its caller started.
 *
 * @throws {UsageError} Any other run; or the state directory cannot be written.
 */
export async function trustedRun(run: RunSummary, asked: Asked): Promise<TrustedRun> {
  const { place, terminal } = asked
  const caller = parentRun(terminal.env, place.workDirectory)
  const own = ownRun(run, terminal.env)
  if (caller !== undefined && !(own !== undefined && run.metadata.parent_run === caller.runId))
    throw new UsageError(
      `Run ${run.runId} was not started by run ${caller.runId}, whose tool this command is. A tool goes on only with runs that its own run started.`,
    )
  if (own === undefined && !(await isTrusted(run, asked))) throw refusal(run, asked)
  refusePrepared(run, asked)
  const list = listingOwnRuns(terminal.env)
  if (own !== undefined) return { run: own, list, isNew: false }
  const { allowed, ...rest } = run
  return { run: { ...rest, overrides: [] }, list, isNew: true }
}

/** A run of an old layout goes on in another directory, which may be there already, and be anyone's. */
function refusePrepared({ directory, runId }: RunSummary, { place, terminal }: Asked): void {
  const target = migratedDirectory(directory)
  if (target === undefined || !existsSync(target) || isOwnRun(target, terminal.env)) return
  throw new UsageError(
    `Run ${runId} has an old layout and would go on in ${target}, which is there already and is not among your runs.
Move that directory away. Or go on with what is in it: ${commandToContinue(place, basename(target))} --trust-run`,
  )
}

/** Asks only about a run without a token, which an older version may have started, and only at a terminal. */
async function isTrusted(run: RunSummary, { flags, terminal }: Asked): Promise<boolean> {
  const { stdin, stderr } = terminal
  const asks = tokenIn(run.directory) === undefined && stdin.isTTY && stderr.isTTY
  if (!flags.trustRun && !asks) return false
  say(terminal, await whatIsTrusted(run, flags.agent, terminal))
  if (flags.trustRun) return true
  return /^y(es)?$/i.test((await readLine('Did you start this run? [yes/no] ', terminal))?.trim() ?? '')
}

async function whatIsTrusted(
  run: RunSummary,
  agent: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const { metadata } = run
  const home = agent ?? (metadata.agent_home === null ? 'not known' : await findAgentHome(run))
  return `Run ${run.runId} in ${run.directory} is not among your runs (${statePath(RUNS, terminal.env)}).
  agent           ${metadata.agent_name ?? 'not known'}
  its commands    ${home}
What was set or allowed for it before (--set, --import-root, --trust-workspace-env) does not apply.
When it continues, Delta remembers it there as yours and does not ask again.`
}

function refusal(run: RunSummary, { place, terminal, mayStart }: Asked): UsageError {
  const show = commandAt(place, 'show', run.runId)
  const trust = `${commandToContinue(place, run.runId)} --trust-run`
  return new UsageError(
    `Run ${run.runId} is not among your runs (${statePath(RUNS, terminal.env)}): it was copied, cloned or unpacked, or started by another user, by a program, or with another state directory. Nothing was run.
To look at it: ${show}
To go on with it, with the commands of the agent that it names: ${trust}${mayStart ? '\nTo start another one, add --new.' : ''}`,
  )
}
