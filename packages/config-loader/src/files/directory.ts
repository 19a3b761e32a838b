import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { ConfigError } from '../errors.js'
import type { Findings } from '../findings.js'
import { tildeHint } from '../path.js'
import type { Workplace } from './workplace.js'

const MAIN_FILE = 'agent.yaml'
const OLD_MAIN_FILE = 'config.yaml'
const ANOTHER_AGENT = 'Name the directory of an agent with --agent, or make a new one: delta init my-agent'
const MEND_LINK = 'Mend the link, or give another directory with --agent.'

/** @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: there is no such directory. */
export function openDirectory(directory: string, shown = directory): Workplace {
  try {
    if (statSync(directory).isDirectory()) return { home: realpathSync.native(directory), shown }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException
    if (code === 'EACCES')
      throw notFound(`${shown}: the agent's directory may not be read by you.`, mayRead(code), error)
    if (code === 'ELOOP')
      throw notFound(`${shown}: is a symbolic link that leads to itself.`, MEND_LINK, error)
    if (!['ENOENT', 'ENOTDIR'].includes(code))
      throw notFound(`${shown}: the agent's directory cannot be found.`, message, error)
    throw notFound(
      `${shown}: the agent's directory does not exist.`,
      tildeHint(shown) ??
        `Give another with --agent, or make one: ${quoteForPerson(['delta', 'init', shown])}`,
      error,
    )
  }
  throw notFound(
    `${shown}: is a file, but an agent is a directory.`,
    `Give the directory that holds it: ${quoteForPerson(['--agent', dirname(shown)])}`,
  )
}

/**
 * The agent's main file: `agent.yaml`, or `config.yaml` as before version 1.9.
 *
 * @param another - What to name instead of a directory that holds other things.
 * @throws {ConfigError} `ERR_CONFIG_NOT_FOUND`: the directory holds neither.
 */
export function findMainFile(
  { home, shown }: Workplace,
  findings: Findings,
  another: string = ANOTHER_AGENT,
): string {
  const names = namesIn(home, shown)
  for (const name of ['context', 'hooks']) {
    const isMeant = names.has(`${name}.yml`) && !names.has(`${name}.yaml`)
    // a guard must not vanish by the ending of its file
    if (isMeant)
      findings.error(
        { file: join(shown, `${name}.yml`) },
        'Not read by this name.',
        `Rename it to ${name}.yaml.`,
      )
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
  throw notFound(`${place} holds no agent.yaml.`, suggest({ home, shown }, names, another))
}

function suggest({ home, shown }: Workplace, names: ReadonlySet<string>, another: string): string {
  const otherEnding = ['agent.yml', 'config.yml'].find((name) => names.has(name))
  if (otherEnding !== undefined) return `Rename ${join(shown, otherEnding)} to agent.yaml.`
  const inside: string[] = []
  for (const name of [...names].sort()) {
    if (isFile(join(home, name, MAIN_FILE))) inside.push(join(shown, name))
  }
  if (inside.length > 0) return `Agents inside of it: ${someOf(inside)}`
  if (names.size > 0) return another // init wants it empty
  return `Make an agent there with: ${quoteForPerson(['delta', 'init', basename(shown) === '.' ? '.' : shown])}`
}

const MOST_NAMED = 10

function someOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMED
  return names.slice(0, MOST_NAMED).join(', ') + (more > 0 ? `, and ${more} more` : '')
}

function namesIn(home: string, shown: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(home))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isRefused = code === 'EACCES' || code === 'EPERM'
    const hint = isRefused ? mayRead(code) : message
    throw notFound(`${shown}: the agent's directory cannot be listed.`, hint, error)
  }
}

/** False also where the path goes on below something that is no directory. */
function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false // whatever cannot be looked at is not a file to be read
  }
}

function mayRead(code: string): string {
  return `Give yourself permission to read it (${code}).`
}

function notFound(message: string, hint: string, cause?: unknown): ConfigError {
  const problems = [{ file: '', message, hint }]
  return new ConfigError('ERR_CONFIG_NOT_FOUND', `${message}\n${hint}`, { problems, cause })
}
