import { fitShape, showValue } from '@delta/settings'
import { AtipParseError } from './errors.js'
import { FORMATS, type Provider, type ToolCall, type ToolMessageOf, withoutCount } from './providers.js'
import { isObject } from './schema.js'

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
  if (!Object.hasOwn(FORMATS, provider)) return fail(`unknown provider ${showValue(provider)}`)
  const sent = FORMATS[provider].callsOf(response, (schema, part, ...at) => {
    const { value, problems } = fitShape(schema, part)
    const [{ path = [], message = '' } = {}] = problems
    return value ?? fail(`${['the response', ...at, ...path].join('.')}: ${message}`)
  })
  return sent.map(({ id, name, arguments: raw }) => {
    const given =
      typeof raw === 'string' && raw !== '' ? parseJson(raw, name, fail) : raw === '' ? {} : (raw ?? {})
    if (isObject(given)) return { id, name, arguments: given }
    return fail(`the arguments of ${name} must be a JSON object, got ${showValue(given)}`)
  })
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
 * @param result - Any JSON value. Gemini gets it as it is, the others as JSON text, so a string is in quotes.
 * @throws {AtipUsageError} The result cannot be written as JSON: it contains itself, for example, or a BigInt.
 * @example
 * messages.push(handleToolResult('openai', call, await run(call)))
 */
export function handleToolResult<P extends Provider>(
  provider: P,
  call: string | Pick<ToolCall, 'id' | 'name'>,
  result: unknown,
): ToolMessageOf[P] {
  const named = typeof call === 'string' ? { id: call, name: withoutCount(call) } : call
  return FORMATS[provider].toMessage(named, result)
}
