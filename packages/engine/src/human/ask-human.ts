import { randomUUID } from 'node:crypto'
import type { HumanInputRequest } from '@delta/journal'
import type { FunctionTool } from '@delta/model'
import { type ActiveRun, record } from '../active-run.js'
import type { Call } from '../call.js'
import { interrupted, type Outcome, type Question } from '../outcome.js'
import { refuse } from '../refuse.js'
import { askPerson } from './ask-person.js'
import { clearInteraction, leaveQuestion, readResponse } from './interaction.js'
import { keepSecret, secretToken } from './secrets.js'

export const ASK_HUMAN = 'ask_human'

/** The one tool that is not a command. Every agent has it. */
export const askHumanTool: FunctionTool = {
  type: 'function',
  function: {
    name: ASK_HUMAN,
    description: 'Request input from human user. Execution pauses until response received.',
    parameters: {
      type: 'object',
      properties: {
        prompt: { type: 'string', description: 'Question or instruction to display to user' },
        input_type: {
          type: 'string',
          enum: ['text', 'password', 'confirmation'],
          description: 'Input type: text | password | confirmation',
        },
        sensitive: {
          type: 'boolean',
          description: 'Whether input is sensitive (should hide input characters)',
        },
      },
      required: ['prompt'],
      additionalProperties: false,
    },
  },
}

/** Asks a person: at the terminal when there is one, otherwise by leaving the question in `interaction/` and stopping. */
export async function askHuman(run: ActiveRun, call: Call, iteration: number): Promise<Outcome | undefined> {
  const asked = parseQuestion(call.arguments)
  if (typeof asked === 'string') {
    return refuse(run, call, {
      iteration,
      attempt: 1,
      args: call.arguments,
      status: 'ERROR',
      observation: asked,
    })
  }
  const question = { ...asked, requestId: randomUUID() }
  record(
    run,
    {
      type: 'ACTION_REQUEST',
      iteration,
      action_id: call.action_id,
      attempt: 1,
      tool_name: ASK_HUMAN,
      tool_args: JSON.parse(call.arguments),
      resolved_command: null,
      argv: null,
    },
    {
      type: 'HUMAN_INPUT_REQUEST',
      iteration,
      action_id: call.action_id,
      request_id: question.requestId,
      prompt: question.prompt,
      input_type: question.inputType,
      sensitive: question.sensitive,
    },
  )
  return answerOrWait(run, call, question, { iteration, text: undefined })
}

/** Takes up a question that an earlier engine left open: the answer may lie in `response.txt` or have come with `continue -m`. */
export function resumeAskHuman(
  run: ActiveRun,
  call: Call,
  request: HumanInputRequest,
  iteration: number,
): Promise<Outcome | undefined> {
  const text = run.reply?.kind === 'answer' ? run.reply.text : readResponse(run.run.paths.interaction)
  return answerOrWait(run, call, questionOf(request), { iteration, text })
}

export function questionOf(request: HumanInputRequest): Question {
  return {
    requestId: request.request_id ?? randomUUID(),
    prompt: request.prompt,
    inputType: isInputType(request.input_type) ? request.input_type : 'text',
    sensitive: request.sensitive ?? false,
  }
}

async function answerOrWait(
  run: ActiveRun,
  call: Call,
  question: Question,
  { iteration, text }: { iteration: number; text: string | undefined },
): Promise<Outcome | undefined> {
  const answer = text ?? (await askPerson(run, question))
  if (answer === undefined && run.signal.aborted) return interrupted(run.signal)
  if (answer === undefined && run.signal.aborted) return interrupted(run.signal)
  if (answer === undefined) {
    leaveQuestion(run.run.paths.interaction, question)
    return { status: 'WAITING_FOR_INPUT', question }
  }
  receive(run, call, question, { iteration, answer })
  return undefined
}

function receive(
  run: ActiveRun,
  call: Call,
  question: Question,
  { iteration, answer }: { iteration: number; answer: string },
): void {
  if (question.sensitive) keepSecret(run.run.paths.secrets, call.action_id, answer)
  const shown = question.sensitive ? secretToken(call.action_id) : answer
  record(
    run,
    {
      type: 'HUMAN_INPUT_RECEIVED',
      iteration,
      action_id: call.action_id,
      request_id: question.requestId,
      response: shown,
    },
    {
      type: 'ACTION_RESULT',
      iteration,
      action_id: call.action_id,
      tool_name: ASK_HUMAN,
      status: 'SUCCESS',
      exit_code: 0,
      signal: null,
      observation_content: question.sensitive ? secretObservation(shown) : answer,
      execution_ref: null,
      duration_ms: 0,
    },
  )
  run.run.journal.sync()
  clearInteraction(run.run.paths.interaction)
}

function secretObservation(token: string): string {
  return `The person answered. The answer is kept from you; write ${token} where a tool needs it, and the tool gets the value.`
}

/** The question in the model's arguments, or what is wrong with them. */
function parseQuestion(text: string): Omit<Question, 'requestId'> | string {
  const args = parseObject(text)
  if (!args) return 'ask_human needs a JSON object such as {"prompt":"Which file?"}.'
  const { prompt, input_type: inputType = 'text', sensitive = false } = args
  if (typeof prompt !== 'string' || prompt === '')
    return 'ask_human needs a "prompt": the question to show to the person.'
  if (!isInputType(inputType)) return 'ask_human: "input_type" must be text, password or confirmation.'
  return {
    prompt,
    inputType,
    sensitive: sensitive === true || sensitive === 'true' || inputType === 'password',
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined // the caller tells the model what is wanted
  }
}

function isInputType(value: unknown): value is Question['inputType'] {
  return value === 'text' || value === 'password' || value === 'confirmation'
}
