import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { LoadedAgent } from '@delta/config-loader'
import { replaceFile } from '@delta/durable'
import type { Allowed, SettingSources } from '@delta/engine'
import { findAgentHome, parentRun, shortName } from '@delta/engine/internal'
import { migratedDirectory } from '@delta/journal/internal'
import type { RunSummary } from '@delta/journal/runs'
import { WorkspaceError } from './errors.js'
import { cellOfOwnEvaluation, refuseCell } from './own-evaluations.js'
import { type Identity, identityOf, tokenIn } from './owner-file.js'
import { commandAt, commandToContinue, type Place, placeOfRun } from './place.js'
import { factsPath, prepareFacts, readFact, removeFact, writeFact } from './state.js'
import { isWithinRun } from './surroundings.js'

/** With what a run begins or goes on: an agent, and what the person allows. */
export interface Going {
  agent: { home: string; snapshot: Pick<LoadedAgent['snapshot'], 'overrides'> }
  allowed?: Allowed | undefined
  sources?: SettingSources | undefined
  /** Overrides that a tool typed for the parent of a fork, and that nobody typed for the fork. */
  setByTools?: readonly string[] | undefined
}

/** What a run of mine goes on with, whatever its journal says. */
interface Said {
  /** Where the agent lies. */
  agent_home: string
  /** What was set in the agent, as `--set` takes it. */
  set: string[]
  /** Those of `set` that were set within a run, where a tool may have typed them. */
  set_by_tools?: string[]
  allowed: RunSummary['allowed']
}

/**
 * A run that this user started or said to trust. A run's journal names the directory whose commands `continue` runs, and its mode
 * and owner prove nothing: a clone or an archive may hold one. The fact is never changed: what is said anew gets a new token.
 */
interface OwnRun extends Said, Identity {
  /** Of its directory, without symbolic links. */
  path: string
}

/** True if the run was listed and its directory is where it was, or was moved; a copy is another run. */
export function isOwnRun(runDirectory: string, env: NodeJS.ProcessEnv): boolean {
  return listed(runDirectory, env) !== undefined || cellOfOwnEvaluation(runDirectory, env) !== undefined
}

/** A run with what was set and allowed as it was listed, whatever its journal says. */
export interface ListedRun extends RunSummary {
  /** Those of `overrides` that a tool may have typed. */
  setByTools: readonly string[]
}

/** Undefined if the run is not this user's. */
export function ownRun(run: RunSummary, env: NodeJS.ProcessEnv): ListedRun | undefined {
  const known = listed(run.directory, env) ?? cellOfOwnEvaluation(run.directory, env)
  if (known === undefined) return undefined
  const { allowed: _, ...rest } = run
  const { set, set_by_tools = [], allowed } = known
  return { ...rest, overrides: set, setByTools: set_by_tools, ...(allowed && { allowed }) }
}

/** The directory of the agent of a run: the listed one, or else what its journal says. */
export async function agentHomeOf(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  const known = listed(run.directory, env) ?? cellOfOwnEvaluation(run.directory, env)
  return known?.agent_home ?? findAgentHome(run)
}

/** Lists a run as this user's, before its next event is written. `begins`: it has no events yet. */
export type ListRun = (runDirectory: string, going: Going, options?: { begins?: boolean }) => void

/**
 * Prepares to list runs as this user's. A kill leaves a run listed with what is said now, or as it was: the rename of `owner`
 * decides.
 *
 * @throws {WorkspaceError} The state directory cannot be written.
 */
export function listingOwnRuns(env: NodeJS.ProcessEnv): ListRun {
  prepareFacts('runs', env)
  return (runDirectory, going, { begins = false } = {}) => {
    const known = listed(runDirectory, env)
    const said = saidOf(going, { known, isByTool: isWithinRun({ env }) })
    const before = known && tokenIn(runDirectory)
    const path = realpathSync(runDirectory)
    const now = { path, ...(known === undefined || begins ? said : saidNow(known, said)) }
    if (known !== undefined && isDeepStrictEqual({ ...known, ...now }, known)) return
    const token = randomBytes(16).toString('hex')
    writeFact('runs', token, { ...now, ...identityOf(runDirectory) } satisfies OwnRun, env)
    replaceFile(join(runDirectory, 'owner'), `${token}\n`)
    if (before !== undefined) removeFact('runs', before, env)
  }
}

function saidOf(
  { agent, allowed, sources, setByTools = [] }: Going,
  { known, isByTool }: { known: OwnRun | undefined; isByTool: boolean },
): Said {
  const { importRoots: roots = [] } = allowed ?? {}
  const digest = sources?.workspaceEnvDigest
  const set = [...agent.snapshot.overrides]
  const { set: setBefore = [], set_by_tools: before = [] } = known ?? {}
  const isOfTool = (text: string) => (setBefore.includes(text) ? before.includes(text) : isByTool)
  const ofTools = set.filter((text) => setByTools.includes(text) || isOfTool(text))
  return {
    agent_home: agent.home,
    set,
    ...(ofTools.length > 0 && { set_by_tools: ofTools }),
    allowed: {
      ...(roots.length > 0 && { import_roots: [...roots] }),
      ...(digest !== undefined && { workspace_env_digest: digest }),
    },
  }
}

/**
 * What was allowed at first stays. A tool of the run may have chosen another agent: it counts only where the listed one is
 * gone.
 */
function saidNow(known: OwnRun, said: Said): Said {
  const isGone = !existsSync(known.agent_home)
  return { ...said, agent_home: isGone ? said.agent_home : known.agent_home, allowed: known.allowed }
}

