import type { Effects, Tool, ToolPart } from '@delta/executor'
import { toJsonSchema } from '@delta/tool-expander'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { McpServer, RegisteredTool } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool as McpTool,
  type ServerNotification,
  type ServerRequest,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod/mini'
import { encoded } from './media.js'
import { type AdapterOptions, createRunner, type Runner } from './runner.js'

/** Where and how tools run. */
export interface McpToolOptions extends AdapterOptions {
  /** Milliseconds between two progress notifications, to a client that asked for them. Default 1000. */
  progressMs?: number | undefined
}

/** The same, and what the server says of itself. */
export interface McpServerOptions extends McpToolOptions {
  /** Name of the server. Default `delta-tools`. */
  name?: string | undefined
  /** Version of the server. Default `0.0.0`. */
  version?: string | undefined
}

/**
 * Tools as an MCP server (package `@modelcontextprotocol/sdk`); connect it to any transport.
 *
 * A failure, a refusal and a timeout are results with `isError`. Cancelling a request ends its command.
 *
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`
 * @example
 * await toMcpServer(tools).connect(new StdioServerTransport())
 */
export function toMcpServer(tools: readonly Tool[], options: McpServerOptions = {}): Server {
  const { name = 'delta-tools', version = '0.0.0', progressMs, ...adapter } = options
  const run = createRunner(tools, adapter)
  // The high-level McpServer of the SDK answers a call of a tool that does not exist by itself, and says less.
  const server = new Server({ name, version }, { capabilities: { tools: {} } })
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toMcpTool) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args = {} } }, extra) =>
    callTool(run, { name, arguments: args }, extra, progressMs),
  )
  return server
}

/**
 * Mounts tools on an MCP server of your own, beside what it offers already. They behave as those of `toMcpServer`.
 *
 * @returns What the SDK gives for each, in the order of `tools`: a handle to disable or remove it.
 * @throws {AdapterError} `ERR_ADAPTER_DUPLICATE`. The SDK's error where the server has a tool of that name.
 * @example
 * registerMcpTools(server, tools, { cwd: '/srv/files' })
 */
export function registerMcpTools(
  server: McpServer,
  tools: readonly Tool[],
  options: McpToolOptions = {},
): RegisteredTool[] {
  const { progressMs, ...adapter } = options
  const run = createRunner(tools, adapter)
  return tools.map((tool) => {
    const { name, inputSchema, ...config } = toMcpTool(tool)
    // McpServer takes zod schemas only. This one lets every input through: the executor's refusals say more.
    const anything = z.looseObject({})
    anything._zod.toJSONSchema = () => inputSchema
    return server.registerTool(name, { ...config, inputSchema: anything }, (args, extra) =>
      callTool(run, { name, arguments: args }, extra, progressMs),
    )
  })
}

async function callTool(
  run: Runner,
  call: { name: string; arguments: unknown },
  { signal, sendNotification, _meta }: RequestHandlerExtra<ServerRequest, ServerNotification>,
  progressMs = 1000,
): Promise<CallToolResult> {
  const progressToken = _meta?.progressToken
  const stopReporting = reportEvery(progressMs, async (progress) => {
    if (progressToken === undefined) return
    const message = `${call.name} is running`
    await sendNotification({ method: 'notifications/progress', params: { progressToken, progress, message } })
  })
  try {
    const { observation, parts, status } = await run(call, signal)
    const content = parts?.map(toContent) ?? [{ type: 'text' as const, text: observation }]
    return { content, isError: status !== 'SUCCESS' }
  } finally {
    stopReporting()
  }
}

/** A file has no place that a client could read it from, so its URI only names it. */
function toContent(part: ToolPart): CallToolResult['content'][number] {
  if (part.type === 'text') return part
  const { type, mediaType: mimeType, name, base64: data } = encoded(part)
  if (type === 'image') return { type, data, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data, mimeType }
  return {
    type: 'resource',
    resource: { uri: `attachment:${encodeURIComponent(name)}`, mimeType, blob: data },
  }
}

/** Node turns a longer timer into one of a millisecond. */
const LONGEST_MS = 2 ** 31 - 1

/** Reports at once, and then every so often until the returned function is called. Reports are counted from 0. */
function reportEvery(everyMs: number, send: (report: number) => Promise<void>): () => void {
  let reports = 0
  // A client that is gone hears nothing, and the signal ends the command.
  const report = (): void => void send(reports++).catch(() => undefined)
  report()
  const timer = setInterval(report, Math.min(everyMs, LONGEST_MS))
  return () => clearInterval(timer)
}

function toMcpTool({ expanded, settings }: Tool) {
  const { name, description } = expanded
  const annotations = toAnnotations(settings.effects)
  return {
    name,
    ...(description !== undefined && { description }),
    inputSchema: { ...toJsonSchema(expanded) },
    ...(annotations && { annotations }),
  } satisfies McpTool
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
