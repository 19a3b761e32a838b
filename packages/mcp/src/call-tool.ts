import { dirname } from 'node:path'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions, ServerSandbox } from './connect.js'
import { openServer, reviewedTool } from './open-server.js'
import type { ServerFile } from './server-file.js'

/** Where the server of one call runs. */
export interface CallToolOptions extends CallOptions {
  /** Where the server starts, and what `${CWD}` stands for. Default: the current directory. */
  cwd?: string | undefined
  /** What the server's environment is taken from. Default: that of this process. */
  env?: NodeJS.ProcessEnv | undefined
  /** What confines the server. */
  sandbox?: ServerSandbox | undefined
}

/**
 * Starts the server of a file, calls one of its tools, and ends the server.
 *
 * @param file - From `readServerFile`.
 * @param tool - The server's own name of the tool.
 * @returns What the tool returned, also with `isError: true`.
 * @throws {McpClientError} `ERR_MCP_UNKNOWN`, `ERR_MCP_CHANGED`: the tool is not what was imported. `ERR_MCP_SERVER`, `ERR_MCP_TIMEOUT`:
 *   the server fails. `ERR_MCP_REFUSED`: its sandbox has no network. Also the reason of `signal`; the server is then told to stop the call.
 *
 * @example
 * await callMcpTool(readServerFile('everything.yaml'), 'get-sum', { a: 2, b: 3 })
 */
export async function callMcpTool(
  file: ServerFile,
  tool: string,
  args: Record<string, unknown> = {},
  options: CallToolOptions = {},
): Promise<CallToolResult> {
  const { cwd = process.cwd(), env = process.env, sandbox, signal, onLog, onProgress } = options
  reviewedTool(file, tool) // before anything is started
  const server = await openServer(() => file, { cwd, env, sandbox, toolHome: dirname(file.path) }, { signal })
  try {
    return await server.call(tool, args, { signal, onLog, onProgress })
  } finally {
    await server.close()
  }
}
