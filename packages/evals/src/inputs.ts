import { randomBytes } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { chmod, cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { readIfThere } from '@delta/durable'
import { namesIn } from '@delta/durable/internal'
import { readForkPoint } from '@delta/engine/internal'
import { BUILT_IN_AGENTS } from './built-in-agents.js'
import { hashOf, hashOfTree, sha256 } from './hash.js'

/** One thing of an evaluation as it was planned, in `inputs/<hash>`. */
export interface Input {
  hash: string
  /** Makes its files in a directory that exists and is empty. */
  fill: (directory: string) => Promise<void>
  /** False if the files in the directory are others. */
  isIntact: (directory: string) => Promise<boolean>
}

/** Copies what is not there yet, or was changed. A directory in `inputs/` is whole: it gets its name last. */
export async function keepInput(inputs: string, { hash, fill, isIntact }: Input): Promise<void> {
  const path = join(inputs, hash)
  const isThere = existsSync(path)
  if (isThere && (await isIntact(path))) return
  await mkdir(inputs, { recursive: true, mode: 0o700 })
  const beside = join(inputs, `.${randomBytes(8).toString('hex')}`)
  await mkdir(beside, { mode: 0o700 })
  try {
    await fill(beside)
    if (isThere) await removeTree(path)
    await rename(beside, path)
    await chmod(path, 0o500)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  }
}

/** Its root may be read-only. */
async function removeTree(path: string): Promise<void> {
  await chmod(path, 0o700)
  await rm(path, { recursive: true, force: true })
}

/** A directory as it is: links, modes and times are kept. Where the file system can, copies share their blocks. */
export async function copyTree(
  from: string,
  to: string,
  counts: (path: string) => boolean = () => true,
): Promise<void> {
  await cp(from, to, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (source) => source === from || counts(relative(from, source)),
  })
}

/** What is not part of an agent: what runs left there, keys, and workspaces. */
function isOfAgent(path: string): boolean {
  const [first = ''] = path.split('/')
  return !['.git', '.delta', '.env', 'workspaces'].includes(first)
}

/** An agent's directory, with another context.yaml if there is one. */
export async function agentInput(directory: string, context: string | undefined): Promise<Input> {
  const other = context === undefined ? undefined : readIfThere(context)?.toString()
  const isOf = (path: string) => isOfAgent(path) && (other === undefined || path !== CONTEXT)
  const hash = hashOf({ agent: await hashOfTree(directory, { counts: isOf }), context: other })
  return {
    hash,
    async fill(to) {
      await copyTree(directory, to, isOf)
      if (other !== undefined) await writeFile(join(to, CONTEXT), other)
    },
    isIntact: (to) => isAgentIntact(to, hash),
  }
}

const CONTEXT = 'context.yaml'

/**
 * True if all that lies in the copy of an agent is what was planned.
 *
 * @param hash - Its name in `inputs/`.
 */
export async function isAgentIntact(copy: string, hash: string): Promise<boolean> {
  try {
    return (
      hashOf({ agent: await hashOfTree(copy) }) === hash ||
      (await hashWithOtherContext(copy)) === hash ||
      hashOf({ files: filesIn(copy) }) === hash
    )
  } catch {
    return false // something is gone, or is not what it was
  }
}

async function hashWithOtherContext(copy: string): Promise<string> {
  const agent = await hashOfTree(copy, { counts: (path) => path !== CONTEXT })
  return hashOf({ agent, context: readIfThere(join(copy, CONTEXT))?.toString() })
}

/** The files of a built-in agent, by name, with their text. */
function filesIn(copy: string): Record<string, string | undefined> {
  return Object.fromEntries(namesIn(copy).map((name) => [name, readIfThere(join(copy, name))?.toString()]))
}

export function builtInInput(kind: keyof typeof BUILT_IN_AGENTS): Input {
  const files = BUILT_IN_AGENTS[kind]
  const hash = hashOf({ files })
  return {
    hash,
    fill: (to) => writeFiles(to, files),
    isIntact: (to) => isAgentIntact(to, hash),
  }
}

async function writeFiles(directory: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
}

/** The files of all scorers, below the directory of eval.yaml as they lie there. */
export async function scorerInput(directory: string, names: readonly string[]): Promise<Input> {
  const hashes = names.map(async (name) => [name, await hashOfAny(join(directory, name))] as const)
  const hash = hashOf({ files: Object.fromEntries(await Promise.all(hashes)) })
  return {
    hash,
    isIntact: (to) => areScorerFilesIntact(to, { names, hash }),
    async fill(to) {
      for (const name of names) {
        await mkdir(dirname(join(to, name)), { recursive: true })
        await copyTree(join(directory, name), join(to, name))
      }
    },
  }
}

