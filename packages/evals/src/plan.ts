import { existsSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { type ConfigWarning, type LoadedAgent, loadAgent } from '@delta/config-loader'
import { readIfThere, replaceFile, takeLock } from '@delta/durable'
import { type EngineOptions, isEngineError } from '@delta/engine'
import { ENGINE_VERSION, hasPrice } from '@delta/engine/internal'
import { agentOfCell } from '@delta/workspace/internal'
import { EvaluationError } from './errors.js'
import { canonicalJson, hashOf, seedOf, sha256 } from './hash.js'
import {
  agentInput,
  builtInInput,
  hashTaskParts,
  type Input,
  keepInput,
  scorerInput,
  taskInput,
} from './inputs.js'
import { findKeys } from './keys.js'
import { evalPaths } from './layout.js'
import { isRaised, loweredLimit, lowestLimits, writtenLimits } from './limits.js'
import { overridesFor } from './overrides.js'
import type { Evaluation, Task, Variant } from './read-eval.js'
import { cellsIn, numbersIn, planOf, readManifest, readResult } from './stored.js'
import type { Cell, CellLimits, CellResult, Plan, PlannedTask, PlannedVariant } from './types.js'

/** What planning has found to do. Numbers of cells. */
export interface Planned {
  plan: Plan
  cells: readonly Cell[]
  /** Had no result and were not planned before. */
  added: number
  /** Planned before: done, or to go on. */
  kept: number
  /** Have a result of another scorer. */
  rescored: number
  /** Were ended by a limit that is higher now. */
  continued: number
  /** Lie there and are planned no longer: they do not count. */
  left: number
  /** Have no result that counts: these are worked on. */
  open: readonly Cell[]
  /** What probably is not as intended in the agents, as loading one says. */
  warnings: readonly ConfigWarning[]
}

interface PlanOptions {
  /** For `DELTA_IMPORT_ROOTS` and the like. Default: `process.env`. */
  env?: NodeJS.ProcessEnv | undefined
  /** The person's own prices, by which `limits.cost` counts. */
  prices?: EngineOptions['prices']
  /** True writes nothing. */
  dryRun?: boolean | undefined
  /** Called with the text of `plan.json` before it is written: for a caller that remembers what its user planned. */
  onPlan?: ((text: string) => void) | undefined
}

/**
 * Plans an evaluation: copies what it needs into `inputs/`, lists its cells, and compares with what is there. Cells whose task,
 * variant, repeat and seed are the same keep what they have.
 *
 * A kill leaves the plan as it was, or the new one. Two plannings at once follow one another.
 *
 * @param directory - The evaluation's directory; created (0700) if it is missing.
 * @throws {EvaluationError} `ERR_EVAL_PLAN`. {ConfigError} An agent does not load.
 */
export async function planEval(
  evaluation: Evaluation,
  directory: string,
  options: PlanOptions = {},
): Promise<Planned> {
  if (options.dryRun) return drawUp(evaluation, directory, { ...options, keep: async () => undefined })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if (!existsSync(join(directory, '.gitignore'))) writeFileSync(join(directory, '.gitignore'), '*\n')
  const paths = evalPaths(directory)
  const lock = await takeLock(paths.planLock, { forgetPast: true, sync: false, onHeld: () => shortly() })
  try {
    const keep = (input: Input) => keepInput(paths.inputs, input)
    const planned = await drawUp(evaluation, directory, { ...options, keep })
    const lines = planned.cells.map((cell) => `${JSON.stringify(cell)}\n`).join('')
    const text = `${JSON.stringify({ ...planned.plan, manifest: sha256(lines) }, null, 2)}\n`
    options.onPlan?.(text)
    replaceIfOther(paths.plan, text)
    replaceIfOther(paths.manifest, lines)
    return planned
  } finally {
    lock.release()
  }
}

async function shortly(): Promise<false> {
  await new Promise((resolve) => setTimeout(resolve, 100))
  return false
}

function replaceIfOther(path: string, text: string): void {
  if (readIfThere(path)?.toString() === text) return
  replaceFile(path, text)
}

type Keep = (input: Input) => Promise<void>

async function drawUp(
  evaluation: Evaluation,
  directory: string,
  { keep, env, prices }: PlanOptions & { keep: Keep },
): Promise<Planned> {
  const tasks = []
  for (const task of evaluation.tasks) tasks.push(await planTask(task, evaluation, { directory, keep }))
  refuseTwins(
    tasks,
    ([one, other]) => `tasks ${one} and ${other} are the same. For more samples raise repeats.`,
  )
  const variants = []
  for (const variant of evaluation.variants) variants.push(await planVariant(variant, { directory, keep }))
  refuseTwins(
    variants,
    ([one, other]) =>
      `variants ${one} and ${other} are the same agent, model and settings. For more samples raise repeats.`,
  )

  const scorers = await scorerInput(dirname(evaluation.path), namesOfFiles(evaluation))
  await keep(scorers)
  const plan: Plan = {
    version: 1,
    name: evaluation.name,
    engine: ENGINE_VERSION,
    source: relative(directory, evaluation.path),
    source_hash: sha256(readIfThere(evaluation.path)?.toString() ?? ''),
    baseline: evaluation.baseline,
    concurrency: evaluation.concurrency,
    repeats: evaluation.repeats,
    seed: evaluation.seed,
    sandbox: 'none',
    keep: evaluation.keep,
    setup: evaluation.setup,
    provider_wait: evaluation.provider_wait,
    snapshots: evaluation.snapshots,
    scorers: evaluation.scorers,
    scorer_files: namesOfFiles(evaluation).length > 0 ? scorers.hash : null,
    variants,
    tasks: tasks.map(({ tests: _, ...task }) => task),
  }
  const cells = cellsOf(plan, tasks, scorers.hash)
  const { variants: withLimits, warnings } = await loadAgents(plan, evaluation, {
    directory,
    env,
    prices,
    isCopied: existsSync(evalPaths(directory).inputs),
  })
  return { ...compare({ ...plan, variants: withLimits }, cells, directory), warnings }
}

/** The files of all scorers, each once. */
export function namesOfFiles({ scorers }: Pick<Plan, 'scorers'>): string[] {
  return [...new Set(scorers.flatMap(({ files = [] }) => files))].sort()
}

interface TaskToPlan extends PlannedTask {
  /** Hash of the hidden tests. */
  tests: string | undefined
}

async function planTask(
  task: Task,
  { setup, limits }: Evaluation,
  { directory, keep }: { directory: string; keep: Keep },
): Promise<TaskToPlan> {
  const { id, instruction, metadata, workspace, tests, solution, fork } = task
  const parts = { instruction, metadata, workspace, tests, solution, run: fork?.run.directory, at: fork?.at }
  const hashes = await hashTaskParts(parts).catch((cause: unknown) => {
    if (!isEngineError(cause)) throw cause
    throw new EvaluationError('ERR_EVAL_PLAN', `${id}: ${cause.message}`, { cause }) // it cannot be forked there
  })
  const input = taskInput(parts, hashes)
  await keep(input)
  const own = fork?.run.own && (await agentInput(fork.run.own.home, undefined))
  if (own) await keep(own)
  return {
    id,
    hash: hashOf({ instruction, workspace: hashes.workspace, setup, run: hashes.run }),
    input: input.hash,
    limits: lowestLimits(limits, task.limits),
    ...(fork && {
      fork: {
        at: fork.at,
        message: instruction,
        ...(own && {
          agent: own.hash,
          original: relative(directory, fork.run.own?.home ?? ''),
          set: fork.run.own?.set,
        }),
      },
    }),
    tests: hashes.tests,
  }
}

async function planVariant(
  variant: Variant,
  { directory, keep }: { directory: string; keep: Keep },
): Promise<PlannedVariant> {
  const { name, agent } = variant
  const kind = agent?.kind ?? 'agent'
  const input =
    agent === undefined
      ? undefined
      : agent.kind === 'agent'
        ? await agentInput(agent.directory, variant.context)
        : builtInInput(agent.kind)
  if (input) await keep(input)
  const set = settingsOf(variant)
  return {
    name,
    hash: hashOf({ agent: input?.hash ?? null, set, sandbox: 'none' }),
    agent: input?.hash ?? null,
    kind,
    original: agent?.kind === 'agent' ? relative(directory, agent.directory) : null,
    set,
    limits: {},
  }
}

/** As `--set` takes them, in the order of their paths. `"${seed}"` stays a number. */
function settingsOf({ model, set }: Variant): string[] {
  const all = { ...(model !== undefined && { 'llm.model': model }), ...set }
  return Object.entries(all)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, value]) => `${path}=${value === '${seed}' ? value : canonicalJson(value)}`)
}

