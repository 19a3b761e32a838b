import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import {
  endGroup,
  endProcess,
  type Lock,
  processStart,
  replaceFile,
  takeLock,
  thisMachine,
} from '@delta/durable'
import { removeFile } from '@delta/durable/internal'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { isMcpClientError, McpClientError } from './errors.js'
import { type OpenServer, openServer } from './open-server.js'
import {
  type KeeperRecord,
  type KeepRequest,
  keeperPaths,
  owningEpoch,
  type Question,
  type Reply,
  readKeeper,
  type Start,
} from './run-server.js'
import { readServerFile } from './server-file.js'

const LOOK_EVERY_MS = 250
const IDLE_MS = 600_000
/** The keeper before this one, of an engine that is gone, is about to end by itself. */
const GRACE_MS = 500

/**
 * Keeps the server of a file for the calls of one run, and serves them over a socket: see `callInRun`.
 *
 * Ends with everything it started when no engine owns the run any more or another one does, after ten minutes without a call,
 * and when `signal` is aborted. One lock for each file and run decides who keeps the server.
 *
 * @param tell - Called once with what the process that asked for it waits for.
 * @returns When it has ended.
 */
export async function keepServer(
  request: KeepRequest,
  tell: (start: Start) => void,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<void> {
  const paths = keeperPaths(request.run, request.file)
  const lock = await takeOver(request, paths)
  if (!lock) return tell({ started: false })
  try {
    const before = readKeeper(paths.record)?.server
    await endLeftOver(before)
    const socket = join(request.sockets, `${randomBytes(8).toString('hex')}.sock`)
    const token = randomBytes(32).toString('hex')
    const record: KeeperRecord = { epoch: request.run.epoch, pid: process.pid, socket, token }
    await serve(request, {
      wasLost: before !== undefined,
      socket,
      token,
      isNamed: () => readKeeper(paths.record)?.token === token,
      write: (server) =>
        replaceFile(paths.record, JSON.stringify({ ...record, ...(server && { server }) }), { sync: false }),
      tell,
      signal,
    })
  } finally {
    lock.release()
  }
}

/** The lock, or undefined if a keeper of the same engine holds it. */
async function takeOver(
  { run }: KeepRequest,
  paths: { record: string; lock: string },
): Promise<Lock | undefined> {
  const held = new Error('held')
  try {
    return await takeLock(paths.lock, {
      sync: false,
      forgetPast: true,
      async onHeld({ record: holder }) {
        const keeper = readKeeper(paths.record)
        const isOfGoneEngine = holder && keeper?.pid === holder.pid && keeper.epoch !== run.epoch
        if (!isOfGoneEngine) throw held
        await endProcess(holder.pid, holder.process_start, GRACE_MS)
        return true
      },
    })
  } catch (error) {
    if (error === held) return undefined
    throw error
  }
}

/** A keeper that was killed could not end its server. */
async function endLeftOver(server: KeeperRecord['server']): Promise<void> {
  if (server?.pid === undefined || server.start === undefined || server.boot !== thisMachine().bootId) return
  if (processStart(server.pid) === server.start) await endGroup(server.pid, GRACE_MS)
}

function identityOf({ pid }: OpenServer): NonNullable<KeeperRecord['server']> {
  const start = pid === undefined ? undefined : processStart(pid)
  return pid === undefined || start === undefined ? {} : { pid, start, boot: thisMachine().bootId }
}

interface Keeping {
  /** Whether a server of this run, and what it held, is gone. */
  wasLost: boolean
  socket: string
  token: string
  /** Whether the record still leads here. */
  isNamed(): boolean
  write(server?: KeeperRecord['server']): void
  tell(start: Start): void
  signal: AbortSignal | undefined
}

async function serve(request: KeepRequest, keeping: Keeping): Promise<void> {
  const { wasLost, socket, token, isNamed, write, tell, signal } = keeping
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  signal?.addEventListener('abort', stop)
  const kept = keptServer(request, { wasLost, write, signal: stopping.signal })

  const open = new Set<Socket>()
  let lastUsed = performance.now()
  const listener = createServer((call) => {
    open.add(call)
    lastUsed = performance.now()
    call.on('error', () => {}) // the caller is gone; its close cancels the call
    call.once('close', () => {
      open.delete(call)
      lastUsed = performance.now()
    })
    void answer(call, kept, { ...request, token })
  })
  listener.listen(socket)
  await once(listener, 'listening')
  write()
  tell({ started: true })

  const canBeReached = () => existsSync(socket) && isNamed()
  const watch = setInterval(() => {
    const isIdle = open.size === 0 && performance.now() - lastUsed > IDLE_MS
    if (isIdle || !canBeReached() || owningEpoch(request.run.directory) !== request.run.epoch) stop()
  }, LOOK_EVERY_MS)
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  clearInterval(watch)
  listener.close()
  removeFile(socket)
  await kept.close()
  for (const call of open) call.destroy()
}

/** The server while there is one. */
interface Kept {
  call(
    question: Question,
    options: { signal: AbortSignal; onLog: (line: string) => void },
  ): Promise<CallToolResult>
  close(): Promise<void>
}

function keptServer(
  { file, cwd, env, sandbox }: KeepRequest,
  { wasLost, write, signal }: Pick<Keeping, 'wasLost' | 'write'> & { signal: AbortSignal },
): Kept {
  let server: OpenServer | undefined
  let starting: Promise<OpenServer> | undefined
  let isLost = wasLost
  const read = () => readServerFile(file)

  async function start(): Promise<OpenServer> {
    if (server) {
      isLost = true
      await server.close() // it has ended, but what it started may be left
    }
    server = await openServer(read, { cwd, env, sandbox, toolHome: dirname(file) }, { signal })
    write(identityOf(server))
    return server
  }

  async function running(): Promise<OpenServer> {
    if (server && !server.hasEnded()) return server
    starting ??= start().finally(() => {
      starting = undefined // after a failure the next call tries again
    })
    return starting
  }

  return {
    async call({ tool, args }, options) {
      const result = await (await running()).call(tool, args, options)
      const note = isLost
        ? `[server ${read().server.name} was restarted; what it held in memory is gone]`
        : undefined
      isLost = false
      return note === undefined ? result : withNote(result, note)
    },
    async close() {
      await starting?.catch(() => undefined)
      await server?.close()
    },
  }
}

/** A result begins with the note. What was only structured becomes text: beside a text it would not be read. */
function withNote(result: CallToolResult, note: string): CallToolResult {
  const { content, structuredContent } = result
  const rest =
    content.length === 0 && structuredContent
      ? [{ type: 'text' as const, text: JSON.stringify(structuredContent) }]
      : content
  return { ...result, content: [{ type: 'text', text: note }, ...rest] }
}

async function answer(
  call: Socket,
  kept: Kept,
  { sandbox, token }: KeepRequest & { token: string },
): Promise<void> {
  const cancel = new AbortController()
  call.once('close', () => cancel.abort(new Error('the caller is gone')))
  const reply = (line: Reply) => void call.write(`${JSON.stringify(line)}\n`)
  try {
    const lines = createInterface({ input: call })
    lines.on('error', () => {}) // it repeats those of the socket, also later
    const [line] = await once(lines, 'line', { signal: cancel.signal })
    const question = JSON.parse(line) as Question
    refuseStranger(question, token)
    refuseOtherSandbox(question, sandbox?.settings ?? null)
    const onLog = (log: string) => reply({ log })
    reply({ result: await kept.call(question, { signal: cancel.signal, onLog }) })
  } catch (error) {
    if (!cancel.signal.aborted) reply({ error: asReply(error) })
  }
  call.end()
}

/** Who cannot read the record of the run is not a call of it, and would get past the policy. */
function refuseStranger({ token }: Question, ours: string): void {
  const [asked, known] = [Buffer.from(String(token)), Buffer.from(ours)]
  if (asked.length === known.length && timingSafeEqual(asked, known)) return
  throw new McpClientError('ERR_MCP_REFUSED', 'Only delta mcp call reaches this server.')
}

/** A server has one sandbox, and a call must not get less of one than its tool asks for. */
function refuseOtherSandbox({ tool, sandbox }: Question, ours: Question['sandbox']): void {
  if (JSON.stringify(sandbox) === JSON.stringify(ours)) return
  const message = `${tool}: the server runs ${ours ? 'in another sandbox' : 'without the sandbox'} that this tool asks for. Give all tools of the file the same sandbox.`
  throw new McpClientError('ERR_MCP_REFUSED', message)
}

function asReply(error: unknown): { code: McpClientError['code']; message: string } {
  const { message } = error as Error
  return { code: isMcpClientError(error) ? error.code : 'ERR_MCP_SERVER', message }
}
