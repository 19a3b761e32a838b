import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import type { Terminal } from './terminal/terminal.js'
import { commandFinder } from './tools/command-exists.js'

const PROGRAM = join(import.meta.dirname, '../bin.cjs')
/** The scripts that package managers put on the PATH are shorter. */
const LONGEST_SHIM_BYTES = 4096

/**
 * The words that start this very program again: `delta` only if the person's shell finds this program by that name, which it
 * does not in a clone, or where another program has the name.
 */
export function ownName({ env }: Pick<Terminal, 'env'>): string {
  if (env.npm_lifecycle_event === 'npx') return 'npx @delta/cli' // its PATH is gone afterwards
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
