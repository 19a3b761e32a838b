import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, eventTypes, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'sk-example-not-real' }

/** `hooks.yaml` with a shell script for each hook, and what else is to be said of it. */
function hooks(entries: Record<string, string | [script: string, more: object]>): Record<string, string> {
  const lines = Object.entries(entries).map(([name, entry]) => {
    const [script, more] = typeof entry === 'string' ? [entry, {}] : entry
    return `${name}: ${JSON.stringify({ command: ['sh', '-c', script], ...more })}\n`
  })
  return { 'hooks.yaml': lines.join('') }
}

function say(text: string) {
  return { tool_calls: [{ name: 'say', arguments: { text } }] }
}

const SAY = { name: 'say', exec: 'echo ${text}' }

test('records are named after what they are of: a hook and its time, a time and its tool, a time and its iteration', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'say', exec: 'echo ${text}' }],
    turns: [say('hi'), { content: 'Done.' }],
    files: hooks({ pre_llm_request: 'true', post_tool_execution: 'true' }),
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one'])
  const namesIn = async (directory: string) =>
    (await readdir(join(workspace.path, '.delta/one/io', directory)))
      .map((name) => name.replace(/\d{8}T\d{9}/, '<time>'))
      .sort()
  expect(await namesIn('hooks')).toEqual([
    'post_tool_execution_<time>',
    'post_tool_execution_<time>.json',
    'pre_llm_request_<time>',
    'pre_llm_request_<time>',
    'pre_llm_request_<time>.json',
    'pre_llm_request_<time>.json',
  ])
  expect(await namesIn('tool_executions')).toEqual(['<time>_say.json'])
  expect(await namesIn('invocations')).toEqual(['<time>_1.json', '<time>_2.json'])
})

