import * as z from 'zod/mini'
import { AtipUsageError } from './errors.js'
import { type AtipLeaf, indexLeaves, leavesOf } from './leaves.js'
import type { AtipTool } from './metadata.js'
import { type ParameterSchema, type ParametersSchema, toParameters } from './parameters.js'
import { describe, OPENAI_DESCRIPTION_MAX_LENGTH } from './safety.js'

/** Whose format. Any server that speaks chat completions is `openai`. */
export type Provider = 'openai' | 'gemini' | 'anthropic'

/** The name under which other implementations export it. */
export type OpenAIParameter = ParameterSchema
/** The name under which other implementations export it. */
export type GeminiParameter = ParameterSchema
/** The name under which other implementations export it. */
export type AnthropicParameter = ParameterSchema

/** An entry of `tools` of a chat completion request. */
export interface OpenAITool {
  type: 'function'
  function: {
    name: string
    description: string
    strict?: boolean
    parameters: ParametersSchema & { additionalProperties: false }
  }
}

/** An entry of `functionDeclarations` of a Gemini request. */
export interface GeminiFunctionDeclaration {
  name: string
  description: string
  parameters: ParametersSchema
}

/** An entry of `tools` of a request for a message. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ParametersSchema
}

/** A tool in the format of any of the providers. */
export type ProviderTool = OpenAITool | GeminiFunctionDeclaration | AnthropicTool

/** Several tools compiled for one provider. */
export interface ProviderTools<P extends Provider = Provider> {
  provider: P
  tools: ProviderToolOf[P][]
}

/** What each provider calls a tool. */
export interface ProviderToolOf {
  openai: OpenAITool
  gemini: GeminiFunctionDeclaration
  anthropic: AnthropicTool
}

/** One tool call a model asks for. */
export interface ToolCall {
  /** The provider's. Where Gemini gives none, it is made from the name; see `parseToolCall`. */
  id: string
  /** The flat name of a command. */
  name: string
  arguments: Record<string, unknown>
}

/** A tool result for OpenAI, made by `handleToolResult`. */
export interface OpenAIToolMessage {
  role: 'tool'
  tool_call_id: string
  /** JSON, so a string is in quotes. */
  content: string
}

/** A tool result for Gemini, made by `handleToolResult`. `id` is there if Gemini gave the call one. */
export interface GeminiToolMessage {
  role: 'user'
  parts: { function_response: { id?: string; name: string; response: unknown } }[]
}

/** A tool result for Anthropic, made by `handleToolResult`. Its `content` is JSON, so a string is in quotes. */
export interface AnthropicToolMessage {
  role: 'user'
  content: { type: 'tool_result'; tool_use_id: string; content: string }[]
}

export interface ToolMessageOf {
  openai: OpenAIToolMessage
  gemini: GeminiToolMessage
  anthropic: AnthropicToolMessage
}

/** A tool result in the format of any of the providers. */
export type Message = ToolMessageOf[Provider]

/** How tools are written for a provider. */
export interface CompileOptions {
  /** OpenAI's strict mode; the other providers have none and ignore it. */
  strict?: boolean | undefined
}

/**
 * One OpenAI tool per leaf.
 *
 * @throws {AtipValidationError}
 * @example
 * await fetch(url, { method: 'POST', body: JSON.stringify({ model, messages, tools: toOpenAI(gh) }) })
 */
export function toOpenAI(tool: AtipTool, options: CompileOptions = {}): OpenAITool[] {
  return leavesOf(tool).map((leaf) => FORMATS.openai.toTool(leaf, options))
}

/** One Gemini function declaration per leaf. @throws {AtipValidationError} */
export function toGemini(tool: AtipTool): GeminiFunctionDeclaration[] {
  return leavesOf(tool).map((leaf) => FORMATS.gemini.toTool(leaf, {}))
}

/** One Anthropic tool per leaf. @throws {AtipValidationError} */
export function toAnthropic(tool: AtipTool): AnthropicTool[] {
  return leavesOf(tool).map((leaf) => FORMATS.anthropic.toTool(leaf, {}))
}

/**
 * Compiles several tools. The same command described twice (two versions of one tool) counts
 * once, as it was described last.
 *
 * @throws {AtipValidationError} A tool is invalid, or two different commands have one flat name.
 * @example
 * const { tools } = compileTools([gh, notes], 'anthropic')
 */
export function compileTools<P extends Provider>(
  tools: readonly AtipTool[],
  provider: P,
  options: CompileOptions = {},
): ProviderTools<P> {
  const { toTool } = FORMATS[provider]
  return { provider, tools: [...indexLeaves(tools, 'last').values()].map((leaf) => toTool(leaf, options)) }
}

