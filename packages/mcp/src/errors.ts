/**
 * `FILE`: what a person wrote cannot be used. `SERVER`: the server does not start, has ended, or breaks the protocol. `TIMEOUT`:
 * it did not respond in time. `CHANGED`: a tool is not what was imported. `UNKNOWN`: there is no such tool. `REFUSED`: the server
 * may not be used as things are.
 */
export type McpClientErrorCode =
  | 'ERR_MCP_FILE'
  | 'ERR_MCP_SERVER'
  | 'ERR_MCP_TIMEOUT'
  | 'ERR_MCP_CHANGED'
  | 'ERR_MCP_UNKNOWN'
  | 'ERR_MCP_REFUSED'

/** Branch on `code`; show `message` to people. What a tool itself reports as a failure is a result, not an error. */
export class McpClientError extends Error {
  override readonly name = 'McpClientError'
  readonly code: McpClientErrorCode

  constructor(code: McpClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** True for a `McpClientError`, also one of another installed copy of this package. */
export function isMcpClientError(error: unknown): error is McpClientError {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_MCP_')
}
