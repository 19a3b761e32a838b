import { expect, test } from 'vitest'
import { buildContext } from '../src/index.js'

// `tsc` reads this file, too: what it refuses here, it would refuse to every program with strict settings.

test('a manifest that is written out as a constant is taken as it is', async () => {
  const manifest = {
    sources: [
      { type: 'journal', id: 'talk' },
      {
        type: 'computed_file',
        generator: { command: ['true'], timeoutMs: 1000, passEnv: ['HOME'] },
        outputPath: 'notes.md',
        onMissing: 'skip',
        cache: { strategy: 'file_hash', invalidateOn: ['src/**'] },
        condition: { when: 'iteration_at_least', count: 9 },
      },
    ],
  } as const
  const events = [{ seq: 1, timestamp: '2026-01-01T00:00:00Z', type: 'USER_MESSAGE', content: 'Hi' }] as const
  const variables = { AGENT_HOME: '/', CWD: '/', RUN_DIR: '/' } as const
  const options = { journalPath: events, variables, env: {}, iteration: 1, task: 'Hi' }
  expect((await buildContext(manifest, options)).messages).toEqual([{ role: 'user', content: 'Hi' }])
})
