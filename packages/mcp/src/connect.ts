import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { endGroup } from '@delta/durable'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  type Implementation,
  ListToolsResultSchema,
  LoggingMessageNotificationSchema,
  type McpError,
  type Progress,
  type Tool,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { serverEnvironment } from './environment.js'
import { McpClientError } from './errors.js'
import type { ServerSettings } from './server-file.js'

/** Where a server runs, and with what. */
export interface Place {
  /** The workspace: the server starts there, and `${CWD}` stands for it. */
  cwd: string
  /** What `${TOOL_HOME}` stands for. */
  toolHome: string
  /** The environment of the call. A server gets a few variables of it, and those that `passEnv` lists. */
  env: NodeJS.ProcessEnv
  /** What confines the server. */
  sandbox?: ServerSandbox | undefined
}

/** A sandbox that somebody else has made: see `SERVER_SANDBOX`. */
export interface ServerSandbox {
  /** The words in front of the command. */
  prefix: readonly string[]
  /** Two servers with the same settings are confined alike. */
  settings: { network: boolean; [key: string]: unknown }
}

/** A server that answers. */
export interface Connection {
  /** What it says of itself. */
  info: Implementation | undefined
  /** The process that was started; undefined for a server on the network. */
  pid: number | undefined
  /** Its process has ended, or the connection to it. */
  hasEnded: () => boolean
  /** @throws As `callTool`; all pages together have the time of one call. */
  listTools(options?: { signal?: AbortSignal | undefined }): Promise<Tool[]>
  /**
   * @throws {McpClientError} `ERR_MCP_SERVER`, `ERR_MCP_TIMEOUT`; the reason of `signal`.
   */
  callTool(name: string, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>
  /** Ends the server with everything it started. */
  close(): Promise<void>
}

/** What one call may be told and may tell. */
export interface CallOptions {
  signal?: AbortSignal | undefined
  /** Called with each log message of the server, as a line. */
  onLog?: ((line: string) => void) | undefined
  /** Called with each report of progress, as a line. Without it the server is not asked for any. */
  onProgress?: ((line: string) => void) | undefined
}

const CLIENT = { name: 'delta', version: '1' }
/** A server may list its tools one by one, but not for ever. */
const MOST_PAGES = 1000
const DEFAULT_TIMEOUT_MS = 60_000
const NO_LIMIT_MS = 2 ** 31 - 1
/** A picture or a file of 24 MB as base64, with what stands around it. */
const LARGEST_MESSAGE_BYTES = 33_000_000

/**
 * Starts a server, or connects to one.
 *
 * @throws {McpClientError} `ERR_MCP_REFUSED`: its sandbox has no network. `ERR_MCP_SERVER`, `ERR_MCP_TIMEOUT`: it does not answer.
 */
export async function connect(
  server: ServerSettings,
  place: Place,
  options: { signal?: AbortSignal | undefined; onToolsChanged?: () => void } = {},
): Promise<Connection> {
  const { signal, onToolsChanged = () => {} } = options
  const timeout = server.timeoutMs === 0 ? NO_LIMIT_MS : (server.timeoutMs ?? DEFAULT_TIMEOUT_MS)
  const link =
    server.url === undefined ? await startServer(server, place) : connectTo(server.url, server, place)
  const listeners = new Set<(line: string) => void>()
  const client = new Client(CLIENT)
  let isClosed = false
  client.onclose = () => {
    isClosed = true
  }
  let isTooLarge = false
  client.onerror = ({ message }) => {
    // anything else is a line that is not JSON-RPC; what waits for a response fails by its own limit
    if (message.includes('exceeded maximum size')) isTooLarge = true
  }
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    const { level, data } = params
    const line = `[${level}] ${typeof data === 'string' ? data : JSON.stringify(data)}`
    for (const listener of listeners) listener(line)
  })
  client.setNotificationHandler(ToolListChangedNotificationSchema, onToolsChanged)

  async function asked<Response>(work: Promise<Response>, signal?: AbortSignal): Promise<Response> {
    try {
      return await work
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      throw await explain(error)
    }
  }

  async function explain(error: unknown): Promise<McpClientError> {
    const { code, message: said } = error as McpError
    if (isTooLarge) {
      const message = `${server.name} sent a message of more than ${LARGEST_MESSAGE_BYTES / 1e6} MB, which closed the connection to it.`
      return new McpClientError('ERR_MCP_SERVER', message, { cause: error })
    }
    if (code === ErrorCode.RequestTimeout) {
      const message = `${server.name} did not respond within ${timeout / 1000} s (timeout_ms).`
      return new McpClientError('ERR_MCP_TIMEOUT', message, { cause: error })
    }
    const ending = await link.ending()
    const message = ending
      ? `${server.name} ended (${ending.how}).${ending.lastWords && `\n${ending.lastWords}`}`
      : `${server.name}: ${said}`
    return new McpClientError('ERR_MCP_SERVER', message, { cause: error })
  }

  async function close(): Promise<void> {
    await link.stop()
    await client.close().catch(() => undefined) // a server on the network may be gone
  }

  try {
    await asked(client.connect(link.transport, { timeout, ...(signal && { signal }) }), signal)
  } catch (error) {
    await close()
    throw error
  }
  return {
    info: client.getServerVersion(),
    pid: link.pid,
    hasEnded: () => isClosed || link.hasEnded(),
    close,
    async listTools({ signal } = {}) {
      const tools: Tool[] = []
      const deadline = performance.now() + timeout
      let cursor: string | undefined
      for (let page = 0; page < MOST_PAGES; page++) {
        const request = { method: 'tools/list', ...(cursor && { params: { cursor } }) }
        const left = Math.max(1, Math.min(timeout, deadline - performance.now()))
        const options = { timeout: left, ...(signal && { signal }) }
        const { tools: more, nextCursor } = await asked(
          client.request(request, ListToolsResultSchema, options),
          signal,
        )
        tools.push(...more)
        if (!nextCursor) return tools
        cursor = nextCursor
      }
      const message = `${server.name} does not end its list of tools: there is a page after page ${MOST_PAGES} (nextCursor).`
      throw new McpClientError('ERR_MCP_SERVER', message)
    },
    async callTool(name, args, { signal, onLog = () => {}, onProgress }) {
      const listener = (line: string) => onLog(line)
      listeners.add(listener)
      try {
        const request = { method: 'tools/call', params: { name, arguments: args } }
        // the SDK's own `callTool` compares results with schemas, which no model asked for
        const asking = client.request(request, CallToolResultSchema, {
          timeout,
          ...(signal && { signal }),
          ...(onProgress && { onprogress: (progress: Progress) => onProgress(progressLine(progress)) }),
        })
        return await asked(asking, signal)
      } finally {
        listeners.delete(listener)
      }
    },
  }
}

