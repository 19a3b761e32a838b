import { toMcpServer } from '@delta/tool-adapters/mcp'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js'
import manifest from '../../package.json' with { type: 'json' }
import { say } from '../present/print.js'
import { counted } from '../present/words.js'
import { stopSignal } from '../terminal/stop-signal.js'
import { EXIT, SIGNAL_EXIT, type Terminal } from '../terminal/terminal.js'
import type { ToolFlags } from '../tools/load-tools.js'
import { withOpenRequests } from '../tools/open-requests.js'
import { loadServedTools } from '../tools/served-tools.js'
import { withOwnCommands } from '../with-own-commands.js'
import { placeToLook } from '../workspace/find-place.js'

/** Clients kill a server about four seconds after closing its input; its commands must have ended by then. */
const GRACE_MS = 1500

/** A pipe ends after its last request; requests still open then have this long to be answered. */
const LAST_ANSWERS_MS = 1000

/** After a message that is too long, the transport cannot tell where the next begins, and closes. */
const TOO_LONG = `The server has ended: a message may have ${STDIO_DEFAULT_MAX_BUFFER_SIZE / 2 ** 20} MB at most. Put anything larger into a file, and send its name.`

/** `delta mcp serve`: tools for an MCP client. Stdout is the protocol's; what a person may want to know goes to stderr. */
export async function execute(
  flags: ToolFlags & { workDir: string },
  terminal: Terminal,
  path: string,
): Promise<number> {
  const { workDirectory, runsDirectory } = placeToLook(flags, terminal)
  const {
    tools,
    warnings,
    version = manifest.version,
    ...served
  } = await loadServedTools(path, flags, terminal)
  for (const warning of warnings) say(terminal, warning)

  const environment = withOwnCommands(terminal.env)
  const server = toMcpServer(tools, {
    ...served,
    version,
    workDirectory,
    runsDirectory,
    environment,
    graceMs: GRACE_MS,
  })
  server.onerror = (error) => say(terminal, `Not accepted: ${problemOf(error)}`)
  say(terminal, `${counted(tools.length, 'tool')} over stdin and stdout, in ${workDirectory}`)
  return serve(server, terminal)
}

/** For JSON that is not a protocol message, the SDK's own error is a whole schema. */
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
  const { transport, answered } = withOpenRequests(new StdioServerTransport(stdin, stdout))
  stdin.once('error', close).once('end', () => {
    const late = setTimeout(close, LAST_ANSWERS_MS)
    void answered().then(() => {
      clearTimeout(late)
      close()
    })
  })
  stdout.once('error', close)

  await server.connect(transport)
  await closed
  if (signal.aborted) return SIGNAL_EXIT[String(signal.reason)] ?? EXIT.failed
  if (!isWanted) return EXIT.completed
  say(terminal, TOO_LONG)
  return EXIT.failed
}
