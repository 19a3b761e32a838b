import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadCache } from '@delta/config-loader'
import { readIfThere, replaceFile } from '../cache-files.js'
import type { CachePlace } from '../terminal/terminal.js'

const PREFIX = 'tools-'

/** How many files are kept. One for a hundred tools has 100 KB. */
const MOST_AGENTS = 100

/**
 * Caches the tools of an agent or a file of tools, given by its absolute path, beside the program's compiled code. Whoever
 * can write there can write the program itself.
 */
export function cacheFor(agent: string, { directory, build }: CachePlace): LoadCache {
  const path = () =>
    join(directory, `${PREFIX}${createHash('sha256').update(agent).digest('hex').slice(0, 32)}-${build()}`)
  return {
    read: () => readIfThere(path())?.toString(),
    write(text) {
      try {
        replaceFile(path(), text, 0o600) // a tool's command may be private
        removeOldest(directory)
      } catch {
        // an installation that cannot be written only loads tools a little slower
      }
    },
  }
}

function removeOldest(directory: string): void {
  const files = readdirSync(directory)
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(directory, name))
  if (files.length <= MOST_AGENTS) return
  const ages = new Map(files.map((path) => [path, statSync(path).mtimeMs]))
  files.sort((one, other) => (ages.get(other) ?? 0) - (ages.get(one) ?? 0))
  for (const path of files.slice(MOST_AGENTS)) rmSync(path, { force: true })
}