function listed(runDirectory: string, env: NodeJS.ProcessEnv): OwnRun | undefined {
  const token = tokenIn(runDirectory)
  if (token === undefined || isBehindLink(runDirectory)) return undefined
  const known = readFact<OwnRun>('runs', token, env)
  if (known === undefined || known.path === realpathSync(runDirectory)) return known
  const { dev, inode, born } = identityOf(runDirectory)
  const isMoved = known.inode === inode && known.dev === dev && known.born === born
  return isMoved ? known : undefined
}

/** Such a link may have come with the workspace, and lead to a run of another one. */
function isBehindLink(runDirectory: string): boolean {
  const { workDirectory, runsDirectory } = placeOfRun(runDirectory)
  const base = runsDirectory ?? workDirectory
  return realpathSync(runDirectory) !== join(realpathSync(base), relative(base, runDirectory))
}

/** A run that may continue. */
export interface TrustedRun {
  /** With what was listed; without what was set for it or allowed, if it is another's. */
  run: ListedRun
  /** To be called with its directory before it goes on: from then on it is listed as this user's. */
  list: ListRun
  /** True if it is this user's only by being trusted now. */
  isNew: boolean
  /** Whose commands will run, for the person who trusts it now. */
  notice?: string
}

interface Asked {
  place: Place
  env: NodeJS.ProcessEnv
  trustRun?: boolean | undefined
  /** `--agent`. */
  agent?: string | undefined
  /** True for `delta run`, which can start another run instead. */
  mayStart?: boolean
}

/**
 * Lets a run go on that this user started, or says to trust; a tool's process only one that its own run started.
 *
 * @throws {WorkspaceError} Any other run; or the state directory cannot be written.
 */
export async function trustedRun(run: RunSummary, asked: Asked): Promise<TrustedRun> {
  const { place, env, trustRun } = asked
  refuseCell(run.directory)
  const caller = parentRun(env, place.workDirectory)
  const own = ownRun(run, env)
  if (caller !== undefined && !(own !== undefined && run.metadata.parent_run === caller.runId))
    throw new WorkspaceError(
      `Run ${run.runId} was not started by run ${caller.runId}, whose tool this command is. A tool goes on only with runs that its own run started.`,
    )
  if (own === undefined && !trustRun) throw refusal(run, asked)
  refusePrepared(run, asked)
  const list = listingOwnRuns(env)
  if (own !== undefined) return { run: own, list, isNew: false }
  const { allowed: _, ...rest } = run
  return {
    run: { ...rest, overrides: [], setByTools: [] },
    list,
    isNew: true,
    notice: await whatIsTrusted(run, asked),
  }
}

/**
 * What a fork has of a run: of one of this user's, what was set and which import roots were allowed, as they were listed. A yes to
 * a `.env` was for another file. For a tool's process, only a run that its own run started is this user's.
 *
 * @param asked.agent - `--agent`.
 * @param asked.command - The command as it was typed.
 * @returns Undefined for any other run, of which only the conversation is taken: then `agent` is named.
 * @throws {WorkspaceError} It is not.
 */
export function forkedRun(
  run: RunSummary,
  { env, agent, command }: { env: NodeJS.ProcessEnv; agent: string | undefined; command: string },
): ListedRun | undefined {
  const caller = parentRun(env, '')
  const own = ownRun(run, env)
  const isMine = own !== undefined && (caller === undefined || run.metadata.parent_run === caller.runId)
  if (isMine && !run.imported) {
    const { allowed, ...rest } = own
    return { ...rest, ...(allowed?.import_roots && { allowed: { import_roots: allowed.import_roots } }) }
  }
  if (agent !== undefined) return undefined
  const why = isMine
    ? 'was imported: it names no agent of yours.'
    : 'is not among your runs: its agent and settings are not trusted.'
  throw new WorkspaceError(`${shortName(run.runId)} ${why} Name an agent: ${command} --agent DIR`)
}

/** A run of an old layout goes on in another directory, which may be there already, and be anyone's. */
function refusePrepared({ directory, runId }: RunSummary, { place, env }: Asked): void {
  const target = migratedDirectory(directory)
  if (target === undefined || !existsSync(target) || isOwnRun(target, env)) return
  throw new WorkspaceError(
    `Run ${runId} has an old layout and would go on in ${target}, which is there already and is not among your runs.
Move that directory away. Or go on with what is in it: ${commandToContinue(place, basename(target))} --trust-run`,
  )
}

async function whatIsTrusted(run: RunSummary, { agent, env }: Asked): Promise<string> {
  const { metadata } = run
  const home = agent ?? (metadata.agent_home === null ? 'not known' : await findAgentHome(run))
  return `Run ${run.runId} in ${run.directory} is not among your runs (${factsPath('runs', env)}).
  agent           ${metadata.agent_name ?? 'not known'}
  its commands    ${home}
What was set or allowed for it before (--set, --import-root, --trust-workspace-env) does not apply.
When it continues, Delta remembers it there as yours and does not ask again.`
}

function refusal(run: RunSummary, { place, env, mayStart }: Asked): WorkspaceError {
  const show = commandAt(place, 'show', run.runId)
  const trust = `${commandToContinue(place, run.runId)} --trust-run`
  return new WorkspaceError(
    `Run ${run.runId} is not among your runs (${factsPath('runs', env)}): it was copied, cloned or unpacked, or started by another user, by a program, or with another state directory. Nothing was run.
To look at it: ${show}
To go on with it, with the commands of the agent that it names: ${trust}${mayStart ? '\nTo start another one, add --new.' : ''}`,
  )
}
