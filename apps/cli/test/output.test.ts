import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, temporaryAgent } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, delta, scene, served } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

/** The exit code of `delta …` inside a shell's line, and what the whole line printed. */
function inShell(line: string, args: string[]): { code: string; output: string } {
  const script = `{ { "$@"; echo "|$?" >&3; } ${line}; } 3>&1`
  const output = execFileSync('bash', ['-c', script, 'bash', process.execPath, DELTA, ...args], {
    env: cleanEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return { code: /\|(\d+)$/m.exec(output)?.[1] ?? '', output }
}

test('a reader that has gone does not crash the run: it continues to its end and exits with 0', async () => {
  const { words, events } = await scene({ turns: [{ content: 'x'.repeat(200_000) }] })
  const { code, output } = inShell('| head -c 1', words('run'))
  expect(code).toBe('0')
  expect(output).not.toMatch(/EPIPE|^\s+at /m)
  expect((await events()).at(-1)).toMatchObject({ status: 'COMPLETED' })
})

test('show ends with its reader, also of a run that goes on', async () => {
  const { start, words, server, workspace } = await served([{ content: 'Never said.', hold: 'thinking' }])
  const task = await workspace.write('task.md', 'x\n'.repeat(100_000))
  const engine = start('-m', `@${task}`)
  await server.waitForRequests(1)
  const { code, output } = inShell('| head -n 1', words('show', '--follow'))
  expect(code).toBe('0')
  expect(output).not.toMatch(/EPIPE|^\s+at /m)
  engine.kill('SIGINT')
  await engine.result
})

test('a command that checks keeps its exit code when nobody reads what it found', async () => {
  const tools = Array.from({ length: 9 }, (_, index) => ({ name: `read_${index}`, exec: 'no-such-program' }))
  const { agent, run, words, workspace } = await scene({ tools })
  const broken = await temporaryAgent({ agent: { tools: 7 }, onCleanup: onTestFinished })
  for (const line of ['', '| true']) expect(inShell(line, ['tool', 'lint', agent.path]).code).toBe('1')
  expect(inShell('2>&1 | true', ['tool', 'lint', broken.path]).code).toBe('2')
  await run('--run-id', 'one')
  await appendFile(join(workspace.path, '.delta/one/journal.jsonl'), 'damaged\n')
  expect(inShell('| true', words('journal verify')).code).toBe('1')
})

test.skipIf(!existsSync('/dev/full'))(
  'a result that cannot be written is said once: exit code 1, or that of a run that waits; show --answer prints it again',
  async () => {
    const answer = 'Grüße,\n\u001b[1m\n\n'
    const done = await scene({ turns: [{ content: answer }] })
    const lost = inShell('2>&3 >/dev/full', done.words('run', '-q', '--format', 'stream-json'))
    const said = 'Error: The result could not be written: no space is left on the disk (ENOSPC).'
    expect(lost.output.split(said)).toHaveLength(2)
    expect(lost.output).toContain(
      'The run itself is recorded, so do not repeat it: free some space, and "delta show --answer" prints the answer.\n',
    )
    expect(lost.code).toBe('1')
    expect(await done.at('show', '--answer')).toMatchObject({ exitCode: 0, stdout: answer, stderr: '' })

    const waits = await scene({ turns: [calls('ask_human', { prompt: 'Which?' })] })
    const asked = inShell('2>&3 >/dev/full', waits.words('run', '--format', 'json'))
    expect(asked).toMatchObject({ code: '101', output: expect.stringContaining(said) })
    const none = await waits.at('show', '--answer')
    expect(none).toMatchObject({ exitCode: 1, stdout: '' })
    expect(none.stderr).toMatch(
      /^Run \S+ has no answer: it is WAITING_FOR_INPUT\.\nAnswer with: delta continue /,
    )
  },
)

test.skipIf(!hasTerminal)('no format sends a control sequence of the model to a terminal', async () => {
  const { words } = await scene({ turns: [{ content: 'Title: \u001b]0;owned\u0007 \u009b2J' }] })
  for (const format of ['raw', 'json', 'stream-json']) {
    const { stdout } = await deltaOnTerminal(words('run', '-q', '--format', format)).result
    expect(stdout).toContain('owned')
    expect(stdout).not.toMatch(/[\u001b\u0007\u009b]/)
  }
})

test('exit code 0 means COMPLETED: --format json says what it would have said of an answer', async () => {
  for (const [turns, exitCode, said, told = ''] of [
    [[{ content: 'Two\n\n' }], 0, { status: 'COMPLETED', reason_code: 'answered', answer: 'Two\n\n' }],
    [
      [calls('ask_human', { prompt: 'Which?' })],
      101,
      { status: 'WAITING_FOR_INPUT', answer: null },
      '/.delta/one/interaction/response.txt and continue without a message.',
    ],
    [
      [calls('none')],
      1,
      { status: 'FAILED', reason: 'MAX_ITERATIONS', reason_code: 'limit_iterations' },
      'MAX_ITERATIONS (no answer after 1 iteration; max_iterations is 1)',
    ],
    [[{ content: '' }], 1, { status: 'FAILED', reason_code: 'empty_answer' }],
  ] as const) {
    const { run } = await scene({ turns: [...turns] })
    const result = await run('-q', '--format', 'json', '--max-iterations', '1', '--run-id', 'one')
    expect(result.exitCode).toBe(exitCode)
    expect(JSON.parse(result.stdout)).toMatchObject({ ...said, resumed: false, warnings: [] })
    expect(result.stderr).toContain(told)
  }
})

test('with accept_empty an empty answer completes the run, with a warning that scripts see', async () => {
  const { run, at } = await scene({ turns: [{ content: '' }], agent: { accept_empty: true } })
  const result = await run('-q', '--format', 'json')
  expect(JSON.parse(result.stdout)).toMatchObject({ status: 'COMPLETED', reason_code: 'empty_answer' })
  const empty = 'the answer is empty: the model sent neither text nor a tool call'
  expect(result).toMatchObject({ exitCode: 0, stderr: `Warning: ${empty}.\n` })
  expect((await at('show')).stdout).toContain(`COMPLETED (${empty}) after 1`)
})

test('a message is the text, stdin or a file; a replacement character on stdin is like any other', async () => {
  const { words, events, workspace } = await scene()
  await workspace.write('task.md', 'from a file\n')
  for (const [message, content] of [
    ['-', 'What is \ufffd?'],
    [`@${workspace.path}/task.md`, 'from a file'],
    ['from the command line', 'from the command line'],
  ] as const) {
    await delta(words('run', '-m', message), { input: 'What is \ufffd?\n' })
    expect((await events())[1]).toMatchObject({ type: 'USER_MESSAGE', content })
  }
})

test('-m refuses what is empty, not text or longer than 10 MB, from wherever it comes, and nothing of it is stored', async () => {
  const { words, workspace } = await scene()
  const files = { 'empty.md': '\n', 'latin.md': Buffer.from('Gr\xfc\xdfe', 'latin1'), 'nul.md': 'a\0b' }
  for (const [name, content] of Object.entries(files)) await workspace.write(name, content)
  const tooLong =
    'it is longer than 10 MB.\nPut it into a file in the workspace, and name that file in the message.'
  for (const [message, stdin, said] of [
    ['', '/dev/null', 'is empty'],
    ['@empty.md', '/dev/null', 'is empty'],
    ['-', '/dev/null', 'is empty'],
    ['-', 'latin.md', '-m -: it is not UTF-8 text.'],
    ['@nul.md', '/dev/null', '-m @nul.md: it contains a NUL byte, so it is not text.'],
    ['-', '/dev/zero', tooLong],
    ['@/dev/zero', '/dev/null', tooLong],
  ] as const) {
    const argv = [
      'sh',
      '-c',
      `exec "$@" < ${stdin}`,
      'sh',
      process.execPath,
      DELTA,
      ...words('run', '-m', message),
    ]
    const result = await runProcess(argv, { cwd: workspace.path, env: cleanEnvironment() })
    expect(result, message).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(said)
  }
  const typed = (...last: string[]) => [process.execPath, DELTA, ...words('run'), ...last]
  const inLatin1 = ['sh', '-c', 'v=$(printf "Gr\\374\\337e"); exec "$@" "$v"', 'sh']
  for (const flag of ['-m', '-w']) {
    const result = await runProcess([...inLatin1, ...typed(flag)], {
      cwd: workspace.path,
      env: cleanEnvironment(),
    })
    expect(result, flag).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain('is invalid. It is not UTF-8 text, or contains U+FFFD. Rename the file')
  }
  const missing = await runProcess(typed('-m', '@todo fix'), {
    cwd: workspace.path,
    env: cleanEnvironment(),
  })
  expect(missing.stderr).toContain('To send a text that begins with @, use -m - and give it on stdin.')
  expect(await workspace.files()).toEqual(Object.keys(files))
})
