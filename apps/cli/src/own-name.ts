import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import type { Terminal } from './terminal/terminal.js'
import { commandFinder } from './tools/command-exists.js'

const PROGRAM = join(import.meta.dirname, '../bin.cjs')
/** A script that a package manager puts on the PATH is not longer. */
const LONGEST_SHIM_BYTES = 4096

/**
 * The words by which a person starts this program again: `delta` only where their shell finds this one by it, not in a
 * clone, and not where another program has the name.
 */
export function ownName({ env }: Pick<Terminal, 'env'>): string {
  if (env.npm_lifecycle_event === 'npx') return 'npx @delta/cli' // whose PATH is gone afterwards
  const directories = (env.PATH ?? '').split(':').filter((directory) => directory.startsWith('/'))
  const isExecutable = commandFinder('', env)
  const found = directories.map((directory) => join(directory, 'delta')).find(isExecutable)
  return found !== undefined && startsThisProgram(found) ? 'delta' : quoteForPerson(['node', PROGRAM])
}

/** npm links to the program; pnpm, and the folder for an agent's tools, have a short script that names it. */
function startsThisProgram(path: string): boolean {
  if (realpathSync(path) === realpathSync(PROGRAM)) return true
  return statSync(path).size <= LONGEST_SHIM_BYTES && readFileSync(path, 'utf8').includes('bin.cjs"')
}
