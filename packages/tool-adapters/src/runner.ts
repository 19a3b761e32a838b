import { resolve } from 'node:path'
import {
  commandEnvironment,
  type ExecuteContext,
  executeTool,
  mayNeedApproval,
  needsApproval,
  type Tool,
  type ToolResult,
} from '@delta/executor'
import { exportedIn } from '@delta/executor/internal'
import { AdapterError } from './errors.js'
import { type Medium, mediaOf } from './media.js'

/** Where and how tools run; every adapter takes these. */
export interface AdapterOptions
  extends Pick<
    ExecuteContext,
    'policy' | 'confirm' | 'secrets' | 'graceMs' | 'outputPrefix' | 'runsDirectory'
  > {
  /** Where commands run, and what `${CWD}` stands for. Default: the current directory. */
  cwd?: string | undefined
  /** What `${AGENT_HOME}` stands for. Default: `cwd`. */
  agentHome?: string | undefined
  /** The environment of the commands, without `credentials`. Default: that of this process. */
  env?: NodeJS.ProcessEnv | undefined
  /**
   * Names in `env` that no command gets unless its tool lists them in `pass_env`, and whose values no answer shows.
   * `DELTA_API_KEY`, `OPENAI_API_KEY` and the keys of other providers are always among them.
   */
  credentials?: readonly string[] | undefined
}

/** Ids that can stand in an environment variable; a call with another one just runs unmarked. */
const MARK = /^[A-Za-z0-9_-]{1,64}$/

/** Runs calls by name. Whatever a model sends, and whatever a command does, is a result. */
export type Runner = (
  call: { id?: string | undefined; name: string; arguments: unknown },
  signal?: AbortSignal | undefined,
) => Promise<ToolResult>

type Call = Parameters<Runner>[0]

/**
 * Makes the one function all adapters stand on.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`: two tools have one name.
 * @example
 * const run = createRunner(tools)
 * const { status, observation } = await run({ name: 'list_files', arguments: {} })
 */
export function createRunner(tools: readonly Tool[], options: AdapterOptions = {}): Runner {
  return runnerFor(tools, options)
}

/** Where and how tools run, for a framework whose results can have images and files. */
export interface MediaOptions extends AdapterOptions {
  /**
   * Whether images and files are parts of a result. `false` for a model that takes none in results, as those of
   * Chat Completions: it reads a line in their place. Default true.
   */
  media?: boolean | undefined
}

/**
 * For a framework that asks a person by itself, unless `confirm` is there to do it: whatever reaches `outputOf` is approved.
 *
 * @returns `outputOf`: runs a call, and throws if it does not succeed. Its output is the observation; if there are images and
 *   files, the observation is the first part of it, and they follow. `approvalOf`: for a tool whose calls the policy puts to a
 *   person, whether a call is one; undefined for other tools.
 */
export function runnerAfterApproval(tools: readonly Tool[], { media = true, ...options }: MediaOptions) {
  const run = runnerFor(tools, options, () => true)
  const outputOf = async <Part>(
    call: Call,
    signal: AbortSignal | undefined,
    toPart: (medium: Medium) => Part,
  ) => {
    const result = await run(call, signal)
    const { status, observation: text } = result
    if (status !== 'SUCCESS') throw new AdapterError('ERR_ADAPTER_CALL', text, result)
    const parts = media ? mediaOf(result).map(toPart) : []
    return parts.length === 0 ? text : [{ type: 'text' as const, text }, ...parts]
  }
  const { confirm, policy } = options
  const approvalOf = (tool: Tool) => {
    if (confirm || !mayNeedApproval(tool, policy)) return undefined
    return (input: unknown) => needsApproval(tool, input, policy)
  }
  return { outputOf, approvalOf }
}

/** @param unasked - Answers where the options have no `confirm`. */
function runnerFor(
  tools: readonly Tool[],
  options: AdapterOptions,
  unasked?: AdapterOptions['confirm'],
): Runner {
  checkNames(tools)
  const {
    cwd = '.',
    env = process.env,
    agentHome: home = cwd,
    credentials = [],
    confirm = unasked,
    ...rest
  } = options
  // A command that is told a relative path would look for it from where it runs.
  const [workDirectory, agentHome] = [resolve(cwd), resolve(home)]
  const withheld = { pairs: [], env: exportedIn(env, credentials) }
  const context: ExecuteContext = {
    ...rest,
    confirm,
    cwd: workDirectory,
    env: commandEnvironment(env, { run: { agentHome, cwd: workDirectory }, credentials: withheld }),
    credentials: withheld,
  }
  return async (call, signal) => {
    const { id, name, arguments: args } = Object(call) as Partial<Call>
    const named = { name: typeof name === 'string' ? name : '', arguments: args }
    const mark = typeof id === 'string' && MARK.test(id) && { actionId: id }
    return await executeTool(tools, named, { ...context, ...mark, signal })
  }
}

/** @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`: two tools have one name. */
export function checkNames(tools: readonly Tool[]): void {
  const names = tools.map(({ expanded }) => expanded.name)
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice === undefined) return
  const message = `Two tools are called "${twice}". A model could not tell them apart.`
  throw new AdapterError('ERR_ADAPTER_DUPLICATE', message)
}
