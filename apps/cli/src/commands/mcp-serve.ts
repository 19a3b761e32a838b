import { setTimeout } from 'node:timers/promises'
import type { LoadedTools } from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import { toMcpServer } from '@delta/tool-adapters/mcp'
import { type AgentFlags, placeToLook } from '@delta/workspace'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js'
import {
  CancelledNotificationSchema,
  isJSONRPCRequest,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js'
import manifest from '../../package.json' with { type: 'json' }
import { loadTools } from '../agent.js'
import { withOwnCommands } from '../own-commands.js'
import { EXIT, SIGNAL_EXIT, stopSignal, type Terminal } from '../terminal.js'
import { counted, say } from '../text.js'

/** Clients kill a server about four seconds after closing its input; its commands must have ended by then. */
const GRACE_MS = 1500

/** A pipe ends after its last request; requests still open then have this long to be answered. */
const LAST_ANSWERS_MS = 1000

/** After a message that is too long, the transport cannot tell where the next begins, and closes. */
const TOO_LONG = `The server has ended: a message may have ${STDIO_DEFAULT_MAX_BUFFER_SIZE / 2 ** 20} MB at most. Put anything larger into a file, and send its name.`

/** `delta mcp serve`: tools for an MCP client. Stdout is the protocol's; what a person may want to know goes to stderr. */
export async function execute(
  flags: AgentFlags & { workDir: string },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { workDirectory, runsDirectory } = placeToLook(flags, terminal)
  const loaded = await loadTools(path, flags, terminal)
  const tools = [...loaded.tools.values()]
  const server = toMcpServer(tools, {
    ...servedAs(loaded),
    agentHome: loaded.agentHome,
    cwd: workDirectory,
    runsDirectory,
    env: withOwnCommands(terminal.env),
    graceMs: GRACE_MS,
  })
  for (const warning of loaded.warnings) say(terminal, formatProblem(warning))
  server.onerror = (error) => say(terminal, `Not accepted: ${problemOf(error)}`)
  say(terminal, `${counted(tools.length, 'tool')} over stdin and stdout, in ${workDirectory}`)
  return serve(server, terminal)
}

/** The SDK's own error about JSON that is not a protocol message is a whole schema. */
function problemOf({ name, message }: Error): string {
  return name === 'ZodError' || name === '$ZodError' ? 'a line that is not a JSON-RPC message' : message
}

/** Serves until the client closes either stream or a signal comes; then the commands that still run are ended. */
async function serve(server: Server, terminal: Terminal): Promise<number> {
  const { stdin, stdout } = terminal
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  let isWanted = true
  const close = (): void => {
    isWanted = false
    void server.close()
  }
  // never disposed of: the commands end after this function has, and a signal must not outrun that
  const { signal } = stopSignal(terminal, { onFirst: close })
  const transport = new StdioServerTransport(stdin, stdout)
  const open = openRequests(transport)
  stdin.once('error', close).once('end', async () => {
    for (let waited = 0; open.size > 0 && waited < LAST_ANSWERS_MS; waited += 10) await setTimeout(10)
    close()
  })
  stdout.once('error', close)

  await server.connect(transport)
  await closed
  if (signal.aborted) return SIGNAL_EXIT[String(signal.reason)] ?? EXIT.failed
  if (!isWanted) return EXIT.completed
  say(terminal, TOO_LONG)
  return EXIT.failed
}

/** What the file of an agent says of itself. The rest of the agent need not be there. */
function servedAs({ document, policy }: LoadedTools) {
  const { name, version, llm } = (Array.isArray(document) ? {} : document) as Record<string, unknown>
  const { api_key_env: keyName } = Object(llm) as { api_key_env?: unknown }
  return {
    ...(typeof keyName === 'string' && { credentials: [keyName] }), // the tools of a run do not get it either
    ...(typeof name === 'string' && { name }),
    version: typeof version === 'string' ? version : manifest.version,
    ...(policy && { policy }),
  }
}

/** The requests over this transport that wait for an answer. The SDK calls an `onmessage` that is there already, then its own. */
function openRequests(transport: StdioServerTransport): ReadonlySet<RequestId> {
  const open = new Set<RequestId>()
  transport.onmessage = (message) => {
    if (isJSONRPCRequest(message)) open.add(message.id)
    const { data: cancelled } = CancelledNotificationSchema.safeParse(message)
    if (cancelled?.params.requestId !== undefined) open.delete(cancelled.params.requestId) // gets no answer
  }
  const send = transport.send.bind(transport)
  transport.send = async (message) => {
    await send(message)
    if (!('method' in message) && message.id !== undefined) open.delete(message.id)
  }
  return open
}
