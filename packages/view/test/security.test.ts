import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { isViewError, serve } from '@delta/view'
import { expect, test } from 'vitest'
import type { RunList, RunPage, StepList } from '../src/api.js'
import { called, end, journalOf, place, serving, start, thought, user, workspaceOf } from './runs.js'

const FINISHED = [start(), user('Go.'), ...called(1), thought(2), end(2)]

test('the shell and its assets need no token and hold no data; everything else is refused without it', async () => {
  const client = await serving([await workspaceOf({ secret_run: FINISHED })])
  const none = { headers: { authorization: '' } }
  for (const path of ['/', '/assets/app.1.js']) {
    const { status, body } = await client.ask(path, none)
    expect(status).toBe(200)
    expect(body).not.toContain('secret_run')
  }
  for (const path of [
    '/api/runs',
    '/api/live?run=x',
    '/api/cost?ids=x',
    '/nothing',
    '/assets/missing.js',
    '/index.html',
  ])
    expect((await client.ask(path, none)).status, path).toBe(401)
})

test.each(['', 'Bearer', 'Bearer wrong', 'Basic TOKEN', 'Bearer TOKENx', 'TOKEN'])(
  'the authorization "%s" is answered with 401',
  async (authorization) => {
    const client = await serving([await workspaceOf({ run: FINISHED })])
    const headers = { authorization: authorization.replace('TOKEN', client.token) }
    const { status, headers: sent, body } = await client.ask('/api/runs', { headers })
    expect(status).toBe(401)
    expect(sent['www-authenticate']).toBe('Bearer')
    expect(JSON.parse(body)).toEqual({
      error: 'Open the address that delta view printed: it ends with the token.',
    })
  },
)

test('the token has 128 bits, and each server has its own', async () => {
  const workspace = await workspaceOf({ run: FINISHED })
  const [one, other] = [await serving([workspace]), await serving([workspace])]
  expect(Buffer.from(one.token, 'base64url')).toHaveLength(16)
  expect(one.token).not.toBe(other.token)
  expect(new URL(one.url).hash).toBe(`#t=${one.token}`)
})

test.each([
  'evil.example',
  'localhost',
  '127.0.0.1',
  '127.0.0.1:1',
  'localhost.evil.example:PORT',
  '0.0.0.0:PORT',
])('a request for the host %s is answered with 403, with a token and for the shell, too', async (host) => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const headers = { host: host.replace('PORT', String(client.port)) }
  expect((await client.ask('/api/runs', { headers })).status).toBe(403)
  expect((await client.ask('/', { headers })).status).toBe(403)
})

test.each(['127.0.0.1:PORT', 'localhost:PORT', '[::1]:PORT'])(
  'a request for the host %s is answered',
  async (host) => {
    const client = await serving([await workspaceOf({ run: FINISHED })])
    const own = host.replace('PORT', String(client.port))
    expect((await client.ask('/api/runs', { headers: { host: own } })).status).toBe(200)
    expect((await client.ask('/api/runs', { headers: { origin: `http://${own}` } })).status).toBe(200)
  },
)

test.each([
  'http://evil.example',
  'null',
  'https://127.0.0.1:PORT',
  'http://127.0.0.1:1',
  'http://localhost',
])('a request from a page at %s is answered with 403', async (origin) => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const headers = { origin: origin.replace('PORT', String(client.port)) }
  const answer = await client.ask('/api/runs', { headers })
  expect(answer.status).toBe(403)
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
})

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s is answered with 405', async (method) => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const { status, headers } = await client.ask('/api/runs', { method })
  expect(status).toBe(405)
  expect(headers.allow).toBe('GET, HEAD')
})

