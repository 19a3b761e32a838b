import { lstatSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../errors.js'

/** Written by the holder every few seconds, and by whoever looks: the file system stamps both, and its clock is one. */
const [SIGN, LOOK] = ['sign-of-life', 'looked-at']
const SIGN_EVERY_MS = 5_000

/** A holder on another machine, or in a container that is gone, is passed over when it gave no sign for this long. */
const SILENT_AFTER_MS = 30_000

/** Says again and again that the holder of a lock lives, until the returned function is called or the session is gone. */
export function giveSigns(directory: string): () => void {
  const signs = setInterval(() => {
    if (!giveSign(directory)) clearInterval(signs)
  }, SIGN_EVERY_MS).unref()
  return () => clearInterval(signs)
}

/** False when there is no session left to give a sign in. */
function giveSign(directory: string): boolean {
  try {
    writeFileSync(join(directory, SIGN), '', { mode: 0o600 })
    return true
  } catch (error) {
    return systemCode(error) !== 'ENOENT' // on a full disk the next sign may come
  }
}

/** True when the holder took the lock, or gave its last sign, too long ago; a sign from the future says as little as an old one. */
export function isSilent(directory: string, path: string): boolean {
  const look = join(directory, LOOK)
  writeFileSync(look, '', { mode: 0o600 })
  const sign = statSync(join(directory, SIGN), { throwIfNoEntry: false })
  const signs = [lstatSync(path), ...(sign ? [sign] : [])].map(({ mtimeMs }) => mtimeMs)
  const now = statSync(look).mtimeMs
  return signs.every((sign) => Math.abs(now - sign) > SILENT_AFTER_MS)
}
