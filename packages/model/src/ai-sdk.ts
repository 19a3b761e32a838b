import type {
  AssistantMessage,
  BlobReader,
  ChatMessage,
  ChatModel,
  ChatRequest,
  ChatResponse,
  ContentPart,
  FunctionTool,
  ToolCall,
  ToolMessage,
  WireRequest,
} from './chat.js'
import { textOf } from './chat.js'
import { ModelError } from './errors.js'
import { asModelError } from './failure.js'
import {
  base64Of,
  isMedia,
  noBlobs,
  type Origin,
  ownItems,
  partsOf,
  unknownPart,
  type Mapping as WireMapping,
} from './format.js'
import {
  charge,
  checkDepth,
  type Fields,
  fieldsOf,
  isObject,
  messageWith,
  parseJson,
  reasoningOf,
  responseOf,
  unusable,
} from './response.js'

/** A language model of the AI SDK, version 3 or 4 of its specification: the members that are used. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  // biome-ignore lint/suspicious/noExplicitAny: the options of both versions
  doGenerate(options: any): PromiseLike<Generated>
}

interface Generated {
  readonly content: readonly object[]
  readonly finishReason: { readonly unified: string; readonly raw: string | undefined }
  readonly usage: object
  readonly response?: object | undefined
}

/**
 * A language model of the AI SDK as a `ChatModel`. The package `ai` is not needed. Answers come whole. The record of a request
 * holds the options of the call, not the bytes that the AI SDK sends. Parameters have the names of the AI SDK: `maxOutputTokens`.
 *
 * @throws {ModelError} `complete` throws what an HTTP status means, and `ERR_MODEL_CONNECTION` for an error without one. Whether it
 *   is retryable is what the AI SDK says.
 *
 * @example
 * const model = fromAiSdk(openai('gpt-4o'))
 * const { message } = await model.complete({ messages: [{ role: 'user', content: 'Hi' }] })
 */
export function fromAiSdk(model: AiSdkModel): ChatModel {
  const { specificationVersion: version } = model
  if (version !== 'v3' && version !== 'v4')
    throw new ModelError(
      'ERR_MODEL_SETTINGS',
      `fromAiSdk takes models of version 3 and 4 of the AI SDK's specification, not ${version}.`,
    )
  const toWire = (request: ChatRequest, blobs: BlobReader = noBlobs) => callOptions(request, model, blobs)
  return {
    toWire,
    async complete(request, { signal, blobs, onDelta } = {}) {
      const options = { ...toWire(request, blobs).body, ...(signal && { abortSignal: signal }) }
      try {
        const answer = readAnswer(await model.doGenerate(options))
        const { message } = answer
        onDelta?.({ content: message.content ?? '', reasoning: reasoningOf(message) })
        return answer
      } catch (error) {
        throw signal?.aborted
          ? new ModelError('ERR_MODEL_ABORTED', 'The request was stopped.', { cause: error })
          : modelError(error, model)
      }
    },
  }
}

interface Mapping extends WireMapping {
  readonly isV3: boolean
  /** The provider's own parts of the calls so far, by the ids that the conversation has for them. */
  readonly calls: Map<string, Fields>
}

function callOptions(request: ChatRequest, model: AiSdkModel, blobs: BlobReader): WireRequest {
  const { messages, tools = [], model: _, stream: _stream, ...parameters } = request
  const isV3 = model.specificationVersion === 'v3'
  const mapping: Mapping = { blobs, leftOut: [], isV3, calls: new Map() }
  const prompt: Fields[] = []
  for (const message of messages) addMessage(prompt, message, mapping)
  const body = { ...parameters, prompt, ...(tools.length > 0 && { tools: tools.map(toolOf) }) }
  return { api: 'ai-sdk', list: 'prompt', body, leftOut: mapping.leftOut }
}

function toolOf({ function: { name, description, parameters, strict } }: FunctionTool): Fields {
  const inputSchema = parameters ?? { type: 'object', properties: {} }
  return { type: 'function', name, description, inputSchema, strict }
}

/** The results of one answer go into one message. */
function addMessage(prompt: Fields[], message: ChatMessage, mapping: Mapping): void {
  const { role } = message
  const last = prompt.at(-1)
  if (message.role === 'tool' && last?.role === 'tool')
    (last.content as unknown[]).push(resultOf(message, mapping))
  else if (message.role === 'tool') prompt.push({ role, content: [resultOf(message, mapping)] })
  else if (message.role === 'assistant') prompt.push({ role, content: spoken(message, mapping) })
  else if (message.role === 'user')
    prompt.push({ role, content: partsOf(message.content).map((part) => partOf(part, mapping)) })
  else prompt.push({ role: 'system', content: textOf(message.content) })
}

function resultOf(message: ToolMessage, mapping: Mapping): Fields {
  const id = message.tool_call_id
  const { toolCallId = id, toolName = 'unknown' } = mapping.calls.get(id) ?? {}
  return { type: 'tool-result', toolCallId, toolName, output: outputOf(message, mapping) }
}

