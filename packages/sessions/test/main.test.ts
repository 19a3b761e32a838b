import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { areInstalled, isAlive } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { main } from '../src/internal.js'
import { startCommandLine, temporaryDirectory } from './helpers.js'

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))

interface Run {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command line in a new directory, without a subprocess. */
function terminal(env: NodeJS.ProcessEnv = {}) {
  const cwd = temporaryDirectory()
  const run = async (args: string[], input = ''): Promise<Run> => {
    const output = { stdout: '', stderr: '' }
    const sink = (name: 'stdout' | 'stderr') => ({
      write(text: string) {
        output[name] += text
      },
    })
    const code = await main({
      argv: ['node', 'delta-sessions', ...args],
      env: { PATH: process.env.PATH, ...env },
      cwd,
      stdin: Readable.from([Buffer.from(input)]),
      stdout: sink('stdout'),
      stderr: sink('stderr'),
    })
    return { code, ...output }
  }
  const json = async (args: string[], input?: string) => JSON.parse((await run(args, input)).stdout)
  return { cwd, run, json }
}

describe('delta-sessions', () => {
  test("a link in the place of the workspace's .sessions is refused: it leads to states of someone else", async () => {
    const { cwd, run } = terminal()
    await mkdir(join(cwd, 'hidden'))
    await symlink('hidden', join(cwd, '.sessions'))
    const { code, stderr } = await run(['start'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`${join(cwd, '.sessions')} is a link. Remove it`),
    ])
    expect(await readdir(join(cwd, 'hidden'))).toEqual([])
  })

  test('says what to do where nothing can be kept', async () => {
    const { cwd, run } = terminal()
    await writeFile(join(cwd, 'file'), '')
    const { code, stderr } = await run(['start', '--sessions-dir', 'file/sessions'])
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^delta-sessions: ENOTDIR: .*file.*\n.* choose another place with --sessions-dir\.\n$/,
    )
  })

  test('start, exec, list and end print what the documentation says', async () => {
    const { cwd, json } = terminal()
    const started = await json(['start'])
    expect(started).toEqual({
      session_id: expect.stringMatching(/^sess_[a-z0-9]+$/),
      command: 'bash',
      work_dir: cwd,
      status: 'active',
    })
    const id = started.session_id
    expect(await json(['exec', id, 'echo out; echo err >&2; exit 3'])).toEqual({
      stdout: 'out\n',
      stderr: 'err\n',
      exit_code: 3,
      execution_time_ms: expect.any(Number),
      work_dir: cwd,
    })
    expect(await json(['list'])).toEqual([
      {
        session_id: id,
        command: 'bash',
        status: 'active',
        created_at: expect.any(String),
        last_executed_at: expect.any(String),
        work_dir: cwd,
        execution_count: 1,
      },
    ])
    expect(await json(['end', id])).toEqual({ status: 'terminated', session_id: id })
    expect(await json(['list'])).toEqual([])
  })

