import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ScriptedTurn, type ServerScript, startScriptedServer } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { readAnswer, startIdleTimer } from '../src/answer.js'
import {
  type Api,
  type ChatRequest,
  type ChatResponse,
  isModelError,
  type ModelDelta,
  type ModelError,
} from '../src/index.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'
import { FORMATS } from '../src/wire.js'

export const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Go.' }] }
export const streamed = { ...request, stream: true }
export const STREAM = { 'content-type': 'text/event-stream' }

/** A model behind the scripted server. */
export async function start(
  script: readonly ScriptedTurn[] | ServerScript,
  options: OpenAiModelOptions = {},
) {
  const server = await startScriptedServer(script)
  onTestFinished(() => server.close())
  return { server, model: openAiModel({ baseUrl: server.baseUrl, ...options }) }
}

/** A server that answers with these very bytes. */
export async function startServer(answer: (response: ServerResponse) => void) {
  const sockets = new Set<unknown>()
  const server = createServer((incoming, response) => {
    sockets.add(incoming.socket)
    incoming.resume().on('end', () => answer(response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { baseUrl, sockets }
}

/** A model behind such a server. */
export async function modelBehind(
  answer: (response: ServerResponse) => void,
  options: OpenAiModelOptions = {},
) {
  const { baseUrl, sockets } = await startServer(answer)
  return { ...openAiModel({ baseUrl, ...options }), baseUrl, sockets }
}

/** An answer with this status, whose body is an error with these fields. */
export interface Refusal {
  readonly status: number
  readonly message?: string
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A model behind a server that refuses everything. */
export function modelRefused({ status, headers = {}, message, code, body }: Refusal) {
  const error = { message, code }
  return modelBehind((response) => response.writeHead(status, headers).end(body ?? JSON.stringify({ error })))
}

/** Reads a stream whose bytes are at hand. The answer is what the server behind an API would have sent. */
export async function readStream(
  api: Api,
  body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  { signal, onDelta = () => undefined }: { signal?: AbortSignal; onDelta?: (delta: ModelDelta) => void } = {},
): Promise<ChatResponse> {
  const asked = { url: 'http://localhost', model: 'm', hasKey: false, hide: (text: string) => text }
  const timer = startIdleTimer(0, signal)
  const exchange = { asked, timer, format: FORMATS[api], onDelta }
  const response = new Response(ReadableStream.from(body), { headers: STREAM })
  return readAnswer(response, exchange).finally(() => timer.stop())
}

export async function failureOf(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    (value) => new Error(`answered with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  if (!isModelError(error)) throw error
  return error
}

/** The body of a completion. */
export function plain(message: unknown, reason = 'stop'): string {
  return JSON.stringify({ choices: [{ index: 0, message, finish_reason: reason }] })
}

/** An event of a stream. */
export function event(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
}
