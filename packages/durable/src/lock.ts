import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  linkSync,
  mkdirSync,
  openSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, removeFile, replaceFile, syncName } from './files.js'
import { type Holder, highestNumber, type LockRecord, readHolder } from './holder.js'
import { processStart, thisMachine } from './processes.js'

/** A lock that this process holds. */
export interface Lock {
  readonly number: number
  readonly record: LockRecord
  /** The holder before, when it had not released the lock. */
  readonly takenFrom: Holder | undefined
  /**
   * How this process has lost the lock: another process has `taken` it, or could, because its file was `deleted`. Undefined while
   * the lock is held. Call it before each write to what the lock protects; it takes microseconds.
   */
  lost(): 'taken' | 'deleted' | undefined
  /** Marks the lock as free. A second call does nothing. */
  release(): void
}

/** How a lock is taken, and what to do about a live holder. */
export interface LockOptions {
  /**
   * Called with a holder that is `alive` or `remote-fresh`. Resolve to true to take the lock from it all the same, to false to
   * look again; throw to give up.
   */
  onHeld: (holder: Holder) => Promise<boolean>
  /** The highest number known to have been taken, in case lock files were deleted. */
  above?: number | undefined
  /** True: removes the files of earlier holders. For locks that are taken often, and whose history is not needed. */
  forgetPast?: boolean | undefined
  /** False: a power cut or a full disk may lose the record; then only the heartbeat tells. Default true. */
  sync?: boolean | undefined
}

const HEARTBEAT_INTERVAL_MS = 5_000

/**
 * Takes a lock: this process becomes the one owner of what the directory stands for.
 *
 * `<directory>/<number>` says which process holds the lock, and the highest number counts. A record is whole before a hard link
 * gives it its number, and of several processes that link the same number the system lets one succeed. A holder that died is
 * passed over at once; a holder that cannot be seen, when its heartbeat has stopped for 30 s.
 *
 * @param directory - Created (0700) if it is missing; the directory above it must exist.
 * @example
 * const lock = await takeLock('job.lock', { onHeld: ({ record }) => Promise.reject(new Error(`${record?.pid} runs it`)) })
 * @throws The system's error, such as `ENOENT`, or `ENOTSUP` on a file system without hard links.
 */
export async function takeLock(directory: string, options: LockOptions): Promise<Lock> {
  const { onHeld, above = 0, forgetPast = false, sync = true } = options
  makeDirectory(directory)
  const candidate = candidateIn(directory, sync)
  try {
    for (;;) {
      const holder = readHolder(directory, candidate.now)
      if (holder && isInTheWay(holder) && !(await onHeld(holder))) continue
      const number = Math.max(holder?.number ?? 0, above) + 1
      if (number > LARGEST_NUMBER) throw overflow(join(directory, String(holder?.number)))
      if (!candidate.link(number)) continue // another process was faster: look at it
      if (!standsHighest(directory, number, sync)) continue
      if (forgetPast && holder) removeFile(join(directory, String(holder.number)))
      const takenFrom = holder?.state === 'free' ? undefined : holder
      return { ...hold(directory, number, candidate.keep()), takenFrom }
    }
  } finally {
    candidate.discard()
  }
}

/** The largest number that `readHolder` accepts. No owner gets that far: a file of this name was put there by hand. */
const LARGEST_NUMBER = 999_999_999_999_999

function overflow(path: string): Error {
  const message = `EOVERFLOW: no number comes after this one, link '${path}'`
  return Object.assign(new Error(message), { code: 'EOVERFLOW', syscall: 'link', path })
}

/**
 * False when others took, released and removed the number before we linked it: then ours is removed, too. Where it counts, the
 * name is synced: a lock that a power cut takes back would give its number to another process.
 */
function standsHighest(directory: string, number: number, sync: boolean): boolean {
  const path = join(directory, String(number))
  let isHighest = false
  try {
    if (sync) syncName(path)
    isHighest = highestNumber(directory) === number
    return isHighest
  } finally {
    if (!isHighest) removeFile(path)
  }
}

