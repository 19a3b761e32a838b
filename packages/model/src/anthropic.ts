import type { ChatModel } from './chat.js'
import { type Client, type HttpModelOptions, httpModel, notInstalled } from './http-model.js'

/** Options of `anthropicModel`. The base URL is by default `https://api.anthropic.com`. It may end in `/v1`. */
export type AnthropicModelOptions = HttpModelOptions

/**
 * A model behind Anthropic's Messages API. The first request loads the package `@anthropic-ai/sdk`, unless `load` did. The body
 * is what `toWire` makes, byte for byte. The blocks of an answer, signatures included, are in `message.items` and go back
 * unchanged. With `stream: true` in the request the answer is read as it arrives. An answer that was cut off is an error.
 * Nothing is retried. The proxies of the environment are used.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`: the base URL or the key cannot work. `complete` throws every other code, except
 *   those of scripts and recordings.
 *
 * @example
 * const model = anthropicModel({ apiKey: process.env.ANTHROPIC_API_KEY })
 * const messages = [{ role: 'user', content: 'Hi' }]
 * const { message } = await model.complete({ model: 'claude-sonnet-5', max_tokens: 16000, messages })
 */
export function anthropicModel({ baseUrl, ...options }: AnthropicModelOptions = {}): ChatModel {
  return httpModel(
    {
      api: 'messages',
      baseUrl: 'https://api.anthropic.com',
      keyName: 'ANTHROPIC_API_KEY',
      headers: { 'anthropic-version': VERSION },
      load,
      async connect({ apiKey = 'none', ...shared }) {
        const { BaseAnthropic } = await load()
        // Without a key the client would look for profile files.
        const nothing = { authToken: null, credentials: null, config: null, profile: null, webhookKey: null }
        return new BaseAnthropic({ ...shared, ...nothing, apiKey, openTelemetry: false }) as Client
      },
    },
    { ...options, baseUrl: baseUrl?.replace(/\/v1\/*(?=$|\?)/, '') },
  )
}

const load = () =>
  import('./anthropic-client.js').catch((cause: unknown) => {
    throw notInstalled('@anthropic-ai/sdk', cause)
  })

/** The version of the API that `messages-format.ts` maps to. */
const VERSION = '2026-10-21'
