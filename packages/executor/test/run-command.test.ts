import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled, fixtures, isAlive, waitForFile } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { findOrphans } from '../src/orphans.js'
import { pidIn, run, workspace } from './workspace.js'

function passOn() {
  return { push: (chunk: Buffer) => chunk, end: () => Buffer.alloc(0) }
}

function fail(message: string): never {
  throw new Error(message)
}

describe('A command that ends by itself', () => {
  test('gives its exit code, both streams and how long it took', async () => {
    const outcome = await run(['sh', '-c', 'echo out; echo err >&2; exit 4'])
    expect(outcome).toEqual({
      status: 'EXITED',
      exitCode: 4,
      signal: null,
      durationMs: expect.any(Number),
      stdout: { bytes: 4, head: Buffer.from('out\n'), tail: Buffer.alloc(0), omittedBytes: 0, text: 'out\n' },
      stderr: { bytes: 4, head: Buffer.from('err\n'), tail: Buffer.alloc(0), omittedBytes: 0, text: 'err\n' },
    })
  })

  test('is run without a shell: every argument arrives byte for byte', async () => {
    const words = ['$HOME', 'a b', '', '*', '"', "'", '\n', '-x', 'ü', '; touch pwned']
    const outcome = await run([fixtures.printArgv, ...words])
    expect(JSON.parse(outcome.stdout.text)).toEqual(words)
  })

  test('that kills itself is told apart from one that exits', async () => {
    const outcome = await run(['sh', '-c', 'kill -KILL $$'])
    expect(outcome).toMatchObject({ status: 'SIGNALED', exitCode: null, signal: 'SIGKILL' })
  })

  test('does not keep anybody waiting because a grandchild holds its output', async () => {
    const { path } = await workspace()
    const outcome = await run([fixtures.leaveGrandchild, '60', join(path, 'pid')])
    const grandchild = pidIn(await waitForFile(join(path, 'pid'), '\n'))

    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
    expect(isAlive(grandchild)).toBe(true) // the background is the command's own business
    process.kill(grandchild, 'SIGKILL')
  })

  test.skipIf(process.platform !== 'linux')(
    'may have set its output to O_DIRECT, and what it printed is read all the same',
    async () => {
      const { path } = await workspace()
      const dd = ['dd', `if=${path}/in`, 'bs=4096', 'oflag=direct', 'status=none']
      writeFileSync(join(path, 'in'), 'a line\n'.repeat(4096))
      const outcome = await run(dd, { stdoutPath: join(path, 'out') })
      expect(outcome.stdout.text).toBe(readFileSync(join(path, 'out'), 'utf8'))
    },
  )

  test.skipIf(!areInstalled('ps'))(
    'finds its own session without a terminal, and leads its process group',
    async () => {
      const outcome = await run(['sh', '-c', 'ps -o pid=,pgid=,sid= -p $$'])
      const [pid, group, session] = outcome.stdout.text.trim().split(/ +/)
      expect([group, session]).toEqual([pid, pid])
    },
  )
})

describe('Standard input', () => {
  test('is at its end when there is none', async () => {
    expect((await run(['wc', '-c'])).stdout.text.trim()).toBe('0')
  })

  test('may have any size and any bytes', async () => {
    const stdin = Buffer.alloc(20_000_000, '\0\xff\n')
    const outcome = await run(['sha256sum'], { stdin })
    const { createHash } = await import('node:crypto')
    expect(outcome.stdout.text).toContain(createHash('sha256').update(stdin).digest('hex'))
  })

  test.each([
    ['files', undefined],
    ['pipes', passOn],
  ])('may be left unread (%s)', async (_streams, filter) => {
    const outcome = await run(['true'], { stdin: 'x'.repeat(5_000_000), ...(filter && { filter }) })
    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
  })

  test('can be opened as /dev/stdin', async () => {
    expect((await run(['cat', '/dev/stdin'], { stdin: 'text' })).stdout.text).toBe('text')
  })
})

