import { cp, readdir, readFile, rename, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'

const FIXTURE = fileURLToPath(new URL('fixtures/old-run/', import.meta.url))

/** A copy of the fixture, as if its run had been made in `home`: its paths lead there. */
export async function oldRun(home?: string): Promise<TemporaryWorkspace> {
  const root = await temporaryWorkspace({})
  await cp(FIXTURE, root.path, { recursive: true })
  await rename(join(root.path, 'workspace/dot-delta'), join(root.path, 'workspace/.delta'))
  for (const entry of await readdir(root.path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll('{{ROOT}}', home ?? root.path))
    await utimes(path, 0, 0)
  }
  return root
}
