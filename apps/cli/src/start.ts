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

/** @param node - Its version: which patterns of parameters are valid is for node to say. */
function cachePlaceAt(directory: string | undefined, node: string): CachePlace | undefined {
  if (directory === undefined) return undefined
  return { directory, build: () => `${node}-${stampOf(`${__dirname}/run.cjs`)}` }
}

/** Under a umask that takes its owner's permissions from a new file, no run could be read or continued by whoever made it. */
function ownFilesStayOpen(host: NodeJS.Process): void {
  host.umask(host.umask(0o077) & 0o077)
}

/** Node leaves, with 0, when there is nothing left to wait for; work that was not done is no success. */
function failUnfinished(this: NodeJS.Process): void {
  this.stderr.write(
    `Error: delta ended before its work was done: nothing was left to wait for. Please report it: ${ISSUES}\n`,
  )
  this.exitCode = 1
}

/** What is imported by much and used by little: a run that gets its answer without a tool needs none of it. */
const RARELY_USED: ReadonlySet<string> = new Set([
  './yaml.cjs', // explains mistakes, and knows where they are
  'node:child_process', // drags the network in
  'node:fs/promises',
  'node:readline',
  'node:timers/promises',
  'node:v8',
])
