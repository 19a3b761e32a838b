import { openBundles } from './bundles.js'
import { closeDeadTerminals } from './terminal/streams.js'
import { ISSUES } from './usage.js'

/** Runs `main` and sets the exit code. The one thing besides `bin.cjs` that knows how this program was built. */
export async function start(host: NodeJS.Process): Promise<void> {
  // a umask that denies the owner access to their own new files would make every run unreadable
  host.umask(host.umask(0o077) & 0o077)
  const cacheDirectory = host.env.NODE_DISABLE_COMPILE_CACHE ? undefined : `${__dirname}/../compiled`
  const bundles = openBundles(__dirname, cacheDirectory, require)
  const { main } = bundles.load('./main.cjs') as typeof import('./main.js')
  host.once('beforeExit', failUnfinished)
  host.once('exit', closeDeadTerminals)
  host.exitCode = await main(host)
  host.off('beforeExit', failUnfinished)
  if (host.exitCode === 0) bundles.keepCompiled() // a failed command compiled little of its code
}

/** Node.js exits with 0 when nothing is left to wait for, even if the command has not finished. */
function failUnfinished(this: NodeJS.Process): void {
  this.stderr.write(
    `Error: delta ended before its work was done: nothing was left to wait for. Please report it: ${ISSUES}\n`,
  )
  this.exitCode = 1
}
