import { setMaxListeners } from 'node:events'
import { realpathSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type LoadedAgent, loadAgent, type WorkspaceEndpoint } from '@delta/config-loader'
import { type Lock, readHolder, readIfThere, takeLock } from '@delta/durable'
import type { Credentials, EngineEvent, EngineOptions, SettingSources } from '@delta/engine'
import { agentOfCell, type PlannedAgent } from '@delta/workspace/internal'
import { workOnCell } from './cell.js'
import { evalCommands } from './commands.js'
import { EvaluationError } from './errors.js'
import { isAgentIntact } from './inputs.js'
import { findKeys } from './keys.js'
import { evalPaths } from './layout.js'
import { overridesFor } from './overrides.js'
import { doesCount, limitsOfCell } from './plan.js'
import { notOfPlan } from './read-whole.js'
import { cellFilter } from './retry.js'
import { numbersIn, readEarlierResults, readPlan, readPlanned, readResult } from './stored.js'
import type { Cell, CellResult, Plan } from './types.js'

/** How a worker works. */
export interface WorkOptions {
  /** The person's environment: keys, and what the agents' commands find. Default: `process.env`. */
  env?: NodeJS.ProcessEnv | undefined
  /** Which part of the cells it begins with; it then helps with the others. */
  shard?: { number: number; of: number } | undefined
  /** Runs at once. Default: the plan's. */
  concurrency?: number | undefined
  /** Only cells whose name matches this glob, such as `luna/bowling/?`. */
  only?: string | undefined
  /** Stops the worker when aborted: its cells stay interrupted, and go on later. */
  signal?: AbortSignal | undefined
  /** False does not wait for the disk. Default: true. */
  sync?: boolean | undefined
  /** Asks a person about an address in the `.env` of an agent's project. */
  ask?: ((endpoint: WorkspaceEndpoint) => Promise<boolean>) | undefined
  trustWorkspaceEnv?: boolean | undefined
  /** The person's own prices. Default: those of the agents, and the shipped ones. */
  prices?: EngineOptions['prices']
  /** Called when a cell begins or has its result, and with the events of runs. */
  onChange?: ((change: Change) => void) | undefined
}

/** What a worker tells. */
export type Change =
  | { kind: 'begins'; cell: Cell }
  | { kind: 'ends'; cell: Cell; result: CellResult | undefined }
  | { kind: 'event'; cell: Cell; event: EngineEvent }
  | { kind: 'warning'; message: string }

/**
 * Works on the cells of an evaluation until each has its result. Other workers may do the same at once, here or on another machine
 * that sees the directory: they share nothing but files.
 *
 * @param directory - The evaluation's directory. Its agents and scorers run: it must be yours.
 * @returns `stopped` if the signal was aborted.
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`; `ERR_EVAL_PLAN` after a planning that was killed. The system's error when the disk is full or read-only, {EngineError} when a model has no
 *   key or no price, {ConfigError} when an agent does not load: other cells stay interrupted.
 */
export async function work(directory: string, options: WorkOptions = {}): Promise<'done' | 'stopped'> {
  const { signal: outer = new AbortController().signal } = options
  const stop = new AbortController()
  const signal = AbortSignal.any([outer, stop.signal])
  setMaxListeners(0, signal) // each cell listens
  const worker = workerOf(realpathSync(directory), options, signal)
  const count = options.concurrency ?? readPlan(directory).concurrency
  const failed: unknown[] = []
  const loop = async (): Promise<void> => {
    try {
      while (await worker.next());
    } catch (error) {
      if (!outer.aborted) failed.push(error)
      stop.abort('SIGTERM') // as a signal does: the other cells are interrupted, and go on later
    }
  }
  await Promise.all(Array.from({ length: count }, loop))
  if (failed.length > 0) throw failed[0]
  return outer.aborted ? 'stopped' : 'done'
}