function refuseTwins(
  all: readonly { hash: string; id?: string; name?: string }[],
  words: (names: [string, string]) => string,
): void {
  const firsts = new Map<string, string>()
  for (const { hash, id, name = id ?? '' } of all) {
    const first = firsts.get(hash)
    if (first !== undefined) throw new EvaluationError('ERR_EVAL_PLAN', `eval.yaml: ${words([first, name])}`)
    firsts.set(hash, name)
  }
}

/** Every cell, in the order of work: an evaluation that is not finished is a fair, smaller one. */
function cellsOf(plan: Plan, tasks: readonly TaskToPlan[], scorerFiles: string): Cell[] {
  const { seed, repeats, variants, scorers } = plan
  return Array.from({ length: repeats }, (_, index) => index + 1).flatMap((repeat) => {
    const place = (id: string) => sha256(`order/${seed}/${repeat}/${id}`)
    const shuffled = tasks.toSorted((one, other) => (place(one.id) < place(other.id) ? -1 : 1))
    return shuffled.flatMap((task) =>
      variants.map((variant): Cell => {
        const own = seedOf(`${seed}/${task.id}/${repeat}`)
        const { agent, set } = agentOfCell(variant, task.fork)
        const variant_hash = variant.agent === null ? hashOf({ agent, set, sandbox: 'none' }) : variant.hash
        const identity = { task_hash: task.hash, variant_hash, repeat, seed: own }
        return {
          cell: hashOf(identity).slice(0, 16),
          variant: variant.name,
          task: task.id,
          ...identity,
          score_hash: hashOf({ scorers, files: scorerFiles, tests: task.tests }),
        }
      }),
    )
  })
}