describe('Output', () => {
  test('goes to the named files byte for byte, which nobody else may read', async () => {
    const { path } = await workspace()
    const stdoutPath = join(path, 'stdout')
    const stderrPath = join(path, 'stderr')
    const outcome = await run(['sh', '-c', 'printf "\\377\\000x"; printf e >&2'], { stdoutPath, stderrPath })

    expect(outcome.stdout).toMatchObject({ bytes: 3, path: stdoutPath })
    expect(readFileSync(stdoutPath)).toEqual(Buffer.from([0xff, 0, 0x78]))
    expect(readFileSync(stderrPath, 'utf8')).toBe('e')
    expect(statSync(stdoutPath).mode & 0o777).toBe(0o600)
  })

  test('replaces what the named file held before', async () => {
    const { path } = await workspace({ stdout: 'a long line of an earlier command' })
    await run(['echo', 'new'], { stdoutPath: join(path, 'stdout') })
    expect(readFileSync(join(path, 'stdout'), 'utf8')).toBe('new\n')
  })

  test.each([
    ['head', '0123', '', '0123\n[6 bytes left out]\n'],
    ['tail', '', '6789', '\n[6 bytes left out]\n6789'],
    ['both', '01', '89', '01\n[6 bytes left out]\n89'],
  ] as const)('beyond keepBytes comes back by its %s', async (keep, head, tail, text) => {
    const { stdout } = await run(['printf', '0123456789'], { keepBytes: 4, keep })
    expect(stdout).toMatchObject({ bytes: 10, omittedBytes: 6, text })
    expect([stdout.head.toString(), stdout.tail.toString()]).toEqual([head, tail])
  })

  test('is never cut within a character, whatever its length and wherever the cut falls', async () => {
    for (const character of ['a', 'é', '€', '😀']) {
      const text = character.repeat(8)
      for (let keepBytes = 0; keepBytes < 12; keepBytes++) {
        const { stdout } = await run(['printf', text], { keepBytes })
        const kept = stdout.omittedBytes > 0 ? stdout.text.replace(/\n\[\d+ bytes left out\]\n/, '') : text
        expect(kept).toBe(character.repeat([...kept].length))
        expect(stdout.head.length + stdout.tail.length).toBe(Math.min(keepBytes, Buffer.byteLength(text)))
      }
    }
  })

  test('of 200 MB leaves the memory flat', async () => {
    const { path } = await workspace()
    const before = process.memoryUsage.rss()
    const outcome = await run(['head', '-c', '200000000', '/dev/zero'], { stdoutPath: join(path, 'stdout') })
    expect(outcome.stdout.bytes).toBe(200_000_000)
    expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000)
  })

  test('that does not fit on the disk is the command’s own failure', async () => {
    const outcome = await run(['sh', '-c', 'echo lost'], { stdoutPath: '/dev/full' })
    expect(outcome).toMatchObject({ status: 'EXITED', stdout: { bytes: 0 } })
    expect(outcome.exitCode).not.toBe(0)
    expect(outcome.stderr.bytes).toBeGreaterThan(0)
  })

  test('reopened by the command as /dev/stderr has no hole', async () => {
    const { stderr } = await run(['sh', '-c', 'echo a >&2; echo b > /dev/stderr; echo c >&2'])
    expect(stderr.text).toBe('b\nc\n')
  })
})

describe('A filter', () => {
  test('makes no shell at the other end take it for a login from afar, which would run the .bashrc', async () => {
    const { path } = await workspace({ '.bashrc': 'echo mine' })
    for (const level of [{}, { SHLVL: '0' }, { SHLVL: '' }]) {
      const env = { PATH: process.env.PATH, HOME: path, ...level }
      const outcome = await run(['bash', '-c', 'cat'], { env, stdin: 'text', filter: passOn })
      expect(outcome.stdout.text).toBe('text')
    }
  })

  test('sees every byte before the disk does', async () => {
    const { path } = await workspace()
    const stdoutPath = join(path, 'stdout')
    const upperCase = () => ({
      push: (chunk: Buffer) => Buffer.from(chunk.toString('latin1').toUpperCase(), 'latin1'),
      end: () => Buffer.from('!'),
    })
    const outcome = await run(['cat'], { stdin: 'x'.repeat(1_000_000), stdoutPath, filter: upperCase })
    expect(outcome.stdout.bytes).toBe(1_000_001)
    expect(readFileSync(stdoutPath, 'utf8')).toBe(`${'X'.repeat(1_000_000)}!`)
  })

  test('does not wait for a grandchild either', async () => {
    const { path } = await workspace()
    const outcome = await run([fixtures.leaveGrandchild, '60', join(path, 'pid')], { filter: passOn })
    expect(outcome).toMatchObject({ status: 'EXITED', exitCode: 0 })
    process.kill(pidIn(await waitForFile(join(path, 'pid'), '\n')), 'SIGKILL')
  })

  test('whose result does not fit on the disk fails, and the command ends', async () => {
    await expect(run(['yes'], { stdoutPath: '/dev/full', filter: passOn })).rejects.toMatchObject({
      code: 'ENOSPC',
    })
  })

  test('that fails ends the command, and the caller is told', async () => {
    const broken = () => ({ push: () => fail('no room'), end: () => Buffer.alloc(0) })
    await expect(run(['yes'], { filter: broken })).rejects.toThrow('no room')
    // at once, also of a command that has nothing more to say and does not notice
    await expect(run(['sh', '-c', 'echo; exec sleep 300'], { filter: broken })).rejects.toThrow('no room')
  })

  test('that cannot be made ends the command, too', async () => {
    const { path } = await workspace()
    const mark = { actionId: 'filtered', runDirectory: path }
    const env = { ...process.env, DELTA_ACTION_ID: 'filtered', DELTA_RUN_DIR: path }
    await expect(run(['sleep', '60'], { env, filter: () => fail('no filter') })).rejects.toThrow('no filter')
    await expect.poll(() => findOrphans(mark)).toEqual([])
  })
})
