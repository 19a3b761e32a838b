/** Why a strict API refuses a request. `param` is the place, spelled as OpenAI does: `messages.[3].role`. */
export interface HistoryProblem {
  readonly message: string
  readonly param: string
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']

/**
 * Looks for what a strict chat-completions API answers with 400: a call without an answer, an answer without
 * a call, answers twice or out of order, missing content, repeated ids, unusable tool definitions.
 *
 * @param request - The parsed JSON body.
 * @returns The first problem, or undefined.
 */
export function findHistoryProblem(request: unknown): HistoryProblem | undefined {
  if (!isObject(request)) return problem('', 'The body is not a JSON object.')
  const { model, messages, tools } = request
  if (typeof model !== 'string' || model === '') return problem('model', 'you must provide a model parameter')
  if (!Array.isArray(messages) || messages.length === 0)
    return problem('messages', "'messages' must be a non-empty array")
  return findToolProblem(tools) ?? findMessageProblem(messages)
}

function problem(param: string, message: string): HistoryProblem {
  return { message, param }
}

function findToolProblem(tools: unknown): HistoryProblem | undefined {
  if (tools === undefined) return undefined
  if (!Array.isArray(tools) || tools.length === 0) return problem('tools', "[] is too short - 'tools'")
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const param = `tools.[${index}].function.name`
    const name = isObject(tool) && tool.type === 'function' && isObject(tool.function) && tool.function.name
    if (typeof name !== 'string' || !NAME.test(name))
      return problem(param, `Invalid '${param}': string does not match pattern ${NAME.source}.`)
    if (names.has(name)) return problem(param, `Tool names must be unique: ${name}.`)
    names.add(name)
  }
  return undefined
}

function findMessageProblem(messages: readonly unknown[]): HistoryProblem | undefined {
  const seen = new Set<string>()
  let open: string[] = []
  let openedAt = 0

  for (const [index, message] of messages.entries()) {
    const param = `messages.[${index}]`
    if (!isObject(message) || !ROLES.includes(String(message.role)))
      return problem(`${param}.role`, `Invalid value for '${param}.role'.`)
    if (message.role === 'tool') {
      const found = findAnswerProblem(message, open, param)
      if (found) return found
      open = open.slice(1)
      continue
    }
    if (open.length > 0) return unanswered(open, openedAt)
    const found = findContentProblem(message, param) ?? findCallProblem(message, seen, param)
    if (found) return found
    open = callsOf(message).map((call) => String(call.id))
    openedAt = index
  }
  return open.length > 0 ? unanswered(open, openedAt) : undefined
}

function findAnswerProblem(
  { content, tool_call_id: id }: Record<string, unknown>,
  open: readonly string[],
  param: string,
): HistoryProblem | undefined {
  if (!isText(content)) return problem(`${param}.content`, `Missing '${param}.content'.`)
  if (open[0] === id) return undefined
  if (open.includes(String(id)))
    return problem(
      `${param}.tool_call_id`,
      `Answers must be in the order of the calls: expected '${open[0]}', got '${id}'.`,
    )
  return problem(
    `${param}.role`,
    "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls', once.",
  )
}

function unanswered(open: readonly string[], openedAt: number): HistoryProblem {
  return problem(
    `messages.[${openedAt}].tool_calls`,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
  )
}

function findContentProblem(message: Record<string, unknown>, param: string): HistoryProblem | undefined {
  const { role, content, tool_calls } = message
  const mayBeEmpty = role === 'assistant' && tool_calls !== undefined
  if (isText(content) || (mayBeEmpty && (content === null || content === undefined))) return undefined
  const found = content === undefined ? 'nothing' : JSON.stringify(content)
  return problem(`${param}.content`, `Invalid value for '${param}.content': expected a string, got ${found}.`)
}

function findCallProblem(
  { role, tool_calls }: Record<string, unknown>,
  seen: Set<string>,
  param: string,
): HistoryProblem | undefined {
  if (tool_calls === undefined) return undefined
  if (role !== 'assistant' || !Array.isArray(tool_calls) || tool_calls.length === 0)
    return problem(`${param}.tool_calls`, `Invalid '${param}.tool_calls': empty or misplaced.`)
  for (const [index, call] of callsOf({ tool_calls }).entries()) {
    const place = `${param}.tool_calls.[${index}]`
    const found = describeCallProblem(call, seen)
    if (found) return problem(place, `Invalid '${place}': ${found}.`)
    seen.add(String(call.id))
  }
  return undefined
}

function describeCallProblem(call: Record<string, unknown>, seen: ReadonlySet<string>): string | undefined {
  if (typeof call.id !== 'string' || !NAME.test(call.id)) return `the id does not match ${NAME.source}`
  if (seen.has(call.id)) return `the id '${call.id}' was used before`
  if (call.type !== 'function' || !isObject(call.function)) return 'it is no function call'
  const { name, arguments: text } = call.function
  if (typeof name !== 'string' || !NAME.test(name)) return `the name does not match ${NAME.source}`
  return typeof text === 'string' ? undefined : 'the arguments are not a string'
}

function callsOf(message: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(message.tool_calls)
    ? message.tool_calls.map((call) => (isObject(call) ? call : {}))
    : []
}

function isText(content: unknown): boolean {
  return typeof content === 'string' || (Array.isArray(content) && content.length > 0)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
