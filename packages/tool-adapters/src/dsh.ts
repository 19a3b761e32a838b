import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Context } from '@deepseek-ai/cordis'
import { HarnessError } from '@deepseek-ai/dsh-llm'
import type { ToolDefinition } from '@deepseek-ai/dsh-tools'
import { defineTool, parsePolicy, type Tool, type ToolResult } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { parse } from 'yaml'
import * as z from 'zod/mini'
import { AdapterError, isAdapterError } from './errors.js'
import { checkNames, runnerAfterApproval } from './runner.js'

/** `config` of the plug-in in a profile. Relative paths start where dsh was started. */
const configSchema = z.strictObject({
  /** A directory of YAML files, or one file: each is a tool, or has a list `tools`. What `${AGENT_HOME}` stands for. */
  tools: z.string(),
  /** Where commands run. Default: where dsh was started. */
  cwd: z.optional(z.string()),
  /** As `policy` of an `agent.yaml`. What it puts to a person, dsh asks. */
  policy: z.optional(z.unknown()),
  /** Names of variables that no command gets, unless its tool lists them in `pass_env`. */
  credentials: z.optional(z.array(z.string())),
})

/** What a profile gives the plug-in. */
export interface DshConfig extends z.infer<typeof configSchema> {}

/** The plug-in in dsh's own lists. @public */
export const name = 'delta-tools'
/** The services that it waits for. @public */
export const inject = ['tools']

/**
 * A plug-in of DeepSeek Harness: registers each tool of a directory of YAML files in `ctx.tools`, until the plug-in is unloaded.
 *
 * What a command prints is the tool's output. A call that fails, is refused or is blocked is a `HarnessError`, whose message the
 * model reads. Aborting the call ends the command.
 *
 * @throws {AdapterError} `ERR_ADAPTER_TOOLS`: the configuration, or a file. `ERR_ADAPTER_DUPLICATE`. {ToolExpansionError} A tool.
 */
export function apply(ctx: Context, config: unknown): void {
  const { tools: path, cwd, policy: written, credentials } = configOf(config)
  const tools = toolsIn(resolve(path))
  checkNames(tools)
  const agentHome = statSync(path).isDirectory() ? resolve(path) : resolve(path, '..')
  const policy = written === undefined ? undefined : parsePolicy(written)
  const { outputOf, approvalOf } = runnerAfterApproval(tools, {
    cwd,
    agentHome,
    policy,
    credentials,
    media: false, // dsh keeps pictures in a store of its own
  })
  const approvals = new Map(tools.map((tool) => [tool.expanded.name, approvalOf(tool)]))
  ctx.on('tools/pre-execute', async ({ name: called, arguments: args }, next) => {
    if (!ctx.tools.get(called) || !approvals.get(called)?.(args)) return next()
    const decided = await next()
    return decided.kind === 'allow'
      ? { kind: 'ask', reason: `The policy asks before ${called} runs.` }
      : decided
  })
  for (const { expanded } of tools)
    ctx.tools.register({
      name: expanded.name,
      description: expanded.description ?? '',
      parameters: { ...toJsonSchema(expanded) },
      output: { schema: { type: 'string' }, render: (_, value) => [{ type: 'text', text: String(value) }] },
      execute: async (args, { callId: id, signal }) => {
        const call = { id, name: expanded.name, arguments: args }
        return await outputOf(call, signal, () => undefined).catch(asHarnessError)
      },
    } satisfies ToolDefinition)
}

/** A call that did not succeed, as dsh knows errors. */
class CommandError extends HarnessError {}

const CODES: Record<Exclude<ToolResult['status'], 'SUCCESS'>, string> = {
  FAILED: 'COMMAND_FAILED',
  ERROR: 'COMMAND_REFUSED',
  BLOCKED: 'COMMAND_BLOCKED',
  TIMEOUT: 'TOOL_TIMEOUT', // this and the next are dsh's own
  INTERRUPTED: 'ABORTED',
}

function asHarnessError(error: unknown): never {
  const status = isAdapterError(error) ? error.result?.status : undefined
  if (status === undefined || status === 'SUCCESS') throw error
  throw new CommandError((error as Error).message, CODES[status])
}

function configOf(config: unknown): DshConfig {
  const parsed = configSchema.safeParse(config)
  if (parsed.success) return parsed.data
  const example = 'Write, for example: config: { tools: ./tools, policy: { allow_destructive: false } }'
  throw new AdapterError('ERR_ADAPTER_TOOLS', `${name}: ${z.prettifyError(parsed.error)}\n${example}`)
}

function toolsIn(path: string): Tool[] {
  const status = statSync(path, { throwIfNoEntry: false })
  if (!status) throw new AdapterError('ERR_ADAPTER_TOOLS', `${name}: ${path} does not exist.`)
  if (!status.isDirectory()) return toolsOf(path)
  const names = readdirSync(path).filter((each) => /\.ya?ml$/.test(each))
  return names.sort().flatMap((each) => toolsOf(join(path, each)))
}

function toolsOf(file: string): Tool[] {
  const value: unknown = parse(readFileSync(file, 'utf8'))
  const { tools, name: single } = Object(value) as { tools?: unknown; name?: unknown }
  const list = Array.isArray(tools)
    ? tools
    : typeof single === 'string' && tools === undefined
      ? [value]
      : undefined
  if (list) return list.map((each) => defineTool(each))
  const message = `${name}: ${file} is neither a tool (name, exec) nor a list of tools (tools).`
  throw new AdapterError('ERR_ADAPTER_TOOLS', message)
}
