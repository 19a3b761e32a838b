import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, EXAMPLES, eventTypes, journalOf } from './delta.js'

const HELLO = join(EXAMPLES, '1-basics/hello-world')

test('hello-world writes its report into the workspace, prints the answer on stdout and exits with 0', async () => {
  await using workspace = await temporaryWorkspace({
    'short.txt': 'one two\n',
    'long.txt': 'one two three four\n',
  })
  const result = await delta([
    'run',
    '--agent',
    HELLO,
    '-m',
    'Which are the longest files?',
    '-w',
    workspace.path,
  ])

  expect(result.stdout).toBe('Done. report.md has 4 lines and names the longest files of this workspace.\n')
  expect(result.exitCode).toBe(0)
  expect(await workspace.read('report.md')).toMatch(
    /^# The longest files\n\n\s*4 \.\/long\.txt\n\s*2 \.\/short\.txt\n$/,
  )
})

test('stderr shows each thought, each command as it would be typed and what it printed', async () => {
  await using workspace = await temporaryWorkspace({ 'a.txt': 'one\n' })
  const { stderr } = await delta(['run', '--agent', HELLO, '-m', 'Look', '-w', workspace.path])

  expect(stderr).toContain('1. First I look at what is in the workspace.')
  expect(stderr).toContain('$ ls -1 .')
  expect(stderr).toContain('     a.txt')
  expect(stderr).toMatch(/exit 0, \d+ ms/)
})

test('the journal holds the whole run: seq without gaps, every call with one request and one result', async () => {
  await using workspace = await temporaryWorkspace({ 'a.txt': 'one\n' })
  await delta(['run', '--agent', HELLO, '-m', 'Look', '-w', workspace.path])

  const events = await journalOf(workspace.path)
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  expect(await eventTypes(workspace.path)).toEqual([
    'ENGINE_START',
    'USER_MESSAGE',
    ...['THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'],
    ...['THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'],
    ...['THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT', 'ACTION_REQUEST', 'ACTION_RESULT'],
    'THOUGHT',
    'ENGINE_END',
  ])
})

test('an OpenAI-compatible server is asked with the tools and the conversation, and its answer is the result', async () => {
  await using server = await startScriptedServer([
    { content: null, tool_calls: [{ name: 'greet', arguments: { who: 'the "world"; rm -rf x' } }] },
    { content: 'It said: {{last_observation}}' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'greet', description: 'Greets.', exec: 'echo Hello ${who}' }],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Say hello', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real' },
  })

  expect(result.stdout).toBe('It said: Hello the "world"; rm -rf x\n')
  const [first, second] = server.requests()
  expect(first?.json).toMatchObject({
    tools: [{ function: { name: 'greet' } }, { function: { name: 'ask_human' } }],
  })
  expect(first?.headers['user-agent']).toMatch(/^delta-engine\/\d/)
  expect(second?.json?.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: 'Hello the "world"; rm -rf x\n',
  })
})

test('the key is in no file of the run', async () => {
  await using server = await startScriptedServer([{ content: 'Done.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real' },
  })

  const files = await workspace.files()
  expect(files.length).toBeGreaterThan(3)
  for (const file of files)
    expect(await readFile(join(workspace.path, file), 'utf8')).not.toContain('test-key-not-real')
})

test('--format json prints one object with the answer; stream-json prints the journal as it grows', async () => {
  await using workspace = await temporaryWorkspace({})
  const arguments_ = ['run', '--agent', HELLO, '-m', 'Look', '-w', workspace.path, '-q']
  const json = await delta([...arguments_, '--format', 'json'])
  expect(JSON.parse(json.stdout)).toMatchObject({
    status: 'COMPLETED',
    iterations: 4,
    answer: expect.stringContaining('Done.'),
  })

  const stream = await delta([...arguments_, '--format', 'stream-json'])
  const lines = stream.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ type: 'ENGINE_START', seq: 1, run_id: expect.any(String) })
  expect(lines.at(-1)).toMatchObject({ type: 'ENGINE_END', status: 'COMPLETED' })
})

test('without -w each run gets a new workspace beside the agent: W001, W002', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await delta(['run', '--agent', agent.path, '-m', 'Go'])
  await delta(['run', '--agent', agent.path, '-m', 'Go'])

  expect(await agent.has('workspaces/W001/.delta/LATEST')).toBe(true)
  expect(await agent.has('workspaces/W002/.delta/LATEST')).toBe(true)
  expect(await agent.read('workspaces/LAST_USED')).toBe('W002\n')
})

test('a message can come from stdin or from a file', async () => {
  await using workspace = await temporaryWorkspace({ 'task.md': 'from a file\n' })
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await delta(['run', '--agent', agent.path, '-m', '-', '-w', workspace.path], { input: 'from stdin\n' })
  expect((await journalOf(workspace.path))[1]).toMatchObject({ type: 'USER_MESSAGE', content: 'from stdin' })

  await delta(['run', '--agent', agent.path, '-m', '@task.md', '-w', '.'], { cwd: workspace.path })
  expect((await journalOf(workspace.path))[1]).toMatchObject({ type: 'USER_MESSAGE', content: 'from a file' })
})

test("a base URL in the agent's .env overrides the one its author wrote", async () => {
  await using server = await startScriptedServer([{ content: 'From here.' }])
  await using agent = await temporaryAgent({
    agent: { llm: { model: 'any', base_url: 'http://127.0.0.1:9/v1' } },
    files: { '.env': `DELTA_BASE_URL=${server.baseUrl}\nDELTA_API_KEY=test-key-not-real\n` },
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'From here.\n' })
})