function isInTheWay({ state }: Holder): boolean {
  return state === 'alive' || state === 'remote-fresh'
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
}

/** A record under a name that does not count yet. It is written when it is needed: a process that only waits writes nothing. */
function candidateIn(directory: string, sync: boolean) {
  const path = join(directory, `.${randomBytes(8).toString('hex')}.tmp`)
  const record = ourRecord()
  let file: number | undefined
  let isKept = false

  function opened(): number {
    if (file !== undefined) return file
    file = openSync(path, 'wx', 0o600)
    try {
      writeSync(file, textOf(record))
      if (sync) fsyncSync(file)
    } catch (error) {
      if (sync) throw error
    }
    return file
  }

  return {
    /** Time by the clock that stamps the heartbeats: the file system's. */
    now() {
      beat(opened(), record)
      return fstatSync(opened()).mtimeMs
    },
    link(number: number): boolean {
      opened()
      return linked(path, join(directory, String(number)))
    },
    keep() {
      isKept = true
      return { file: opened(), record }
    },
    discard() {
      if (file === undefined) return
      if (!isKept) closeSync(file)
      removeFile(path)
    },
  }
}

function ourRecord(): LockRecord {
  const { bootId, pidNamespace, host } = thisMachine()
  return {
    pid: process.pid,
    process_start: processStart(process.pid) ?? null,
    boot_id: bootId,
    pid_namespace: pidNamespace,
    host,
    taken: new Date().toISOString(),
  }
}

function textOf(record: LockRecord): string {
  return `${JSON.stringify(record)}\n`
}

/** False when the number exists. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (code === 'EEXIST') return false
    throw NO_LINKS.has(code) ? Object.assign(error as Error, { code: 'ENOTSUP', dest: to }) : error
  }
}

/** Errors of file systems without hard links; the file could be created there, so it is not a permission that is missing. */
const NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'])

/** Starts the heartbeat of a lock that was just taken. Its file stays open, because its name may belong to another lock later. */
function hold(directory: string, number: number, { file, record }: { file: number; record: LockRecord }) {
  const path = join(directory, String(number))
  const next = join(directory, String(number + 1))
  const timer = setInterval(() => beat(file, record), HEARTBEAT_INTERVAL_MS).unref()
  let isReleased = false

  /** Looks first whether the file was deleted, because then its number may have been taken again. */
  function lost(): 'taken' | 'deleted' | undefined {
    if (!isReleased && isDeleted()) return 'deleted'
    return existsSync(next) ? 'taken' : undefined
  }

  function isDeleted(): boolean {
    return fstatSync(file).nlink === 0
  }

  function release(): void {
    if (isReleased) return
    isReleased = true
    clearInterval(timer)
    if (!isDeleted()) markFree() // else its name may be the lock of another process by now
    closeSync(file)
  }

  function markFree(): void {
    const text = textOf({ ...record, released: new Date().toISOString() })
    try {
      replaceFile(path, text, { sync: false })
    } catch {
      // a full disk has no room for a new file, but usually for a few more bytes in the block of this one
      writeOrStamp(file, text, LONG_AGO)
    }
  }

  return { number, record, lost, release }
}

/** Writing the same bytes again makes the file system stamp its own time on them. */
function beat(file: number, record: LockRecord): void {
  writeOrStamp(file, textOf(record), new Date())
}

const LONG_AGO = new Date(0)

/** Where there is no room for the bytes, the time of the file tells. */
function writeOrStamp(file: number, text: string, time: Date): void {
  try {
    ftruncateSync(file, writeSync(file, text, 0))
  } catch {
    try {
      futimesSync(file, time, time)
    } catch {
      // the disk is gone, which the owner's next write reports; its lock counts as dead as soon as its process is
    }
  }
}