test('show and the live view say that a hook replaced a result, and what the model reads instead', async () => {
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [say('original'), { content: 'Done.' }],
    files: hooks({
      post_tool_execution: 'printf "OVERRIDE\\nof it\\n" > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"',
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const run = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const show = (...more: string[]) => delta(['show', '-w', workspace.path, ...more])
  const said =
    /^ {5}original\n {5}exit 0, .*\n(?: {3}hook post_tool_execution: SUCCESS.*\n)? {3}hook post_tool_execution replaced this result; the model reads:\n {5}OVERRIDE\n {5}of it\n\S/m
  expect(run.stderr).toMatch(said)
  expect((await show()).stdout).toMatch(said)
  expect((await show('--step', '1')).stdout).toMatch(/replaced this result; the model reads:\n {5}OVERRIDE\n/)
})

test('a result that a hook replaced by nothing is said to be nothing', async () => {
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [say('a'), { content: 'Done.' }],
    files: hooks({ post_tool_execution: ': > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"' }),
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(stderr).toContain('   hook post_tool_execution replaced this result; the model reads nothing\n')
})

test('TOOL_RESULT is cut at 32 KB, on a whole character, and payload.dat holds the whole result', async () => {
  await using agent = await temporaryAgent({
    tools: [{ ...SAY, output: { max_chars: 100_000 } }],
    turns: [say('ä'.repeat(40_000)), { content: 'Done.' }],
    files: hooks({
      post_tool_execution:
        'printf %s "$TOOL_RESULT" > cut.txt; cp "$DELTA_HOOK_IO_PATH/input/payload.dat" whole.txt',
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result.exitCode).toBe(0)
  expect(await workspace.read('cut.txt')).toBe('ä'.repeat(16 * 1024))
  expect((await workspace.read('whole.txt')).trimEnd()).toBe('ä'.repeat(40_000))
})

test('a hook sees a key only if pass_env names it, and both sets of variables', async () => {
  const script = 'env > "$0.env"'
  const named = (name: string, more: object = {}): [string, object] => [
    script.replace('$0', name),
    { timeout_ms: 60_000, ...more },
  ]
  await using server = await startScriptedServer([say('hi'), { content: 'Done.' }])
  await using agent = await temporaryAgent({
    tools: [SAY],
    baseUrl: server.baseUrl,
    files: hooks({
      pre_tool_execution: named('plain'),
      post_tool_execution: named('passed', { pass_env: ['DELTA_API_KEY'] }),
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect((await delta(args, { env: KEY })).exitCode).toBe(0)
  const plain = await workspace.read('plain.env')
  expect(plain).not.toContain(KEY.DELTA_API_KEY)
  for (const name of ['RUN_DIR', 'JOURNAL_PATH', 'ITERATION_COUNT', 'TOOL_NAME', 'DELTA_RUN_ID'])
    expect(plain).toMatch(new RegExp(`^${name}=.`, 'm'))
  expect(plain).toMatch(/^DELTA_HOOK_IO_PATH=\/.*\/io\/hooks\//m)
  expect(await workspace.read('passed.env')).toContain(`DELTA_API_KEY=${KEY.DELTA_API_KEY}\n`)
})

test('a key that a hook was given and gives away is in no file of the run, no request and on no terminal', async () => {
  const tell = (file: string, text: string) =>
    `echo '${text}' | sed "s/KEY/$DELTA_API_KEY/" > "$DELTA_HOOK_IO_PATH/output/${file}"`
  const may = { pass_env: ['DELTA_API_KEY'] }
  await using server = await startScriptedServer([say('hi'), { content: 'Done.' }])
  await using agent = await temporaryAgent({
    tools: [SAY],
    baseUrl: server.baseUrl,
    files: hooks({
      on_iteration_start: ['echo "out $DELTA_API_KEY"; echo "bad key $DELTA_API_KEY" >&2; exit 1', may],
      pre_tool_execution: ['printf %s "$DELTA_API_KEY" | base64', may],
      post_tool_execution: [tell('payload_override.dat', 'it is KEY'), may],
      on_iteration_end: [tell('notes.txt', 'it was KEY'), may],
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-v']
  const { exitCode, stderr } = await delta(args, { env: KEY })
  expect(exitCode).toBe(0)
  expect(stderr).toContain('on_iteration_start hook exited with 1: bad key [REDACTED]')
  expect(server.requests()[1]?.body).toContain('it is [REDACTED]')

  const texts = await Promise.all((await workspace.files()).map((file) => workspace.read(file)))
  const all = [stderr, server.requests()[1]?.body, ...texts].join('\n')
  expect(all).not.toContain(KEY.DELTA_API_KEY)
  expect(all).not.toContain(Buffer.from(KEY.DELTA_API_KEY).toString('base64'))
})

test('a hook that takes longer than its timeout_ms is ended, and the run goes on', async () => {
  await using agent = await temporaryAgent({
    turns: [{ content: 'Done.' }],
    files: hooks({ on_iteration_start: ['exec sleep 300', { timeout_ms: 50 }] }),
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(result.stderr).toContain('note: on_iteration_start hook timed out after 50 ms (timeout_ms)')
})

test('post_llm_response may change what the model said', async () => {
  const changed = JSON.stringify({ role: 'assistant', content: 'Changed.' })
  await using agent = await temporaryAgent({
    turns: [{ content: 'As it was.' }],
    files: hooks({
      post_llm_response: `echo '${changed}' > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"`,
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Changed.\n' })
})

test("on_error does not run for a tool's exit code, nor for a hook that fails", async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'fail', shell: 'exit 3' }],
    turns: [{ tool_calls: [{ name: 'fail', arguments: {} }] }, { content: 'Done.' }],
    files: hooks({ on_error: 'echo called >> errors.txt', on_iteration_end: 'exit 1' }),
  })
  await using workspace = await temporaryWorkspace({})
  expect((await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])).exitCode).toBe(0)
  expect(workspace.has('errors.txt')).toBe(false)
})

test('what an on_error hook may stop is told with that exception', async () => {
  await using server = await startScriptedServer([{ status: 500, message: 'boom' }])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    files: hooks({
      on_error: `echo '{"action":"stop","reason":"enough"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`,
    }),
  })
  await using workspace = await temporaryWorkspace({})
  const run = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  expect(run.stderr).toMatch(
    /boom; trying again in [^,]*, unless the on_error hook stops the run\nFAILED after 0 iterations\nError: the run failed: on_error hook: enough\n/,
  )
  const shown = await delta(['show', '-v', '-w', workspace.path])
  expect(shown.stdout).toMatch(/\n {3}! on_error hook: enough\n(.*\n)*FAILED after 0 iterations\n$/)
})

test('an on_error hook that fails is not called for itself', async () => {
  await using server = await startScriptedServer([{ status: 400 }])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    files: hooks({ on_error: 'echo called >> errors.txt; exit 1' }),
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect((await delta(args, { env: KEY })).exitCode).toBe(1)
  expect(await workspace.read('errors.txt')).toBe('called\n')
})

test('on_run_end runs after a signal and after the answer, never while waiting; records stay apart across resumes', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'touch started; exec sleep 300' }],
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Now?' } }] },
      { tool_calls: [{ name: 'work', arguments: {} }] },
      { content: 'Done.' },
    ],
    files: hooks({ on_run_end: 'echo ended >> ended.txt' }),
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect((await delta(args)).exitCode).toBe(101)
  expect(workspace.has('ended.txt')).toBe(false)

  const engine = startDelta(['continue', '-w', workspace.path, '-m', 'yes'])
  await waitForFile(`${workspace.path}/started`)
  engine.kill('SIGTERM')
  expect((await engine.result).exitCode).toBe(143)
  expect(await workspace.read('ended.txt')).toBe('ended\n')

  expect((await delta(['continue', '-w', workspace.path])).exitCode).toBe(0)
  expect(await workspace.read('ended.txt')).toBe('ended\nended\n')
  const audits = (await journalOf(workspace.path)).filter(({ type }) => type === 'HOOK_EXECUTION_AUDIT')
  const records = audits.map((event) => String(Object(event).io_path_ref))
  expect(new Set(records).size).toBe(2)
  const run = (await workspace.read('.delta/LATEST')).trim()
  for (const record of records)
    expect(await readdir(join(workspace.path, '.delta', run, record))).toEqual(['input', 'output'])
})

test('a call whose guard was stopped by Ctrl+C is neither run nor blocked: its guard is asked again', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo done >> work.txt' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
    files: {
      'hooks.yaml':
        'pre_tool_execution:\n  command: [sh, -c, "echo asked >> asked.txt; touch began; until [ -e go ]; do sleep 0.1; done"]\n',
    },
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/began`) // made after the line was written
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  expect(await eventTypes(workspace.path)).not.toContain('ACTION_RESULT')

  await workspace.write('go', '')
  expect(await delta(['continue', '-w', workspace.path])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await workspace.read('asked.txt')).toBe('asked\nasked\n')
  expect(await workspace.read('work.txt')).toBe('done\n')
})
