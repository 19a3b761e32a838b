import type { HumanInputRequest, PendingCall } from '@delta/journal'
import { cutCall, refuse } from '../calls.js'
import { lastEventOf } from '../history.js'
import { interrupted, type Outcome, type Question } from '../outcome.js'
import { type Call, type RunState, record } from '../run-state.js'
import { askPerson } from './ask-person.js'
import { clearInteraction, leaveQuestion, readResponse } from './interaction.js'
import { ASK_HUMAN, parseQuestion, questionOf } from './question.js'
import { keepSecret, secretToken } from './secrets.js'

/** Asks a person: at the terminal when there is one, otherwise by leaving the question in `interaction/` and stopping. */
export async function askHuman(state: RunState, call: Call, iteration: number): Promise<Outcome | undefined> {
  const question = parseQuestion(call.arguments)
  if (typeof question === 'string') {
    const observation = cutCall(state, call) ?? question
    const refusal = { status: 'ERROR', args: call.arguments, observation } as const
    return refuse(state, call, { iteration, attempt: 1, ...refusal })
  }
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
  recordQuestion(state, call, question, iteration)
  return answerOrWait(state, call, question, { iteration, text: undefined })
}

/**
 * Takes up a question that an earlier engine left open: the answer may be journaled already, lie in `response.txt` or
 * have come with `continue -m`; otherwise the person is asked again.
 */
export async function resumeAskHuman(
  state: RunState,
  call: PendingCall,
  waiting: HumanInputRequest | undefined,
): Promise<Outcome | undefined> {
  const { iteration } = call
  if (waiting) {
    const question = questionOf(waiting)
    const text =
      state.reply?.kind === 'answer' ? state.reply.text : readResponse(state.run.paths.interaction, question)
    if (text !== undefined) state.emit({ kind: 'open', event: waiting })
    return answerOrWait(state, call, question, { iteration, text })
  }
  const received = lastEventOf(await state.run.events(), 'HUMAN_INPUT_RECEIVED', call.action_id)
  if (received) {
    recordAnswer(state, call, { iteration, shown: received.response })
    return undefined
  }
  const question = parseQuestion(call.arguments)
  if (typeof question === 'string' || !call.requested) return askHuman(state, call, iteration)
  recordQuestion(state, call, question, iteration)
  return answerOrWait(state, call, question, { iteration, text: undefined })
}

async function answerOrWait(
  state: RunState,
  call: Call,
  question: Question,
  { iteration, text }: { iteration: number; text: string | undefined },
): Promise<Outcome | undefined> {
  const answer = text ?? (await askPerson(state, question))
  if (answer === undefined && state.signal.aborted) return interrupted(state.signal)
  if (answer === undefined) {
    leaveQuestion(state.run.paths.interaction, question)
    return { status: 'WAITING_FOR_INPUT', reasonCode: 'question', question }
  }
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

function recordQuestion(state: RunState, call: Call, question: Question, iteration: number): void {
  record(state, {
    type: 'HUMAN_INPUT_REQUEST',
    iteration,
    action_id: call.action_id,
    request_id: question.requestId,
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
  })
}

function recordAnswer(
  state: RunState,
  call: Call,
  { iteration, shown }: { iteration: number; shown: string },
): void {
  const isSecret = shown === secretToken(call.action_id)
  record(state, {
    type: 'ACTION_RESULT',
    iteration,
    action_id: call.action_id,
    tool_name: ASK_HUMAN,
    status: 'SUCCESS',
    exit_code: 0,
    signal: null,
    observation_content: isSecret ? secretObservation(shown) : shown,
    execution_ref: null,
    duration_ms: 0,
  })
}

function secretObservation(token: string): string {
  return `The person answered. The answer is kept from you; write ${token} where a tool needs it, and the tool gets the value.`
}
