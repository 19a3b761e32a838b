import type { Effects, Tool } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type Tool as McpTool,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js'
import { checkServerOptions } from './check-options.js'
import { type AdapterOptions, runnerFor } from './runner.js'

/** Where and how tools run, and what the server says of itself. */
export interface McpServerOptions extends AdapterOptions {
  /** What the server calls itself. Default `delta-tools`. */
  name?: string | undefined
  /** What the server says of its version. Default `0.0.0`. */
  version?: string | undefined
  /** How often a client that asked for progress hears that a command still runs. Default one second. */
  progressMs?: number | undefined
}

/**
 * Tools as an MCP server (package `@modelcontextprotocol/sdk`); connect it to any transport.
 *
 * A failure, a refusal and a timeout are results with `isError`. Cancelling a request ends its command.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`, `ERR_ADAPTER_OPTIONS`
 */
export function toMcpServer(tools: readonly Tool[], options: McpServerOptions = {}): Server {
  checkServerOptions(options)
  const { name = 'delta-tools', version = '0.0.0', progressMs = 1000, ...adapter } = options
  const run = runnerFor('toMcpServer', tools, adapter)
  // The high-level McpServer of the SDK takes zod schemas only; ours are JSON Schema.
  const server = new Server({ name, version }, { capabilities: { tools: {} } })

  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toMcpTool) }))

  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const { name, arguments: args = {}, _meta: { progressToken } = {} } = params
    const stopReporting = reportAgainAndAgain(progressMs, async (progress) => {
      if (progressToken === undefined) return
      const message = `${name} is running`
      await sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, message },
      })
    })
    try {
      const { observation, status } = await run({ name, arguments: args }, signal)
      return { content: [{ type: 'text', text: observation }], isError: status !== 'SUCCESS' }
    } finally {
      stopReporting()
    }
  })
  return server
}

/** Reports at once, and then every so often until the returned function is called. Reports are counted from 0. */
function reportAgainAndAgain(everyMs: number, send: (report: number) => Promise<void>): () => void {
  let reports = 0
  // A client that is gone hears nothing, and the signal ends the command.
  const report = (): void => void send(reports++).catch(() => undefined)
  report()
  const timer = setInterval(report, everyMs)
  return () => clearInterval(timer)
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
