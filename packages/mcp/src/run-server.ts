import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { readHolder, readIfThere } from '@delta/durable'
import { realPath } from '@delta/durable/internal'
import { runPaths } from '@delta/journal/internal'
import type { ServerSandbox } from './connect.js'
import { McpClientError, type McpClientErrorCode } from './errors.js'

/** A run that an engine owns now. */
export interface LiveRun {
  /** Its directory. */
  directory: string
  /** Number of the lease by which the engine owns it. */
  epoch: number
}

/** The run that a command belongs to, while its engine lives; undefined outside of one. */
export function liveRun({ DELTA_RUN_DIR: directory }: NodeJS.ProcessEnv): LiveRun | undefined {
  const epoch = directory ? owningEpoch(directory) : undefined
  return directory && epoch !== undefined ? { directory, epoch } : undefined
}

/** Undefined if no engine owns the run, or the run cannot be read: in a sandbox it is hidden. */
export function owningEpoch(directory: string): number | undefined {
  try {
    const holder = readHolder(runPaths(directory).lease)
    return holder?.state === 'alive' || holder?.state === 'remote-fresh' ? holder.number : undefined
  } catch {
    return undefined
  }
}

/** The files of a run that say who keeps the server of a file. */
export function keeperPaths({ directory }: LiveRun, file: string): { record: string; lock: string } {
  const mine = join(directory, 'mcp')
  makePrivate(mine)
  const path = realPath(file)
  const name = `${basename(path, '.yaml').slice(0, 40)}-${createHash('sha256').update(path).digest('hex').slice(0, 8)}`
  return { record: join(mine, `${name}.json`), lock: join(mine, `${name}.lock`) }
}

/** `<run>/mcp/<name>.json`. It stays when the process has ended, so that the next one knows what was lost. */
export interface KeeperRecord {
  /** The lease under which it works. */
  epoch: number
  pid: number
  /** Path of its socket. */
  socket: string
  /** Random, and asked of every call: a command in a sandbox may see the socket, but never this file. */
  token: string
  /** Once it has started the server: the process, and on which machine; without these for a server on the network. */
  server?: { pid?: number; start?: string; boot?: string }
}

/** Undefined if there is none, or none that can be read. */
export function readKeeper(path: string): KeeperRecord | undefined {
  try {
    const record = JSON.parse(String(readIfThere(path))) as Partial<KeeperRecord>
    const { epoch, pid, socket, token } = record
    const isWhole = [epoch, pid].every(Number.isInteger) && isText(socket) && isText(token)
    return isWhole ? (record as KeeperRecord) : undefined
  } catch {
    return undefined
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Where sockets lie: paths of sockets end at 104 bytes, so not in the run. */
export function socketDirectory(): string {
  const { uid } = userInfo()
  const path = join(tmpdir(), `delta-${uid}`)
  makePrivate(path)
  if (Buffer.byteLength(path) <= LONGEST_DIRECTORY) return path
  const message = `TMPDIR (${tmpdir()}) is too long a path for sockets. Set it to a shorter one, such as /tmp.`
  throw new McpClientError('ERR_MCP_REFUSED', message)
}

/** The path of a socket has 103 bytes at most, and the name of ours has 21. */
const LONGEST_DIRECTORY = 103 - 22

/**
 * Creates a directory that only this user can enter, or checks one that is there: another user could have made it, and what they
 * put there would be the server.
 *
 * @throws {McpClientError} `ERR_MCP_REFUSED`
 */
function makePrivate(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const status = lstatSync(path)
  const isOurs = status.isDirectory() && status.uid === process.getuid?.() && (status.mode & 0o077) === 0
  if (isOurs) return
  const message = `${path} must be a directory that only you can enter (0700, no link). Remove it, or set TMPDIR to another directory.`
  throw new McpClientError('ERR_MCP_REFUSED', message)
}

/** What a call sends: one line of JSON. */
export interface Question {
  /** The token that the record holds: who has it may call. */
  token: string
  tool: string
  args: Record<string, unknown>
  /** The sandbox that the call wants for its server. */
  sandbox: ServerSandbox['settings'] | null
}

/** What it gets: lines of JSON, the last one with a result or an error. */
export type Reply =
  | { log: string }
  | { result: unknown }
  | { error: { code: McpClientErrorCode; message: string } }

/** What a process that keeps a server is started with, on its stdin. */
export interface KeepRequest {
  run: LiveRun
  /** Absolute path. */
  file: string
  /** Where its socket is to lie: see `socketDirectory`. */
  sockets: string
  cwd: string
  /** The environment of the first call. */
  env: NodeJS.ProcessEnv
  sandbox?: ServerSandbox | undefined
}

/** Its first line: it listens, another process does so already, or why it cannot. */
export type Start =
  | { started: true }
  | { started: false }
  | { error: { code: McpClientErrorCode; message: string } }