function progressLine({ progress, total, message }: Progress): string {
  return ['progress', total === undefined ? progress : `${progress}/${total}`, message]
    .filter(Boolean)
    .join(' ')
}

/** A way to a server. */
interface Link {
  transport: Transport
  pid: number | undefined
  hasEnded: () => boolean
  /** How the process ended, if it has; it may be about to. */
  ending(): Promise<{ how: string; lastWords: string } | undefined>
  stop(): Promise<void>
}

function connectTo(url: string, { name, headersEnv = {} }: ServerSettings, { env, sandbox }: Place): Link {
  if (sandbox?.settings.network === false) {
    const message = `${name} is a server on the network, and sandbox: bwrap has network: false.`
    throw new McpClientError('ERR_MCP_REFUSED', message)
  }
  const missing = Object.values(headersEnv).filter((variable) => !env[variable])
  if (missing.length > 0) {
    const message = `${name}: headers_env names ${missing.join(', ')}, which this command's environment does not have. Set it; for a key of a model also list it in pass_env of the tool.`
    throw new McpClientError('ERR_MCP_SERVER', message)
  }
  const headers = Object.entries(headersEnv).map(([header, variable]) => [header, env[variable] ?? ''])
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: Object.fromEntries(headers) },
  })
  return {
    transport: transport as Transport, // its session id may be undefined, which the SDK's own type does not say
    pid: undefined,
    hasEnded: () => false,
    ending: async () => undefined,
    stop: () => transport.terminateSession().catch(() => undefined), // a server may not know how
  }
}

/** What of its output a server that failed is quoted with. */
const LAST_WORDS_CHARS = 2000
/** How long the end of a process may be noticed after that of its output, or the other way round. */
const NOTICED_WITHIN_MS = 200
/** A server that is told to end by the end of its input may do so by itself; then TERM, and KILL. */
const PATIENCE_MS = 100
const GRACE_MS = 300

async function startServer(server: ServerSettings, place: Place): Promise<Link> {
  const { name, command = [], passEnv = [] } = server
  const variables: Record<string, string> = { TOOL_HOME: place.toolHome, CWD: place.cwd }
  const filled = command.map((word) =>
    word.replaceAll(/\$\{(TOOL_HOME|CWD)\}/g, (_, key) => variables[key] ?? ''),
  )
  const [program = '', ...rest] = [...(place.sandbox?.prefix ?? []), ...filled]
  const child = spawn(program, rest, {
    cwd: place.cwd,
    env: serverEnvironment(place.env, passEnv),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // a process group of its own, which is ended as a whole
  })
  child.on('error', () => {}) // reported below; later ones are of signals to a process that is gone
  child.stdin.on('error', () => {}) // it has ended, which its end says
  if (child.pid === undefined) {
    const [{ code, message }] = (await once(child, 'error').catch((error) => [error])) as [
      NodeJS.ErrnoException,
    ]
    const why = code === 'ENOENT' ? `"${program}" is not on the PATH` : message
    throw new McpClientError('ERR_MCP_SERVER', `${name} does not start: ${why}. See mcp.command.`)
  }
  const { pid } = child
  const lastWords = tailOf(child)
  // it reads messages from one stream and writes them to another, which is all that a client needs, too
  const transport = new StdioServerTransport(child.stdout, child.stdin, {
    maxBufferSize: LARGEST_MESSAGE_BYTES,
  })
  const closed = once(child, 'close')
  const exited = once(child, 'exit')
  void Promise.race([closed, exited.then(() => wait(NOTICED_WITHIN_MS))]).then(() => transport.close())
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  return {
    transport,
    pid,
    hasEnded,
    async ending() {
      if (!child.stdout.readable) await Promise.race([exited, wait(NOTICED_WITHIN_MS)])
      const how = child.signalCode ?? (child.exitCode === null ? undefined : `exit code ${child.exitCode}`)
      return how === undefined ? undefined : { how, lastWords: lastWords() }
    },
    async stop() {
      child.stdin.end()
      await Promise.race([exited, wait(PATIENCE_MS)])
      await endGroup(pid, GRACE_MS) // also what it started, if it has ended itself
      for (const stream of [child.stdout, child.stderr]) stream.destroy() // a process outside of the group may hold them
    },
  }
}

function tailOf({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.setEncoding('utf8').on('data', (part: string) => {
    text = (text + part).slice(-LAST_WORDS_CHARS)
  })
  return () => text.trim()
}