/** A call as a response has it: its arguments are JSON text, an object, or absent. */
export interface SentCall {
  id: string
  name: string
  arguments?: unknown
}

/** Fits a part of a response to a schema, or throws. `at` is its place in the response. */
type Read = <T>(schema: z.ZodMiniType<T>, part: unknown, ...at: string[]) => T

/** How one provider writes tools, calls and results. */
interface Format<P extends Provider> {
  /** A command as an entry of a request. */
  toTool(leaf: AtipLeaf, options: CompileOptions): ProviderToolOf[P]
  /** The calls of a response, in order. */
  callsOf(response: unknown, read: Read): SentCall[]
  /** @param call - Where its name is not known, it is the one that a call without an id got its id from. */
  toMessage(call: Pick<ToolCall, 'id' | 'name'>, result: unknown): ToolMessageOf[P]
}

const name = z.string().check(z.minLength(1))

const openaiCall = z.object({ id: name, function: z.object({ name, arguments: z.optional(z.unknown()) }) })
const openaiMessage = z.object({ tool_calls: z.nullish(z.array(openaiCall)) })
const openaiResponse = z.object({ choices: z.array(z.object({ message: z.nullish(openaiMessage) })) })

const geminiCall = z.object({ id: z.nullish(z.string()), name, args: z.optional(z.unknown()) })
const geminiPart = z.object({ functionCall: z.optional(geminiCall) })
const geminiContent = z.object({ parts: z.nullish(z.array(geminiPart)) })
const geminiResponse = z.object({ candidates: z.array(z.object({ content: z.nullish(geminiContent) })) })

const anthropicResponse = z.object({ content: z.array(z.looseObject({})) })
const anthropicCall = z.object({ id: name, name, input: z.optional(z.unknown()) })

/** A provider more is a row here, and its name and types above. */
export const FORMATS: { [P in Provider]: Format<P> } = {
  openai: {
    toTool(leaf, { strict = false }) {
      const description = describe(leaf, OPENAI_DESCRIPTION_MAX_LENGTH)
      const parameters = { ...toParameters(leaf, strict), additionalProperties: false as const }
      const named = { name: leaf.name, description }
      return {
        type: 'function',
        function: strict ? { ...named, strict, parameters } : { ...named, parameters },
      }
    },
    callsOf(response, read) {
      const calls = read(openaiResponse, response).choices[0]?.message?.tool_calls ?? []
      return calls.map(({ id, function: called }) => ({ ...called, id }))
    },
    toMessage: ({ id }, result) => ({ role: 'tool', tool_call_id: id, content: toJson(result) }),
  },

  gemini: {
    toTool: (leaf) => ({ name: leaf.name, description: describe(leaf), parameters: toParameters(leaf) }),
    callsOf(response, read) {
      const parts = read(geminiResponse, response).candidates[0]?.content?.parts ?? []
      return withIds(parts.flatMap(({ functionCall }) => functionCall ?? []))
    },
    toMessage({ id, name }, result) {
      const own = withoutCount(id) === name ? {} : { id }
      return { role: 'user', parts: [{ function_response: { ...own, name, response: result } }] }
    },
  },

  anthropic: {
    toTool: (leaf) => ({ name: leaf.name, description: describe(leaf), input_schema: toParameters(leaf) }),
    callsOf(response, read) {
      return read(anthropicResponse, response).content.flatMap((block, index) => {
        if (block.type !== 'tool_use') return []
        const { id, name, input } = read(anthropicCall, block, `content.${index}`)
        return { id, name, arguments: input }
      })
    },
    toMessage: ({ id }, result) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: toJson(result) }],
    }),
  },
}

/** A call without an id, or with that of an earlier call, gets the function's name or, where that is taken, `name#2`, `name#3`. */
function withIds(calls: readonly z.infer<typeof geminiCall>[]): SentCall[] {
  const sent = new Set(calls.flatMap(({ id }) => id || []))
  const given = new Set<string>()
  return calls.map(({ id, name, args }) => {
    let own = id && !given.has(id) ? id : name
    for (let count = 2; own !== id && (sent.has(own) || given.has(own)); count++) own = `${name}#${count}`
    given.add(own)
    return { id: own, name, arguments: args }
  })
}

/** The function's name in an id that was made of it. */
export function withoutCount(id: string): string {
  return id.replace(/#\d+$/, '')
}

function toJson(result: unknown): string {
  try {
    return JSON.stringify(result) ?? 'undefined' // providers refuse a message without content
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    const message = `handleToolResult: the result cannot be written as JSON (${why}).\nPass a string, or what JSON.stringify accepts.`
    throw new AtipUsageError(message, { cause })
  }
}
