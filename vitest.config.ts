import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** As in the builds: a program in another language is imported as its text. */
const pythonAsText = {
  name: 'python-as-text',
  transform: (text: string, id: string) =>
    id.endsWith('.py') ? { code: `export default ${JSON.stringify(text)}`, map: null } : undefined,
}

/** One run over the whole repository; `vitest run <path>` narrows it to a package. */
export default defineConfig({
  plugins: [pythonAsText],
  test: {
    include: ['{packages,apps}/*/test/**/*.test.ts', '{examples,scripts}/**/*.test.{ts,mjs}'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // vitest leaves one processor free, and of two that is half; our tests wait for processes, not for processors
    maxWorkers: availableParallelism(),
    globalSetup: 'scripts/lib/temporary-files.mjs',
  },
})
