import { AtipParseError } from './errors.js'
import type { Provider, ToolCall } from './providers.js'

type Fields = Record<string, unknown>
type Fail = (message: string) => never

/**
 * Reads the tool calls out of a provider's raw response, in order.
 *
 * Gemini gives its calls no ids: the first call of a function gets the function's name,
 * the next ones `name#2`, `name#3`; `handleToolResult` takes them back.
 *
 * @returns `[]` when the model called nothing.
 * @throws {AtipParseError} It is no response of that provider, or arguments are not a JSON object.
 */
export function parseToolCall(provider: Provider, response: unknown): ToolCall[] {
  const fail: Fail = (message) => {
    throw new AtipParseError(message, provider, response)
  }
  switch (provider) {
    case 'openai':
      return fromOpenAI(response, fail)
    case 'gemini':
      return fromGemini(response, fail)
    case 'anthropic':
      return fromAnthropic(response, fail)
    default:
      return fail(`unknown provider ${shown(provider satisfies never)}`)
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : `of type ${typeof value}`
}

function fromOpenAI(response: unknown, fail: Fail): ToolCall[] {
  const choices = list(fields(response).choices) ?? fail('no "choices" in the response')
  const calls = list(fields(fields(choices[0]).message).tool_calls) ?? []
  return calls.map((call) => {
    const { name, arguments: raw } = fields(fields(call).function)
    const known = requireText(name, 'a tool call without a function name', fail)
    return {
      id: requireText(fields(call).id, `the call of ${known} has no id`, fail),
      name: known,
      arguments: argumentsOf(raw, known, fail),
    }
  })
}

function fromGemini(response: unknown, fail: Fail): ToolCall[] {
  const candidates = list(fields(response).candidates) ?? fail('no "candidates" in the response')
  const parts = list(fields(fields(candidates[0]).content).parts) ?? []
  const counts = new Map<string, number>()
  return parts.flatMap((part) => {
    const call = fields(part).functionCall
    if (call === undefined) return []
    const name = requireText(fields(call).name, 'a function call without a name', fail)
    const count = (counts.get(name) ?? 0) + 1
    counts.set(name, count)
    return [
      {
        id: count === 1 ? name : `${name}#${count}`,
        name,
        arguments: argumentsOf(fields(call).args, name, fail),
      },
    ]
  })
}

function fromAnthropic(response: unknown, fail: Fail): ToolCall[] {
  const blocks = list(fields(response).content) ?? fail('no "content" list in the response')
  return blocks.flatMap((block) => {
    const { type, id, name, input } = fields(block)
    if (type !== 'tool_use') return []
    const known = requireText(name, 'a tool_use block without a name', fail)
    return [
      {
        id: requireText(id, `the call of ${known} has no id`, fail),
        name: known,
        arguments: argumentsOf(input, known, fail),
      },
    ]
  })
}

/** Arguments are a JSON string or already an object; none at all is a call without arguments. */
function argumentsOf(raw: unknown, name: string, fail: Fail): Fields {
  if (raw === undefined || raw === null || raw === '') return {}
  const value = typeof raw === 'string' ? parseJson(raw, name, fail) : raw
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fail(`the arguments of ${name} are not a JSON object`)
  }
  return value as Fields
}

function parseJson(text: string, name: string, fail: Fail): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return fail(
      `the arguments of ${name} are not JSON: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function requireText(value: unknown, message: string, fail: Fail): string {
  return typeof value === 'string' && value !== '' ? value : fail(message)
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

function list(value: unknown): unknown[] | undefined {
  return Array.isArray(value) ? value : undefined
}
