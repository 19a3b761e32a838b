import { join } from 'node:path'
import {
  runProcess,
  type ScriptedTurn,
  type ServerScript,
  startScriptedServer,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { type AnthropicModelOptions, anthropicModel } from '../src/anthropic.js'
import type { ChatRequest } from '../src/index.js'
import { failureOf, STREAM, startServer } from './server.js'

const request: ChatRequest = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Go.' }] }

async function start(script: readonly ScriptedTurn[] | ServerScript, options: AnthropicModelOptions = {}) {
  const server = await startScriptedServer(script)
  onTestFinished(() => server.close())
  return { server, model: anthropicModel({ baseUrl: server.baseUrl, ...options }) }
}

test('what is sent is the body of toWire byte for byte, under our name, at /v1/messages', async () => {
  const { model, server } = await start([{ content: 'Hi.' }], { apiKey: 'sk-ant-0123456789' })
  const wire = model.toWire?.(request)
  const bytes = Buffer.from(JSON.stringify(wire?.body))
  await model.complete(request, { bytes })
  const bare = anthropicModel({
    baseUrl: `${server.baseUrl.slice(0, -3)}/`,
    headers: { 'anthropic-beta': 'b1' },
  })
  await bare.complete(request)
  const [first, second] = server.requests()
  expect(first?.body).toBe(bytes.toString())
  expect(first?.headers).toMatchObject({
    authorization: 'Bearer sk-ant-0123456789',
    'anthropic-version': '2026-10-21',
    'user-agent': expect.stringMatching(/^delta-engine\//),
  })
  expect(second?.headers).toMatchObject({ 'anthropic-beta': 'b1' })
  expect(second?.headers).not.toHaveProperty('authorization')
  expect([first?.path, second?.path, wire?.url]).toEqual([
    '/v1/messages',
    '/v1/messages',
    `${server.baseUrl}/messages`,
  ])
  const sent = Object.keys(first?.headers ?? {}).filter(
    (name) => !/^x-stainless|^(host|connection|content-length)$/.test(name),
  )
  expect(sent.sort()).toEqual(wire?.headerNames)
})

test('variables and profile files of the vendor change nothing', async () => {
  const { server } = await start([{ content: 'Hi.' }])
  const profile = JSON.stringify({
    base_url: 'http://127.0.0.1:9',
    authentication: { type: 'user_oauth' },
    api_key: 'from-file',
  })
  await using home = await temporaryWorkspace({
    '.config/anthropic/configs/default.json': profile,
    '.config/anthropic/configs/evil.json': profile,
    '.config/anthropic/credentials/default.json': JSON.stringify({
      access_token: 'from-file',
      version: '1.0',
    }),
    'ask.mjs': `
      import { anthropicModel } from ${JSON.stringify(new URL('../dist/anthropic.js', import.meta.url).href)}
      const request = ${JSON.stringify(request)}
      for (const apiKey of [undefined, 'sk-ant-0123456789'])
        await anthropicModel({ baseUrl: ${JSON.stringify(server.baseUrl)}, apiKey }).complete(request)
    `,
  })
  const names = [
    'API_KEY',
    'AUTH_TOKEN',
    'BASE_URL',
    'PROFILE',
    'WEBHOOK_SIGNING_KEY',
    'IDENTITY_TOKEN',
    'FEDERATION_RULE_ID',
    'ORGANIZATION_ID',
  ]
  const hostile = Object.fromEntries(names.map((name) => [`ANTHROPIC_${name}`, 'evil']))
  const { stdout, stderr, exitCode } = await runProcess([process.execPath, 'ask.mjs'], {
    cwd: home.path,
    env: {
      ...process.env,
      ...hostile,
      ANTHROPIC_LOG: 'debug',
      ANTHROPIC_CUSTOM_HEADERS:
        'Authorization: evil\nX-Api-Key: evil\nX-Evil: evil\nAnthropic-Version: evil\nAnthropic-Beta: evil',
      ANTHROPIC_CONFIG_DIR: join(home.path, '.config/anthropic'),
      HOME: home.path,
      XDG_CONFIG_HOME: join(home.path, '.config'),
    },
  })
  expect({ stdout, stderr, exitCode }).toEqual({ stdout: '', stderr: '', exitCode: 0 })
  const [without, withKey] = server.requests()
  expect(JSON.stringify([without, withKey])).not.toMatch(/evil|from-file/)
  expect(without?.headers).not.toHaveProperty('authorization')
  expect(withKey?.headers.authorization).toBe('Bearer sk-ant-0123456789')
})

test.each([
  ['overloaded_error', 'ERR_MODEL_SERVER', true],
  ['api_error', 'ERR_MODEL_SERVER', true],
  ['rate_limit_error', 'ERR_MODEL_RATE_LIMIT', true],
  ['invalid_request_error', 'ERR_MODEL_REQUEST', false],
  ['authentication_error', 'ERR_MODEL_ACCESS', false],
])('a stream with the event %s in it fails with %s', async (type, code, retryable) => {
  const begin = { type: 'message_start', message: { role: 'assistant', content: [] } }
  const events = [begin, { type: 'error', error: { type, message: 'Sorry.' } }]
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  const { baseUrl } = await startServer((response) => response.writeHead(200, STREAM).end(body))
  expect(await failureOf(anthropicModel({ baseUrl }).complete({ ...request, stream: true }))).toMatchObject({
    code,
    retryable,
    message: expect.stringContaining('Sorry.'),
  })
})

test('without a key, the advice names the variables of this provider', async () => {
  const { model } = await start([{ status: 401, message: 'invalid bearer token' }])
  expect((await failureOf(model.complete(request))).message).toContain(
    'invalid bearer token\nNo API key is set. Put one into .env or the environment, as DELTA_API_KEY or ANTHROPIC_API_KEY.',
  )
})
