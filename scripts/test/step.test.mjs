import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'
import { capture } from '../lib/step.mjs'

/** @param {string} text a program that runs steps */
async function runSteps(text) {
  const program = `import { step } from './scripts/lib/step.mjs'\n${text}`
  const { stdout } = await capture([process.execPath, '--input-type=module', '-'], {
    cwd: root,
    input: program,
  })
  return stdout.replace(/\d+\.\d s/g, '0.0 s')
}

test('a step that succeeds is one line, whatever its command printed', async () => {
  expect(await runSteps(`await step('Greeting', ['sh', '-c', 'echo hello; echo there >&2'])`)).toBe(
    'Greeting ... ok (0.0 s)\n',
  )
})

test('what a step that succeeds has skipped is shown', async () => {
  const printed = await runSteps(
    `await step('Greeting', ['sh', '-c', 'echo hello; echo "SKIPPED: nobody is here"'])`,
  )
  expect(printed).toBe('Greeting ... ok (0.0 s)\n  SKIPPED: nobody is here\n')
})

test('a step that fails shows its command, its exit code and everything it printed', async () => {
  const printed = await runSteps(`await step('Greeting', ['sh', '-c', 'echo hello; exit 3'])`)
  expect(printed).toBe(`Greeting ... FAILED (exit code 3, 0.0 s)
$ sh -c echo hello; exit 3
hello

`)
})

test('a command that cannot be started is a step that fails', async () => {
  expect(await runSteps(`await step('Nothing', ['/no/such/command'])`)).toContain(
    'spawn /no/such/command ENOENT',
  )
})

test('a command that is ended by a signal has failed', async () => {
  const { code, output } = await capture(['sh', '-c', 'kill -KILL $$'])
  expect({ code, output }).toEqual({ code: 1, output: 'ended by SIGKILL\n' })
})
