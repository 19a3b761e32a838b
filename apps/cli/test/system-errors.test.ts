import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, smallDisk, temporaryAgent, temporaryWorkspace, waitForExit } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta } from './delta.js'

/** What every message keeps to: where, what, what to do, and never how the program is built. */
function expectPlain(stderr: string): void {
  expect(stderr).toMatch(/^Error: .+: .+ \(E[A-Z]+\)\.\n.+\.$/m)
  expect(stderr).not.toMatch(/^\s+at |node:internal|syscall/m)
}

test.each([
  [['run', '-m', 'Go'], 2],
  [['init'], 2],
  [['list-runs'], 2],
  [['sessions', 'list'], 2],
  [['--help'], 0],
  [['completion', 'bash'], 0],
])('in a directory that has been deleted, %j says so if it needs one', async (args, exitCode) => {
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
  await using directory = await temporaryWorkspace({})
  const argv = ['sh', '-c', script, 'sh', process.execPath, DELTA, ...args]
  const result = await runProcess(argv, { cwd: directory.path, env: cleanEnvironment() })
  expect(result.exitCode).toBe(exitCode)
  if (exitCode !== 0) expect(result.stderr).toContain('Error: The current directory has been deleted.')
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test.each([
  ['-m @directory', ['run', '-m', '@.'], 'Error: -m @.: it is a directory, not a file (EISDIR).'],
  ['-m @missing', ['run', '-m', '@no'], 'Error: -m @no: there is no such file or directory (ENOENT).'],
  ['init below a file', ['init', 'file/x'], 'Error: file/x: it is a file'],
  ['init further below a file', ['init', 'file/x/y'], 'Error: file/x/y: it is a file'],
  ['a workspace below a file', ['run', '-m', 'Go', '-w', 'file/x'], 'Error: -w file/x: it is a file'],
  ['init over a file', ['init', 'file'], 'Error: file: a file of that name is in the way (EEXIST).'],
  ['a name that is too long', ['run', '-m', 'Go', '-w', 'x'.repeat(300)], ': the name is too long ('],
])('%s is one message that says where, what and what to do', async (_, args, message) => {
  await using agent = await temporaryAgent({})
  await using directory = await temporaryWorkspace({ file: '' })
  const agentFlag = args[0] === 'run' ? ['--agent', agent.path] : []
  const result = await delta([...args, ...agentFlag], { cwd: directory.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(message)
  expectPlain(result.stderr)
  expect(await directory.files()).toEqual(['file'])
})

test.each([['show'], ['list-runs'], ['continue'], ['journal', 'verify'], ['context', 'build'], ['config']])(
  'delta %s refuses a workspace that is a file, or would lie below one',
  async (...command) => {
    await using agent = await temporaryAgent({})
    const result = await delta([...command, '-w', 'agent.yaml'], { cwd: agent.path })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toBe('Error: -w agent.yaml: it is a file, not a directory.\n')
    const below = await delta([...command, '-w', 'agent.yaml/x'], { cwd: agent.path })
    expect(below).toMatchObject({ exitCode: 2, stdout: '' })
    expect(below.stderr).toContain(
      'Error: -w agent.yaml/x: it is a file, not a directory, or is below a file (',
    )
  },
)

test.each([
  ['run', '-m', 'Go', '-w', ''],
  ['run', '-m', 'Go', '--agent', ''],
  ['continue', '-w', ''],
  ['init', ''],
])('an empty value, as of a variable that is not set, is refused: delta %s', async (...args) => {
  await using directory = await temporaryWorkspace({})
  const result = await delta(args, { cwd: directory.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('It is empty.')
  expect(await directory.files()).toEqual([])
})

test.skipIf(!existsSync('/proc/self'))(
  'where a directory can be seen but nothing can be made, init and run say so and end',
  async () => {
    await using agent = await temporaryAgent({})
    for (const args of [
      ['init', '/proc/x/y'],
      ['run', '--agent', agent.path, '-m', 'Go', '-w', '/proc/x/y'],
    ]) {
      const result = await delta(args)
      expect(result.exitCode).toBe(2)
      expectPlain(result.stderr)
    }
  },
)

test.skipIf(process.getuid?.() === 0)('what may not be read or written is named', async () => {
  await using directory = await temporaryWorkspace({ 'secret.md': 'x' })
  await using agent = await temporaryAgent({})
  await chmod(join(directory.path, 'secret.md'), 0)
  await mkdir(join(directory.path, 'closed'), { mode: 0o500 })
  for (const args of [
    ['run', '--agent', agent.path, '-m', '@secret.md'],
    ['init', 'closed/agent'],
    ['run', '--agent', agent.path, '-m', 'Go', '-w', 'closed/w'],
  ]) {
    const result = await delta(args, { cwd: directory.path })
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain('permission denied (EACCES)')
    expectPlain(result.stderr)
  }
})

test('init on a full disk says so and leaves nothing half made', async ({ skip }) => {
  await using disk = await smallDisk('size=8k')
  if (!disk.mounted) return skip()
  const result = await delta(['init', join(disk.path, 'agent'), '-t', 'research'])
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toContain('no space is left on the disk (ENOSPC)')
  expect(result.stderr).toContain(disk.path)
  expect(existsSync(join(disk.path, 'agent'))).toBe(false)
})

test('an error that nobody foresaw is told in words, and a stack trace only with DELTA_DEBUG', async () => {
  await using directory = await temporaryWorkspace({})
  const bug = join(directory.path, 'bug.cjs')
  await writeFile(bug, 'setImmediate(() => { throw new Error("unforeseen") }); setInterval(() => {}, 1000)')
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'x' } }] }, { content: 'Done.' }],
  })
  const run = (env: Record<string, string>) =>
    delta(['run', '-q', '--agent', agent.path, '-m', 'Go', '-w', directory.path], {
      env: { NODE_OPTIONS: `--require ${bug}`, ...env },
    })
  const plain = await run({})
  expect(plain).toMatchObject({ exitCode: 1, stdout: '' })
  expect(plain.stderr).toContain('Error: unforeseen\n')
  expect(plain.stderr).not.toMatch(/^\s+at /m)
  expect((await run({ DELTA_DEBUG: '1' })).stderr).toMatch(/^\s+at .*bug\.cjs/m)
})

