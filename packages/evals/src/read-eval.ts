import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { readSettings, type SettingsFile } from '@delta/config-loader/internal'
import { isInside, realPath } from '@delta/durable/internal'
import { directoriesMatching, isGlob } from './directories-matching.js'
import {
  type EvalFile,
  evalSchema,
  isNamed,
  taskSchema,
  UNNAMED,
  type WrittenTask,
  type WrittenVariant,
} from './schema.js'
import type { CellLimits, Scorer } from './types.js'

/** An `eval.yaml`, read: its tasks and variants are listed, its paths absolute. */
export interface Evaluation extends Pick<EvalFile, 'setup' | 'provider_wait' | 'snapshots'> {
  /** Absolute path of the file. */
  path: string
  name: string
  baseline: string
  concurrency: number
  repeats: number
  seed: number
  limits: CellLimits
  keep: 'always' | 'failed' | 'never'
  scorers: readonly Scorer[]
  variants: readonly Variant[]
  tasks: readonly Task[]
}

/** What solves the tasks. */
export interface Variant {
  name: string
  /** Undefined: the agent of the run that a task forks. */
  agent: { kind: 'agent'; directory: string } | { kind: 'oracle' } | { kind: 'nop' } | undefined
  model?: string | undefined
  set: Readonly<Record<string, unknown>>
  /** Stands in for the agent's context.yaml. */
  context?: string | undefined
}

/** One task. A missing directory is an empty one. */
export interface Task {
  id: string
  /** Undefined only for a fork that goes on without a word. */
  instruction: string | undefined
  workspace?: string | undefined
  tests?: string | undefined
  solution?: string | undefined
  limits: CellLimits
  metadata: Readonly<Record<string, unknown>>
  /** A run, and an iteration of it. */
  fork?: { run: ForkedRun; at: number } | undefined
  /** Where it stands, for messages. */
  place: string
}

const DEFAULTS = { concurrency: 16, repeats: 1, seed: 1 }

/** A run that a task forks. */
export interface ForkedRun {
  /** Absolute path. */
  directory: string
  /** Its agent, and what was set in it as `path=value`; undefined for a run that is not yours. */
  own: { home: string; set: readonly string[] } | undefined
}

/** Finds the run that a `fork:` names, by id or path; none in a directory that a glob names and that holds none. */
export type FindRuns = (named: string) => Promise<readonly ForkedRun[]>

interface ReadOptions {
  /** What messages call the file. Default: the path as given. */
  shownAs?: string | undefined
  findRuns?: FindRuns | undefined
}

/**
 * Reads an `eval.yaml`, and lists its tasks and variants.
 *
 * @throws {ConfigError} with every problem found, each with its place.
 */
export async function readEval(
  path: string,
  { shownAs = path, findRuns = noRuns }: ReadOptions = {},
): Promise<Evaluation> {
  const absolute = resolve(path)
  const file = readSettings(absolute, evalSchema, { shownAs })
  const { value } = file
  const directory = dirname(absolute)
  const variants = readVariants(file, directory)
  const tasks = await readTasks(file, { directory, shownAs, findRuns })
  refuseUnusable(file, variants, tasks)
  const scorers = readScorers(file, directory, tasks)
  const { baseline = variants[0]?.name ?? '', limits = {} } = value
  if (variants.length > 0 && !variants.some(({ name }) => name === baseline))
    file.wrong(
      ['baseline'],
      `there is no variant ${baseline}`,
      `Variants: ${variants.map(({ name }) => name).join(', ')}.`,
    )
  file.refuse()
  return {
    path: absolute,
    name: value.name ?? basename(directory),
    baseline,
    concurrency: value.concurrency ?? DEFAULTS.concurrency,
    repeats: value.repeats ?? DEFAULTS.repeats,
    seed: value.seed ?? DEFAULTS.seed,
    limits: withoutIterations(limits),
    keep: value.keep ?? 'always',
    setup: value.setup,
    provider_wait: value.provider_wait,
    snapshots: value.snapshots,
    scorers,
    variants,
    tasks,
  }
}

function withoutIterations({ wall_time, tokens, cost }: CellLimits): CellLimits {
  return {
    ...(wall_time !== undefined && { wall_time }),
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
  }
}

type File = SettingsFile<EvalFile>
type Path = Parameters<File['wrong']>[0]

function readVariants(file: File, directory: string): Variant[] {
  const { variants = {}, matrix = {}, exclude = [] } = file.value
  const named = Object.entries(variants).map(([name, written]) => ({
    name,
    written,
    path: ['variants', name] as Path,
  }))
  const excluded = new Set(exclude)
  const crossed = crossProduct(matrix)
    .filter(({ name }) => !excluded.has(name))
    .map((each) => ({ ...each, path: ['matrix'] as Path }))
  for (const [index, name] of exclude.entries())
    if (!crossProduct(matrix).some((each) => each.name === name))
      file.wrong(['exclude', index], `the matrix has no ${name}`)
  const all = [...named, ...crossed]
  if (all.length === 0) file.wrong([], 'there is no variant', 'Add variants: { name: { agent: DIR } }.')
  return all.map(({ name, written, path }) => {
    if (crossed.some((each) => each.name === name) && named.some((each) => each.name === name))
      file.wrong(path, `${name} is also a variant of matrix`)
    return readVariant({ name, written, path }, file, directory)
  })
}

