import { type Fault, startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'sk-example' }

test('a failure that is tried again is one line with the delay, and the last one is said once, with what to do', async () => {
  const failure = { status: 500, message: 'boom' }
  await using server = await startScriptedServer([failure])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    agent: { llm: { provider: 'openai', model: 'm', base_url: server.baseUrl, max_attempts: 3 } },
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const { stderr, exitCode } = await delta(args, { env: KEY })
  expect(exitCode).toBe(1)
  const lines = stderr.split('\n')
  expect(lines.filter((line) => line.includes('boom'))).toEqual([
    expect.stringMatching(/^ {3}! .*could not answer \(500\): boom; trying again in \d.*s$/),
    expect.stringMatching(/^Error: the run failed: .*could not answer \(500\): boom$/),
  ])
  expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual(['FAILED after 0 iterations'])

  const whole = await delta([...args, '-v', '--new'], { env: KEY })
  expect(whole.stderr.match(/; trying again in/g)).toHaveLength(2) // each wait
  const quiet = await delta([...args, '-q', '--new'], { env: KEY })
  expect(quiet.stderr.split('boom')).toHaveLength(2)
  const shown = await delta(['show', '-w', workspace.path])
  expect(shown.stdout).toContain('The fault is on the other side')
})

test('show tells the failure that ended a run once', async () => {
  await using server = await startScriptedServer([{ status: 401, message: 'Incorrect API key' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], { env: KEY })
  const { stdout } = await delta(['show', '-w', workspace.path])
  expect(stdout.split('Incorrect API key')).toHaveLength(2)
  expect(stdout).toMatch(
    /^ {3}! .*Incorrect API key\n {5}Check that the API key .*\nFAILED after 0 iterations\n$/m,
  )
})

test('a server that asks for more than five minutes is not asked again, and the run says how long it asked for', async () => {
  await using server = await startScriptedServer([
    { before: [{ status: 429, retryAfter: '1500' }], content: 'Done.' },
  ])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q']
  const failed = await delta(args, { env: KEY })
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
  expect(failed.stderr).toContain('The server asks to wait 25 minutes, and at most 5 minutes are waited here')
  expect(server.requests()).toHaveLength(1)
  const errors = (await journalOf(workspace.path)).filter(({ type }) => type === 'ERROR')
  expect(errors).toMatchObject([{ recoverable: false, error_message: expect.stringContaining('25 minutes') }])
  expect(await delta(['continue', '-w', workspace.path, '-m', 'Try again'], { env: KEY })).toMatchObject({
    stdout: 'Done.\n',
  })
})

test.each(['', '/', '/api/'])(
  'with a base URL that ends in %j the address is told as it was asked',
  async (end) => {
    await using server = await startScriptedServer([{ status: 404 }])
    const { origin } = new URL(server.baseUrl)
    await using agent = await temporaryAgent({ baseUrl: `${origin}${end}` })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const { stderr } = await delta(args, { env: KEY })
    const path = `${end.replace(/\/$/, '')}/chat/completions`
    expect(stderr).toContain(`Error: the run failed: ${origin}${path} was not found`)
  },
)

test('a key that is refused is said once, in every format that people read', async () => {
  await using server = await startScriptedServer([{ status: 401, message: 'Incorrect API key' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  for (const format of ['text', 'raw', 'json']) {
    const args = ['run', '--new', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--format', format]
    const { stderr, exitCode } = await delta(args, { env: KEY })
    expect(exitCode).toBe(1)
    expect(stderr.split('Incorrect API key')).toHaveLength(2)
    expect(stderr).toContain('\nCheck that the API key')
    expect(stderr).toContain('\nOnce that is fixed, retry with: delta continue ')
  }
})

test.each([
  ['429 with Retry-After', { status: 429, retryAfter: '0.1' }],
  ['503', { status: 503 }],
  ['a reset connection', { fault: 'reset' }],
  ['an answer that ends in the middle', { fault: 'truncated' }],
  ['a connection that closes too early', { fault: 'cut' }],
  ['a web page', { fault: 'html' }],
  ['nothing at all', { fault: 'empty' }],
] satisfies [string, Fault][])(
  'after %s the request is sent again, and the journal says so',
  async (_, fault) => {
    await using server = await startScriptedServer([{ before: [fault], content: 'Done.' }])
    await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const result = await delta(args, { env: KEY })
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(result.stderr).toMatch(/^ {3}! .*; trying again in \d/m)
    expect(server.requests()).toHaveLength(2)
    const errors = (await journalOf(workspace.path)).filter(({ type }) => type === 'ERROR')
    expect(errors).toMatchObject([{ recoverable: true, error_details: { attempt: 1 } }])
  },
)

test('Ctrl+C while the next attempt is waited for interrupts the run at once', async () => {
  await using server = await startScriptedServer([
    { before: [{ status: 429, retryAfter: '200' }], content: 'Done.' },
  ])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const engine = startDelta(args, { env: KEY })
  await engine.waitForOutput('trying again in 3 min 20 s', { stream: 'stderr' })
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  expect(await delta(['continue', '-w', workspace.path], { env: KEY })).toMatchObject({ stdout: 'Done.\n' })
})
