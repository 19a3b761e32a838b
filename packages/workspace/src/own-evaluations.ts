import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readIfThere, replaceFile } from '@delta/durable'
import { WorkspaceError } from './errors.js'
import { type Identity, identityOf, tokenIn } from './owner-file.js'
import { prepareFacts, readFact, removeFact, writeFact } from './state.js'

/** An evaluation that this user started or said to trust. Its runs are this user's through it. */
interface OwnEvaluation extends Identity {
  /** Of its directory, without symbolic links. */
  path: string
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

/** What a run goes on with that is a cell of an evaluation of this user's: as it was planned, whatever its journal says. */
export function cellOfOwnEvaluation(
  runDirectory: string,
  env: NodeJS.ProcessEnv,
): { agent_home: string; set: string[]; set_by_tools?: string[]; allowed: object } | undefined {
  const evaluation = evaluationAbove(runDirectory)
  if (evaluation === undefined || !isOwnEvaluation(evaluation.directory, env)) return undefined
  const { directory, cell } = evaluation
  const { variants = [] } = jsonAt(join(directory, 'plan.json')) as { variants?: PlannedVariant[] }
  const { variant } = jsonAt(join(cell, 'cell.json')) as { variant?: string }
  const planned = variants.find(({ name }) => name === variant)
  if (typeof planned?.agent !== 'string') return undefined
  return { agent_home: join(directory, 'inputs', planned.agent), set: planned.set, allowed: {} }
}

/** True for a run of an evaluation, whoever's it is. */
export function isCell(runDirectory: string): boolean {
  const { cell } = evaluationAbove(runDirectory) ?? {}
  return cell !== undefined && existsSync(join(cell, 'cell.json'))
}

/** @throws {WorkspaceError} The run is a cell of an evaluation, whose workers go on with it. */
export function refuseCell(runDirectory: string): void {
  const { cell } = evaluationAbove(runDirectory) ?? {}
  if (cell === undefined) return
  const { variant, task, repeat } = jsonAt(join(cell, 'cell.json')) as {
    variant?: string
    task?: string
    repeat?: number
  }
  if (variant === undefined) return
  throw new WorkspaceError(
    `${variant}/${task}/${repeat} belongs to an evaluation: delta eval run goes on with it.`,
  )
}

/** Of `plan.json`, as far as it matters here. */
interface PlannedVariant {
  name: string
  /** In `inputs/`. */
  agent: string | null
  set: string[]
}

/** `<evaluation>/cells/<cell>/<attempt>/runs/<run>`, without a link on the way. */
function evaluationAbove(runDirectory: string): { directory: string; cell: string } | undefined {
  const runs = dirname(runDirectory)
  const cell = dirname(dirname(runs))
  const directory = dirname(dirname(cell))
  if (basename(runs) !== 'runs' || basename(dirname(cell)) !== 'cells') return undefined
  const isStraight =
    realpathSync(runDirectory) === join(realpathSync(directory), runDirectory.slice(directory.length + 1))
  return isStraight ? { directory, cell } : undefined
}

function jsonAt(path: string): object {
  return Object(JSON.parse(readIfThere(path)?.toString() ?? '{}')) as object
}
