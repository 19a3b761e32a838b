import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../src/index.js'
import { run, workspace } from './workspace.js'

describe('A command that cannot start says why', () => {
  test.each<[string, string[], string, string]>([
    [
      'a program that is not installed',
      ['no-such-program'],
      'NOT_FOUND',
      '"no-such-program" is not on the PATH. Install it, write its path, or write shell: if the shell does it itself, as with cd.',
    ],
    [
      'a path where nothing is',
      ['./missing'],
      'NOT_FOUND',
      '"./missing" does not exist. Check the path; a relative one starts at the working directory.',
    ],
    [
      'an absolute path where nothing is',
      ['/no/such/program'],
      'NOT_FOUND',
      '"/no/such/program" does not exist. Check the path; a relative one starts at the working directory.',
    ],
    [
      'a script without its interpreter',
      ['./badly-interpreted'],
      'NOT_FOUND',
      '"./badly-interpreted" exists, but the interpreter its first line names does not. Check the #! line; it must end with LF, not CR LF.',
    ],
    [
      'a script with the line ends of Windows',
      ['./windows.sh'],
      'NOT_FOUND',
      '"./windows.sh" exists, but the interpreter its first line names does not. Check the #! line; it must end with LF, not CR LF.',
    ],
    [
      'a word of the shell',
      ['source', './settings'],
      'NOT_FOUND',
      '"source" is not on the PATH. Install it, write its path, or write shell: if the shell does it itself, as with cd.',
    ],
    [
      'a file that is no program',
      ['./plain'],
      'NOT_EXECUTABLE',
      '"./plain" is not an executable file. Check its path, and its permissions (chmod +x).',
    ],
    [
      'an argument that is too long',
      ['echo', 'x'.repeat(200_000)],
      'TOO_LARGE',
      'The arguments are 200004 bytes together, the longest 200000: more than the system passes to a command. Large values belong on standard input: let the tool take this parameter with stdin:, or all with stdin: json.',
    ],
    [
      'an argument with a NUL byte',
      ['echo', 'a\0b'],
      'NUL_BYTE',
      'An argument or environment variable of the command holds a NUL byte, which no command can be given there. Pass it through stdin.',
    ],
  ])('%s', async (...[, argv, code, message]) => {
    const { path } = await workspace({
      'badly-interpreted': '#!/no/such/interpreter\n',
      'windows.sh': '#!/bin/sh\r\necho hi\r\n',
      plain: 'text',
    })
    await chmod(join(path, 'windows.sh'), 0o755)
    await chmod(join(path, 'badly-interpreted'), 0o755)
    await chmod(join(path, 'plain'), 0o644)
    const outcome = await run(argv, { cwd: path })
    expect(outcome).toMatchObject({
      status: 'NOT_STARTED',
      exitCode: null,
      durationMs: expect.any(Number),
      startError: { code, message },
    })
  })

  test('a working directory that is not there', async () => {
    const { path } = await workspace()
    expect((await run(['true'], { cwd: join(path, 'gone') })).startError).toEqual({
      code: 'NO_CWD',
      message: `The working directory ${path}/gone cannot be entered (ENOENT). Create it, or give another cwd.`,
    })
  })

  test('a working directory that is a file', async () => {
    const { path } = await workspace({ file: '' })
    expect((await run(['true'], { cwd: join(path, 'file') })).startError?.code).toBe('NO_CWD')
  })

  test('an output file that cannot be written', async () => {
    const { path } = await workspace()
    const outcome = await run(['true'], { stdoutPath: join(path, 'no/such/directory') })
    expect(outcome.startError?.code).toBe('NO_OUTPUT_FILE')
  })

  test('but an empty argv is a mistake of the program', async () => {
    await expect(run([])).rejects.toMatchObject({ code: 'ERR_EXECUTOR_USAGE' })
  })
})

test.skipIf(process.getuid?.() === 0)(
  'a directory on the PATH that may not be entered hides that a program is not installed from nobody',
  async () => {
    const { path } = await workspace({ 'closed/tool': '' })
    await chmod(join(path, 'closed'), 0)
    onTestFinished(() => chmod(join(path, 'closed'), 0o700))
    const outcome = await run(['no-such-program'], { env: { PATH: `${join(path, 'closed')}:/bin` } })
    expect(outcome.startError?.code).toBe('NOT_FOUND')
  },
)

test('Where no temporary file can be made for what a command reads, the directory is named, and TMPDIR', async () => {
  const { path } = await workspace()
  const missing = join(path, 'missing')
  vi.stubEnv('TMPDIR', missing)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { status, startError } = await runCommand(['cat'], {
    cwd: path,
    env: process.env,
    stdin: 'hello',
  })
  expect({ status, startError }).toEqual({
    status: 'NOT_STARTED',
    startError: {
      code: 'NO_OUTPUT_FILE',
      message: expect.stringMatching(
        `^${missing}/delta-stream-\\S+ cannot be written \\(ENOENT\\)\\. Make its directory writable; that of temporary files is named by TMPDIR\\.$`,
      ),
    },
  })
})
