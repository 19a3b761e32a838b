import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, journalOf, startDelta } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

/** The exit code of `delta …` inside a shell's line, and what the whole line printed. */
function inShell(line: string, args: string[]): { code: string; output: string } {
  const script = `{ "$@"; echo "|$?" >&3; } ${line}`
  const output = execFileSync(
    'bash',
    ['-c', `{ ${script}; } 3>&1`, 'bash', process.execPath, DELTA, ...args],
    {
      env: cleanEnvironment(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  return { code: /\|(\d+)$/m.exec(output)?.[1] ?? '', output }
}

test('--format raw prints the answer byte for byte, json one object, text the answer and one newline', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Two\n\nlines\n\n' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q', '--format']
  expect((await delta([...args, 'raw'])).stdout).toBe('Two\n\nlines\n\n')
  expect((await delta([...args, 'text'])).stdout).toBe('Two\n\nlines\n\n')
  expect(JSON.parse((await delta([...args, 'json'])).stdout)).toMatchObject({ answer: 'Two\n\nlines\n\n' })
})

test('--format json says of a run that failed or waits what it would have said of an answer', async () => {
  await using asks = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', asks.path, '-m', 'Go', '-w', workspace.path, '-q', '--format', 'json']
  const waits = await delta(args)
  expect(waits.exitCode).toBe(101)
  expect(JSON.parse(waits.stdout)).toMatchObject({
    status: 'WAITING_FOR_INPUT',
    answer: null,
    question: { prompt: 'Which?' },
  })

  const call = { tool_calls: [{ name: 'none', arguments: {} }] }
  await using loops = await temporaryAgent({ turns: [call, call, call] })
  const failed = await delta([
    ...args.slice(0, 2),
    loops.path,
    ...args.slice(3),
    '--max-iterations',
    '2',
    '--new',
  ])
  expect(failed.exitCode).toBe(1)
  expect(JSON.parse(failed.stdout)).toMatchObject({
    status: 'FAILED',
    reason: 'MAX_ITERATIONS',
    reason_code: 'limit_iterations',
    answer: null,
  })
})

test('a reader that has gone is no crash: the run goes on to its end and exits with 0', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'x'.repeat(200_000) }] })
  await using workspace = await temporaryWorkspace({})
  const { code, output } = inShell('| head -c 1', [
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
  ])
  expect(code).toBe('0')
  expect(output).not.toMatch(/EPIPE|^\s+at /m)
  expect((await journalOf(workspace.path)).at(-1)).toMatchObject({ status: 'COMPLETED' })
})

test('what only prints stops when nobody reads', async () => {
  await using server = await startScriptedServer([{ content: 'Never said.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({ 'task.md': 'x\n'.repeat(100_000) })
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const args = ['run', '--agent', agent.path, '-m', '@task.md', '-w', '.']
  const engine = startDelta(args, { env, cwd: workspace.path })
  await server.waitForRequests(1)
  const { code, output } = inShell('| head -n 1', ['show', '-w', workspace.path])
  expect(code).toBe('0')
  expect(output).not.toMatch(/EPIPE|^\s+at /m)
  engine.kill('SIGINT')
  await engine.result
})

test('a command that checks keeps its exit code when nobody reads what it found', async () => {
  const tools = Array.from({ length: 9 }, (_, index) => ({ name: `read_${index}`, exec: 'no-such-program' }))
  await using agent = await temporaryAgent({ tools })
  await using broken = await temporaryAgent({ agent: { tools: 7 } })
  expect(inShell('', ['tool', 'lint', agent.path]).code).toBe('1')
  expect(inShell('| true', ['tool', 'lint', agent.path])).toMatchObject({ code: '1' })
  expect(inShell('2>&1 | head -n 1', ['tool', 'lint', broken.path]).code).toBe('2')
  expect(inShell('2>&1 | true', ['tool', 'lint', broken.path]).code).toBe('2')

  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const runId = (await readFile(join(workspace.path, '.delta/LATEST'), 'utf8')).trim()
  await appendFile(join(workspace.path, '.delta', runId, 'journal.jsonl'), 'damaged\n')
  expect(inShell('| true', ['journal', 'verify', '-w', workspace.path]).code).toBe('1')
})

test.skipIf(!existsSync('/dev/full'))(
  'a result that cannot be written is said once, and the exit code is 1',
  async () => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
    await using workspace = await temporaryWorkspace({})
    const { code, output } = inShell('2>&3 >/dev/full', [
      ...['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q', '--format', 'stream-json'],
    ])
    expect(
      output.split('Error: The result could not be written: no space is left on the disk (ENOSPC).'),
    ).toHaveLength(2)
    expect(output).toContain(
      'The run itself is recorded, so do not repeat it: free some space, and "delta show --answer" prints the answer.\n',
    )
    expect(output).not.toContain('try again')
    expect(code).toBe('1')
  },
)

test.skipIf(!existsSync('/dev/full'))(
  'a run that waits says so by its exit code, also where its result cannot be written',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--format', 'json']
    const { code, output } = inShell('2>&3 >/dev/full', args)
    expect(output).toContain('Error: The result could not be written')
    expect(code).toBe('101')
  },
)

test.skipIf(!hasTerminal)('no format sends a control sequence of the model to a terminal', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Title: \u001b]0;owned\u0007 \u009b2J' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q', '--format']
  for (const format of ['raw', 'json', 'stream-json']) {
    const { stdout } = await deltaOnTerminal([...args, format]).result
    expect(stdout).toContain('owned')
    expect(stdout).not.toMatch(/[\u001b\u0007\u009b]/)
  }
})

