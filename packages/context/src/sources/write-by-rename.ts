import { rename, rm, writeFile } from 'node:fs/promises'

/**
 * Gives a file new contents: nobody sees half of it. What is written so can be made again, so it is not synced.
 *
 * It is written beside first, where a command may have put a link, to have another file overwritten: what lies there is
 * removed, and nothing is written through it.
 */
export async function writeByRename(path: string, bytes: string | Buffer, mode = 0o666): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  await rm(temporary, { recursive: true, force: true })
  try {
    await writeFile(temporary, bytes, { mode, flag: 'wx' })
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