/** One of each axis; a later axis wins. */
function crossProduct(matrix: NonNullable<EvalFile['matrix']>): { name: string; written: WrittenVariant }[] {
  const axes = Object.values(matrix)
  if (axes.length === 0) return []
  const start = [{ name: '', written: {} as WrittenVariant }]
  return axes.reduce(
    (before, axis) =>
      before.flatMap((left) =>
        Object.entries(axis).map(([name, right]) => ({
          name: left.name === '' ? name : `${left.name}+${name}`,
          written: { ...left.written, ...right, set: { ...left.written.set, ...right.set } },
        })),
      ),
    start,
  )
}

function readVariant(
  { name, written, path }: { name: string; written: WrittenVariant; path: Path },
  file: File,
  directory: string,
): Variant {
  const { agent, model, set = {} } = written
  const { context, ...rest } = set
  const contextFile = typeof context === 'string' ? resolve(directory, context) : undefined
  if (contextFile !== undefined && !existsSync(contextFile))
    file.wrong([...path, 'set', 'context'], `there is no file ${context}`)
  const variant = { name, model, set: contextFile === undefined ? set : rest, context: contextFile }
  if (agent === 'oracle' || agent === 'nop') return { ...variant, agent: { kind: agent } }
  if (agent === undefined) return { ...variant, agent: undefined }
  const home = resolve(directory, agent)
  if (!['agent.yaml', 'config.yaml'].some((each) => existsSync(join(home, each))))
    file.wrong([...path, 'agent'], `no agent.yaml in ${agent}`)
  return { ...variant, agent: { kind: 'agent', directory: home } }
}

interface TaskPlace {
  directory: string
  shownAs: string
  findRuns: FindRuns
}

async function readTasks(file: File, place: TaskPlace): Promise<Task[]> {
  const written = file.value.tasks
  const entries =
    typeof written === 'string'
      ? [{ entry: written, path: ['tasks'] as Path }]
      : written.map((entry, index) => ({ entry, path: ['tasks', index] as Path }))
  const tasks: Task[] = []
  for (const { entry, path } of entries) {
    const found =
      typeof entry === 'string'
        ? tasksAt(entry, { file, path, place })
        : await inlineTasks(entry, { file, path, place })
    for (const task of found) {
      const twin = tasks.find(({ id }) => id === task.id)
      if (twin) file.wrong(path, `${task.id} is defined twice (${twin.place}, ${task.place})`)
      else tasks.push(task)
    }
  }
  for (const task of tasks) refuseHoldingFile(task, file, place)
  return tasks
}

/** Only the fork of a run of one's own has an agent without being told. */
function refuseUnusable(file: File, variants: readonly Variant[], tasks: readonly Task[]): void {
  for (const { name, agent } of variants) {
    const path: Path = Object.hasOwn(file.value.variants ?? {}, name) ? ['variants', name] : ['matrix']
    const task = tasks.find(({ fork }) =>
      agent === undefined ? fork?.run.own === undefined : agent.kind !== 'agent' && fork !== undefined,
    )
    if (task === undefined) continue
    if (agent !== undefined)
      file.wrong(path, `${name}: ${agent.kind} cannot go on with a run, as ${task.id} asks`)
    else if (task.fork === undefined)
      file.wrong(path, `${name}: "agent" is missing`, 'Add "agent:" with a directory, oracle or nop.')
    else
      file.wrong(
        path,
        `${name}: the run of ${task.id} is not among your runs: its agent and settings are not trusted`,
        'Add "agent:" with a directory.',
      )
  }
}

/** Each edit of eval.yaml would change such a template. */
function refuseHoldingFile({ id, workspace }: Task, file: File, { directory }: TaskPlace): void {
  if (workspace === undefined || !isInside(realPath(join(directory, 'eval.yaml')), realPath(workspace)))
    return
  file.wrong(
    ['tasks'],
    `${id}.workspace: ${relative(directory, workspace) || '.'} holds eval.yaml, so each edit of it would make every cell new. Put it beside`,
  )
}

interface Reading {
  file: File
  path: Path
  place: TaskPlace
}

function tasksAt(written: string, { file, path, place }: Reading): Task[] {
  const target = resolve(place.directory, written)
  const what = statSync(target, { throwIfNoEntry: false })
  if (what?.isFile()) return tasksOfLines(written, { file, path, place })
  const entries = what?.isDirectory() ? readdirSync(target) : []
  const names = entries.sort().filter((name) => existsSync(join(target, name, 'instruction.md')))
  if (names.length === 0) file.wrong(path, `no directory with an instruction.md in ${written}`)
  return names.map((name) => ({
    id: name,
    instruction: readFileSync(join(target, name, 'instruction.md'), 'utf8').trimEnd(),
    ...partsIn(join(target, name)),
    limits: {},
    metadata: {},
    place: join(written, name),
  }))
}

