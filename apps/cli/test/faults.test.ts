import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ScriptedTurn,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

test.each([
  ['a refused key', [{ status: 401 }], 'Once that is fixed, retry with'],
  ['an unknown model', [{ status: 404 }], 'Once that is fixed, retry with'],
  ['HTML instead of JSON, again and again', [{ fault: 'html' }], 'Retry with'],
  ['an answer that is cut off, again and again', [{ fault: 'truncated' }], 'Retry with'],
] satisfies [string, ScriptedTurn[], string][])(
  '%s is a failed run: exit code 1, the cause on stderr, nothing on stdout',
  async (_, turns, retry) => {
    await using server = await startScriptedServer(turns)
    await using agent = await temporaryAgent({
      baseUrl: server.baseUrl,
      agent: { llm: { model: 'scripted', base_url: server.baseUrl, max_attempts: 1 } },
    })
    await using workspace = await temporaryWorkspace({})
    const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
    expect(result).toMatchObject({ exitCode: 1, stdout: '' })
    expect(result.stderr).toContain('Error: the run failed: ')
    expect(result.stderr).toContain(`\n${retry}: delta continue -w ${workspace.path} --run-id `)
    expect(result.stderr).not.toMatch(/^\s+at /m)
    expect(result.stderr).not.toContain('test-key-not-real')
    expect((await journalOf(workspace.path)).at(-1)).toMatchObject({ status: 'FAILED' })
    const shown = await delta(['show', '-w', workspace.path])
    expect(result.stderr).toContain(`\n${shown.stderr}`) // which is the same way on
    expect(shown.stderr).toMatch(new RegExp(`^${retry}: `))
  },
)

test('out of iterations is exit code 1, and the way on is said', async () => {
  const call = { tool_calls: [{ name: 'none', arguments: {} }] }
  await using agent = await temporaryAgent({ turns: [call, call, { content: 'At last.' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--max-iterations', '2']
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toContain('MAX_ITERATIONS (no answer after 2 iterations)\n')
  expect(await delta(['continue', '-w', workspace.path, '-m', 'Go on'])).toMatchObject({
    stdout: 'At last.\n',
  })
})

test('a script that has run out is named, with what it lacks', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'All I have to say.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  const { exitCode, stderr } = await delta(['continue', '-w', workspace.path, '-m', 'More', '-q'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain(
    `${agent.path}/script.yaml: The script has 1 turn, and the conversation has come to turn 2. Add a turn: a script needs one for each answer of the model.\n`,
  )
})

test('a model that calls a tool by a wrong name is told of ask_human, too', async () => {
  const question = { name: 'ask_humans', arguments: { prompt: 'Which?' } }
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [question] }, { content: '{{last_observation}}' }],
  })
  await using workspace = await temporaryWorkspace({})
  const { stdout } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  expect(stdout).toBe(
    'ERROR: there is no tool "ask_humans". Nothing was run.\nDid you mean "ask_human"?\nThe tools are: ask_human.\n',
  )
})

test('a failed run is retried without a message, or goes on with one, once its cause is fixed', async () => {
  await using server = await startScriptedServer([
    { before: [{ status: 401 }, { status: 401 }], content: 'Back again.' },
  ])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const failed = await delta(args, { env: KEY })
  expect(failed.exitCode).toBe(1)
  const refused = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toBe(
    `Error: Run is FAILED. To continue, provide a message using -m/--message\nExample: delta continue -w ${workspace.path} --run-id one -m "Now do something else"\nOnce that is fixed, retry with: delta continue -w ${workspace.path} --run-id one --retry\n`,
  )
  const retry = ['continue', '-w', workspace.path, '--retry']
  expect(await delta(retry, { env: KEY })).toMatchObject({ exitCode: 1 })
  const retried = await delta(retry, { env: KEY })
  expect(retried).toMatchObject({ exitCode: 0, stdout: 'Back again.\n' })
})

test('what a broken model sends never crashes the command line', async () => {
  const calls = [
    { name: 'say', arguments: '{"text": broken' },
    { name: 'say', arguments: '[]' },
    { name: 'say', arguments: 'null' },
    { name: 'unknown', arguments: {} },
    { name: '../../escape', arguments: {} },
    { id: '../../escape', name: 'say', arguments: { text: 'fine' } },
    { id: 'x'.repeat(300), name: 'say', arguments: { text: 'fine' } },
    { name: 'say', arguments: '{"__proto__": {"x": 1}, "text": "fine"}' },
    { name: 'say', arguments: { text: 'x'.repeat(200_000) } },
  ]
  await using server = await startScriptedServer([{ tool_calls: calls }, { content: 'Done.' }])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'say', exec: 'echo ${text}' }],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const events = await journalOf(workspace.path)
  expect(events.filter((event) => event.type === 'ACTION_RESULT')).toHaveLength(calls.length)
  expect((await workspace.files()).every((file) => file.startsWith('.delta/'))).toBe(true)
})

// The disk

test('an agent directory behind a symbolic link is the same agent', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({})
  const link = join(directory.path, 'link')
  await symlink(agent.path, link)
  const workspace = join(directory.path, 'work')
  await mkdir(workspace)
  await delta(['run', '--agent', link, '-m', 'Go', '-w', workspace])
  expect((await journalOf(workspace))[0]).toMatchObject({ agent_home: agent.path })
})

test('a run killed in the middle of a journal line goes on, and says what it set aside', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo started >> witness; sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'The end.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const engine = startDelta(args)
  await waitForFile(join(workspace.path, 'witness'))
  engine.kill('SIGKILL')
  await engine.result
  const journal = await workspace.read('.delta/one/journal.jsonl')
  await workspace.write('.delta/one/journal.jsonl', `${journal}{"seq":99,"type":"ACTION_RES`)
  const result = await delta(['continue', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  expect(result.stderr).toContain('journal.torn-')
  expect(await workspace.read('witness')).toBe('started\n')
})