test('-m refuses an empty message, a file that is not there, and end of input', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({ 'empty.md': '\n' })
  for (const [message, said] of [
    ['', 'is empty'],
    ['@empty.md', 'is empty'],
    ['@missing.md', 'there is no such file'],
    ['-', 'is empty'],
  ] as const) {
    const result = await delta(['run', '--agent', agent.path, '-m', message, '-w', workspace.path], {
      cwd: workspace.path,
    })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(said)
  }
  expect(await workspace.files()).toEqual(['empty.md'])
})

test('-m refuses what is no text, from wherever it comes, and nothing of it is stored', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({
    'latin.md': Buffer.from('Gr\xfc\xdfe', 'latin1'),
    'nul.md': 'a\0b',
  })
  const run = `"$0" "$1" run --agent ${agent.path} -w ${workspace.path} -m`
  for (const [line, said] of [
    [`${run} - < latin.md`, '-m -: it is not UTF-8 text.'],
    [`${run} @latin.md`, '-m @latin.md: it is not UTF-8 text.'],
    [`${run} @nul.md`, '-m @nul.md: it contains a NUL byte, so it is not text.'],
    [`${run} - < nul.md`, '-m -: it contains a NUL byte, so it is not text.'],
  ] as const) {
    const options = { cwd: workspace.path, env: cleanEnvironment() }
    const result = await runProcess(['sh', '-c', line, process.execPath, DELTA], options)
    expect(result, line).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(`Error: ${said}`)
  }
  expect((await workspace.files()).sort()).toEqual(['latin.md', 'nul.md'])
})

test('a replacement character that was typed is a character like any other', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'What is \ufffd?', '-w', workspace.path])
  expect(result.exitCode).toBe(0)
  expect((await journalOf(workspace.path))[1]).toMatchObject({ content: 'What is \ufffd?' })
})

test('a message of more than 10 MB is refused with the advice to put it into a file', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m']
  const tooLong = await delta([...args, '-'], { input: 'x'.repeat(10 * 1024 * 1024 + 1) })
  const endless = await delta([...args, '@/dev/zero'])
  for (const result of [tooLong, endless]) {
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain('it is longer than 10 MB.')
    expect(result.stderr).toContain('Put it into a file in the workspace, and name that file in the message.')
  }
  expect(await workspace.files()).toEqual([])
})

test.each(['text', 'raw', 'json'])(
  'an empty answer fails the run, and with accept_empty it is one, with a warning that scripts see: %s',
  async (format) => {
    await using agent = await temporaryAgent({ turns: [{ content: '' }] })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q', '--format', format]
    const failed = await delta(args)
    expect(failed).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(
        /^Error: the run failed: the answer is empty: .* set accept_empty: true in agent\.yaml\nRetry with: delta continue .* --retry\n$/,
      ),
    })
    const main = JSON.parse(await agent.read('agent.yaml'))
    await agent.write('agent.yaml', JSON.stringify({ ...main, accept_empty: true }))
    const result = await delta(args)
    expect(result).toMatchObject({
      exitCode: 0,
      stderr: 'Warning: the answer is empty: the model sent neither text nor a tool call.\n',
    })
    if (format === 'json') {
      expect(JSON.parse(failed.stdout)).toMatchObject({ status: 'FAILED', reason_code: 'empty_answer' })
      expect(JSON.parse(result.stdout)).toMatchObject({ status: 'COMPLETED', reason_code: 'empty_answer' })
    }
    const { stdout } = await delta(['show', '-w', workspace.path])
    expect(stdout).toContain(
      'COMPLETED (the answer is empty: the model sent neither text nor a tool call) after 1',
    )
  },
)

test.each(['0', '-1', '1.5', 'many', ''])('--max-iterations %j is refused', async (value) => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  const result = await delta([
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
    `--max-iterations=${value}`,
  ])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(await workspace.files()).toEqual([])
})