interface Loading extends PlanOptions {
  directory: string
  isCopied: boolean
}

/** Loads each agent as its cells will: what is missing is found now. */
async function loadAgents(
  plan: Plan,
  evaluation: Evaluation,
  loading: Loading,
): Promise<{ variants: PlannedVariant[]; warnings: ConfigWarning[] }> {
  const variants: PlannedVariant[] = []
  const warnings: ConfigWarning[] = []
  for (const variant of plan.variants) {
    const loaded = await loadVariant(variant, plan, { ...loading, evaluation, warnings })
    variants.push({ ...variant, limits: variant.agent === null ? {} : writtenLimits(loaded?.limits) })
  }
  return { variants, warnings }
}

/** Its agent, which without one of its own is another for each task that forks a run. Adds its warnings to `warnings`. */
async function loadVariant(
  variant: PlannedVariant,
  plan: Plan,
  { evaluation, warnings, ...loading }: Loading & { evaluation: Evaluation; warnings: ConfigWarning[] },
): Promise<LoadedAgent | undefined> {
  const seen = new Set<string>()
  let loaded: LoadedAgent | undefined
  for (const task of plan.tasks) {
    const chosen = agentOfCell(variant, task.fork)
    const home = homeOf(chosen.agent, loading) ?? originalOf(variant, task, evaluation)
    const isNew =
      seen.size < seen.add(JSON.stringify([home, chosen.set, task.limits.cost === undefined])).size
    if (home === undefined || !isNew) continue
    const found = await load(home, { variant: variant.name, chosen, plan, env: loading.env })
    loaded = found.agent
    warnings.push(...found.warnings)
    const cost = task.limits.cost ?? loaded.limits?.cost
    if (cost !== undefined) await refuseUnpriced(loaded, { variant: variant.name, chosen, ...loading })
  }
  return loaded
}

function homeOf(agent: string | null, { directory, isCopied }: Loading): string | undefined {
  const copy = agent === null || !isCopied ? undefined : evalPaths(directory).input(agent)
  return copy !== undefined && existsSync(copy) ? copy : undefined
}

/** Where an agent lies that was not copied, because nothing is written. */
function originalOf(
  { name }: PlannedVariant,
  { id }: PlannedTask,
  evaluation: Evaluation,
): string | undefined {
  const { agent } = evaluation.variants.find((variant) => variant.name === name) ?? {}
  if (agent !== undefined) return agent.kind === 'agent' ? agent.directory : undefined
  return evaluation.tasks.find((task) => task.id === id)?.fork?.run.own?.home
}

