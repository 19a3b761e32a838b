import { defineConfig } from 'vitest/config'

/** One run over the whole repository; `vitest run <path>` narrows it to a package. */
export default defineConfig({
  test: {
    include: ['{packages,apps}/*/test/**/*.test.ts', '{examples,scripts}/**/*.test.{ts,mjs}'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
  },
})
