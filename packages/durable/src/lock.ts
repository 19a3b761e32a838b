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
import { removeFile, replaceFile } from './files.js'
import { type Holder, highestNumber, type LockRecord, readHolder } from './holder.js'
import { processStart, thisMachine } from './processes.js'

/** A lock that this process holds. */
export interface Lock {
  readonly number: number
  readonly record: LockRecord
  /** Whom it was taken from, when that one had not released it. */
  readonly takenFrom: Holder | undefined
  /**
   * How this process has lost the lock: another one has `taken` it, or could, because the file was `deleted`. To be asked before
   * each write to what the lock protects; takes microseconds. Undefined while it is held.
   */
  lost(): 'taken' | 'deleted' | undefined
  /** Marks the lock as free. A second call does nothing. */
  release(): void
}

/** How a lock is taken, and what to do about a holder that is in the way. */
export interface LockOptions {
  /**
   * Called with a holder that is `alive` or `remote-fresh`: resolves to true to take the lock from it all the same, to false to
   * look again. What it throws is thrown on.
   */
  onHeld: (holder: Holder) => Promise<boolean>
  /** A number known to have been taken, where files may have been deleted. */
  above?: number | undefined
  /** True: the files of earlier holders are removed. For locks that are taken often, and whose past nobody asks about. */
  forgetPast?: boolean | undefined
  /** False: the record may be lost with the power, or for want of room on the disk; then only the heartbeat speaks. Default true. */
  sync?: boolean | undefined
}

const HEARTBEAT_INTERVAL_MS = 5_000

/**
 * Becomes the one owner of what a directory stands for.
 *
 * `<directory>/<number>` says who holds the lock, and the highest number counts. A record is whole before a hard link gives it
 * its number, and of several processes that link the same number the system lets one succeed. A holder that died is passed over
 * at once; of one that cannot be seen, the heartbeat must have stopped for 30 s.
 *
 * @param directory - Created (0700) if it is missing; the one above it must exist.
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
      if (!candidate.link(number)) continue // somebody was faster: look at who it is
      if (!standsHighest(directory, number)) continue
      if (forgetPast && holder) removeFile(join(directory, String(holder.number)))
      const takenFrom = holder?.state === 'free' ? undefined : holder
      return { ...hold(directory, number, candidate.keep()), takenFrom }
    }
  } finally {
    candidate.discard()
  }
}

/** The most that `readHolder` takes for a number; no owner comes so far, and a file of that name was put there by hand. */
const LARGEST_NUMBER = 999_999_999_999_999

function overflow(path: string): Error {
  const message = `EOVERFLOW: no number comes after this one, link '${path}'`
  return Object.assign(new Error(message), { code: 'EOVERFLOW', syscall: 'link', path })
}

/** False where the turn of a number was over, and its file removed, before we looked: then ours is removed, too. */
function standsHighest(directory: string, number: number): boolean {
  let isHighest = false
  try {
    isHighest = highestNumber(directory) === number
    return isHighest
  } finally {
    if (!isHighest) removeFile(join(directory, String(number)))
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

/** A record under a name that does not count yet. Written when it is needed: who only waits writes nothing. */
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
    /** By the clock that stamps the heartbeats: the file system's. */
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

/** False when there is such a number. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (code === 'EEXIST') return false
    throw SAYS_NO_LINKS.has(code) ? Object.assign(error as Error, { code: 'ENOTSUP', dest: to }) : error
  }
}

/** What file systems without hard links answer; the file could be made there, so it is nobody's permission that is missing. */
const SAYS_NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'])

/** Beats the heart of a lock that was just taken. Its file stays open: of a name alone nobody could say whose it is by now. */
function hold(directory: string, number: number, { file, record }: { file: number; record: LockRecord }) {
  const path = join(directory, String(number))
  const next = join(directory, String(number + 1))
  const timer = setInterval(() => beat(file, record), HEARTBEAT_INTERVAL_MS).unref()
  let isReleased = false

  /** The number may have been given away after the file was deleted, so that is looked at first. */
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
    if (!isDeleted()) markFree() // what has its name now would be the lock of another
    closeSync(file)
  }

  function markFree(): void {
    const text = textOf({ ...record, released: new Date().toISOString() })
    try {
      replaceFile(path, text, { sync: false })
    } catch {
      // on a full disk there is no room beside, and as a rule some behind the few bytes that are there
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

/** Where there is no room for the bytes, the time of the file says it. */
function writeOrStamp(file: number, text: string, time: Date): void {
  try {
    ftruncateSync(file, writeSync(file, text, 0))
  } catch {
    try {
      futimesSync(file, time, time)
    } catch {
      // the disk is gone, which the owner's next write says; its lock is found dead as soon as its process is
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
