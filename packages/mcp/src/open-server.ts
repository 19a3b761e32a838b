import { basename, isAbsolute, relative, resolve } from 'node:path'
import { quoteCommand } from '@delta/executor'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { type CallOptions, type Connection, connect, type Place } from './connect.js'
import { McpClientError } from './errors.js'
import { changedParts, type OfferedTool } from './review.js'
import type { ReviewedTool, ServerFile } from './server-file.js'

/** A server whose reviewed tools can be called. */
export interface OpenServer {
  /** As `callMcpTool`. */
  call(tool: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>
  pid: number | undefined
  hasEnded: () => boolean
  close(): Promise<void>
}

/**
 * Starts the server of a file. Before the first call of each tool the file is read, and what the server says of the tool is
 * compared with it.
 *
 * @param read - Reads the file, which may have been updated meanwhile.
 */
export async function openServer(
  read: () => ServerFile,
  place: Place,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<OpenServer> {
  const compared = new Set<string>()
  let offered: OfferedTool[] | undefined
  const onToolsChanged = () => {
    offered = undefined
    compared.clear()
  }
  const connection: Connection = await connect(read().server, place, { signal, onToolsChanged })

  async function compare(tool: string, signal: AbortSignal | undefined): Promise<void> {
    const file = read()
    offered ??= await connection.listTools({ signal })
    refuseChanged(file, tool, offered, place.cwd)
    compared.add(tool)
  }

  return {
    pid: connection.pid,
    hasEnded: connection.hasEnded,
    close: connection.close,
    async call(tool, args, options = {}) {
      if (!compared.has(tool)) await compare(tool, options.signal)
      return connection.callTool(tool, args, options)
    },
  }
}

/** @throws {McpClientError} `ERR_MCP_UNKNOWN` */
export function reviewedTool({ path, tools }: ServerFile, tool: string): ReviewedTool {
  const reviewed = tools.get(tool)
  if (reviewed) return reviewed
  const message = `${basename(path)} has no tool "${tool}" of its server. It has: ${[...tools.keys()].join(', ')}.`
  throw new McpClientError('ERR_MCP_UNKNOWN', message)
}

/** A path to type: short from the directory of the call or below it, and one that holds everywhere for a file outside of it. */
function pathToType(path: string, cwd: string): string {
  const whole = resolve(cwd, path)
  const below = relative(cwd, whole)
  return below.startsWith('..') || isAbsolute(below) ? whole : below
}

function refuseChanged(file: ServerFile, tool: string, offered: readonly OfferedTool[], cwd: string): void {
  const reviewed = reviewedTool(file, tool)
  const command = quoteCommand(['delta', 'mcp', 'import', pathToType(file.path, cwd), '--check'])
  const review = `Review it: ${command}.`
  const now = offered.find(({ name }) => name === tool)
  if (!now) {
    const message = `${file.server.name} no longer has the tool "${tool}". ${review}`
    throw new McpClientError('ERR_MCP_UNKNOWN', message)
  }
  const changed = changedParts(reviewed, now, file.server.url !== undefined)
  if (changed.length === 0) return
  const message = `${reviewed.name} changed since it was imported (${changed.join(', ')}). ${review}`
  throw new McpClientError('ERR_MCP_CHANGED', message)
}
