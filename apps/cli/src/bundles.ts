import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { readIfThere, replaceFile, stampOf } from './cache-files.js'

interface Bundles {
  /** What a bundle exports; `name` is `./run.cjs`. */
  load(name: string): unknown
  /**
   * Keeps what was compiled now, for the next start. A command that failed used little of its code, so what is kept of it
   * makes way for the code of the first that succeeds.
   */
  keepCompiled(succeeded: boolean): void
}

interface Compiled {
  script: Script
  cachePath: string
  /** This start used what an earlier one had kept, after it failed. */
  isKeptAfterFailure: boolean
}

const AFTER_FAILURE = '-failed'

/**
 * Loads the bundles that this program is built into, with their compiled code from an earlier start if there is any:
 * compiling is most of what a start costs.
 *
 * A cache file belongs to one version of node and one bundle, and is replaced whole. It may be missing, unwritable or
 * deleted at any time; then the bundle is compiled. It lies beside the program, so whoever could write it could write
 * the program.
 */
export function openBundles({
  directory,
  cacheDirectory,
  require,
  rarelyUsed,
}: {
  directory: string
  /** Undefined: no cache. */
  cacheDirectory: string | undefined
  /** For what is no bundle: modules of node. */
  require: (id: string) => unknown
  /** Bundles and modules that are loaded when something of them is used for the first time. */
  rarelyUsed: ReadonlySet<string>
}): Bundles {
  const loaded = new Map<string, { exports: unknown }>()
  const compiled: Compiled[] = []

  function load(name: string): unknown {
    const known = loaded.get(name)
    if (known) return known.exports
    const module = { exports: {} as unknown }
    loaded.set(name, module)
    const path = join(directory, name)
    const wrapper = compile(path).runInThisContext()
    wrapper(module.exports, imported, module, path, directory)
    return module.exports
  }

  function imported(id: string): unknown {
    const get = () => (id.startsWith('./') ? load(id) : require(id)) as object
    return rarelyUsed.has(id) ? new Proxy({}, { get: (_, name) => Reflect.get(get(), name) }) : get()
  }

  function compile(path: string): Script {
    // a function, as the build writes it: to put one around the text here would copy it. In ASCII, for Latin-1 is read fast
    const source = readFileSync(path, 'latin1')
    if (cacheDirectory === undefined) return new Script(source, { filename: path })
    const cachePath = join(cacheDirectory, cacheName(path))
    const kept = readIfThere(cachePath)
    const cachedData = kept ?? readIfThere(cachePath + AFTER_FAILURE)
    const script = new Script(source, { filename: path, ...(cachedData ? { cachedData } : {}) })
    const isUsed = cachedData !== undefined && !script.cachedDataRejected
    if (!kept || !isUsed) compiled.push({ script, cachePath, isKeptAfterFailure: isUsed })
    return script
  }

  function keepCompiled(succeeded: boolean): void {
    const worthKeeping = compiled.filter(({ isKeptAfterFailure }) => succeeded || !isKeptAfterFailure)
    try {
      for (const { script, cachePath } of worthKeeping) {
        if (succeeded) rmSync(cachePath + AFTER_FAILURE, { force: true })
        replaceFile(succeeded ? cachePath : cachePath + AFTER_FAILURE, script.createCachedData())
      }
    } catch {
      // an installation that cannot be written starts a little slower, and that is all
    }
  }

  return { load, keepCompiled }
}

function cacheName(path: string): string {
  const bundle = path.slice(path.lastIndexOf('/') + 1, -'.cjs'.length)
  return `${bundle}-${process.version}-${process.arch}-${stampOf(path)}`
}