function workerOf(directory: string, options: WorkOptions, signal: AbortSignal) {
  const { env = process.env, onChange = () => undefined, sync = true } = options
  const only = options.only === undefined ? undefined : cellFilter(options.only)
  const evaluation = followPlan(directory, options.shard)
  const mine = new Map<string, Promise<void>>()
  const agents = agentsOf(directory, { ...options, env, onChange })

  /** Works on one more cell. False: there is nothing left, or the worker stops. */
  async function next(): Promise<boolean> {
    if (signal.aborted) return false
    const planned = evaluation.now()
    if (planned === undefined) return lookAgain([]).then(() => true)
    const { plan, cells } = planned
    let isWaiting = mine.size > 0
    for (const cell of cells) {
      if (mine.has(cell.cell) || only?.(cell) === false || isDone(cell, plan)) continue
      isWaiting = true
      if (isHeld(cell)) continue
      const working = workOnFree(cell, plan).finally(() => mine.delete(cell.cell))
      mine.set(cell.cell, working)
      await working
      return true
    }
    if (isWaiting) await lookAgain([...mine.values()])
    return isWaiting
  }

  /** An amended plan, or a cell that its worker gave up, is seen after a second. */
  async function lookAgain(working: readonly Promise<void>[]): Promise<void> {
    const waiting = new AbortController()
    const second = wait(LOOK_AGAIN_MS, undefined, { signal: AbortSignal.any([signal, waiting.signal]) })
    await Promise.race([second, ...working]).catch(() => undefined) // stopped; or its own loop tells the error
    waiting.abort()
    await second.catch(() => undefined)
  }

  async function workOnFree(cell: Cell, plan: Plan): Promise<void> {
    const lock = await claim(cell)
    if (lock === undefined) return
    try {
      if (!signal.aborted) await workWith(lock, cell, plan)
    } finally {
      lock.release()
    }
  }

  function isDone(cell: Cell, plan: Plan): boolean {
    return evaluation.isDone(cell, (result) => doesCount(plan, cell, result))
  }

  function isHeld({ cell }: Cell): boolean {
    const state = readHolder(evalPaths(directory).cell(cell).lease, () => Date.now())?.state
    return state === 'alive' || state === 'remote-fresh'
  }

  async function claim({ cell }: Cell): Promise<Lock | undefined> {
    const { lease, directory: ofCell } = evalPaths(directory).cell(cell)
    await mkdir(ofCell, { recursive: true, mode: 0o700 })
    try {
      return await takeLock(lease, { onHeld: () => Promise.reject(new HeldError()) })
    } catch (error) {
      if (error instanceof HeldError) return undefined
      throw error
    }
  }

  async function workWith(lock: Lock, cell: Cell, plan: Plan): Promise<void> {
    if (isDone(cell, plan)) return // somebody else has just finished it
    onChange({ kind: 'begins', cell })
    const own = watchLock(lock, signal)
    try {
      const result = await workOnCell({
        ...(await jobOf(cell, plan, lock)),
        signal: own.signal,
        checkOwner: own.check,
      })
      onChange({ kind: 'ends', cell, result })
    } catch (error) {
      if (!own.signal.aborted) throw error
      onChange({ kind: 'ends', cell, result: undefined })
    } finally {
      own.close()
    }
  }

  async function jobOf(cell: Cell, plan: Plan, lock: Lock) {
    const paths = evalPaths(directory)
    const ofCell = paths.cell(cell.cell)
    const task = plan.tasks.find(({ id }) => id === cell.task)
    const variant = plan.variants.find(({ name }) => name === cell.variant)
    if (task === undefined || variant === undefined)
      throw new EvaluationError(
        'ERR_EVAL_NOT_FOUND',
        `${paths.plan}: it does not know ${cell.variant}/${cell.task}, which manifest.jsonl names.`,
      )
    const chosen = { name: variant.name, ...agentOfCell(variant, task.fork) }
    const limits = limitsOfCell(plan, cell)
    const input = paths.input(task.input)
    const number = numbersIn(ofCell.directory).at(-1) ?? 1
    return {
      cell,
      paths: ofCell,
      plan,
      task,
      input,
      scorerFiles: plan.scorer_files === null ? undefined : paths.input(plan.scorer_files),
      agent: await agents.load(plan, chosen, { limits, seed: cell.seed }),
      agentInput: { hash: chosen.agent ?? '', path: paths.input(chosen.agent ?? '') },
      credentials: await agents.credentials(plan, chosen),
      prices: options.prices,
      limits,
      env: {
        ...env,
        DELTA_SEED: String(cell.seed),
        PYTHONDONTWRITEBYTECODE: '1', // its caches would lie beside the agent's programs, which must stay as they were planned
        DELTA_CELL: ofCell.directory,
        GIT_CEILING_DIRECTORIES: [join(ofCell.directory, String(number)), env.GIT_CEILING_DIRECTORIES]
          .filter(Boolean)
          .join(':'),
        ...(variant.kind === 'oracle' && { DELTA_SOLUTION: join(input, 'solution', 'solve.sh') }),
      },
      workerEnv: env,
      epoch: lock.number,
      deadWorkers: deadWorkersIn(ofCell, lock),
      sync,
      onEvent: (event: EngineEvent) => onChange({ kind: 'event', cell, event }),
    }
  }

  return { next }
}

class HeldError extends Error {}

const LOOK_AGAIN_MS = 1000
const LOST_CHECK_MS = 5000
/** Replacing two files takes less. */
const REPLACED_MS = 10_000

