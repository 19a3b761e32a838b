import {
  commandEnvironment,
  credentialsOf,
  type ExecuteContext,
  executeTool,
  type Tool,
  type ToolResult,
} from '@delta/executor'
import { AdapterError } from './errors.js'

/** Where and how tools run; every adapter takes these. */
export interface AdapterOptions
  extends Pick<ExecuteContext, 'policy' | 'confirm' | 'secrets' | 'graceMs' | 'outputPrefix'> {
  /** Where commands run, and what `${CWD}` stands for. Default: the current directory. */
  workDirectory?: string
  /** What `${AGENT_HOME}` stands for. Default: the work directory. */
  agentHome?: string
  /** The environment of the commands. Default: that of this process; API keys are removed either way. */
  environment?: NodeJS.ProcessEnv
}

/** Ids that can stand in an environment variable; a call with another one just runs unmarked. */
const MARK = /^[A-Za-z0-9_-]{1,64}$/

/** Runs calls by name. Whatever a model sends, and whatever a command does, is a result. */
export type Runner = (
  call: { id?: string | undefined; name: string; arguments: unknown },
  signal?: AbortSignal,
) => Promise<ToolResult>

/**
 * Makes the one function all adapters stand on.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`: two tools have one name.
 */
export function createRunner(tools: readonly Tool[], options: AdapterOptions = {}): Runner {
  const {
    workDirectory = process.cwd(),
    environment = process.env,
    agentHome = workDirectory,
    ...rest
  } = options
  const byName = indexTools(tools)
  const context: ExecuteContext = {
    ...rest,
    workDirectory,
    variables: { AGENT_HOME: agentHome, CWD: workDirectory },
    environment: commandEnvironment(environment, { agentHome, workDirectory }),
    credentials: credentialsOf(environment),
  }
  return ({ id = '', ...call }, signal) =>
    executeTool(byName, call, { ...context, ...(MARK.test(id) && { actionId: id }), signal })
}

function indexTools(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    const { name } = tool.expanded
    if (byName.has(name)) {
      throw new AdapterError(
        'ERR_ADAPTER_DUPLICATE',
        `Two tools are called "${name}". A model could not tell them apart.`,
      )
    }
    byName.set(name, tool)
  }
  return byName
}