test('a mistake in Delta ends the commands that run, says where to report it, and leaves the run to be continued', async () => {
  await using directory = await temporaryWorkspace({})
  const bug = join(directory.path, 'bug.cjs')
  await writeFile(
    bug,
    `const { watch, existsSync } = require('node:fs')
    if (process.argv[2] === 'run') {
      const watcher = watch(process.cwd(), { persistent: false }, () => {
        if (existsSync('pid')) watcher.close(), unforeseen()
      })
    }`,
  )
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo $$ > pid.new; mv pid.new pid; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  const args = ['run', '-q', '--agent', agent.path, '-m', 'Go', '-w', '.', '--run-id', 'one']
  const { stderr, exitCode } = await delta(args, {
    cwd: directory.path,
    env: { NODE_OPTIONS: `--require ${bug}` },
  })
  expect(exitCode).toBe(1)
  expect(stderr).toBe(
    'Error: unforeseen is not defined\n' +
      'This is a bug in Delta. Please report it, with what DELTA_DEBUG=1 adds: https://github.com/delta-engine/delta/issues\n' +
      `Stopped at once. Go on with: delta continue -w ${directory.path} --run-id one\n`,
  )
  await waitForExit(Number(await directory.read('pid')))
  const { stdout } = await delta(['list-runs', '--resumable', '-w', directory.path])
  expect(stdout).toMatch(/^one +INTERRUPTED/m)
  expect(await delta(['continue', '-q', '-w', directory.path])).toMatchObject({ stdout: 'Done.\n' })
})

test('a workspace on a read-only file system is refused as such, and nothing is said of going on', async ({
  skip,
}) => {
  await using disk = await smallDisk()
  await using agent = await temporaryAgent({})
  if (!disk.mounted) return skip()
  await mkdir(join(disk.path, '.delta'))
  disk.makeReadOnly()
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path])
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toMatch(
    /^Error: .*: Could not be written: the file system is read-only \(EROFS\)\.$/m,
  )
  expect(result.stderr).toContain('The run was not started. Mount it read-write, or use another directory')
  expect(result.stderr).not.toContain('ontinue')
})
