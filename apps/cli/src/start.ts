import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Script } from 'node:vm'
import { closeDeadTerminals } from './terminal.js'
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

/**
 * Loads the bundles that this program is built into, with their compiled code from an earlier start if there is any:
 * compiling is most of what a start costs.
 *
 * A cache file belongs to one version of node and one bundle, and is replaced whole. It may be missing, unwritable or
 * deleted at any time; then the bundle is compiled. It lies beside the program, so write access to it means write access to
 * the program.
 *
 * @param cacheDirectory - Undefined: no cache.
 * @param require - For everything that is not a bundle: modules of Node.js.
 */
function openBundles(
  directory: string,
  cacheDirectory: string | undefined,
  require: (id: string) => unknown,
) {
  const loaded = new Map<string, { exports: unknown }>()
  const compiled: { script: Script; cachePath: string }[] = []

  /** What a bundle exports; `name` is `./run.cjs`. */
  function load(name: string): unknown {
    const known = loaded.get(name)
    if (known) return known.exports
    const module = { exports: {} as unknown }
    loaded.set(name, module)
    const path = join(directory, name)
    const imported = (id: string) => (id.startsWith('./') ? load(id) : require(id))
    compile(path).runInThisContext()(module.exports, imported, module, path, directory)
    return module.exports
  }

  function compile(path: string): Script {
    // the build has wrapped it in a function, since wrapping here would copy it; and made it ASCII, since Latin-1 is read faster
    const source = readFileSync(path, 'latin1')
    if (cacheDirectory === undefined) return new Script(source, { filename: path })
    const cachePath = join(cacheDirectory, cacheName(path))
    const cachedData = readIfThere(cachePath)
    const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) })
    if (cachedData === undefined || script.cachedDataRejected) compiled.push({ script, cachePath })
    return script
  }

  /** Keeps the code that this start compiled for the next one. */
  function keepCompiled(): void {
    try {
      for (const { script, cachePath } of compiled) replaceFile(cachePath, script.createCachedData())
    } catch {
      // an installation that cannot be written only starts a little slower
    }
  }

  return { load, keepCompiled }
}

function cacheName(path: string): string {
  const { size, mtimeMs } = statSync(path)
  return `${basename(path, '.cjs')}-${process.version}-${process.arch}-${size}-${Math.round(mtimeMs)}`
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    return undefined // missing or unreadable: the work is done again
  }
}

/** A reader never sees half of the file. Only its owner may write it, whatever the umask, because it decides what runs. */
function replaceFile(path: string, data: Buffer): void {
  const beside = `${path}.${process.pid}`
  mkdirSync(join(path, '..'), { recursive: true, mode: 0o755 })
  try {
    writeFileSync(beside, data, { mode: 0o644 })
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true }) // the disk may be full
    throw error
  }
}
