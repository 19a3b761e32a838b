import { formatProblem, type LoadedTools } from '@delta/config-loader'
import { type Policy, parsePolicy, type Tool } from '@delta/executor'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { loadTools, type ToolFlags } from './load-tools.js'

export interface ServedTools {
  /** Of the agent, if its file says so. */
  name?: string
  version?: string
  tools: Tool[]
  policy?: Policy
  agentHome: string
  warnings: string[]
}

/** What a path offers to a client: only tools and policy are read, so the rest of an agent need not be there. */
export async function loadServedTools(
  path: string,
  flags: ToolFlags,
  terminal: Terminal,
): Promise<ServedTools> {
  const { tools, document, agentHome, warnings } = await loadTools(path, flags, terminal)
  const { name, version, policy } = fieldsOf(document)
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof version === 'string' && { version }),
    ...(policy !== undefined && policy !== null && { policy: readPolicy(policy, path) }),
    tools: [...tools.values()],
    agentHome,
    warnings: warnings.map((warning) => formatProblem(warning)),
  }
}

function fieldsOf(document: LoadedTools['document']): Record<string, unknown> {
  return Array.isArray(document) ? {} : document
}

/** A rule with a name nobody knows is an error, as in `delta run`: it would protect nothing. */
function readPolicy(value: unknown, path: string): Policy {
  const parsed = parsePolicy(value)
  if (parsed.ok) return parsed.policy
  const wrong = parsed.problems.map(({ path: key, message }) =>
    key === '' || parsed.unknownKeys.includes(key) ? message : `${key}: ${message}`,
  )
  throw new UsageError(`${path}: policy: ${wrong.join('\n')}`)
}
