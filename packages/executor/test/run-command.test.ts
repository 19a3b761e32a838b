import { expect, test } from 'vitest'
import { runCommand } from '../src/index.js'
import { env, temporaryDirectory } from './helpers.js'

test('a command gives its output, exit code and duration', async () => {
  const outcome = await runCommand(['sh', '-c', 'cat; echo err >&2; exit 4'], {
    cwd: temporaryDirectory(),
    env,
    stdin: 'in',
  })
  expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 4, signal: null })
  expect(outcome.stdout.text).toBe('in')
  expect(outcome.stderr.text).toBe('err\n')
})

test('a timeout ends the whole process group', async () => {
  const outcome = await runCommand(['sh', '-c', 'sleep 60 & sleep 60'], {
    cwd: temporaryDirectory(),
    env,
    timeoutMs: 100,
  })
  expect(outcome).toMatchObject({ status: 'TIMEOUT', exitCode: null, signal: 'SIGTERM' })
})

test('output can pass a filter on its way', async () => {
  const outcome = await runCommand(['sh', '-c', 'cat; sleep 60 &'], {
    cwd: temporaryDirectory(),
    env,
    stdin: 'x'.repeat(1_000_000),
    filter: () => ({
      push: (chunk) => Buffer.from(chunk.toString().toUpperCase()),
      end: () => Buffer.from('!'),
    }),
    keepBytes: 2_000_000,
    onSpawn: ({ pid }) => setTimeout(() => process.kill(-pid, 'SIGKILL'), 2000).unref(),
  })
  expect(outcome.stdout.text).toBe(`${'X'.repeat(1_000_000)}!`)
})
