import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

/** A sentence for the model; the tool ends with exit code 1. */
export class Refusal extends Error {}

/**
 * Runs a tool: its arguments are one JSON object on stdin, its result is on stdout. A refusal, and what the system says about a
 * file, is one line on stderr.
 *
 * @param {(args: any) => unknown} tool
 */
export async function runTool(tool) {
  process.stdout.on('error', ignoreClosedPipe)
  try {
    await tool(readArguments())
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    if (!(error instanceof Refusal) && code === undefined) throw error
    // of a system error what it is, without the call and the absolute path
    const [what = ''] = error instanceof Refusal ? [message] : message.split(', ')
    process.stderr.write(`${what}\n`)
    process.exitCode = 1
  }
}

/** Who reads the beginning alone, as `head` does, closes the pipe. @param {NodeJS.ErrnoException} error */
function ignoreClosedPipe(error) {
  if (error.code !== 'EPIPE') throw error
}

function readArguments() {
  const script = basename(process.argv[1] ?? 'tool.mjs')
  try {
    const args = JSON.parse(readFileSync(0, 'utf8'))
    if (typeof args === 'object' && args !== null && !Array.isArray(args)) return args
  } catch {
    // said below
  }
  throw new Refusal(`The arguments are one JSON object on stdin: node ${script} <<< '{"name": "value"}'`)
}

/**
 * An argument that must be a string.
 *
 * @param {Record<string, unknown>} args
 * @param {string} name
 * @param {string} [otherwise] Its value when it is absent.
 * @returns {string}
 */
export function textOf(args, name, otherwise) {
  const { [name]: value = otherwise } = args
  if (typeof value === 'string') return value
  throw new Refusal(`"${name}" ${value === undefined ? 'is missing' : 'must be a string'}.`)
}

/**
 * An argument that must be a whole number.
 *
 * @param {Record<string, unknown>} args
 * @param {string} name
 * @param {{ least: number, otherwise: number }} bounds
 */
export function numberOf(args, name, { least, otherwise }) {
  const { [name]: value = otherwise } = args
  if (Number.isSafeInteger(value) && Number(value) >= least) return Number(value)
  throw new Refusal(`"${name}" must be a whole number from ${least} on.`)
}

/** The workspace: where the tool was started. */
const ROOT = realpathSync(process.cwd())

/**
 * The real path of a file in the workspace, which may be missing. Links count as what they lead to.
 *
 * @param {string} path As it was sent.
 * @returns {string} Absolute, without links.
 */
export function inside(path) {
  if (path === '' || path.includes('\0')) throw new Refusal(`${JSON.stringify(path)} is not a path.`)
  const real = realPathOf(resolve(ROOT, path), path)
  if (!isInside(real)) throw new Refusal(`${shown(path)}: outside of the workspace.`)
  return real
}

/** Where runs and sessions are kept. Who writes there makes up what a person has said, or what has happened. */
const KEPT = ['.delta', '.sessions']

/**
 * The same for a file that is written.
 *
 * @param {string} path As it was sent.
 */
export function insideToWrite(path) {
  const real = inside(path)
  const parts = fromRoot(real).toLowerCase().split(sep) // not every file system tells .DELTA from .delta
  const kept = KEPT.find((name) => parts.includes(name))
  if (kept) throw new Refusal(`${shown(path)}: ${kept} is for Delta alone. It can be read, not written.`)
  return real
}

/** @param {string} absolute @param {string} path @returns {string} */
function realPathOf(absolute, path) {
  try {
    return realpathSync(absolute)
  } catch (error) {
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    if (code === 'ELOOP') throw new Refusal(`${shown(path)} is a link that leads to itself.`)
    if (code === 'ENOTDIR') throw new Refusal(`${shown(path)}: a part of the path is a file.`)
    if (code === 'ENAMETOOLONG') throw new Refusal('The path is too long.')
    if (code === 'EACCES') throw new Refusal(`${shown(path)} may not be read.`)
    if (code !== 'ENOENT') throw error
  }
  // what a link names is not there yet, and could be anywhere
  if (lstatSync(absolute, { throwIfNoEntry: false }))
    throw new Refusal(`${shown(path)} is a link to nothing.`)
  return join(realPathOf(dirname(absolute), path), basename(absolute))
}

/** @param {string} path Absolute, without links. */
function isInside(path) {
  const way = relative(ROOT, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A path as it is shown: seen from the workspace. @param {string} path Absolute, without links. */
export function fromRoot(path) {
  return relative(ROOT, path) || '.'
}

/** A name in one line: with a line break or another control character it is written as JSON. @param {string} name */
export function shown(name) {
  return /[\p{Cc}\u2028\u2029]/u.test(name) ? JSON.stringify(name) : name
}

/**
 * Opens a regular file of the workspace for reading. A pipe or a device is refused before anything is read of it, and so is a file
 * in whose place another one was put meanwhile.
 *
 * @param {string} path As it was sent.
 * @param {(file: { fd: number, real: string, stat: import('node:fs').Stats }) => unknown} use
 */
export async function withFile(path, use) {
  const real = inside(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found === undefined) throw new Refusal(`${shown(path)} does not exist.`)
  refuseOthers(path, found)
  const fd = openSync(real, READ_ONLY)
  try {
    const stat = fstatSync(fd)
    const isSame = stat.ino === found.ino && stat.dev === found.dev && isAt(fd, real)
    if (!isSame) throw new Refusal(`${shown(path)} changed while it was opened. Try again.`)
    await use({ fd, real, stat })
  } finally {
    closeSync(fd)
  }
}

/** A pipe is not waited for. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Opens a regular file for reading.
 *
 * @param {string} real Where it was found: absolute, without links.
 * @returns {number | undefined} Undefined: it is gone or something else by now, is behind a link by now, or may not be read.
 */
export function openRegular(real) {
  let fd
  try {
    fd = openSync(real, READ_ONLY)
    if (fstatSync(fd).isFile() && isAt(fd, real)) return fd
  } catch {
    // gone meanwhile, or not for us
  }
  if (fd !== undefined) closeSync(fd)
  return undefined
}

/**
 * True if what was opened lies at a path: a link that was put on the way meanwhile could have led elsewhere.
 *
 * @param {number} fd
 * @param {string} real Absolute, without links.
 */
export function isAt(fd, real) {
  const place = placeOf(fd)
  if (place !== undefined) return place === real || place === `${real} (deleted)` // replaced by a newer one meanwhile
  const [opened, there] = [fstatSync(fd), lstatSync(real, { throwIfNoEntry: false })]
  return opened.ino === there?.ino && opened.dev === there.dev && realpathSync(real) === real
}

/** Where Linux says that it lies. Undefined: nobody says so here. @param {number} fd */
export function placeOf(fd) {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`)
  } catch {
    return undefined
  }
}

/** Refuses what is not a regular file. @param {string} path @param {import('node:fs').Stats} stat */
export function refuseOthers(path, stat) {
  if (stat.isDirectory()) throw new Refusal(`${shown(path)} is a directory.`)
  if (!stat.isFile()) throw new Refusal(`${shown(path)} is a pipe, a socket or a device, not a file.`)
}

/** True for bytes that are not text, as far as their beginning tells. @param {Uint8Array} bytes */
export function isBinary(bytes) {
  return bytes.subarray(0, 8192).includes(0)
}
