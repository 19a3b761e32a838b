import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { listProcesses } from '@delta/durable/internal'
import {
  canStart,
  fixtures,
  isAlive,
  runProcess,
  startProcess,
  unseenProcesses,
  waitForFile,
} from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commandEnvironment } from '../src/index.js'
import { endOrphans, findOrphans, isRunning, readProcessRecord, recordProcess } from '../src/orphans.js'
import { workspace } from './workspace.js'

/** A command with a child, as one that a dead engine left behind; ended after the test whatever happens. */
async function leftBehind(directory: string, fixture: string, env: NodeJS.ProcessEnv = {}) {
  const announced = join(directory, 'started')
  const { pid } = startProcess([fixture, '60', announced], {
    env: { ...process.env, ...env },
    detached: true,
  })
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(-pid, 'SIGKILL')
  })
  await waitForFile(announced, '\n')
  await expect.poll(() => childrenOf(pid)).toHaveLength(1)
  return { pid, all: [pid, ...childrenOf(pid)] }
}

/** The `sleep` of a fixture; it has had others before. */
function childrenOf(pid: number): number[] {
  const children = listProcesses().filter(({ parent, alive }) => parent === pid && alive)
  return children.flatMap(({ pid }) => (nameOf(pid) === 'sleep' ? [pid] : []))
}

function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined // ended meanwhile
  }
}

describe('The record of a running command', () => {
  test('tells its process from every other, also after a reboot and in another container', async () => {
    const { path } = await workspace()
    const { pid } = await leftBehind(path, fixtures.sleep)
    const recordPath = join(path, 'record.json')
    recordProcess(recordPath, pid)

    const record = readProcessRecord(recordPath)
    if (!record) throw new Error('no record')
    expect(statSync(recordPath).mode & 0o777).toBe(0o600)
    expect(record).toEqual({
      pid,
      start_time: expect.stringMatching(/^\d+$/),
      boot_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      pid_namespace: expect.stringMatching(/^pid:\[\d+\]$/),
    })
    expect(isRunning(record)).toBe(true)
    expect(isRunning({ ...record, start_time: '1' })).toBe(false)
    expect(isRunning({ ...record, boot_id: 'another' })).toBe(false)
    expect(isRunning({ ...record, pid_namespace: 'pid:[1]' })).toBe(false)
  })

  test.each(['', '{"pid":12', '{"pid":"12"}', 'null'])('that is torn reads as none: %j', async (text) => {
    const { path } = await workspace()
    writeFileSync(join(path, 'record.json'), text)
    expect(readProcessRecord(join(path, 'record.json'))).toBeUndefined()
    expect(readProcessRecord(join(path, 'missing.json'))).toBeUndefined()
  })

  test('of the first process of the system reads as none: its group is everybody', async () => {
    const { path } = await workspace()
    const recordPath = join(path, 'record.json')
    recordProcess(recordPath, 1)
    expect(readProcessRecord(recordPath)).toBeUndefined()
  })
})

