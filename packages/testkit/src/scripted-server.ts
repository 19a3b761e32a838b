import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScriptedTurn, ScriptRequest, ServerScript } from './script.js'
import type { ServerEvent, ServerOrder, ServerState } from './server.js'
import { temporaryWorkspace } from './workspace.js'

export type LoggedRequest = Extract<ServerEvent, { type: 'request' }> & {
  /** The parsed body; undefined when it was no JSON. */
  readonly json: ScriptRequest | undefined
  /** Whether the answer was sent whole; undefined while it is under way. */
  readonly sentWhole: boolean | undefined
}

export interface ScriptedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string
  readonly pid: number
  /** JSON lines: every request, and how it ended. */
  readonly logPath: string
  /** Every request so far, oldest first; after `close()` every one there was, if they are kept. */
  requests(): LoggedRequest[]
  /** Resolves once that many requests have arrived, with all of them. */
  waitForRequests(count: number): Promise<LoggedRequest[]>
  /** Resolves once the connection of request `number` (1-based) is done with, however it ended. */
  waitForEnd(number: number): Promise<LoggedRequest>
  /** Lets every answer with this `hold` or `holdMidway` go, now and later. */
  release(name: string): void
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** The requests of every server of this process, also of a closed one that keeps them, by its address. */
export const startedServers = new Map<string, ScriptedServer['requests']>()

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

/** A process with servers, and how much here waits for a message from it. */
interface Servers {
  readonly child: ChildProcess
  waiting: number
}

let shared: Servers | undefined
let started = 0

/**
 * Starts an OpenAI-compatible server on a free port of 127.0.0.1, in a process that all servers of this one share.
 *
 * It outlives whatever talks to it, and ends with `close()` or with the process that started it.
 *
 * @param script - A list of turns, or a whole script.
 * @param options.keepsRequests - False: once it is closed, none is kept. A thousand growing ones are a hundred megabytes.
 */
export async function startScriptedServer(
  script: readonly ScriptedTurn[] | ServerScript,
  { keepsRequests = true }: { keepsRequests?: boolean } = {},
): Promise<ScriptedServer> {
  const directory = await temporaryWorkspace()
  const logPath = join(directory.path, 'requests.jsonl')
  await directory.write('requests.jsonl', '')

  const id = ++started
  shared ??= startProcess()
  const servers = shared
  const { child } = servers
  const tell = (order: ServerOrder) => void child.send(order)
  tell({ id, script: 'turns' in script ? script : { turns: script }, logPath })
  const port = await afterMessage(servers, (message) =>
    message.id === id && message.type === 'listening' ? message.port : undefined,
  )

  let finalLog: LoggedRequest[] | undefined
  const requests = () => finalLog ?? readRequests(logPath)
  const waitFor = async <T>(find: (all: LoggedRequest[]) => T | undefined) =>
    find(requests()) ?? afterMessage(servers, () => find(requests())) // it comes after its line in the log was written
  const close = async () => {
    if (finalLog) return
    if (child.connected) {
      tell({ id, close: true })
      await afterMessage(servers, (message) => (message.id === id && message.type === 'closed') || undefined)
    }
    finalLog = keepsRequests ? readRequests(logPath) : []
    if (!keepsRequests) startedServers.delete(baseUrl)
    await directory.remove()
  }

  const baseUrl = `http://127.0.0.1:${port}/v1`
  startedServers.set(baseUrl, requests)
  return {
    baseUrl,
    pid: child.pid ?? 0,
    logPath,
    requests,
    waitForRequests: (count) => waitFor((all) => (all.length >= count ? all : undefined)),
    waitForEnd: (number) =>
      waitFor((all) => all.find((request) => request.number === number && request.sentWhole !== undefined)),
    release: (name) => tell({ id, release: name }),
    close,
    [Symbol.asyncDispose]: close,
  }
}
function startProcess(): Servers {
  const child = fork(PROGRAM, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  child.setMaxListeners(0) // whatever waits listens
  child.once('exit', () => {
    shared = undefined
  })
  child.unref()
  child.channel?.unref()
  return { child, waiting: 0 }
}

type Message = { id: number } & (ServerEvent | ServerState)

/** Resolves with what is first found after a message. Keeps this process alive until then. */
function afterMessage<T>(servers: Servers, find: (message: Message) => T | undefined): Promise<T> {
  const { child } = servers
  const over = new AbortController()
  if (servers.waiting++ === 0) child.channel?.ref()
  const found = new Promise<T>((resolve, reject) => {
    const onExit = () => reject(new Error('The scripted server has ended.'))
    const onMessage = (message: Message) => {
      try {
        const value = find(message)
        if (value !== undefined) resolve(value)
      } catch (error) {
        reject(error)
      }
    }
    child.on('exit', onExit).on('message', onMessage)
    over.signal.addEventListener('abort', () => child.off('exit', onExit).off('message', onMessage))
  })
  return found.finally(() => {
    over.abort()
    if (--servers.waiting === 0) child.channel?.unref()
  })
}

function readRequests(logPath: string): LoggedRequest[] {
  const lines = readFileSync(logPath, 'utf8').split('\n')
  lines.pop() // what follows the last line end is nothing, or a line that is just being written
  const events = lines.map((line) => JSON.parse(line) as ServerEvent)
  const ends = new Map(
    events.flatMap((event) => (event.type === 'end' ? [[event.number, event.sentWhole]] : [])),
  )

  return events.flatMap((event) =>
    event.type === 'request'
      ? [{ ...event, json: parseBody(event.body), sentWhole: ends.get(event.number) }]
      : [],
  )
}

function parseBody(body: string): ScriptRequest | undefined {
  try {
    return JSON.parse(body) as ScriptRequest
  } catch {
    return undefined // logged as it came; the server answered 400
  }
}
