import { areInstalled, startProcess } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { endGroup, endProcess, processStart, thisMachine } from '../src/index.js'
import { environmentOf, listProcesses, readProcess, signalGroup } from '../src/internal.js'
import { askPs } from '../src/processes.js'

function sleeper(script = 'sleep 60') {
  const started = startProcess(['sh', '-c', script], { detached: true, env: { ...process.env, MARK: 'a=b' } })
  onTestFinished(() => started.kill('SIGKILL'))
  return started
}

test('pid and start time identify a process', () => {
  expect(processStart(process.pid)).toBe(processStart(process.pid))
  expect(processStart(process.pid)).toBeTruthy()
  expect(processStart(2 ** 22 + 1)).toBeUndefined()
  expect(thisMachine()).toEqual(thisMachine())
})

test('a process has a parent and a group', () => {
  const { pid } = sleeper()
  expect(readProcess(pid)).toMatchObject({ pid, parent: process.pid, group: pid, alive: true })
  expect(listProcesses().map((each) => each.pid)).toContain(pid)
})

test.skipIf(!areInstalled('ps'))('ps shows the same where there is no /proc', () => {
  const [byPs] = askPs('-p', String(process.pid))
  expect(byPs).toEqual({ ...readProcess(process.pid), startTime: expect.stringMatching(/\d\d:\d\d:\d\d/) })
  expect(askPs('-p', '4194305')).toEqual([])
})

test.runIf(process.platform === 'linux')('an environment is read as it was given', () => {
  expect(environmentOf(sleeper().pid)).toMatchObject({ MARK: 'a=b' })
  expect(environmentOf(2 ** 22 + 1)).toEqual({})
})

test('a group is ended, also one that ignores TERM', async () => {
  for (const script of ['sleep 60', "trap '' TERM; echo on; while :; do sleep 0.01; done"]) {
    const { pid } = sleeper(script)
    await endGroup(pid, 50)
    expect(signalGroup(pid, 0) && listProcesses().some((each) => each.group === pid && each.alive)).toBe(
      false,
    )
  }
})

test('a process is ended, also a stopped one, but not a later one with the same pid', async () => {
  const { pid, kill } = sleeper()
  const start = processStart(pid) ?? ''
  await endProcess(pid, 'another start')
  expect(processStart(pid)).toBe(start)
  kill('SIGSTOP')
  await endProcess(pid, start)
  expect(processStart(pid)).toBeUndefined()
})