describe('What a dead engine left running', () => {
  test('is found by the record and ended, children included', async () => {
    const { path } = await workspace()
    const { pid, all } = await leftBehind(path, fixtures.sleep)
    const recordPath = join(path, 'record.json')
    recordProcess(recordPath, pid)

    expect(findOrphans({ recordPath }).sort()).toEqual(all.sort())
    expect((await endOrphans({ recordPath })).sort()).toEqual(all)
    expect(all.filter(isAlive)).toEqual([])
    expect(await endOrphans({ recordPath })).toEqual([])
  })

  test('is found by its environment when the record was not written', async () => {
    const { path } = await workspace()
    const env = { DELTA_ACTION_ID: '1-0', DELTA_RUN_DIR: path }
    const { all } = await leftBehind(path, fixtures.sleep, env)

    expect(findOrphans({ actionId: '1-0', runDirectory: '/another/run' })).toEqual([])
    expect(findOrphans({ actionId: '1-1', runDirectory: path })).toEqual([])
    expect((await endOrphans({ actionId: '1-0', runDirectory: path })).sort()).toEqual(all.sort())
    expect(all.filter(isAlive)).toEqual([])
  })

  test('is found where the engine that ran it was the tool of another, and is gone as well', async () => {
    const { path } = await workspace()
    const place = { agentHome: path, cwd: path }
    const outer = { DELTA_ACTION_ID: '1-0', DELTA_RUN_DIR: path }
    const inner = { run: { ...place, runDirectory: '/inner' }, extra: { DELTA_ACTION_ID: '7' } }
    const innermost = { run: { ...place, runDirectory: '/innermost' } }
    const env = commandEnvironment(commandEnvironment(outer, inner), innermost)
    const { all } = await leftBehind(path, fixtures.sleep, env)

    expect(findOrphans({ actionId: '0', runDirectory: path })).toEqual([])
    expect(findOrphans({ actionId: '7', runDirectory: path })).toEqual([])
    expect(findOrphans({ actionId: '7', runDirectory: '/inner' }).sort()).toEqual(all.sort())
    expect((await endOrphans({ actionId: '1-0', runDirectory: path })).sort()).toEqual(all.sort())
  })

  test('is killed when it does not end by itself', async () => {
    const { path } = await workspace()
    const { pid, all } = await leftBehind(path, fixtures.ignoreSigterm)
    recordProcess(join(path, 'record.json'), pid)
    await endOrphans({ recordPath: join(path, 'record.json') }, { graceMs: 50 })
    expect(all.filter(isAlive)).toEqual([])
  })

  test('is ended also where nothing shows any more whose it was', async () => {
    const { path, write } = await workspace()
    const hidden = await write(
      'hidden.sh',
      '#!/bin/sh\ntrap "" TERM\necho $$ > hidden.new && mv hidden.new hidden\nsleep 60\n',
    )
    const parent = await write(
      'parent.sh',
      `#!/bin/sh\ncd ${path}\nenv -i PATH="$PATH" setsid ${hidden} &\nsleep 60\n`,
    )
    const { pid } = startProcess([parent], { detached: true, env: process.env })
    const hiddenPid = Number(await waitForFile(join(path, 'hidden'), '\n'))
    onTestFinished(() => {
      if (isAlive(hiddenPid)) process.kill(-hiddenPid, 'SIGKILL')
    })
    recordProcess(join(path, 'record.json'), pid)

    expect(await endOrphans({ recordPath: join(path, 'record.json') }, { graceMs: 200 })).toContain(hiddenPid)
    expect([pid, hiddenPid].filter(isAlive)).toEqual([])
  })

  test('never is this process, whatever its environment says', () => {
    const environ = readFileSync('/proc/self/environ', 'utf8').split('\0')
    const own = environ.find((entry) => entry.startsWith('DELTA_ACTION_ID='))
    expect(own).toBeUndefined()
    expect(findOrphans({})).toEqual([])
  })

  // only looked for: to end what a wrong query finds would end whatever runs here
  test.each([{ variables: [['NAME', '']] as const }, { actionId: '', runDirectory: '' }, { recordPath: '' }])(
    'is looked for by no text that others may carry, too: %j',
    (query) => {
      expect(() => findOrphans(query)).toThrow('The query holds an empty string.')
    },
  )

  test('never is another process with the pid of the record', async () => {
    const { path } = await workspace()
    const { pid } = await leftBehind(path, fixtures.sleep)
    const recordPath = join(path, 'record.json')
    recordProcess(recordPath, pid)
    const record = JSON.parse(readFileSync(recordPath, 'utf8'))
    writeFileSync(recordPath, JSON.stringify({ ...record, start_time: '1' }))
    expect(await endOrphans({ recordPath })).toEqual([])
    expect(isAlive(pid)).toBe(true)
  })
})

const PROGRAM = `
  import { endOrphans, recordProcess, runCommand } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
  const { status, signal } = await runCommand(['sh', '-c', 'trap "" TERM; while :; do sleep 0.1; done'], {
    cwd: process.cwd(), env: process.env, timeoutMs: 100, graceMs: 100,
    onSpawn: ({ pid }) => recordProcess('record.json', pid),
  })
  console.log(status, signal, (await endOrphans({ recordPath: 'record.json' })).length)`

test.for(Object.entries(unseenProcesses))(
  'where %s, a command that does not heed TERM is killed all the same',
  async ([, place], context) => {
    context.skip(!canStart(place), 'a user namespace is needed, and refused here')
    const { path } = await workspace()
    const node = [process.execPath, '--input-type=module', '-e', PROGRAM]
    const { stdout, stderr } = await runProcess([...place, ...node], { cwd: path })
    expect([stdout, stderr]).toEqual(['TIMEOUT SIGKILL 0\n', ''])
    expect(readFileSync(join(path, 'record.json'), 'utf8')).toContain('"start_time":""')
  },
)
