import type { Effects, Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type Tool as McpTool,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js'
import { type AdapterOptions, createRunner } from './runner.js'

export interface McpServerOptions extends AdapterOptions {
  /** What the server calls itself. Default `delta-tools`. */
  name?: string
  version?: string
  /** How often a client that asked for progress hears that a command still runs. Default one second. */
  progressMs?: number
}

/**
 * Tools as an MCP server (package `@modelcontextprotocol/sdk`); connect it to any transport.
 *
 * A failure, a refusal and a timeout are results with `isError`. Cancelling a request ends its command.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 */
export function toMcpServer(tools: readonly Tool[], options: McpServerOptions = {}): Server {
  const { name = 'delta-tools', version = '0.0.0', progressMs = 1000, ...adapter } = options
  const run = createRunner(tools, adapter)
  // The high-level McpServer of the SDK takes zod schemas only; ours are JSON Schema.
  const server = new Server({ name, version }, { capabilities: { tools: {} } })

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toMcpTool) }))

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const progressToken = params._meta?.progressToken
    let seconds = 0
    const report = () => {
      if (progressToken === undefined) return
      const message = `${params.name} is running`
      // A client that is gone hears nothing, and the signal ends the command.
      void sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress: seconds++, message },
      }).catch(() => undefined)
    }
    report()
    const timer = setInterval(report, progressMs)
    try {
      const result = await run({ name: params.name, arguments: params.arguments ?? {} }, signal)
      const content = [{ type: 'text' as const, text: result.observation }]
      return { content, isError: result.status !== 'SUCCESS' }
    } finally {
      clearInterval(timer)
    }
  })
  return server
}

function toMcpTool({ expanded, settings }: Tool): McpTool {
  const { name, description } = expanded
  const annotations = toAnnotations(settings.effects)
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: { ...toJsonSchema(expanded) },
    ...(annotations && { annotations }),
  }
}

/** Only what a tool declares becomes a hint; MCP's defaults for the rest are the cautious ones. */
function toAnnotations(effects: Effects | undefined): ToolAnnotations | undefined {
  if (!effects) return undefined
  const { destructive, idempotent, network } = effects
  return {
    ...(destructive !== undefined && { destructiveHint: destructive }),
    ...(idempotent !== undefined && { idempotentHint: idempotent }),
    ...(network !== undefined && { openWorldHint: network }),
    ...(isReadOnly(effects) && { readOnlyHint: true }),
  }
}

function isReadOnly({ filesystem, destructive, creates, modifies, deletes }: Effects): boolean {
  const declared = filesystem?.write === false && filesystem.delete !== true && destructive !== true
  return declared && !creates?.length && !modifies?.length && !deletes?.length
}
