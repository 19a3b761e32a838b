import { join } from 'node:path'
import { testEnvironment } from './lib/environment.mjs'
import { withPackedPackages } from './lib/pack.mjs'
import { capture, succeeds } from './lib/step.mjs'
import { useNewestFrameworks, useOtherRuntimes } from './lib/use-newest.mjs'

/** Our packages as they would be published, beside what other people have published by now. */
async function main() {
  const { code, output } = await capture(['npm', 'view', 'ai', 'version'], { env: testEnvironment() })
  if (code !== 0) {
    console.log(
      `SKIPPED: the package registry cannot be reached, so nothing was tried with newer packages.\n${output}`,
    )
    return 0
  }
  const wentWell = await withPackedPackages(async (packages, directory) => [
    await succeeds(() => useNewestFrameworks(join(directory, 'frameworks'), packages)),
    await succeeds(() => useOtherRuntimes(join(directory, 'runtimes'), packages)),
  ])
  return wentWell.every(Boolean) ? 0 : 1
}

process.exitCode = await main()
