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
  if (!isObject(request)) return { message: 'The body is not a JSON object.', param: '' }
  if (typeof request.model !== 'string' || request.model === '') {
    return { message: 'you must provide a model parameter', param: 'model' }
  }
  if (!Array.isArray(request.messages) || request.messages.length === 0) {
    return { message: "'messages' must be a non-empty array", param: 'messages' }
  }
  return findToolProblem(request.tools) ?? findMessageProblem(request.messages)
}

function findToolProblem(tools: unknown): HistoryProblem | undefined {
  if (tools === undefined) return undefined
  if (!Array.isArray(tools) || tools.length === 0) {
    return { message: "[] is too short - 'tools'", param: 'tools' }
  }
  const names = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const param = `tools.[${index}].function.name`
    const name = isObject(tool) && tool.type === 'function' && isObject(tool.function) && tool.function.name
    if (typeof name !== 'string' || !NAME.test(name)) {
      return { message: `Invalid '${param}': string does not match pattern ${NAME.source}.`, param }
    }
    if (names.has(name)) return { message: `Tool names must be unique: ${name}.`, param }
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
    if (!isObject(message) || !ROLES.includes(String(message.role))) {
      return { message: `Invalid value for '${param}.role'.`, param: `${param}.role` }
    }
    if (message.role === 'tool') {
      const problem = findAnswerProblem(message, open, param)
      if (problem) return problem
      open = open.slice(1)
      continue
    }
    if (open.length > 0) return unanswered(open, openedAt)
    const problem = findContentProblem(message, param) ?? findCallProblem(message, seen, param)
    if (problem) return problem
    open = callsOf(message).map((call) => String(call.id))
    openedAt = index
  }
  return open.length > 0 ? unanswered(open, openedAt) : undefined
}

function findAnswerProblem(
  message: Record<string, unknown>,
  open: readonly string[],
  param: string,
): HistoryProblem | undefined {
  if (!isText(message.content)) return { message: `Missing '${param}.content'.`, param: `${param}.content` }
  if (open[0] === message.tool_call_id) return undefined
  if (typeof message.tool_call_id === 'string' && open.includes(message.tool_call_id)) {
    return {
      message: `Answers must be in the order of the calls: expected '${open[0]}', got '${message.tool_call_id}'.`,
      param: `${param}.tool_call_id`,
    }
  }
  return {
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls', once.",
    param: `${param}.role`,
  }
}

function unanswered(open: readonly string[], openedAt: number): HistoryProblem {
  return {
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
    param: `messages.[${openedAt}].tool_calls`,
  }
}

function findContentProblem(message: Record<string, unknown>, param: string): HistoryProblem | undefined {
  if (isText(message.content)) return undefined
  const mayBeEmpty = message.role === 'assistant' && message.tool_calls !== undefined
  if (mayBeEmpty && (message.content === null || message.content === undefined)) return undefined
  return {
    message: `Invalid value for '${param}.content': expected a string, got ${message.content === undefined ? 'nothing' : JSON.stringify(message.content)}.`,
    param: `${param}.content`,
  }
}

function findCallProblem(
  message: Record<string, unknown>,
  seen: Set<string>,
  param: string,
): HistoryProblem | undefined {
  if (message.tool_calls === undefined) return undefined
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls) || message.tool_calls.length === 0) {
    return { message: `Invalid '${param}.tool_calls': empty or misplaced.`, param: `${param}.tool_calls` }
  }
  for (const [index, call] of callsOf(message).entries()) {
    const place = `${param}.tool_calls.[${index}]`
    const problem = describeCallProblem(call, seen)
    if (problem) return { message: `Invalid '${place}': ${problem}.`, param: place }
    seen.add(String(call.id))
  }
  return undefined
}

function describeCallProblem(call: Record<string, unknown>, seen: ReadonlySet<string>): string | undefined {
  if (typeof call.id !== 'string' || !NAME.test(call.id)) return `the id does not match ${NAME.source}`
  if (seen.has(call.id)) return `the id '${call.id}' was used before`
  if (call.type !== 'function' || !isObject(call.function)) return 'it is no function call'
  if (typeof call.function.name !== 'string' || !NAME.test(call.function.name)) {
    return `the name does not match ${NAME.source}`
  }
  return typeof call.function.arguments === 'string' ? undefined : 'the arguments are not a string'
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
