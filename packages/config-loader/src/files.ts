import {
  accessSync,
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
import { join, relative } from 'node:path'
import { isInside } from '@delta/executor/internal'
import { ConfigError, type Findings, formatReport } from './problems.js'
import { parseYaml, type YamlFile } from './yaml.js'

/** The directory that is being loaded, and how paths in it are shown. */
export interface Workplace {
  /** Absolute, symbolic links resolved. */
  home: string
  /** As the caller wrote it. */
  shown: string
  /** Files that a program gave as values, by name: read in place of those of the directory. Undefined: there is none. */
  given?: Readonly<Record<string, YamlFile | undefined>>
}

/** The path as the person would type it: under the directory they gave, or absolute if it lies elsewhere. */
export function displayName({ home, shown }: Workplace, path: string): string {
  return isInside(path, home) ? join(shown, relative(home, path)) : path
}

/** Reads a YAML file and reports what is wrong with it. Without `file` it is missing, or cannot be used. */
export function readYaml(
  path: string,
  workplace: Workplace,
  findings: Findings,
  reportUnreadable = (name: string, message: string): void => findings.error({ file: name }, `${message}.`),
): { exists: boolean; file?: YamlFile } {
  const { home, given = {} } = workplace
  const own = relative(home, path)
  if (Object.hasOwn(given, own)) return given[own] ? { exists: true, file: given[own] } : { exists: false }
  const name = displayName(workplace, path)
  const read = readText(path)
  if (!read.ok) {
    if (read.reason === 'missing') return { exists: false }
    reportUnreadable(name, read.message)
    return { exists: true }
  }
  const { problems, file } = parseYaml(read.text, { path, name })
  findings.problems.push(...problems)
  return { exists: true, ...(file && { file }) }
}

/** People write configurations: a larger file is there by a wrong path. */
const MAX_FILE_BYTES = 4 * 1024 * 1024

type ReadText = { ok: true; text: string } | Unreadable

interface Unreadable {
  ok: false
  reason: 'missing' | 'directory' | 'unreadable' | 'too-large' | 'not-text'
  /** Completes the sentence "agent.yaml …". */
  message: string
}

/**
 * Reads a text file that a person wrote: UTF-8, at most 4 MB. Removes a byte order mark. Never throws, whatever the path
 * turns out to be.
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
  if (status.size <= MAX_FILE_BYTES) return decode(readFileSync(descriptor))
  return { ok: false, reason: 'too-large', message: 'is larger than 4 MB' }
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

/** What error codes of the system mean for a person. */
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

/** The absolute path without symbolic links; undefined if it leads nowhere. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined // `readText` says why
  }
}

const MAIN_FILE = 'agent.yaml'
const OLD_MAIN_FILE = 'config.yaml'

/** @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: there is no such directory, or it cannot be listed. */
export function openDirectory(directory: string, shown = directory): Workplace {
  try {
    if (statSync(directory).isDirectory()) {
      accessSync(directory, constants.R_OK | constants.X_OK)
      return { home: realpathSync.native(directory), shown }
    }
  } catch (error) {
    throw notFound(
      `${shown}: the agent's directory ${describeFailure(error).message}.`,
      shown,
      undefined,
      error,
    )
  }
  throw notFound(`${shown}: is a file, but an agent is a directory.`, shown)
}

/**
 * The agent's main file: `agent.yaml`, or `config.yaml` as before version 1.9.
 *
 * @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: the directory holds neither.
 */
export function findMainFile({ home, shown, given }: Workplace, findings: Findings): string {
  if (given) return join(home, MAIN_FILE)
  const names = readdirSync(home)
  for (const name of ['context', 'hooks']) {
    if (!names.includes(`${name}.yml`) || names.includes(`${name}.yaml`)) continue
    const file = join(shown, `${name}.yml`) // a guard must not vanish because of a file's ending
    findings.error({ file }, 'Not read by this name.', `Rename it to ${name}.yaml.`)
  }
  const old = { file: join(shown, OLD_MAIN_FILE) }
  if (names.includes(MAIN_FILE)) {
    if (names.includes(OLD_MAIN_FILE))
      findings.warn(old, 'Not read: there is an agent.yaml beside it.', 'Remove one of the two.')
    return join(home, MAIN_FILE)
  }
  if (names.includes(OLD_MAIN_FILE)) {
    findings.deprecated(old, 'config.yaml is now called agent.yaml.', 'Rename the file.')
    return join(home, OLD_MAIN_FILE)
  }
  const place = shown === '.' ? 'This directory' : `${shown}:`
  const agents = names.filter((name) => existsSync(join(home, name, MAIN_FILE))).sort()
  const listed = agents.map((name) => join(shown, name)).join(', ')
  throw notFound(`${place} holds no agent.yaml.`, shown, listed ? `Agents in it: ${listed}` : undefined)
}

function notFound(
  message: string,
  shown: string,
  hint = shown.startsWith('~') ? NO_SHELL : undefined,
  cause?: unknown,
): ConfigError {
  const problems = [{ file: '', message, hint, ...(hint === undefined && { noAgentIn: shown }) }]
  return new ConfigError('ERR_CONFIG_NOT_FOUND', formatReport(problems), { problems, cause })
}

const NO_SHELL = 'No shell reads this path: write out what "~" stands for.'
