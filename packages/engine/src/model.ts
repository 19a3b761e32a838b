import { resolve } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { commandEnvironment, createRedactor, type Redactor, runCommand } from '@delta/executor'
import { exportedIn, keyNamesOf, secretValues } from '@delta/executor/internal'
import { openRecordedRequests } from '@delta/journal/internal'
import {
  type ChatModel,
  type ChatResponse,
  ModelError,
  parseCompletion,
  replayModel,
  scriptModel,
} from '@delta/model'
import { fromWire, toWire } from '@delta/model/internal'
import type { OpenAiModelOptions } from '@delta/model/openai'
import { vendorOfProvider } from '@delta/model/vendors'
import { EngineError } from './errors.js'
import { failureOf } from './hook-output.js'
import type { EngineOptions } from './options.js'
import { apiOf } from './request.js'

/** Makes the model of one run. A model that is a command gets the environment of the run's commands. */
export type ModelOfRun = (ofCommands: NodeJS.ProcessEnv) => ChatModel

/**
 * The model of a run: the `model` option, otherwise the one that `llm.provider` names. Sends no request.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_CREDENTIALS`: the provider needs a key or a base URL and has neither. {ModelError}
 *   `ERR_MODEL_SETTINGS`: its package is not installed, or its base URL or key cannot work.
 */
export async function modelFor(
  agent: Agent,
  { model, credentials, env = process.env }: EngineOptions,
): Promise<ModelOfRun> {
  const own = model ?? agent.model
  if (own !== undefined) {
    await own.load?.()
    return () => checkedModel(own)
  }
  const { llm, home = '/' } = agent // without a directory, paths are absolute
  switch (llm.provider) {
    case 'script': {
      const path = llm.script && resolve(home, llm.script)
      const script = scriptModel(agent.script ?? [], { path })
      return () => script
    }
    case 'command': {
      // as in hooks, `${AGENT_HOME}` is replaced by the agent's directory
      const argv = (llm.command ?? []).map((word) => word.replaceAll('${AGENT_HOME}', () => home))
      // the command is the model: it may be a client of any vendor, and gets what the person exported
      const { exported } = credentials ?? {}
      const all = { pairs: [], env: exported ?? exportedIn(env, [llm.apiKeyEnv, llm.otherKeyEnv]) }
      const keys = { credentials: all, passEnv: keyNamesOf(all), extra: all.env }
      const known = createRedactor(secretValues(all))
      return (ofCommands) => commandModel(argv, { agent, env: commandEnvironment(ofCommands, keys), known })
    }
    case 'replay': {
      const replay = replayModel(openRecordedRequests(resolve(home, llm.script ?? '.')))
      return () => replay
    }
    case 'anthropic':
    case 'openai': {
      const { apiKey, baseUrl = llm.baseUrl } = credentials ?? {}
      if (apiKey === undefined && baseUrl === undefined)
        throw new EngineError('ERR_ENGINE_NO_CREDENTIALS', credentials ? noKey(llm, env) : NO_CREDENTIALS)
      const { timeoutMs, headers, apiKeyEnv: keyName } = llm
      const options = { apiKey, baseUrl, timeoutMs, headers, keyName }
      const server = await serverModel(llm, options)
      await server.load?.()
      return () => server
    }
    default:
      return llm.provider satisfies never
  }
}

/** A model of somebody's own may answer anything: its message is read as one from a server is. */
function checkedModel(model: ChatModel): ChatModel {
  return {
    ...(model.toWire && { toWire: model.toWire.bind(model) }),
    async complete(request, options) {
      const response: ChatResponse = Object(await model.complete(request, options))
      return { ...response, message: parseCompletion(response.message).message }
    },
  }
}

/** Loads only the package of this provider. */
async function serverModel({ provider, api }: Agent['llm'], options: OpenAiModelOptions): Promise<ChatModel> {
  if (provider === 'anthropic') {
    const { anthropicModel } = await import('@delta/model/anthropic')
    return anthropicModel(options)
  }
  const { openAiModel } = await import('@delta/model/openai')
  return openAiModel({ ...options, api })
}

const NO_CREDENTIALS =
  'No API key and no base URL for the model. Give the option credentials, such as { apiKey: process.env.OPENAI_API_KEY }, or { baseUrl } for a server without a key. The environment is not read.'

function noKey(llm: Agent['llm'], { DELTA_PARENT_RUN: parent }: NodeJS.ProcessEnv): string {
  const { apiKeyEnv } = llm
  const usual = vendorOfProvider(llm.provider).key
  if (parent)
    return `No API key and no base URL for the model: a tool of another run started this agent, and was not given them.
Add to that tool: pass_env: [${apiKeyEnv ?? usual}]${apiKeyEnv ? '' : ', or [DELTA_API_KEY] if that is the key that you set'}. A tool whose command is "delta run" itself needs no pass_env.`
  const key = apiKeyEnv === undefined ? `DELTA_API_KEY=… (or ${usual}=…)` : `${apiKeyEnv}=…`
  return `No API key and no base URL for the model. Choose one of these:
  a key             put ${key} into the environment or the agent's .env
  a local server    put DELTA_BASE_URL=http://127.0.0.1:11434/v1 there; any server with a ${API_NAMES[apiOf(llm)]} API works`
}

const API_NAMES = { chat: 'chat-completions', responses: 'Responses', messages: 'Messages' }

/** A longer response is truncated, and then fails to parse. Bytes. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

const WHAT_IT_PRINTS =
  'It must print exactly one assistant message of the chat-completions format to stdout, such as {"content": "…"}. Messages for people belong on stderr.'

/**
 * A model that is a command. It runs in the agent's directory, reads the request (JSON) on stdin, and prints a chat completion
 * or a bare assistant message. What it prints is searched for its keys.
 *
 * `complete` throws `ModelError`: `ERR_MODEL_CONNECTION` when the command did not start or failed, with the last line of
 * its stderr; `ERR_MODEL_TIMEOUT` after `llm.timeout_ms` (default: no limit); `ERR_MODEL_RESPONSE` for any other output.
 */
function commandModel(
  argv: readonly string[],
  { agent, env, known }: { agent: Agent; env: NodeJS.ProcessEnv; known: Redactor },
): ChatModel {
  const { timeoutMs = 0 } = agent.llm
  return {
    async complete(request, { signal, bytes } = {}) {
      const outcome = await runCommand(argv, {
        cwd: agent.home ?? '/',
        env,
        stdin: bytes ?? JSON.stringify(toWire('chat', request).body),
        keepBytes: MAX_RESPONSE_BYTES,
        keep: 'head',
        timeoutMs,
        signal,
        ...(known.active && { filter: () => known.filter() }),
      })
      const failure = failureOf(outcome, timeoutMs)
      if (failure === undefined) return parse(argv, outcome.stdout.text)
      const code = outcome.status === 'TIMEOUT' ? 'ERR_MODEL_TIMEOUT' : 'ERR_MODEL_CONNECTION'
      throw new ModelError(code, `The model command ${argv[0]} ${failure}`)
    },
  }
}

function parse(argv: readonly string[], text: string): ChatResponse {
  try {
    return fromWire('chat', JSON.parse(text))
  } catch (cause) {
    const message = `The model command ${argv[0]} did not print a completion: ${(cause as Error).message}\n${WHAT_IT_PRINTS}`
    const { usage, model } = cause as Partial<ModelError>
    throw new ModelError('ERR_MODEL_RESPONSE', message, { cause, usage, model })
  }
}
