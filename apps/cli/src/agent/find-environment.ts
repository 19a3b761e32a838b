import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CREDENTIAL_NAMES } from '@delta/executor/internal'
import { type Agent, type Environment, loadEnvironment, type WorkspaceEndpoint } from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import { askAtTerminal } from '../present/ask.js'
import { say } from '../present/text.js'
import { openState, readState, type StateFile } from '../state-directory.js'
import { isWithinRun, StoppedError, type Terminal } from '../terminal/terminal.js'

interface Finding {
  workDirectory: string
  /** `trustWorkspaceEnv` as a digest trusts the file with this content. */
  flags: { trustWorkspaceEnv?: boolean | string }
  terminal: Terminal
  warn: (message: string) => void
  signal: AbortSignal
}

/** The key and the address of the model's API, as a run of this agent in this workspace would find them. */
export async function findEnvironment(agent: Agent, finding: Finding): Promise<Environment> {
  const { workDirectory, terminal, warn } = finding
  const found = await loadEnvironment({
    workDirectory,
    agentHome: agent.home,
    env: terminal.env,
    ...(agent.llm.baseUrl === undefined ? {} : { llmBaseUrl: agent.llm.baseUrl }),
    overrides: agent.snapshot.overrides,
    trustWorkspaceEnv: (endpoint) => isTrusted(endpoint, finding),
  })
  for (const warning of found.warnings) warn(formatProblem(warning))
  return found
}

/** By the flag, by what the run recorded, or by a person's yes, now or before. */
async function isTrusted(
  endpoint: WorkspaceEndpoint,
  { flags, terminal, signal }: Finding,
): Promise<boolean> {
  const { trustWorkspaceEnv } = flags
  if (trustWorkspaceEnv === true || trustWorkspaceEnv === endpoint.digest) return true
  const path = join(realpathSync(dirname(endpoint.file)), basename(endpoint.file))
  const { entries, problem } = readState(ENVIRONMENTS, terminal.env)
  if (problem !== undefined) say(terminal, problem)
  if (entries.some((entry) => entry.path === path && entry.digest === endpoint.digest)) return true
  if (!terminal.stdin.isTTY || !terminal.stderr.isTTY || isWithinRun(terminal)) return false

  const state = openState(ENVIRONMENTS, terminal.env)
  const question = { requestId: '', prompt: promptFor(endpoint), sensitive: false } as const
  const answer = await askAtTerminal({ ...question, inputType: 'confirmation' }, terminal, signal)
  if (signal.aborted) throw new StoppedError(signal, undefined, 'Nothing was run.')
  if (answer === undefined || !/^\s*y(es)?\s*$/i.test(answer)) return false
  state.add({ path, digest: endpoint.digest })
  return true
}

function promptFor({ file, line, name, shownUrl }: WorkspaceEndpoint): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${name} names the model's endpoint ${shownUrl}
The key and everything that the model is told go there. Whoever can write to the workspace can set it.
Use it? A yes is remembered for this file with this content.`
}

/** The `.env` files of workspaces whose base URL a person said yes to. */
const ENVIRONMENTS: StateFile<{ path: string; digest: string }> = {
  name: 'environments.jsonl',
  holds: 'which .env files of workspaces you trust',
  parse(line) {
    const { path, digest } = Object(line) as Partial<Record<string, unknown>>
    return typeof path === 'string' && typeof digest === 'string'
      ? { ...Object(line), path, digest }
      : undefined
  },
  subject: ({ path }) => path,
  isCurrent: ({ path }) => existsSync(path),
}

/** A warning for each name in a `pass_env` that has no value, so that the command does not find it. */
export function passedWithoutValue(
  { tools, hooks, manifest }: Agent,
  {
    apiKey,
    baseUrl,
    environment,
  }: Pick<Environment, 'apiKey' | 'baseUrl'> & { environment: NodeJS.ProcessEnv },
): string[] {
  const generators = manifest.sources.flatMap((source) =>
    source.type === 'computed_file'
      ? [[`context source ${source.id ?? source.outputPath}`, source.generator.passEnv] as const]
      : [],
  )
  const lists: (readonly [string, readonly string[]])[] = [
    ...[...tools].map(([name, { settings }]) => [`tool "${name}"`, settings.passEnv] as const),
    ...Object.entries(hooks).map(([name, { passEnv }]) => [`hook ${name}`, passEnv] as const),
    ...generators,
    ['token_counter', manifest.tokenCounter?.passEnv ?? []],
  ]
  const keys = Object.fromEntries(CREDENTIAL_NAMES.map((name) => [name, apiKey]))
  const values: NodeJS.ProcessEnv = {
    ...environment,
    ...keys,
    ...(baseUrl === undefined ? {} : { DELTA_BASE_URL: baseUrl }),
  }
  return lists.flatMap(([command, names]) =>
    names
      .filter((name) => !values[name])
      .map((name) => `pass_env of ${command}: ${name} has no value, so the command will not find it.`),
  )
}
