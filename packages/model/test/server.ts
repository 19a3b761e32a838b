import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ScriptedTurn, type ServerScript, startScriptedServer } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { type ChatRequest, isModelError, type ModelError } from '../src/index.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'

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
