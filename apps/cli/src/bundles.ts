import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { readIfThere, replaceFile, stampOf } from './cache-files.js'

interface Bundles {
  /** What a bundle exports; `name` is `./run.cjs`. */
  load(name: string): unknown
  /**
   * Caches the code compiled in this start for the next one. A failed command compiled little of its code, so its cache is
   * replaced by that of the first command that succeeds.
   */
  keepCompiled(succeeded: boolean): void
}

interface Compiled {
  script: Script
  cachePath: string
  /** Loaded from the cache of a start that failed. */
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
  /** For everything that is not a bundle: modules of Node.js. */
  require: (id: string) => unknown
  /** Bundles and modules that are loaded only when one of their exports is first used. */
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
    // the build has wrapped it in a function, since wrapping here would copy it; and made it ASCII, since Latin-1 is read faster
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
      // an installation that cannot be written only starts a little slower
    }
  }

  return { load, keepCompiled }
}

function cacheName(path: string): string {
  const bundle = path.slice(path.lastIndexOf('/') + 1, -'.cjs'.length)
  return `${bundle}-${process.version}-${process.arch}-${stampOf(path)}`
}
