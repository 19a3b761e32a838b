import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { ConfigError, type Findings, formatReport } from './problems.js'
import { parseYaml, type YamlFile } from './yaml.js'

/** The directory that is being loaded, and how paths in it are shown. */
export interface Workplace {
  /** Absolute, symbolic links resolved. */
  home: string
  /** As the caller wrote it. */
  shown: string
}

/** The path as the person would type it: under the directory they gave, or absolute if it lies elsewhere. */
export function displayName({ home, shown }: Workplace, path: string): string {
  return isInside(path, home) ? join(shown, relative(home, path)) : path
}

/** Compares absolute, resolved paths; a directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/** Reads a YAML file and reports what is wrong with it. Without `file` it is missing, or cannot be used. */
export function readYaml(
  path: string,
  workplace: Workplace,
  findings: Findings,
  /** Says that a file that is there cannot be read. Default: at the file itself. */
  unreadable: (failure: Unreadable, name: string) => void = ({ message }, name) =>
    findings.error({ file: name }, `${message}.`),
): { exists: boolean; file?: YamlFile } {
  const name = displayName(workplace, path)
  const read = readText(path)
  if (!read.ok) {
    if (read.reason === 'missing') return { exists: false }
    unreadable(read, name)
    return { exists: true }
  }
  const { problems, file } = parseYaml(read.text, { path, name })
  findings.problems.push(...problems)
  return { exists: true, ...(file && { file }) }
}

/** Configuration is written by people: a file beyond this is a wrong path, not a configuration. */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024

export type ReadText = { ok: true; text: string } | Unreadable

export interface Unreadable {
  ok: false
  reason: 'missing' | 'directory' | 'unreadable' | 'too-large' | 'not-text'
  /** Completes the sentence "agent.yaml …". */
  message: string
}

/**
 * Reads a text file that a person wrote: UTF-8, at most 4 MB; a byte order mark is taken away.
 *
 * Never throws for what a path can turn out to be.
 */
export function readText(path: string): ReadText {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe without a writer must not block
    return readOpened(descriptor)
  } catch (error) {
    return describeFailure(error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function readOpened(descriptor: number): ReadText {
  const status = fstatSync(descriptor)
  if (status.isDirectory()) return { ok: false, reason: 'directory', message: 'is a directory, not a file' }
  if (!status.isFile()) return { ok: false, reason: 'unreadable', message: 'is not a regular file' }
  if (status.size <= LARGEST_FILE_BYTES) return decode(readFileSync(descriptor))
  return { ok: false, reason: 'too-large', message: 'is larger than the 4 MB that are read' }
}

function decode(bytes: Buffer): ReadText {
  if (bytes.includes(0))
    return { ok: false, reason: 'not-text', message: 'is not a text file: it contains NUL bytes' }
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { ok: false, reason: 'not-text', message: 'is not UTF-8 text; save it as UTF-8' }
  }
}

/** What codes of the system mean for a person; `reason` is `missing` where nothing is there. */
const FAILURES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read by you',
  EPERM: 'may not be read by you',
  ELOOP: 'is a symbolic link that leads to itself',
}

function describeFailure(error: unknown): Unreadable {
  const { code = '', message } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' || code === 'ENOTDIR' ? 'missing' : 'unreadable'
  return { ok: false, reason, message: FAILURES[code] ?? `cannot be read: ${message}` }
}

/** For a path that was not found and that only a shell would have understood. */
export function tildeHint(path: string): string | undefined {
  return path.startsWith('~') ? 'No shell reads this path: write out what "~" stands for.' : undefined
}

/** The absolute path without symbolic links, or undefined if nothing can be found there. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined // missing, a circle of links, not to be entered, no path at all: `readText` says which
  }
}

const MAIN_FILE = 'agent.yaml'
const OLD_MAIN_FILE = 'config.yaml'

/** @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: there is no such directory. */
export function openDirectory(directory: string, shown = directory): Workplace {
  try {
    if (statSync(directory).isDirectory()) return { home: realpathSync.native(directory), shown }
  } catch (error) {
    throw notFound(`${shown}: the agent's directory ${describeFailure(error).message}.`, shown, error)
  }
  throw notFound(`${shown}: is a file, but an agent is a directory.`, shown)
}

/**
 * The agent's main file: `agent.yaml`, or `config.yaml` as before version 1.9.
 *
 * @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: the directory holds neither.
 */
export function findMainFile({ home, shown }: Workplace, findings: Findings): string {
  const names = namesIn(home, shown)
  for (const name of ['context', 'hooks']) {
    if (!names.has(`${name}.yml`) || names.has(`${name}.yaml`)) continue
    const file = join(shown, `${name}.yml`) // a guard must not vanish by the ending of its file
    findings.error({ file }, 'Not read by this name.', `Rename it to ${name}.yaml.`)
  }
  const old = { file: join(shown, OLD_MAIN_FILE) }
  if (names.has(MAIN_FILE)) {
    if (names.has(OLD_MAIN_FILE))
      findings.warn(old, 'Not read: there is an agent.yaml beside it.', 'Remove one of the two.')
    return join(home, MAIN_FILE)
  }
  if (names.has(OLD_MAIN_FILE)) {
    findings.deprecated(old, 'config.yaml is now called agent.yaml.', 'Rename the file.')
    return join(home, OLD_MAIN_FILE)
  }
  const place = shown === '.' ? 'This directory' : `${shown}:`
  throw notFound(`${place} holds no agent.yaml.`, shown, undefined, suggest({ home, shown }, names))
}

function suggest({ home, shown }: Workplace, names: ReadonlySet<string>): string | undefined {
  const otherEnding = ['agent.yml', 'config.yml'].find((name) => names.has(name))
  if (otherEnding !== undefined) return `Rename ${join(shown, otherEnding)} to agent.yaml.`
  const inside = [...names].filter((name) => existsSync(join(home, name, MAIN_FILE))).sort()
  if (inside.length === 0) return undefined
  return `Agents inside of it: ${inside.map((name) => join(shown, name)).join(', ')}`
}

function namesIn(home: string, shown: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(home))
  } catch (error) {
    throw notFound(`${shown}: the agent's directory ${describeFailure(error).message}.`, shown, error)
  }
}

function notFound(
  message: string,
  shown: string,
  cause?: unknown,
  hint: string | undefined = tildeHint(shown),
): ConfigError {
  const problems = [{ file: '', message, hint, ...(hint === undefined && { noAgentIn: shown }) }]
  return new ConfigError('ERR_CONFIG_NOT_FOUND', formatReport(problems), { problems, cause })
}
