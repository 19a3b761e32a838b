import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { isTooDeep } from '@delta/executor/internal'
import type { HumanInputRequest, PendingCall, RunSummary } from '@delta/journal/runs'
import type { FunctionTool } from '@delta/model'
import { cutOffObservation, rejectCall } from './calls.js'
import { answerTo, clearInteraction, readResponse } from './interaction.js'
import type { Outcome, Question } from './outcome.js'
import type { RecordedCall } from './recorded-run.js'
import { type Call, lastEventOf, placeOf, type RunState, record } from './run-state.js'
import { keepSecret, secretToken } from './secrets.js'

export const ASK_HUMAN = 'ask_human'

const INPUT_TYPES = ['text', 'password', 'confirmation'] as const

const PROMPT = { type: 'string', description: 'Question or instruction to display to user' }
const INPUT_TYPE = {
  type: 'string',
  enum: INPUT_TYPES,
  description: 'Input type: text | password | confirmation',
}
const SENSITIVE = {
  type: 'boolean',
  description: 'Whether input is sensitive (should hide input characters)',
}

/** The one tool that is not a command; every agent has it. In strict mode every parameter is required, and null means absent. */
export function askHumanTool(strict: boolean): FunctionTool {
  const properties = {
    prompt: PROMPT,
    input_type: strict
      ? { ...INPUT_TYPE, type: ['string', 'null'], enum: [...INPUT_TYPES, null] }
      : INPUT_TYPE,
    sensitive: strict ? { ...SENSITIVE, type: ['boolean', 'null'] } : SENSITIVE,
  }
  const required = strict ? Object.keys(properties) : ['prompt']
  return {
    type: 'function',
    function: {
      name: ASK_HUMAN,
      description: 'Request input from human user. Execution pauses until response received.',
      parameters: { type: 'object', properties, required, additionalProperties: false },
      ...(strict && { strict }),
    },
  }
}

/** Asks a person at the terminal. Without a terminal, writes the question to `interaction/` and stops the run. */
export async function askHuman(
  state: RunState,
  call: Call & { requested?: boolean },
  iteration: number,
): Promise<Outcome | undefined> {
  const question = parseQuestion(call.arguments)
  if (typeof question === 'string') {
    const observation = cutOffObservation(state, call) ?? question
    return rejectCall(state, call, { iteration, status: 'ERROR', observation })
  }
  if (!call.requested)
    record(state, {
      type: 'ACTION_REQUEST',
      iteration,
      action_id: call.action_id,
      attempt: 1,
      tool_name: ASK_HUMAN,
      tool_args: JSON.parse(call.arguments),
      resolved_command: null,
      argv: null,
    })
  record(state, {
    type: 'HUMAN_INPUT_REQUEST',
    iteration,
    action_id: call.action_id,
    request_id: question.requestId,
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
  })
  const recorded = state.replay?.question(call, placeOf(state, call))
  if (recorded?.asked?.answer) return repeatAnswer(state, call, recorded)
  return awaitAnswer(state, call, question, { iteration, given: undefined })
}

/** Gives the recorded answer; in the place of a secret, the token that was recorded. */
function repeatAnswer(state: RunState, call: Call, { asked, result }: RecordedCall): undefined {
  const { iteration } = placeOf(state, call)
  const { response = '' } = asked?.answer ?? {}
  record(state, {
    type: 'HUMAN_INPUT_RECEIVED',
    replayed: true,
    iteration,
    action_id: call.action_id,
    response,
  })
  return recordAnswer(state, call, {
    iteration,
    shown: response,
    observation: result?.observation_content,
  })
}

/**
 * Resumes a question that an earlier engine left open. The answer may be in the journal, in `response.txt` or in
 * `continue -m`; otherwise the person is asked again.
 */
export async function resumeAskHuman(
  state: RunState,
  call: PendingCall,
  waiting: HumanInputRequest | undefined,
): Promise<Outcome | undefined> {
  const { iteration } = call
  if (waiting) {
    const question = questionOf(waiting)
    const given =
      state.reply?.kind === 'answer' ? state.reply.text : readResponse(state.run.paths.interaction, question)
    if (given !== undefined) state.emit({ kind: 'open', event: waiting })
    return awaitAnswer(state, call, question, { iteration, given })
  }
  const received = lastEventOf(await state.run.events(), 'HUMAN_INPUT_RECEIVED', call.action_id)
  if (!received) return askHuman(state, call, iteration)
  return recordAnswer(state, call, { iteration, shown: received.response })
}

async function awaitAnswer(
  state: RunState,
  call: Call,
  question: Question,
  { iteration, given }: { iteration: number; given: string | undefined },
): Promise<Outcome | undefined> {
  const answer = await answerTo(state, question, given)
  if (typeof answer !== 'string') return answer
  if (question.sensitive) keepSecret(state.run.paths.secrets, call.action_id, answer)
  const shown = question.sensitive ? secretToken(call.action_id) : answer
  record(state, {
    type: 'HUMAN_INPUT_RECEIVED',
    iteration,
    action_id: call.action_id,
    request_id: question.requestId,
    response: shown,
  })
  recordAnswer(state, call, { iteration, shown })
  state.run.journal.sync()
  clearInteraction(state.run.paths.interaction)
  return undefined
}

function recordAnswer(
  state: RunState,
  call: Call,
  { iteration, shown, observation }: { iteration: number; shown: string; observation?: string | undefined },
): undefined {
  const isSecret = shown === secretToken(call.action_id)
  record(state, {
    type: 'ACTION_RESULT',
    iteration,
    action_id: call.action_id,
    tool_name: ASK_HUMAN,
    status: 'SUCCESS',
    exit_code: 0,
    signal: null,
    observation_content: observation ?? (isSecret ? secretObservation(shown) : shown),
    execution_ref: null,
    duration_ms: 0,
  })
}

function secretObservation(token: string): string {
  return `The person answered. The answer is kept from you; write ${token} where a tool needs it, and the tool gets the value.`
}

/** Parses the model's arguments. Returns the question, or an error message for the model. */
function parseQuestion(text: string): Question | string {
  const { prompt, input_type, sensitive } = parseObject(text)
  const inputType = input_type ?? 'text' // null in strict mode
  if (typeof prompt !== 'string' || prompt === '')
    return 'ask_human needs a "prompt", the question to show to the person: a JSON object such as {"prompt":"Which file?"}.'
  if (!isInputType(inputType)) return `ask_human: "input_type" must be one of ${INPUT_TYPES.join(', ')}.`
  const isSaid = (value: boolean) => sensitive === value || sensitive === String(value)
  const isSecret = isSaid(true) || (inputType === 'password' && !isSaid(false))
  return { requestId: randomUUID(), prompt, inputType, sensitive: isSecret }
}

/** The question of a `HUMAN_INPUT_REQUEST`. */
export function questionOf(request: HumanInputRequest): Question {
  return {
    requestId: request.request_id ?? randomUUID(),
    prompt: request.prompt,
    inputType: isInputType(request.input_type) ? request.input_type : 'text',
    sensitive: request.sensitive ?? false,
  }
}

/** True if the answer to a run's question lies in its `response.txt`. */
export function hasResponse({ humanRequest, directory }: RunSummary): boolean {
  if (humanRequest === undefined) return false
  return readResponse(join(directory, 'interaction'), questionOf(humanRequest)) !== undefined
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isTooDeep(value) ? {} : Object(value)
  } catch {
    return {} // the caller reports the missing prompt to the model
  }
}

function isInputType(value: unknown): value is Question['inputType'] {
  return INPUT_TYPES.some((type) => type === value)
}