test('HEAD is answered as GET, without the body', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const { runs } = await client.get<RunList>('/api/runs')
  for (const path of [
    '/',
    '/api/runs',
    `/api/runs/${runs[0]?.key}/steps`,
    `/api/runs/${runs[0]?.key}/steps/1`,
  ]) {
    const { status, body, headers } = await client.ask(path, { method: 'HEAD' })
    expect([status, body]).toEqual([200, ''])
    expect(Number(headers['content-length'])).toBeGreaterThan(0)
  }
})

test('every answer has the headers that keep the text of runs from being executed, embedded, sniffed or kept', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const { runs } = await client.get<RunList>('/api/runs')
  const data = ['/api/runs', `/api/runs/${runs[0]?.key}/steps/1/calls/c1/stdout`, '/missing']
  for (const path of ['/', '/assets/app.1.js', ...data]) {
    const { headers } = await client.ask(path)
    expect(headers['content-security-policy'], path).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
    expect(headers['cross-origin-resource-policy']).toBe('same-origin')
  }
  for (const path of ['/', ...data])
    expect((await client.ask(path)).headers['cache-control'], path).toBe('no-store')
})

test('what a command printed is sent as a file to keep, not to show', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const { runs } = await client.get<RunList>('/api/runs')
  const { headers } = await client.ask(`/api/runs/${runs[0]?.key}/steps/1/calls/c1/stdout`)
  expect(headers['content-disposition']).toBe('attachment; filename="step-1-bash.stdout.txt"')
  expect(headers['content-type']).toBe('text/plain; charset=utf-8')
})

test('the assets are packed once, and only for those who take it', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const packed = await client.ask('/assets/app.1.js', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(packed.headers['content-encoding']).toBe('gzip')
  expect(packed.headers['cache-control']).toBe('public, max-age=31536000, immutable')
  const plain = await client.ask('/assets/app.1.js')
  expect([plain.headers['content-encoding'], plain.body]).toEqual([undefined, 'export {}\n'])
})

test.each([
  '/assets/notes.txt',
  '/assets/../package.json',
  '/assets/%2e%2e/package.json',
  '/api',
  '/api/runs/no-such-key',
  '/api/runs/..%2f..%2fetc/steps',
  '/api/nothing',
  '/api/runs/KEY/secrets',
  '/api/runs/KEY/secrets/answer',
  '/api/runs/KEY/journal.jsonl',
  '/api/runs/KEY/steps/0',
  '/api/runs/KEY/steps/99',
  '/api/runs/KEY/steps/x',
  '/api/runs/KEY/steps/1/secrets',
  '/api/runs/KEY/steps/1/calls/c1/..%2fsecrets',
  '/api/runs/KEY/steps/1/calls/other/stdout',
  '/api/runs/KEY/steps/1/calls/%E0%A4%A/stdout',
  '/api/runs/KEY/images/..%2f..%2fjournal.jsonl',
])('%s is answered with 404', async (path) => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  const { runs } = await client.get<RunList>('/api/runs')
  const { status, body } = await client.ask(path.replace('KEY', runs[0]?.key ?? ''))
  expect(status).toBe(404)
  expect(typeof JSON.parse(body).error).toBe('string')
})

test('a key says nothing of where a run lies', async () => {
  const workspace = await workspaceOf({ run: FINISHED })
  const { runs } = await (await serving([workspace])).get<RunList>('/api/runs')
  expect(runs[0]?.key).toMatch(/^[\w-]{12}$/)
  const again = await (await serving([workspace])).get<RunList>('/api/runs')
  expect(again.runs[0]?.key).not.toBe(runs[0]?.key)
})

test('only this machine can connect', async () => {
  const client = await serving([await workspaceOf({ run: FINISHED })])
  expect(new URL(client.url).hostname).toBe('127.0.0.1')
  const others = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).filter((one) => !one.internal && one.family === 'IPv4'),
  )
  for (const { address } of others) {
    const refused = await new Promise((resolve) => {
      connect(client.port, address, () => resolve(undefined)).on('error', (error) =>
        resolve((error as NodeJS.ErrnoException).code),
      )
    })
    expect(refused).toBe('ECONNREFUSED')
  }
  expect.hasAssertions()
})

