import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { smallDisk } from '../src/index.js'

test('a small disk is soon full, can be made read-only, and goes away with its scope', async ({ skip }) => {
  let path: string
  {
    await using disk = await smallDisk('size=64k')
    if (!disk.mounted) return skip()
    path = disk.path
    await expect(writeFile(join(path, 'a'), Buffer.alloc(100_000))).rejects.toThrow('ENOSPC')
    disk.makeReadOnly()
    await expect(writeFile(join(path, 'b'), '')).rejects.toThrow('EROFS')
  }
  expect(existsSync(path)).toBe(false)
})
