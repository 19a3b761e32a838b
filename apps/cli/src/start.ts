import { openBundles } from './bundles.js'
import { stampOf } from './cache-files.js'
import { ISSUES } from './issues.js'
import { closeDeadTerminals } from './terminal/dead-terminal.js'
import type { CachePlace } from './terminal/terminal.js'

/** Runs `main` and sets the exit code. The one thing besides `bin.cjs` that knows how this program was built. */
export async function start(host: NodeJS.Process): Promise<void> {
  ownFilesStayOpen(host)
  const cacheDirectory = host.env.NODE_DISABLE_COMPILE_CACHE ? undefined : `${__dirname}/../compiled`
  const bundles = openBundles({
    directory: __dirname,
    cacheDirectory,
    require,
    rarelyUsed: RARELY_USED,
  })
  const { main } = bundles.load('./main.cjs') as typeof import('./main.js')
  host.once('beforeExit', failUnfinished)
  host.once('exit', closeDeadTerminals)
  host.exitCode = await main(host, cachePlaceAt(cacheDirectory, host.version))
  host.off('beforeExit', failUnfinished)
  bundles.keepCompiled(host.exitCode === 0)
}

/** @param node - The version of Node.js, part of the key because it decides which `pattern`s of parameters are valid. */
function cachePlaceAt(directory: string | undefined, node: string): CachePlace | undefined {
  if (directory === undefined) return undefined
  return { directory, build: () => `${node}-${stampOf(`${__dirname}/run.cjs`)}` }
}

/** A umask that denies the owner access to their own new files would make every run unreadable. */
function ownFilesStayOpen(host: NodeJS.Process): void {
  host.umask(host.umask(0o077) & 0o077)
}

/** Node.js exits with 0 when nothing is left to wait for, even if the command has not finished. */
function failUnfinished(this: NodeJS.Process): void {
  this.stderr.write(
    `Error: delta ended before its work was done: nothing was left to wait for. Please report it: ${ISSUES}\n`,
  )
  this.exitCode = 1
}

/** Imported in many places and used in few: a run that answers without a tool needs none of them. */
const RARELY_USED: ReadonlySet<string> = new Set([
  './yaml.cjs', // only to explain mistakes and say where they are
  'node:child_process', // loads networking code
  'node:fs/promises',
  'node:readline',
  'node:timers/promises',
  'node:v8',
])