test('a run directory that is a link out of what was named is not shown', async () => {
  const elsewhere = await workspaceOf({
    hidden: [start({ task: 'elsewhere' }), user('elsewhere'), thought(1), end(1)],
  })
  const workspace = await workspaceOf({ run: FINISHED })
  symlinkSync(join(elsewhere, '.delta', 'hidden'), join(workspace, '.delta', 'hidden'))
  symlinkSync(elsewhere, join(workspace, 'linked'))
  const { runs } = await (await serving([workspace])).get<RunList>('/api/runs')
  expect(runs.map(({ id }) => id)).toEqual(['run'])
})

test.each(['journal.jsonl', 'io', 'snapshots', 'lease'])(
  'a run whose %s is a link out of it is listed and not read',
  async (part) => {
    const elsewhere = await place({
      'a/journal.jsonl': journalOf([start({ task: 'elsewhere' }), user('elsewhere'), thought(1), end(1)]),
    })
    const workspace = await workspaceOf({ run: FINISHED })
    const path = join(workspace, '.delta', 'run', part)
    rmSync(path, { recursive: true, force: true })
    symlinkSync(part === 'journal.jsonl' ? join(elsewhere.path, 'a', part) : elsewhere.path, path)
    const client = await serving([workspace])
    const { runs } = await client.get<RunList>('/api/runs')
    expect(runs).toMatchObject([
      { status: 'DAMAGED', task: null, problem: `not read: ${part} is a link out of the run` },
    ])
    const { status, body } = await client.ask(`/api/runs/${runs[0]?.key}/steps`)
    expect(status).toBe(403)
    expect(body).not.toContain('elsewhere')
  },
)

test.each([
  '../../../outside.json',
  'secrets/answer',
  'secrets/answer.json',
  'io/tool_executions/../../secrets/answer',
  'io/link.json',
])(
  'a journal that names %s as the record of a command makes the server read nothing',
  async (execution_ref) => {
    const hidden = JSON.stringify({ stdout: { text: 'HIDDEN' } })
    const events = [start(), user('Go.'), ...called(1, { execution_ref }), thought(2), end(2)]
    const { path } = await place({
      'outside.json': hidden,
      'outside.stdout': 'HIDDEN',
      'w/.delta/run/journal.jsonl': journalOf(events),
      'w/.delta/run/secrets/answer': 'HIDDEN',
      'w/.delta/run/secrets/answer.json': hidden,
      'w/.delta/run/io/tool_executions/x.json': '{}',
    })
    symlinkSync(join(path, 'outside.json'), join(path, 'w/.delta/run/io/link.json'))
    const client = await serving([join(path, 'w')])
    const { runs } = await client.get<RunList>('/api/runs')
    const { status, body } = await client.ask(`/api/runs/${runs[0]?.key}/steps/1/calls/c1/stdout`)
    expect([status, body]).toEqual([200, ''])
  },
)

test('a journal that names a record of a request outside the run makes the server read nothing', async () => {
  const record = { iteration: 1, timestamp: '', sha256: '', blocks: [], response: 'HIDDEN' }
  const events = [start(), user('Go.'), thought(1, { llm_invocation_ref: '../../../outside.json' }), end(1)]
  const { path } = await place({
    'outside.json': JSON.stringify(record),
    'w/.delta/run/journal.jsonl': journalOf(events),
  })
  const client = await serving([join(path, 'w')])
  const { runs } = await client.get<RunList>('/api/runs')
  const { status, body } = await client.ask(`/api/runs/${runs[0]?.key}/steps/1/response`)
  expect(status).toBe(404)
  expect(body).not.toContain('HIDDEN')
})