interface ChosenAgent {
  /** Name of the variant. */
  variant: string
  chosen: ReturnType<typeof agentOfCell>
}

async function load(
  home: string,
  { variant, chosen, plan, env }: ChosenAgent & { plan: Plan; env: NodeJS.ProcessEnv | undefined },
): ReturnType<typeof loadAgent> {
  const overrides = overridesFor(plan, { variant: chosen, limits: {}, seed: plan.seed })
  const shownAs = chosen.original === null ? variant : `variant ${variant}`
  return loadAgent(home, { env, overrides, shownAs })
}

/** Who may spend dollars only must know what they cost. */
async function refuseUnpriced(
  agent: LoadedAgent,
  { variant, chosen, directory, env = process.env, prices }: ChosenAgent & Loading,
): Promise<void> {
  const credentials = await findKeys(agent, chosen.original, { directory, env })
  if (await hasPrice(agent, { credentials, prices, env })) return
  throw new EvaluationError(
    'ERR_EVAL_PLAN',
    `limits.cost: no price for ${agent.llm.model ?? 'the model'} (variant ${variant}). Give prices: in its agent.yaml, or use limits.tokens.`,
  )
}

function compare(plan: Plan, cells: readonly Cell[], directory: string): Omit<Planned, 'warnings'> {
  const known = new Set(
    planOf(directory) === undefined ? [] : readManifest(directory).map(({ cell }) => cell),
  )
  const ids = new Set(cells.map(({ cell }) => cell))
  const counts = {
    added: 0,
    kept: 0,
    rescored: 0,
    continued: 0,
    left: cellsIn(directory).filter((id) => !ids.has(id)).length,
  }
  const gone: string[] = []
  const open: Cell[] = []
  const lowered: { kind: string; was: string | number; now: string | number }[] = []
  for (const cell of cells) {
    const paths = evalPaths(directory).cell(cell.cell)
    const result = readResult(paths)
    counts[known.has(cell.cell) || result !== undefined ? 'kept' : 'added'] += 1
    if (result === undefined || !doesCount(plan, cell, result)) open.push(cell)
    if (result === undefined) continue
    const limits = limitsOfCell(plan, cell)
    const kind = loweredLimit(result.limits, limits)
    if (kind !== undefined)
      lowered.push({ kind, was: result.limits[kind] ?? 'no limit', now: limits[kind] ?? 0 })
    if (doesCount(plan, cell, result)) continue
    if (isRaised(result.reason, result.limits, limits)) counts.continued += 1
    else {
      counts.rescored += 1
      const [attempt = 1] = numbersIn(paths.directory).reverse()
      if (!existsSync(paths.attempt(attempt).workspace)) gone.push(cell.cell)
    }
  }
  refuseLowered(lowered)
  if (gone.length > 0)
    throw new EvaluationError(
      'ERR_EVAL_PLAN',
      `The workspaces of ${gone.length} cells are gone (keep: ${plan.keep}), so they cannot be scored again. Use another --into.`,
    )
  return { plan, cells, open, ...counts }
}

function refuseLowered(
  lowered: readonly { kind: string; was: string | number; now: string | number }[],
): void {
  const [first] = lowered
  if (first === undefined) return
  const { kind, was, now } = first
  const under =
    was === 'no limit'
      ? `no limit, as ${lowered.length} cells ran`
      : `the ${was} under which ${lowered.length} cells ran`
  throw new EvaluationError(
    'ERR_EVAL_PLAN',
    `limits.${kind}: ${now} is below ${under}. Use another --into, or ${was}.`,
  )
}

/** True unless there are other scorers now, or a limit that ended the run is higher. What is invalid stays so. */
export function doesCount(plan: Plan, cell: Cell, result: CellResult): boolean {
  if (result.state === 'invalid') return true
  return (
    result.score_hash === cell.score_hash && !isRaised(result.reason, result.limits, limitsOfCell(plan, cell))
  )
}

/** The lowest limit of each kind that evaluation, task and agent have. */
export function limitsOfCell(plan: Plan, { task, variant }: Pick<Cell, 'task' | 'variant'>): CellLimits {
  const ofTask = plan.tasks.find(({ id }) => id === task)?.limits ?? {}
  const ofVariant = plan.variants.find(({ name }) => name === variant)?.limits ?? {}
  return lowestLimits(ofTask, ofVariant)
}
