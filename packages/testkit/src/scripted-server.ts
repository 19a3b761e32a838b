import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScriptedTurn, ScriptRequest, ServerScript } from './script.js'
import type { ServerEvent, ServerOrder } from './server.js'
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
  /** Every request so far, oldest first; after `close()` every one there was. */
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

/** The requests of every server of this process, also of a closed one, by its address. */
export const startedServers = new Map<string, ScriptedServer['requests']>()

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

/**
 * Starts an OpenAI-compatible server in a process of its own, on a free port of 127.0.0.1.
 *
 * It outlives whatever talks to it, and ends with `close()` or with the process that started it.
 *
 * @param script - A list of turns, or a whole script.
 */
export async function startScriptedServer(
  script: readonly ScriptedTurn[] | ServerScript,
): Promise<ScriptedServer> {
  const directory = await temporaryWorkspace()
  const logPath = join(directory.path, 'requests.jsonl')
  await directory.write('requests.jsonl', '')

  const child = fork(PROGRAM, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(child, 'exit')
  const order: ServerOrder = { script: 'turns' in script ? script : { turns: script }, logPath }
  child.send(order)
  const { port } = (await nextMessage(child)) as { port: number }
  child.unref()
  child.channel?.unref()

  let finalLog: LoggedRequest[] | undefined
  const requests = () => finalLog ?? readRequests(logPath)
  const waitFor = <T>(find: (all: LoggedRequest[]) => T | undefined) =>
    waitUntil(child, () => find(requests()))
  const close = async () => {
    child.ref()
    if (child.connected) child.disconnect()
    await exited
    finalLog ??= readRequests(logPath)
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
    release: (name) => void child.send({ release: name }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Looks again after every message: each one comes after its line in the log was written. */
async function waitUntil<T>(child: ChildProcess, find: () => T | undefined): Promise<T> {
  child.channel?.ref()
  try {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await nextMessage(child)
    }
  } finally {
    child.channel?.unref()
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const done = new AbortController()
  const { signal } = done
  const died = once(child, 'exit', { signal }).then(() => {
    throw new Error('The scripted server has ended.')
  })
  const [message] = await Promise.race([once(child, 'message', { signal }), died]).finally(() => done.abort())
  return message
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