test('a sub-agent outside the named directories is shown as its caller recorded it, and not opened', async () => {
  const elsewhere = await workspaceOf({
    child: [start({ task: 'elsewhere' }), user('elsewhere'), thought(1), end(1)],
  })
  const child = { run_id: 'child', directory: join(elsewhere, '.delta', 'child'), status: 'FAILED' }
  const workspace = await workspaceOf({
    run: [start(), user('Go.'), ...called(1, { child_runs: [child] }), thought(2), end(2)],
  })
  const client = await serving([workspace])
  const { runs } = await client.get<RunList>('/api/runs')
  const { children } = await client.get<RunPage>(`/api/runs/${runs[0]?.key}`)
  expect(children).toMatchObject([{ runId: 'child', status: 'FAILED', agent: null, steps: null }])
  expect(children[0]).not.toHaveProperty('key')
})

test('texts that look like markup or code come back as they are, and only as JSON', async () => {
  const hostile = `<img src=x onerror=alert(1)></script><script>alert(2)</script>\u202e\u001b[31m\u0000"'\u2028`
  const events = [
    start({
      agent_name: hostile,
      task: hostile,
      config: { llm: { model: hostile }, tools: [{ name: hostile }] },
    }),
    user(hostile),
    ...called(1, { observation_content: hostile }),
    { type: 'ERROR', iteration: 2, error_message: hostile, recoverable: true, error_details: { attempt: 1 } },
    {
      type: 'HOOK_EXECUTION_AUDIT',
      iteration: 2,
      hook_name: hostile,
      status: hostile,
      error_message: hostile,
    },
    thought(2, { content: hostile, message: { reasoning_content: hostile } }),
    end(2, { reason: hostile, reason_code: hostile }),
  ]
  const client = await serving([await workspaceOf({ run: events })])
  const { runs } = await client.get<RunList>('/api/runs')
  expect(runs[0]).toMatchObject({ agent: hostile, task: hostile, tools: [hostile], reasonCode: hostile })
  const answer = await client.ask(`/api/runs/${runs[0]?.key}/steps`)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const { steps } = JSON.parse(answer.body) as StepList
  expect(steps[0]?.said[0]?.text.text).toBe(hostile)
  expect(steps[1]).toMatchObject({ thought: { text: hostile }, reasoning: { text: hostile } })
  expect(steps[1]?.errors[0]?.message).toBe(hostile)
})

test('a page that is not built is an error that says how to build it', async () => {
  const { path } = await place()
  mkdirSync(join(path, 'empty'))
  const error = await serve({ places: [path], assets: join(path, 'empty') }).catch((thrown) => thrown)
  expect(isViewError(error)).toBe(true)
  expect([error.code, error.message]).toEqual([
    'ERR_VIEW_ASSETS',
    'The page is not built. Run in the clone of Delta: npm run build',
  ])
})

test('a port that is named and taken is an error; without a name the next free one is used', async () => {
  const workspace = await workspaceOf({ run: FINISHED })
  const one = await serving([workspace])
  const { path: assets } = await place({ 'index.html': '' })
  const error = await serve({ places: [workspace], assets, port: one.port }).catch((thrown) => thrown)
  expect(error.code).toBe('ERR_VIEW_PORT')
  expect(error.message).toBe(`Port ${one.port} is taken. Leave --port out to use a free one.`)
  const other = await serving([workspace])
  expect(other.port).toBeGreaterThan(one.port)
})

test('nothing is written', async () => {
  const workspace = await workspaceOf({ run: FINISHED })
  const client = await serving([workspace])
  const { runs } = await client.get<RunList>('/api/runs')
  for (const path of ['', '/steps', '/sources', '/steps/1', '/search?q=o', '/steps/1/changes'])
    await client.ask(`/api/runs/${runs[0]?.key}${path}`)
  expect(readdirSync(join(workspace, '.delta', 'run'))).toEqual(['journal.jsonl'])
  expect(readdirSync(workspace)).toEqual(['.delta'])
})