function partsIn(directory: string): Pick<Task, 'workspace' | 'tests' | 'solution'> {
  const part = (name: string) => (existsSync(join(directory, name)) ? join(directory, name) : undefined)
  return { workspace: part('workspace'), tests: part('tests'), solution: part('solution') }
}

function tasksOfLines(written: string, { file, path, place }: Reading): Task[] {
  const lines = readFileSync(resolve(place.directory, written), 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return []
    const parsed = parseLine(line)
    const task = parsed === undefined ? undefined : taskSchema.safeParse(parsed)
    if (!task?.success) {
      const issue = task?.error.issues[0]
      file.wrong(
        path,
        `${written}:${index + 1}: ${issue ? `${issue.path.join('.')}: ${issue.message}` : 'the line is not JSON'}`,
      )
      return []
    }
    const at = { file, path, place }
    return inlineTask(task.data, at, `${written}:${index + 1}`) ?? []
  })
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

async function inlineTasks(written: WrittenTask, reading: Reading): Promise<Task[]> {
  const { file, path, place } = reading
  const { fork, at } = written
  if (fork === undefined) return [inlineTask(written, reading, place.shownAs) ?? []].flat()
  if (at === undefined) {
    file.wrong([...path, 'fork'], 'say of which iteration: at: N, or 0 for the task alone')
    return []
  }
  const named = isGlob(fork) ? directoriesMatching(fork, place.directory) : [fork]
  const runs = (await Promise.all(named.map(place.findRuns))).flat()
  if (runs.length === 0) file.wrong([...path, 'fork'], `there is no run ${fork}`)
  return runs.map((run) => ({
    id:
      runs.length === 1 && written.id !== undefined
        ? written.id
        : `${written.id === undefined ? '' : `${written.id}-`}${basename(run.directory)}-${at}`,
    instruction: written.instruction,
    ...directoriesOf(written, reading),
    limits: withoutIterations(written.limits ?? {}),
    metadata: written.metadata ?? {},
    fork: { run, at },
    place: place.shownAs,
  }))
}

function inlineTask(written: WrittenTask, reading: Reading, place: string): Task | undefined {
  const { file, path } = reading
  const { id, instruction } = written
  if (id === undefined || instruction === undefined) {
    const missing = id === undefined ? 'id' : 'instruction'
    file.wrong(
      path,
      `${place === reading.place.shownAs ? '' : `${place}: `}"${missing}" is missing`,
      `Add "${missing}:" with a string.`,
    )
    return undefined
  }
  return {
    id,
    instruction,
    ...directoriesOf(written, reading),
    limits: withoutIterations(written.limits ?? {}),
    metadata: written.metadata ?? {},
    place,
  }
}

function directoriesOf(
  written: WrittenTask,
  { file, path, place }: Reading,
): Pick<Task, 'workspace' | 'tests' | 'solution'> {
  const directory = (key: 'workspace' | 'tests' | 'solution'): string | undefined => {
    const named = written[key]
    if (named === undefined) return undefined
    const absolute = resolve(place.directory, named)
    if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory())
      file.wrong([...path, key], `there is no directory ${named}`)
    return absolute
  }
  return { workspace: directory('workspace'), tests: directory('tests'), solution: directory('solution') }
}

function readScorers(file: File, directory: string, tasks: readonly Task[]): Scorer[] {
  const { score } = file.value
  if (score === undefined) {
    const [first] = tasks
    if (first) file.wrong([], `${first.place}: nothing to score it with`, 'Give score: in eval.yaml.')
    return []
  }
  const named = isNamed(score)
  const entries = named ? Object.entries(score) : [[UNNAMED, score] as const]
  return entries.map(([name, written]) => {
    const path: Path = named ? ['score', name] : ['score']
    const kinds = (['command', 'equals', 'matches'] as const).filter((key) => Object.hasOwn(written, key))
    if (kinds.length !== 1) file.wrong(path, 'needs one of command, equals and matches')
    if (written.matches !== undefined && !isPattern(written.matches))
      file.wrong([...path, 'matches'], 'is not a regular expression')
    for (const [index, each] of (written.files ?? []).entries())
      if (!existsSync(resolve(directory, each)))
        file.wrong([...path, 'files', index], `there is no file ${each}`)
      else if (!isInside(resolve(directory, each), directory))
        file.wrong([...path, 'files', index], `${each} lies outside of the directory of eval.yaml`)
    return { name, ...written }
  })
}

function isPattern(text: string): boolean {
  try {
    new RegExp(text)
    return true
  } catch {
    return false
  }
}

async function noRuns(): Promise<readonly ForkedRun[]> {
  return []
}