/** Owners of the cell that died since its last result: their files in `lease/` do not say `released`. */
function deadWorkersIn(cell: ReturnType<ReturnType<typeof evalPaths>['cell']>, lock: Lock): number {
  const last = Math.max(
    0,
    readResult(cell)?.epoch ?? 0,
    ...readEarlierResults(cell).map(({ epoch }) => epoch),
  )
  return numbersIn(cell.lease).filter(
    (number) => number > last && number < lock.number && !wasReleased(join(cell.lease, String(number))),
  ).length
}

function wasReleased(path: string): boolean {
  return readIfThere(path)?.includes('"released"') ?? false
}

/** Asks every 5 s whether the cell is still ours; who has lost it stops its run. */
function watchLock(lock: Lock, outer: AbortSignal) {
  const lost = new AbortController()
  const look = (): void => {
    if (lock.lost() !== undefined) lost.abort('lost')
  }
  const timer = setInterval(look, LOST_CHECK_MS)
  timer.unref()
  return {
    signal: AbortSignal.any([outer, lost.signal]),
    check() {
      look()
      lost.signal.throwIfAborted()
    },
    close: () => clearInterval(timer),
  }
}

/** The plan, read again when it was replaced, and which cells are done. */
function followPlan(directory: string, shard: WorkOptions['shard']) {
  const paths = evalPaths(directory)
  const done = new Set<string>()
  const began = performance.now()
  let readAt = ''
  let known: { plan: Plan; cells: Cell[] } | undefined

  function readAnew(stamp: string): void {
    const read = readPlanned(directory)
    if (read === undefined) {
      refuseHalf()
      return
    }
    done.clear()
    known = { plan: read.plan, cells: fromShard(read.cells, shard) }
    readAt = stamp
  }

  function refuseHalf(): void {
    if (known !== undefined || performance.now() - began < REPLACED_MS) return
    throw notOfPlan(directory)
  }

  return {
    /** Undefined while both files are being replaced for the first time. */
    now(): { plan: Plan; cells: Cell[] } | undefined {
      const { mtimeNs, ino } = statSync(paths.manifest, { bigint: true })
      const { mtimeNs: ofPlan } = statSync(paths.plan, { bigint: true })
      const stamp = `${mtimeNs} ${ino} ${ofPlan}`
      if (known === undefined || stamp !== readAt) readAnew(stamp)
      return known
    },
    isDone(cell: Cell, counts: (result: CellResult) => boolean): boolean {
      if (done.has(cell.cell)) return true
      const result = readResult(paths.cell(cell.cell))
      if (result === undefined || !counts(result)) return false
      done.add(cell.cell)
      return true
    },
  }
}

/** A shard is where a worker begins, not a fence. */
function fromShard(cells: Cell[], shard: WorkOptions['shard']): Cell[] {
  if (shard === undefined) return cells
  const first = Math.floor(((shard.number - 1) * cells.length) / shard.of)
  return [...cells.slice(first), ...cells.slice(0, first)]
}

type Chosen = PlannedAgent & { name: string }

function keyOf({ agent, original, set }: Chosen): string {
  return JSON.stringify([agent, original, set])
}

interface AgentSource extends WorkOptions {
  env: NodeJS.ProcessEnv
  onChange: (change: Change) => void
}

/** The agents of the variants from `inputs/`, with the keys that are found once a variant. */
function agentsOf(directory: string, { env, ask, trustWorkspaceEnv, onChange }: AgentSource) {
  const paths = evalPaths(directory)
  const found = new Map<string, Promise<Credentials & SettingSources>>()

  async function load(
    plan: Plan,
    variant: Chosen,
    own: { limits: object; seed: number },
  ): Promise<LoadedAgent> {
    const overrides = overridesFor(plan, { variant, ...own })
    const copy = paths.input(variant.agent ?? '')
    if (!(await isAgentIntact(copy, variant.agent ?? '')))
      throw new EvaluationError(
        'ERR_EVAL_PLAN',
        `${copy}: it is not the agent that was planned for ${variant.name}. Plan it again: ${evalCommands(directory).run}`,
      )
    return (await loadAgent(copy, { env, overrides })).agent
  }

  async function look(plan: Plan, variant: Chosen): Promise<Credentials & SettingSources> {
    const agent = await load(plan, variant, { limits: {}, seed: plan.seed })
    const credentials = await findKeys(agent, variant.original, { directory, env, ask, trustWorkspaceEnv })
    for (const { message } of credentials.warnings)
      onChange({ kind: 'warning', message: `variant ${variant.name}: ${message}` })
    return credentials
  }

  return {
    load,
    credentials(plan: Plan, variant: Chosen) {
      const known = found.get(keyOf(variant)) ?? look(plan, variant)
      found.set(keyOf(variant), known)
      return known
    },
  }
}
