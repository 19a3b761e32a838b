import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** As in the builds: a program in another language is imported as its text. */
const pythonAsText = {
  name: 'python-as-text',
  transform: (text: string, id: string) =>
    id.endsWith('.py') ? { code: `export default ${JSON.stringify(text)}`, map: null } : undefined,
}

/** A property is tried with the same inputs each time, so that a green run stays green: `SEED=7 npx vitest run …` tries others. */
const sameInputs = {
  name: 'same-inputs',
  transform: (text: string) =>
    /\bfc from ['"]fast-check['"]/.test(text)
      ? { code: `${text}\nfc.configureGlobal({ seed: ${Number(process.env.SEED ?? 1)} })\n`, map: null }
      : undefined,
}

/** `npm run test:real` sets it: what needs installed parts, or long kills. */
const isReal = process.env.DELTA_TESTS === 'real'

const REAL = ['{packages,apps}/*/test/**/*.real.test.ts', 'examples/**/*.real.test.ts']

/** What `npm test` tries a few times, and `npm run test:real` often. */
const LONGER = [
  'examples/real-model.test.ts',
  'packages/engine/test/crash.test.ts',
  'packages/engine/test/failure.test.ts',
  'packages/engine/test/fork.test.ts',
  'packages/engine/test/inbox.test.ts',
  'packages/engine/test/replay-edges.test.ts',
  'packages/journal/test/crash.test.ts',
  'packages/model/test/streams-of-every-api.test.ts',
  'packages/sessions/test/concurrency.test.ts',
  'packages/snapshots/test/crash.test.ts',
  'packages/snapshots/test/giving-up.test.ts',
  'packages/snapshots/test/property.test.ts',
  'packages/snapshots/test/round-trip.test.ts',
  'packages/tool-expander/test/property.test.ts',
  'packages/trace/test/hostile-records.test.ts',
  'packages/workspace/test/own-runs.test.ts',
]

/**
 * Their files share a process, since loading what they test takes longer than most of them. They leave it as it was, and their
 * modules remember nothing of the machine.
 */
const TOGETHER = 'packages/!(durable|engine|sessions|snapshots|testkit)/test/**/*.test.ts'

const plugins = [pythonAsText, sameInputs]
const shared = {
  exclude: ['**/node_modules/**', ...(isReal ? [] : REAL)],
  // these end what hangs; they are no measure of how slow a machine may be
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  pool: 'forks' as const,
}

const real = { ...shared, name: 'real', include: [...REAL, ...LONGER] }

const apart = {
  ...shared,
  name: 'apart',
  include: ['{packages,apps}/*/test/**/*.test.ts', '{examples,scripts}/**/*.test.{ts,mjs}'],
  exclude: [...shared.exclude, TOGETHER],
}

/** After the others, for a process is shared by what follows one another. */
const together = {
  ...shared,
  name: 'together',
  include: [TOGETHER],
  isolate: false,
  sequence: { groupOrder: 1 },
}

/** One run over the whole repository; `vitest run <path>` narrows it to a package. */
export default defineConfig({
  test: {
    // vitest leaves one processor free, and of two that is half; our tests wait for processes, not for processors
    maxWorkers: availableParallelism(),
    globalSetup: 'scripts/lib/temporary-files.mjs',
    projects: (isReal ? [real] : [apart, together]).map((test) => ({ plugins, test })),
  },
})
