import type { ChatModel } from './chat.js'
import { LLM_DEFAULTS } from './chat.js'
import { type Client, type HttpModelOptions, httpModel, notInstalled, unusable } from './http-model.js'

/** Options of `openAiModel`. */
export interface OpenAiModelOptions extends HttpModelOptions {
  /** `chat` (default): Chat Completions. `responses`: Responses. The base URL, by default `https://api.openai.com/v1`, ends before the API's path. */
  readonly api?: 'chat' | 'responses' | undefined
}

/**
 * A model behind an OpenAI-compatible API. The first request loads the package `openai`, unless `load` did. The body is what
 * `toWire` makes, byte for byte. With `stream: true` in the request the answer is read as it arrives. An answer that was cut off
 * is an error. Nothing is retried. The proxies of the environment are used.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`: the base URL or the key cannot work. `complete` throws every other code, except
 *   those of scripts and recordings.
 *
 * @example
 * const model = openAiModel({ apiKey: process.env.OPENAI_API_KEY })
 * const { message } = await model.complete({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
 */
export function openAiModel({ api = 'chat', ...options }: OpenAiModelOptions = {}): ChatModel {
  if (api !== 'chat' && api !== 'responses')
    throw unusable(`api: must be chat or responses, got ${JSON.stringify(api)}.`)
  return httpModel(
    {
      api,
      baseUrl: LLM_DEFAULTS.baseUrl,
      keyName: 'OPENAI_API_KEY',
      headers: {},
      load,
      async connect({ apiKey = 'none', ...shared }) {
        const { OpenAI } = await load()
        const nothing = { adminAPIKey: null, organization: null, project: null, webhookSecret: null }
        return new OpenAI({ ...shared, ...nothing, apiKey }) as Client
      },
    },
    options,
  )
}

const load = () =>
  import('openai').catch((cause: unknown) => {
    throw notInstalled('openai', cause)
  })
