import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  fixtures,
  isAlive,
  runProcess,
  startProcess,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '../src/index.js'

test('a command is run to its end, with its input and both outputs', async () => {
  const result = await runProcess(['sh', '-c', 'cat; echo oops >&2; exit 3'], { input: 'in' })
  expect(result).toEqual({ exitCode: 3, signal: null, stdout: 'in', stderr: 'oops\n' })
})

test('a command that cannot start rejects', async () => {
  await expect(runProcess(['/nonexistent/program'])).rejects.toMatchObject({ code: 'ENOENT' })
})

test('what a process prints can be awaited, and talked to', async () => {
  const cat = startProcess(['cat'], { interactive: true })
  cat.write('hello\n')
  expect(await cat.waitForOutput('hello')).toBe('hello\n')
  cat.endInput()
  expect((await cat.result).exitCode).toBe(0)
})

test('waiting for output that never comes ends with the process, and shows what came', async () => {
  const printed = startProcess(['sh', '-c', 'echo something else; exit 4']).waitForOutput('hello')
  await expect(printed).rejects.toThrow('sh exited with 4 first.\nstdout: something else\n')
})

test('waiting for a file ends when it meets the condition, or says what there is', async () => {
  await using directory = await temporaryWorkspace({ 'there.txt': 'already' })
  expect(await waitForFile(join(directory.path, 'there.txt'))).toBe('already')

  const growing = waitForFile(join(directory.path, 'log'), /two/)
  await directory.write('log', 'one\n')
  await directory.write('log', 'one\ntwo\n')
  expect(await growing).toBe('one\ntwo\n')

  const never = waitForFile(join(directory.path, 'there.txt'), 'never', { timeoutMs: 1 })
  await expect(never).rejects.toThrow('There is:\nalready')
})

test('printArgv prints its arguments byte for byte', async () => {
  const hostile = ['', 'a b', '"$(id)"', '*', 'ä\n', '--']
  const { stdout } = await runProcess([fixtures.printArgv, ...hostile])
  expect(JSON.parse(stdout)).toEqual(hostile)
})

test('sleep announces its pid on stdout, or in a file', async () => {
  const sleeper = startProcess([fixtures.sleep, '60'], { detached: true })
  expect(await sleeper.waitForOutput('\n')).toBe(`started ${sleeper.pid}\n`)
  process.kill(-sleeper.pid, 'SIGTERM')
  expect((await sleeper.result).signal).toBe('SIGTERM')

  await using directory = await temporaryWorkspace()
  const path = join(directory.path, 'mark')
  const other = startProcess([fixtures.sleep, '60', path], { detached: true })
  expect(await waitForFile(path)).toBe(`started ${other.pid}\n`)
  process.kill(-other.pid, 'SIGKILL')
  await other.result
})

test('ignoreSigterm finishes in spite of SIGTERM, and dies of SIGKILL', async () => {
  const deaf = startProcess([fixtures.ignoreSigterm, '0.2'], { detached: true })
  await deaf.waitForOutput('started')
  process.kill(-deaf.pid, 'SIGTERM')
  expect(await deaf.result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('finished\n') })

  const other = startProcess([fixtures.ignoreSigterm, '60'], { detached: true })
  await other.waitForOutput('started')
  process.kill(-other.pid, 'SIGKILL')
  expect((await other.result).signal).toBe('SIGKILL')
})

test('leaveGrandchild exits and leaves a process that holds the pipe', async () => {
  const parent = startProcess([fixtures.leaveGrandchild, '60'])
  const grandchild = Number((await parent.waitForOutput(/\d+\n/)).match(/\d+/)?.[0])
  await waitForExit(parent.pid)
  expect(isAlive(grandchild)).toBe(true)
  process.kill(grandchild, 'SIGKILL')
  expect((await parent.result).exitCode).toBe(0)
})
