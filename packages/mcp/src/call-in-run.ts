import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { readHolder } from '@delta/durable'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import type { CallToolOptions } from './call-tool.js'
import { serverEnvironment } from './environment.js'
import { McpClientError } from './errors.js'
import {
  type KeepRequest,
  keeperPaths,
  type LiveRun,
  type Question,
  type Reply,
  readKeeper,
  type Start,
  socketDirectory,
} from './run-server.js'

/** What a call within a run needs. */
export interface CallInRunOptions extends Omit<CallToolOptions, 'onProgress'> {
  cwd: string
  env: NodeJS.ProcessEnv
  /** The command that starts a process which calls `keepServer`. */
  keeper: readonly string[]
}

/**
 * Calls a tool of the server that belongs to a file and a run. All calls of a run reach the same process, which keeps its state
 * and ends with the engine. The first call starts it. Loads no client of the protocol. Progress is not reported: nobody watches, and
 * the model would read it.
 *
 * @param file - Absolute path of the file.
 * @throws As `callMcpTool`. `ERR_MCP_REFUSED` also for a directory of sockets that is somebody else's.
 */
export async function callInRun(
  run: LiveRun,
  { file, tool, args }: { file: string; tool: string; args: Record<string, unknown> },
  options: CallInRunOptions,
): Promise<CallToolResult> {
  const { signal, onLog, sandbox } = options
  const { socket, token } = await reach(run, file, options)
  const question: Question = { token, tool, args, sandbox: sandbox?.settings ?? null }
  socket.write(`${JSON.stringify(question)}\n`)
  for await (const line of linesOf(socket, signal)) {
    const reply = JSON.parse(line) as Reply
    if ('result' in reply) return reply.result as CallToolResult // from our own process, which has parsed it
    if ('error' in reply) throw new McpClientError(reply.error.code, reply.error.message)
    onLog?.(reply.log)
  }
  throw new McpClientError(
    'ERR_MCP_SERVER',
    `${tool}: the process that keeps the server ended during the call.`,
  )
}

/**
 * The lines of a stream, which is destroyed with the last one that is asked for: the other side of a socket then cancels the call.
 * readline itself never ends when its stream is destroyed.
 *
 * @throws The reason of `signal`.
 */
async function* linesOf(stream: Readable, signal: AbortSignal | undefined): AsyncGenerator<string> {
  const lines = createInterface({ input: stream })
  lines.on('error', () => {}) // it repeats those of the stream, also later
  const close = () => lines.close()
  stream.once('close', close)
  signal?.addEventListener('abort', close)
  try {
    if (!stream.destroyed && !signal?.aborted) yield* lines
  } catch {
    // the other side is gone, which is an end like any other
  } finally {
    signal?.removeEventListener('abort', close)
    stream.destroy()
  }
  signal?.throwIfAborted()
}

/** How long another call may take to start what this one needs. */
const STARTING_MS = 5000
const LOOK_EVERY_MS = 20

/** A way to the process that keeps the server. */
interface Reached {
  socket: Socket
  token: string
}

async function reach(run: LiveRun, file: string, options: CallInRunOptions): Promise<Reached> {
  const { record, lock } = keeperPaths(run, file)
  let deadline: number | undefined
  for (;;) {
    const open = await tryRecord(record, run)
    if (open) return open
    if (deadline !== undefined && performance.now() > deadline) throw unreachable(file, lock)
    const isStarted = await startKeeper(run, file, options)
    deadline ??= performance.now() + STARTING_MS
    if (isStarted) continue
    while (isHeld(lock) && performance.now() < deadline) {
      const open = await tryRecord(record, run)
      if (open) return open
      await wait(LOOK_EVERY_MS, undefined, { signal: options.signal })
    }
  }
}

function isHeld(lock: string): boolean {
  return readHolder(lock)?.state === 'alive'
}

function unreachable(file: string, lock: string): McpClientError {
  const { pid } = readHolder(lock)?.record ?? {}
  const message = `The process that keeps the server of ${file}${pid === undefined ? '' : ` (${pid})`} cannot be reached: its record in the run or its socket is gone.`
  return new McpClientError('ERR_MCP_SERVER', message)
}

async function tryRecord(path: string, { epoch }: LiveRun): Promise<Reached | undefined> {
  const record = readKeeper(path)
  if (record?.epoch !== epoch) return undefined // of an engine that is gone: it is about to end
  if (lstatSync(record.socket, { throwIfNoEntry: false }) === undefined) return undefined
  refuseElsewhere(record.socket)
  const socket = connect(record.socket)
  socket.on('error', () => {}) // its end is what counts
  try {
    await once(socket, 'connect')
    return { socket, token: record.token }
  } catch {
    return undefined // killed: nobody listens
  }
}

/** What is sent to a socket that somebody else had put there would reach them, and their answer the model. */
function refuseElsewhere(socket: string): void {
  const ours = socketDirectory()
  if (dirname(socket) === ours) return
  const message = `The server of this run listens at ${socket}, which is not in ${ours}. Give all calls of a run the same TMPDIR.`
  throw new McpClientError('ERR_MCP_REFUSED', message)
}

/** @returns False if another process is doing the same. */
async function startKeeper(
  run: LiveRun,
  file: string,
  { keeper, cwd, env, sandbox, signal }: CallInRunOptions,
): Promise<boolean> {
  const [program = '', ...rest] = keeper
  const child = spawn(program, rest, {
    cwd: '/',
    detached: true, // a session of its own, and below without the marks by which a call's processes are found and ended
    env: serverEnvironment(env),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.unref()
  child.stdin.on('error', () => {}) // it ended, which its output says
  const request: KeepRequest = {
    run,
    file,
    sockets: socketDirectory(),
    cwd,
    env,
    ...(sandbox && { sandbox }),
  }
  child.stdin.end(JSON.stringify(request))
  for await (const line of linesOf(child.stdout, signal)) {
    const start = JSON.parse(line) as Start
    if ('error' in start) throw new McpClientError(start.error.code, start.error.message)
    return start.started
  }
  throw new McpClientError('ERR_MCP_SERVER', `The process that keeps the server of ${file} did not start.`)
}