async function hashOfAny(path: string): Promise<string> {
  try {
    return await hashOfTree(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTDIR') throw error
    return sha256(readIfThere(path)?.toString('latin1') ?? '')
  }
}

/** What a task is made of: directories, where they lie. */
export interface TaskParts {
  instruction: string | undefined
  metadata: Readonly<Record<string, unknown>>
  workspace?: string | undefined
  tests?: string | undefined
  solution?: string | undefined
  /** The directory of a run that it forks. */
  run?: string | undefined
  /** The iteration that it forks the run at. */
  at?: number | undefined
}

const DIRECTORIES = ['workspace', 'tests', 'solution'] as const

/** Kept as in a workspace that was moved: so a fork knows which paths the model has read. */
const RUNS = 'run/.delta'

/** The hashes of the parts of a task. Only the beginning of a run counts: it may have gone on, or go on. */
export async function hashTaskParts(
  parts: TaskParts,
): Promise<Record<(typeof DIRECTORIES)[number] | 'run', string | undefined>> {
  const { instruction: message, at = 0 } = parts
  const [workspace, tests, solution, run] = await Promise.all([
    hashOfTree(parts.workspace, {
      counts: (path) => isOfTemplate(path, parts.workspace) && !path.split('/').includes('.git'),
    }),
    hashOfTree(parts.tests),
    hashOfTree(parts.solution),
    parts.run === undefined ? undefined : readForkPoint(parts.run, { at, message, files: 'require' }),
  ])
  return { workspace, tests, solution, run: run && hashOf({ ...run, at }) }
}

/** @param hashes - Of its parts. */
export function taskInput(parts: TaskParts, hashes: Awaited<ReturnType<typeof hashTaskParts>>): Input {
  const { instruction, metadata } = parts
  const hash = hashOf({ instruction, metadata, ...hashes })
  return {
    hash,
    isIntact: (to) => isTaskIntact(to, { input: hash, fork: { at: parts.at ?? 0 } }),
    async fill(to) {
      if (instruction !== undefined) await writeFile(join(to, 'instruction.md'), instruction)
      await writeFile(join(to, 'metadata.json'), `${JSON.stringify(metadata)}\n`)
      for (const name of DIRECTORIES) {
        const from = parts[name]
        const counts = name === 'workspace' ? (path: string) => isOfTemplate(path, from) : undefined
        if (from === undefined) await mkdir(join(to, name))
        else await copyTree(from, join(to, name), counts)
      }
      if (parts.run === undefined) return
      await mkdir(join(to, RUNS), { recursive: true })
      await copyTree(parts.run, join(to, RUNS, basename(parts.run)), isOfRecord)
    },
  }
}

/** The parts of a task as they lie in its input. */
export function partsOfInput(input: string): TaskParts {
  const [run] = namesIn(join(input, RUNS))
  return {
    instruction: readIfThere(join(input, 'instruction.md'))?.toString(),
    metadata: JSON.parse(readIfThere(join(input, 'metadata.json'))?.toString() ?? '{}') as Record<
      string,
      unknown
    >,
    workspace: join(input, 'workspace'),
    tests: join(input, 'tests'),
    solution: join(input, 'solution'),
    ...(run !== undefined && { run: join(input, RUNS, run) }),
  }
}

/** True if the files of the scorers are still those that were planned. */
export async function areScorerFilesIntact(
  directory: string,
  { names, hash }: { names: readonly string[]; hash: string | null },
): Promise<boolean> {
  try {
    return (await scorerInput(directory, names)).hash === hash
  } catch {
    return false // one is gone
  }
}

/**
 * True if the files of a task are still those that were planned.
 *
 * @param input - Where they lie.
 */
export async function isTaskIntact(
  input: string,
  { input: hash, fork }: { input: string; fork?: { at: number } | undefined },
): Promise<boolean> {
  try {
    const parts = { ...partsOfInput(input), at: fork?.at }
    return taskInput(parts, await hashTaskParts(parts)).hash === hash
  } catch {
    return false // something is gone, or is not what it was
  }
}

/** Neither the runs of a template nor evaluations in it are part of a task. */
function isOfTemplate(path: string, template: string | undefined): boolean {
  if (path.split('/').includes('.delta')) return false
  const absolute = join(template ?? '', path)
  return !(existsSync(join(absolute, 'plan.json')) && existsSync(join(absolute, 'manifest.jsonl')))
}

/** What a fork reads of a run, without who holds it and whose it is. */
function isOfRecord(path: string): boolean {
  return !['lease', 'owner', 'secrets', 'interaction'].includes(path.split('/')[0] ?? '')
}
