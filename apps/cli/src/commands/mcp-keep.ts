import { text } from 'node:stream/consumers'
import { isMcpClientError } from '@delta/mcp'
import { type KeepRequest, keepServer, type Start } from '@delta/mcp/internal'
import { EXIT, stopSignal, type Terminal } from '../terminal.js'

/** What the first `delta mcp call` of a run starts: it keeps a server until the engine is gone. No person types it. */
export async function execute(_: object, terminal: Terminal): Promise<number> {
  const request = JSON.parse(await text(terminal.stdin)) as KeepRequest
  const tell = (start: Start) => void terminal.stdout.write(`${JSON.stringify(start)}\n`)
  const { signal } = stopSignal(terminal)
  try {
    await keepServer(request, tell, { signal })
    return EXIT.completed
  } catch (error) {
    const code = isMcpClientError(error) ? error.code : 'ERR_MCP_SERVER'
    tell({ error: { code, message: (error as Error).message } })
    return EXIT.failed
  }
}