function partOf(part: ContentPart, { blobs, isV3 }: Mapping): Fields {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (!isMedia(part)) throw unknownPart(part, 'a model of the AI SDK')
  const data = base64Of(part, blobs)
  const { media_type: mediaType, name: filename } = part
  return { type: 'file', mediaType, data: isV3 ? data : { type: 'data', data }, filename }
}

function outputOf({ content, is_error }: ToolMessage, mapping: Mapping): Fields {
  if (typeof content === 'string') return { type: is_error ? 'error-text' : 'text', value: content }
  const value = content.map((part) => {
    const { type, ...rest } = partOf(part, mapping)
    if (type === 'text' || !mapping.isV3) return { type, ...rest }
    return { type: part.type === 'image' ? 'image-data' : 'file-data', ...rest }
  })
  return { type: 'content', value }
}

/** An answer of the AI SDK goes back part by part, unchanged; another one as text and calls. */
function spoken(message: AssistantMessage, mapping: Mapping): Fields[] {
  const { content, tool_calls = [] } = message
  const { list, calls } = ownItems(message, ORIGIN, mapping)
  for (const call of tool_calls) mapping.calls.set(call.id, calls.get(call.id) ?? callPart(call))
  const text = content ? [{ type: 'text', text: content }] : []
  return list?.flatMap(backAgain) ?? [...text, ...tool_calls.map(callPart)]
}

const ORIGIN: Origin = { api: 'ai-sdk', isCall }

/** A call that the provider ran itself needs no result. */
function isCall(part: unknown): part is Fields {
  return isObject(part) && part.type === 'tool-call' && !part.providerExecuted
}

function callPart({ id, function: { name, arguments: text } }: ToolCall): Fields {
  return { type: 'tool-call', toolCallId: id, toolName: name, input: parseJson(text) ?? {} }
}

/** Parts of an answer that a prompt cannot hold: search results, and questions to a person. */
const NEVER_SENT = new Set(['source', 'tool-approval-request'])

function backAgain({ providerMetadata, ...part }: Fields): Fields[] {
  if (NEVER_SENT.has(String(part.type))) return []
  const providerOptions = providerMetadata
  if (part.type !== 'tool-call') return [{ ...part, providerOptions }]
  const { toolCallId, toolName, input, providerExecuted } = part
  const parsed = parseJson(String(input)) ?? {}
  return [{ type: 'tool-call', toolCallId, toolName, input: parsed, providerExecuted, providerOptions }]
}

function readAnswer(answer: Generated): ChatResponse {
  const paid = { usage: usageOf(answer.usage), model: fieldsOf(answer.response).modelId }
  try {
    return readGenerated(answer, paid)
  } catch (error) {
    throw charge(error, paid)
  }
}

function readGenerated({ finishReason, usage, ...answer }: Generated, paid: Fields): ChatResponse {
  const content = answer.content.map((part) => withBase64(part) as Fields)
  checkDepth(content)
  if (finishReason.unified === 'error')
    throw unusable('The AI SDK ended its answer with an error. What arrived was discarded.')
  const text = content.map((part) => (part.type === 'text' ? String(part.text) : '')).join('')
  const calls = content.filter(isCall).map(callOf)
  const said = text === '' && calls.length > 0 ? null : text
  return {
    ...responseOf(paid, messageWith({ api: ORIGIN.api, list: content }, said, calls)),
    finishReason: finishReason.unified.replace('-', '_'),
    raw: { content, finishReason, usage },
  }
}

function callOf({ toolCallId, toolName, input }: Fields): ToolCall {
  return {
    id: String(toolCallId),
    type: 'function',
    function: { name: String(toolName), arguments: String(input) },
  }
}

/** JSON cannot hold the bytes of a generated file. */
function withBase64(part: object): object {
  const { data } = part as { data?: unknown }
  return data instanceof Uint8Array ? { ...part, data: Buffer.from(data).toString('base64') } : part
}

/** The counts as a chat completion spells them. */
function usageOf(usage: object): Fields {
  const { inputTokens: read, outputTokens: written } = usage as Record<string, Fields | undefined>
  return {
    prompt_tokens: read?.total ?? 0,
    completion_tokens: written?.total ?? 0,
    prompt_tokens_details: { cached_tokens: read?.cacheRead, cache_write_tokens: read?.cacheWrite },
    completion_tokens_details: { reasoning_tokens: written?.reasoning },
  }
}

function modelError(error: unknown, { provider, modelId }: AiSdkModel): unknown {
  const known = asModelError(error, { url: provider, model: modelId })
  if (known) return known
  const { message = error, isRetryable } = Object(error)
  const text = `${provider} ${modelId} could not answer: ${message}\nThis is what the AI SDK says.`
  return new ModelError('ERR_MODEL_CONNECTION', text, { retryable: isRetryable !== false, cause: error })
}
