import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

/** How a file is written. */
export interface WriteOptions {
  /** Permissions of the new file. Default 0600. */
  mode?: number | undefined
  /** False: a power cut may take it back, a killed process may not. Default true. */
  sync?: boolean | undefined
}

/**
 * Replaces a whole file: writes a new one beside it, then renames that into place. A reader sees the old content or the new,
 * never half of either, also after a crash at any instant.
 *
 * @example
 * replaceFile('state.json', JSON.stringify(state))
 * @throws The system's error, such as `ENOSPC`; the old content is still there.
 */
export function replaceFile(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  const beside = `${path}.${randomBytes(4).toString('hex')}.tmp`
  try {
    createFile(beside, data, options)
    renameSync(beside, path)
  } catch (error) {
    removeQuietly(beside)
    const message = (error as Error).message.replaceAll(beside, path) // the caller does not know the file beside
    throw Object.assign(error as Error, { path, message })
  }
  if (options.sync !== false) syncPath(dirname(path))
}

/**
 * Creates a file that must not exist yet. Its name survives a power cut after `syncName`.
 *
 * @throws The system's error; `EEXIST` when the file exists, or is a link.
 */
export function createFile(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  const { mode = 0o600, sync = true } = options
  const file = openSync(path, 'wx', mode)
  try {
    writeFileSync(file, data)
    if (sync) fsyncSync(file)
  } catch (error) {
    throw naming(error, path)
  } finally {
    closeSync(file)
  }
}

/** Adds the path, which the system's errors of an open file lack. */
function naming(error: unknown, path: string): unknown {
  const { message } = error as Error
  return Object.assign(error as Error, { path, message: `${message} '${path}'` })
}

/**
 * Appends all bytes to an open file, or none: after a write that stopped half-way it truncates the file.
 *
 * @throws The system's error.
 */
export function appendWhole(file: number, bytes: Uint8Array): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file, bytes, written)
  } catch (error) {
    if (written > 0) ftruncateSync(file, fstatSync(file).size - written)
    throw error
  }
}

/** Makes a file's bytes, or a directory's entries, survive a power cut. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Syncs the directory of a path, so that a new name, or the removal of one, survives a power cut. A directory that may be
 * written but not read cannot be opened for that, and is left to the system.
 */
export function syncName(path: string): void {
  try {
    syncPath(dirname(path))
  } catch (error) {
    if (codeOf(error) !== 'EACCES') throw error
  }
}

/**
 * Opens a file for reading, and only a file: to open a pipe in its place could block the process for ever, Ctrl+C included.
 *
 * @returns A descriptor.
 * @throws The system's error; `EISDIR` for a directory, `ESPIPE` for a pipe, `ENODEV` for a device, which may have no end.
 */
export function openAtOnce(path: string): number {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const status = fstatSync(file)
  if (status.isFile()) return file
  closeSync(file)
  const code = status.isDirectory() ? 'EISDIR' : status.isFIFO() ? 'ESPIPE' : 'ENODEV'
  throw refusal(code, 'only a file is read', path)
}

/** In the shape of the system's own errors. */
function refusal(code: string, why: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${why}, open '${path}'`), { code, syscall: 'open', path })
}

/**
 * Reads a file.
 *
 * @param options.mostBytes - A longer file is refused with `EFBIG`. Default: what fits into memory.
 * @returns The bytes; undefined when the file does not exist.
 * @throws The system's error; as `openAtOnce`.
 */
export function readIfThere(
  path: string,
  options: { mostBytes?: number | undefined } = {},
): Buffer | undefined {
  const { mostBytes = Number.POSITIVE_INFINITY } = options
  let file: number
  try {
    file = openAtOnce(path)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    if (fstatSync(file).size > mostBytes) throw refusal('EFBIG', `it is longer than ${mostBytes} bytes`, path)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** The names in a directory, in no order; `[]` when it does not exist. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

/** Removes a file or a link, if it exists. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** For a file that was perhaps never created; the error that is thrown already says more. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {}
}

/**
 * Creates a directory and its missing parents. Node.js's own `recursive` never returns where an existing directory takes no
 * entries, as `/proc`.
 *
 * @param mode - Permissions of the created directories. Default 0777 without what the umask forbids.
 * @returns The directories it created, the outermost first; `[]` if all existed.
 */
export function makeDirectories(path: string, mode = 0o777): string[] {
  if (isDirectory(path)) return []
  // if a file is among the parents, the mkdir below reports it (ENOTDIR)
  const above = existsSync(dirname(path)) ? [] : makeDirectories(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
    return [...above, path]
  } catch (error) {
    if (isDirectory(path)) return above // another process was faster
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * The absolute path without symbolic links, as far as it can be followed: of a missing file, the real path of the directory
 * that exists, and the rest as it is written. Never throws.
 */
export function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(realPath(above), basename(absolute))
  }
}

/** Compares two absolute paths as they are written. A directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

/** The code of a system error, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
