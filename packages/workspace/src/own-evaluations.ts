import { createHash, randomBytes } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { readIfThere, replaceFile } from '@delta/durable'
import { type CellPlace, cellAt, cellPlaceOf, cellReader, nameOfCellAt } from '@delta/journal/internal'
import { WorkspaceError } from './errors.js'
import { type Identity, identityOf, tokenIn } from './owner-file.js'
import { prepareFacts, readFact, removeFact, writeFact } from './state.js'
import { isWithinRun } from './surroundings.js'

/** An evaluation that this user started or said to trust. Its runs are this user's through it. */
interface OwnEvaluation extends Identity {
  /** Of its directory, without symbolic links. */
  path: string
}

/** A plan of an evaluation of this user's, as `plan.json` has it byte for byte: a tool may write that file. */
interface OwnPlan {
  /** The directory of the evaluation. */
  path: string
  /** Set if it was planned within a run, where a tool may have typed what is set in it. */
  by_tool?: true
}

/** True if the evaluation was listed and its directory is where it was, or was moved; a copy is another one. */
export function isOwnEvaluation(directory: string, env: NodeJS.ProcessEnv): boolean {
  const token = lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()
    ? tokenIn(directory)
    : undefined
  const known = token === undefined ? undefined : readFact<OwnEvaluation>('evals', token, env)
  if (known === undefined || known.path === realpathSync(directory)) return known !== undefined
  const { dev, inode, born } = identityOf(directory)
  return known.inode === inode && known.dev === dev && known.born === born
}

/**
 * Lists an evaluation as this user's. A kill leaves it listed, or as it was.
 *
 * @param directory - It exists.
 * @throws {WorkspaceError} The state directory cannot be written.
 */
export function listEvaluation(directory: string, env: NodeJS.ProcessEnv): void {
  if (isOwnEvaluation(directory, env)) return
  prepareFacts('evals', env)
  const before = tokenIn(directory)
  const token = randomBytes(16).toString('hex')
  const path = realpathSync(directory)
  writeFact<OwnEvaluation>('evals', token, { path, ...identityOf(directory) }, env)
  replaceFile(join(directory, 'owner'), `${token}\n`)
  if (before !== undefined) removeFact('evals', before, env)
}

/**
 * Lists a plan of an evaluation of this user's, before it is written: only what was planned so runs, and its runs go on only so.
 *
 * @param plan - The text of `plan.json`.
 * @throws {WorkspaceError} The state directory cannot be written.
 */
export function listPlan(directory: string, plan: string | Buffer, env: NodeJS.ProcessEnv): void {
  if (ownPlan(directory, plan, env) !== undefined) return
  const path = realpathSync(directory)
  const name = nameOfPlan(tokenIn(directory) ?? '', plan)
  writeFact<OwnPlan>('plans', name, { path, ...(isWithinRun({ env }) && { by_tool: true }) }, env)
}

/** True if the evaluation is this user's, and its `plan.json` is what this user planned. */
export function isOwnPlan(directory: string, env: NodeJS.ProcessEnv): boolean {
  const plan = readIfThere(join(directory, 'plan.json'))
  return plan !== undefined && isOwnEvaluation(directory, env) && ownPlan(directory, plan, env) !== undefined
}

function ownPlan(directory: string, plan: string | Buffer, env: NodeJS.ProcessEnv): OwnPlan | undefined {
  const token = tokenIn(directory)
  return token === undefined ? undefined : readFact<OwnPlan>('plans', nameOfPlan(token, plan), env)
}

function nameOfPlan(token: string, plan: string | Buffer): string {
  return createHash('sha256').update(`${token}\n`).update(plan).digest('hex')
}

/** What solves tasks, as a plan says it. */
export interface PlannedAgent {
  /** In `inputs/`; null: that of the run that a task forks. */
  agent: string | null
  /** Where it came from. */
  original: string | null
  /** What is set in it, as `--set` takes it; `${seed}` stands for the cell's seed. */
  set: readonly string[]
}

/** The agent of a cell: the variant's, else that of the run that its task forks. */
export function agentOfCell(
  { agent, original, set }: PlannedAgent,
  fork: {
    agent?: string | undefined
    original?: string | undefined
    set?: readonly string[] | undefined
  } = {},
): PlannedAgent {
  if (agent !== null || fork.agent === undefined) return { agent, original, set }
  return { agent: fork.agent, original: fork.original ?? null, set: [...(fork.set ?? []), ...set] }
}

/** Settings of a variant for one cell: `${seed}` is the cell's seed. */
export function withSeed(set: readonly string[], seed: number): string[] {
  return set.map((text) => text.replaceAll('${seed}', String(seed)))
}

/**
 * What the run of a cell goes on with, if its evaluation is this user's: the agent and what is set in it, as they were planned, whatever
 * the cell's journal says. Limits and snapshots were the evaluation's.
 */
export function cellOfOwnEvaluation(
  runDirectory: string,
  env: NodeJS.ProcessEnv,
): { agent_home: string; set: string[]; set_by_tools?: string[]; allowed: object } | undefined {
  const place = straightCellOf(runDirectory)
  if (place === undefined || !isOwnEvaluation(place.evaluation, env)) return undefined
  const { evaluation } = place
  const text = readIfThere(join(evaluation, 'plan.json'))
  const cell = cellReader()(runDirectory)
  const own = text === undefined ? undefined : ownPlan(evaluation, text, env)
  if (text === undefined || own === undefined || cell === undefined) return undefined
  const { variants, tasks } = JSON.parse(text.toString()) as Plan
  const variant = variants.find(({ name }) => name === cell.variant)
  const task = tasks.find(({ id }) => id === cell.task)
  const { agent, set: planned } = variant ? agentOfCell(variant, task?.fork) : { agent: null, set: [] }
  if (agent === null) return undefined
  const set = withSeed(planned, cell.seed)
  return {
    agent_home: join(evaluation, 'inputs', agent),
    set,
    ...(own.by_tool && { set_by_tools: set }),
    allowed: {},
  }
}

/** `plan.json`, as far as it matters here. */
interface Plan {
  variants: (PlannedAgent & { name: string })[]
  tasks: { id: string; fork?: Parameters<typeof agentOfCell>[1] }[]
}

/** True for a run of an evaluation, whoever's it is. A tool may have removed its `cell.json`: the manifest names it, too. */
export function isCell(runDirectory: string): boolean {
  const cell = cellPlaceOf(runDirectory)
  return cell !== undefined && (cellAt(cell.directory) !== undefined || nameOfCellAt(cell) !== undefined)
}

/**
 * Refuses what would go on with a cell, as `delta continue` does.
 *
 * @param directory - Of a run or a workspace, or a path that names a cell.
 * @throws {WorkspaceError} It is of a cell of an evaluation, whose workers go on with it.
 */
export function refuseCell(directory: string): void {
  const cell =
    cellPlaceOf(directory) ??
    cellAt(directory) ??
    (basename(directory) === 'workspace' ? cellAt(dirname(dirname(directory))) : undefined)
  const name = cell && nameOfCellAt(cell)
  if (name === undefined) return
  throw new WorkspaceError(`${name} belongs to an evaluation: delta eval run goes on with it.`)
}

/** The cell of a run, without a link on the way. */
function straightCellOf(runDirectory: string): CellPlace | undefined {
  const place = cellPlaceOf(runDirectory)
  if (place === undefined) return undefined
  const way = relative(place.evaluation, runDirectory)
  return realpathSync(runDirectory) === join(realpathSync(place.evaluation), way) ? place : undefined
}
