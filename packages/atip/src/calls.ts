import { showValue, valueAt } from '@delta/settings'
import * as z from 'zod/mini'
import { AtipParseError, AtipUsageError } from './errors.js'
import type { Provider, ToolCall, ToolMessageOf } from './providers.js'
import { isObject } from './schema.js'

const name = z.string('must be a string').check(z.minLength(1, 'must be a string that is not empty'))

function object<Members extends Record<string, z.ZodMiniType>>(members: Members) {
  return z.object(members, 'must be an object')
}

function listOf<Item extends z.ZodMiniType>(item: Item) {
  return z.array(item, 'must be a list')
}

const openaiCall = object({ id: name, function: object({ name, arguments: z.optional(z.unknown()) }) })
const openaiMessage = object({ tool_calls: z.nullish(listOf(openaiCall)) })
const openaiResponse = object({ choices: listOf(object({ message: z.nullish(openaiMessage) })) })

const geminiCall = object({
  id: z.nullish(z.string('must be a string')),
  name,
  args: z.optional(z.unknown()),
})
const geminiContent = object({ parts: z.nullish(listOf(object({ functionCall: z.optional(geminiCall) }))) })
const geminiResponse = object({ candidates: listOf(object({ content: z.nullish(geminiContent) })) })

const anthropicResponse = object({ content: listOf(z.looseObject({}, 'must be an object')) })
const anthropicCall = object({ id: name, name, input: z.optional(z.unknown()) })

/**
 * Reads the tool calls of a provider's raw response, in order.
 *
 * A Gemini call without an id, or with that of an earlier call, gets one: the function's name or, where that is taken,
 * `name#2`, `name#3`.
 *
 * @returns `[]` when the model called nothing.
 * @throws {AtipParseError} It is not a response of that provider, or arguments are not a JSON object.
 * @example
 * for (const call of parseToolCall('openai', await response.json())) messages.push(await run(call))
 */
export function parseToolCall(provider: Provider, response: unknown): ToolCall[] {
  const fail = (message: string): never => {
    throw new AtipParseError(message, provider, response)
  }
  const read = <T>(schema: z.ZodMiniType<T>, input: unknown, at = 'the response'): T => {
    const parsed = schema.safeParse(input)
    if (parsed.success) return parsed.data
    const { path = [], message } = parsed.error.issues[0] ?? {}
    return fail(`${[at, ...path].join('.')} ${message}, got ${showValue(valueAt(input, path as string[]))}`)
  }
  const toCall = (id: string, name: string, raw: unknown): ToolCall => {
    const given =
      typeof raw === 'string' && raw !== '' ? parseJson(raw, name, fail) : raw === '' ? {} : (raw ?? {})
    if (isObject(given)) return { id, name, arguments: given }
    return fail(`the arguments of ${name} must be a JSON object, got ${showValue(given)}`)
  }
  switch (provider) {
    case 'openai': {
      const calls = read(openaiResponse, response).choices[0]?.message?.tool_calls ?? []
      return calls.map((call) => toCall(call.id, call.function.name, call.function.arguments))
    }
    case 'gemini': {
      const parts = read(geminiResponse, response).candidates[0]?.content?.parts ?? []
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? [])
      const taken = new Set(calls.flatMap(({ id }) => id || []))
      const given = new Set<string>()
      const keep = (id: string) => given.add(id) && id
      return calls.map(({ id, name, args }) => {
        if (id && !given.has(id)) return toCall(keep(id), name, args)
        let own = name
        for (let count = 2; taken.has(own) || given.has(own); count++) own = `${name}#${count}`
        return toCall(keep(own), name, args)
      })
    }
    case 'anthropic': {
      const blocks = read(anthropicResponse, response).content
      const calls = blocks.flatMap((block, index) =>
        block.type === 'tool_use' ? read(anthropicCall, block, `the response.content.${index}`) : [],
      )
      return calls.map(({ id, name, input }) => toCall(id, name, input))
    }
    default:
      return fail(`unknown provider ${showValue(provider satisfies never)}`)
  }
}

function parseJson(text: string, name: string, fail: (message: string) => never): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return fail(`the arguments of ${name} are not JSON: ${(error as Error).message}`)
  }
}

/**
 * The message that returns a tool's result to a provider.
 *
 * @param call - The tool call, as `parseToolCall` returned it, or its id. Gemini matches results by name and, if it gave the
 *   call an id, by id, too: an id of its own says no name, so such a result needs the whole call.
 * @param result - Any JSON value. OpenAI and Anthropic get it as JSON text (so a string is in
 *   quotes), Gemini as it is.
 * @throws {AtipUsageError} The result cannot be written as JSON: it contains itself, for example, or a BigInt.
 * @example
 * messages.push(handleToolResult('openai', call, await run(call)))
 */
export function handleToolResult<P extends Provider>(
  provider: P,
  call: string | Pick<ToolCall, 'id' | 'name'>,
  result: unknown,
): ToolMessageOf[P] {
  return messages[provider](typeof call === 'string' ? { id: call, name: withoutCount(call) } : call, result)
}

type Called = Pick<ToolCall, 'id' | 'name'>

const messages: { [P in Provider]: (call: Called, result: unknown) => ToolMessageOf[P] } = {
  openai: ({ id }, result) => ({ role: 'tool', tool_call_id: id, content: toJson(result) }),
  gemini: ({ id, name }, result) => {
    const own = withoutCount(id) === name ? {} : { id }
    return { role: 'user', parts: [{ function_response: { ...own, name, response: result } }] }
  },
  anthropic: ({ id }, result) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: toJson(result) }],
  }),
}

/** The function's name in an id that `parseToolCall` made of it. */
function withoutCount(id: string): string {
  return id.replace(/#\d+$/, '')
}

function toJson(result: unknown): string {
  // JSON cannot express undefined, and providers refuse a message without content.
  try {
    return JSON.stringify(result) ?? 'undefined'
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    const message = `handleToolResult: the result cannot be written as JSON (${why}).\nPass a string, or what JSON.stringify accepts.`
    throw new AtipUsageError(message, { cause: error })
  }
}