  test('the exit code is 0 whenever the command ran, and the command its own with --raw', async () => {
    const { run, json } = terminal()
    const { session_id: id } = await json(['start', 'sh'])
    expect((await run(['exec', id, 'exit 7'])).code).toBe(0)
    expect((await run(['exec', id, 'sleep 60', '--timeout', '100'])).code).toBe(0)
    expect(await run(['exec', id, '--raw', 'echo out; echo err >&2; exit 7'])).toEqual({
      code: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  test('--raw prints every byte as the command printed it, of a long output both ends', async () => {
    const { cwd, json } = terminal()
    const { session_id: id } = await json(['start', 'sh'])
    await writeFile(join(cwd, 'bytes'), EVERY_BYTE)
    const command = [
      'exec',
      '--raw',
      id,
      'cat bytes bytes bytes; cat bytes >&2; exit 7',
      '--max-output',
      '512',
    ]
    const saved = startCommandLine(command, cwd, { container: ['sh', '-c', 'exec "$@" >out 2>err', '-'] })
    expect(await saved.result).toMatchObject({ exitCode: 7 })
    const every = EVERY_BYTE.toString('latin1')
    const printed = await readFile(join(cwd, 'out'), 'latin1')
    expect(printed.startsWith(`${every}\n[256 bytes left out; all of it is in `)).toBe(true)
    expect(printed.endsWith(`]\n${every}`)).toBe(true)
    expect(await readFile(join(cwd, 'err'), 'latin1')).toBe(every)
  })

  test.skipIf(!areInstalled('python3'))('--raw says on stderr what a session did not keep', async () => {
    const { run, json } = terminal()
    const { session_id: id } = await json(['start', 'python3'])
    expect(await run(['exec', '--raw', id, 'steps = (i for i in [1]); print(1)'])).toEqual({
      code: 0,
      stdout: '1\n',
      stderr: "delta-sessions: steps is not kept: TypeError: cannot pickle 'generator' object\n",
    })
  })

  test('a command comes as an argument or on stdin', async () => {
    const { json } = terminal()
    const { session_id: id } = await json(['start', 'bash'])
    expect((await json(['exec', id], 'for i in 1 2; do\n  echo "Number: $i"\ndone\n')).stdout).toBe(
      'Number: 1\nNumber: 2\n',
    )
    expect((await json(['exec', id, '--', '-x'])).stderr).toContain('-x: command not found')
  })

  test.each([
    ['30s', 'exit 0', 0],
    ['100ms', 'sleep 60', 124],
    ['100', 'sleep 60', 124],
  ])('--timeout %s', async (time, command, code) => {
    const { json } = terminal()
    const { session_id: id } = await json(['start', 'sh'])
    expect((await json(['exec', id, command, '--timeout', time])).exit_code).toBe(code)
  })

  test('--max-output says how much of the output is in the result', async () => {
    const { json } = terminal()
    const { session_id: id } = await json(['start', 'sh'])
    const { stdout } = await json(['exec', id, 'printf %s aaaabbbbcccc', '--max-output', '8'])
    expect(stdout).toMatch(/^aaaa\n\[4 bytes left out\]\ncccc$/)
  })

  test.each([
    [['exec'], 'exec needs a session id. "list" shows'],
    [['end'], 'end needs a session id. "list" shows'],
    [['exec', 'sess_x', 'ls', '-la'], 'There is no option -l.\n--help lists the options. Quote the command'],
    [['exec', 'sess_x', 'ls', 'la'], '"la" is too much. Quote the command'],
    [['exec', 'sess_x'], 'There is no command'],
    [['exec', 'sess_x', 'ls', '--timeout', 'soon'], '--timeout soon: expected milliseconds'],
    [['exec', 'sess_x', 'ls', '--timeout', '0'], '--timeout 0: expected milliseconds above 0'],
    [
      ['exec', 'sess_x', 'ls', '--timeout', '-5'],
      '--timeout needs a value, and -5 may be an option: write --timeout=-5.\n--help lists',
    ],
    [['exec', 'sess_x', 'ls', '--timeout'], '--timeout needs a value.\n'],
    [['exec', 'sess_x', 'ls', '--raw=yes'], '--raw takes no value.\n'],
    [['exec', '--constructor'], 'There is no option --constructor.\n'],
    [['start', 'zsh'], 'There are no sessions of "zsh". Start bash, sh or python3.'],
    [['dance'], 'There is no command "dance". There are start, exec, end, list, cleanup.'],
    [['\u001b[2J\u200b'], 'There is no command "\\u{1b}[2J\\u{200b}"'],
    [['constructor'], 'There is no command "constructor"'],
    [[], 'Say what to do'],
  ])('%j is wrong usage: exit code 2 and what to do', async (args, message) => {
    const { code, stderr, stdout } = await terminal().run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  test('a session that does not exist is exit code 1', async () => {
    expect(await terminal().run(['exec', '../../etc', 'ls'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a session id'),
    })
    expect(await terminal().run(['end', 'sess_none'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no session "sess_none"'),
    })
  })

  test('sessions lie in the workspace, wherever in it the command runs', async () => {
    const workspace = temporaryDirectory()
    const { json } = terminal({ DELTA_CWD: workspace })
    const { session_id: id } = await json(['start'])
    expect(readFileSync(join(workspace, '.sessions', id, 'work_dir.txt'), 'utf8')).not.toBe('')
  })

  test('--help and --version', async () => {
    const { run } = terminal()
    expect((await run(['--help'])).stdout).toContain('delta-sessions exec <id> [command]')
    expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })
})

describe('cleanup', () => {
  test('in a run ends the sessions of that run, outside those that are idle, with --all every one', async () => {
    const first = terminal({ DELTA_RUN_ID: 'run_1' })
    const second = terminal({ DELTA_RUN_ID: 'run_2' })
    const outside = terminal()
    const sessions = join(temporaryDirectory(), '.sessions')
    const at = ['--sessions-dir', sessions]
    const { session_id: one } = await first.json(['start', ...at])
    const { session_id: two } = await second.json(['start', ...at])
    expect(await first.json(['cleanup', ...at])).toEqual({ status: 'terminated', session_ids: [one] })
    expect(await outside.json(['cleanup', ...at])).toEqual({ status: 'terminated', session_ids: [] })
    expect(await outside.json(['cleanup', '--all', ...at])).toEqual({
      status: 'terminated',
      session_ids: [two],
    })
  })
})

describe('a signal', () => {
  test('a second one ends a command that ignores the first, at once', async () => {
    const { cwd, json } = terminal()
    const { session_id: id } = await json(['start'])
    await json(['exec', id, 'mkfifo started'])
    const command = "trap 'echo again >started' TERM; echo $$ >started; while :; do sleep 0.01; done"
    const commandLine = startCommandLine(['exec', id, command], cwd)
    const pid = Number(await readFile(join(cwd, 'started'), 'utf8'))
    commandLine.kill('SIGINT')
    await readFile(join(cwd, 'started')) // it was told to stop, and goes on
    commandLine.kill('SIGINT')
    expect((await commandLine.result).exitCode).toBe(130)
    expect(isAlive(pid)).toBe(false)
  })

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s ends the command and all it started, then the command line', async (signal, code) => {
    const { cwd, json } = terminal()
    const { session_id: id } = await json(['start'])
    await json(['exec', id, 'mkfifo started'])
    const commandLine = startCommandLine(['exec', id, 'echo $$ >started; sleep 600 & sleep 601'], cwd)
    const group = (await readFile(join(cwd, 'started'), 'utf8')).trim()
    commandLine.kill(signal)
    expect((await commandLine.result).exitCode).toBe(code)
    const living = `ps -e -o pgid=,stat= | grep -cE '^ *${group} +[^Z ]'`
    expect((await json(['exec', id, living])).stdout).toBe('0\n')
  })
})
