import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { startScriptedServer } from '@delta/testkit'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { anthropicModel } from '../src/anthropic.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'

const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Go.' }] }

/** A proxy that connects everybody to one server, and notes where they wanted to go. */
async function startProxy(to: string) {
  const asked: string[] = []
  const proxy = createServer().on('connect', ({ url }, socket) => {
    asked.push(url ?? '')
    const server = connect(Number(new URL(to).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      server.pipe(socket).pipe(server)
    })
    socket.on('error', () => server.destroy())
    server.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return { asked, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` }
}

afterEach(() => vi.unstubAllEnvs())

test.each([
  ['chat', openAiModel],
  ['responses', (options: OpenAiModelOptions) => openAiModel({ ...options, api: 'responses' })],
  ['messages', anthropicModel],
] as const)(
  'a request on %s goes through the proxy of the environment, one connection for many',
  async (api, make) => {
    const server = await startScriptedServer([{ content: 'Hello.', times: 3 }])
    onTestFinished(() => server.close())
    const proxy = await startProxy(server.baseUrl)
    vi.stubEnv('HTTP_PROXY', proxy.url)
    const model = make({ baseUrl: `http://${api}.invalid/v1` })
    for (const stream of [false, true, false])
      expect((await model.complete({ ...request, stream })).message.content).toBe('Hello.')
    expect(server.requests()).toHaveLength(3)
    expect(proxy.asked).toEqual([`${api}.invalid:80`])
  },
)

test('but not to this machine, and not where NO_PROXY names the host', async () => {
  const server = await startScriptedServer([{ content: 'Hello.' }])
  onTestFinished(() => server.close())
  const proxy = await startProxy(server.baseUrl)
  vi.stubEnv('HTTP_PROXY', proxy.url)
  vi.stubEnv('NO_PROXY', 'model.invalid')
  expect((await openAiModel({ baseUrl: server.baseUrl }).complete(request)).message.content).toBe('Hello.')
  const beside = openAiModel({ baseUrl: 'http://model.invalid/v1' }).complete(request)
  await expect(beside).rejects.toMatchObject({ code: 'ERR_MODEL_CONNECTION' })
  expect(proxy.asked).toEqual([])
})

test('a proxy that refuses is an answer with its status', async () => {
  const proxy = createServer().on('connect', (_, socket) =>
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'),
  )
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  vi.stubEnv('HTTP_PROXY', `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  const answer = openAiModel({ baseUrl: 'http://model.invalid/v1' }).complete(request)
  await expect(answer).rejects.toMatchObject({ status: 407, retryable: false })
})
