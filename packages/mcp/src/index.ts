export { type CallToolOptions, callMcpTool } from './call-tool.js'
export type { CallOptions, ServerSandbox } from './connect.js'
export { describeReview } from './describe-review.js'
export { isMcpClientError, McpClientError, type McpClientErrorCode } from './errors.js'
export {
  type ChangedTool,
  type ImportedServer,
  type ImportOptions,
  importMcpServer,
  type LeftOut,
  reviewServer,
  type ServerReview,
} from './import-server.js'
export type { WrittenTool } from './review.js'
export { type ReviewedTool, readServerFile, type ServerFile, type ServerSettings } from './server-file.js'
