import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isAt, placeOf, Refusal, shown } from './call.mjs'

/**
 * Puts a text in the place of a file: written beside it, synced, then renamed. Whoever reads the file sees all of the old one or all
 * of the new one, also after a crash. The mode stays.
 *
 * @param {string} real Where the file is, without links.
 * @param {Uint8Array} bytes
 * @param {{ path: string, mode: number | undefined, check?: () => void }} about The path as it was sent; the mode of the file that
 *   is there; what must still hold right before the rename.
 */
export function replaceFile(real, bytes, { path, mode, check }) {
  if (mode !== undefined) refuseReadOnly(real, path, mode)
  const directory = dirname(real)
  const temporary = `.${randomBytes(8).toString('hex')}.tmp`
  /** @type {number | undefined} */
  let parent
  let beside
  try {
    mkdirSync(directory, { recursive: true })
    parent = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    refuseMoved(parent, directory, path)
    // by the open directory, nothing that is put in its place changes where the file comes to lie
    const opened = placeOf(parent) === undefined ? directory : `/proc/self/fd/${parent}`
    beside = join(opened, temporary)
    const fd = openSync(beside, 'wx')
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      if (mode !== undefined) fchmodSync(fd, mode & 0o7777)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    check?.()
    renameSync(beside, join(opened, basename(real)))
    refuseMoved(parent, directory, path)
    fsyncSync(parent)
  } catch (error) {
    if (beside !== undefined) rmSync(beside, { force: true })
    if (error instanceof Refusal) throw error
    const [what] = /** @type {Error} */ (error).message.split(', ')
    throw new Refusal(`${shown(path)} cannot be written (${what}).`)
  } finally {
    if (parent !== undefined) closeSync(parent)
  }
}

/** @param {number} fd @param {string} directory @param {string} path */
function refuseMoved(fd, directory, path) {
  if (!isAt(fd, directory))
    throw new Refusal(
      `${shown(path)}: its directory changed while it was written. Look at it, and try again.`,
    )
}

/** A rename would replace it all the same. @param {string} real @param {string} path @param {number} mode */
function refuseReadOnly(real, path, mode) {
  const refusal = new Refusal(`${shown(path)} is read-only.`)
  if ((mode & 0o222) === 0) throw refusal
  try {
    accessSync(real, constants.W_OK)
  } catch {
    throw refusal
  }
}
