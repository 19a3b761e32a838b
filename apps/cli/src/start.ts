import { openBundles } from './bundles.js'

/** Runs `main` and sets the exit code. The one thing besides `bin.cjs` that knows how this program was built. */
export async function start(host: NodeJS.Process): Promise<void> {
  const bundles = openBundles({
    directory: __dirname,
    cacheDirectory: host.env.NODE_DISABLE_COMPILE_CACHE ? undefined : `${__dirname}/../compiled`,
    require: (id) => (id === 'node:child_process' ? whenUsed(id) : require(id)),
  })
  const { main } = bundles.load('./main.cjs') as typeof import('./main.js')
  const unfinished = (): void =>
    void host.stderr.write('Error: delta ended with nothing left to wait for. Please report this.\n')
  host.exitCode = 1 // never 0 for work that was not done
  host.once('exit', unfinished)
  host.exitCode = await main(host)
  host.off('exit', unfinished)
  bundles.keepCompiled()
}

/** A module that is imported by much and used by little, and drags the network in. */
function whenUsed(id: string): object {
  return new Proxy({}, { get: (_, name) => Reflect.get(require(id), name) })
}
