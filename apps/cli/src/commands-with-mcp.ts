// These hold the protocol's own library, so they are one bundle. A call within a run needs none of it: see commands/mcp-call.ts.
export { callMcpTool, readServerFile } from '@delta/mcp'
export * as importCommand from './commands/mcp-import.js'
export * as keepCommand from './commands/mcp-keep.js'
export * as serveCommand from './commands/mcp-serve.js'
