import { isUtf8 } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile, syncName } from '@delta/durable'
import { isTooDeep, quoteForPerson } from '@delta/executor'
import type { HumanInputRequest, PendingCall, RunSummary } from '@delta/journal'
import type { FunctionTool } from '@delta/model'
import { cutCall, refuse } from './calls.js'
import { EngineError } from './errors.js'
import { lastEventOf } from './history.js'
import { interrupted, type Outcome, type Question } from './outcome.js'
import { type Call, type ReadyCall, type RunState, record } from './run-state.js'

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

/** The person's decision, or the end of this engine's part because nobody has decided yet. */
export type Decision = 'yes' | 'no' | Outcome

/**
 * Asks a person whether one exact command may run. At the terminal the answer comes at once; otherwise the run waits,
 * and only `--approve` or `--deny` with this request's id decides: a tool could have written a file.
 */
export function approve(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  iteration: number,
): Promise<Decision> {
  const requestId = randomUUID()
  record(state, {
    type: 'HUMAN_INPUT_REQUEST',
    iteration,
    action_id: call.action_id,
    request_id: requestId,
    prompt: promptFor(call, prepared),
    input_type: 'confirmation',
    sensitive: false,
    argv: prepared.argv,
    effects: prepared.tool.settings.effects,
    reasons: prepared.reasons,
  })
  return decide(state, call, prepared, { iteration, requestId })
}

/** True when this engine was started with a decision on this very question. */
export function isDecided(state: RunState, { request_id: requestId }: HumanInputRequest): boolean {
  return requestId !== undefined && decisionOf(state, requestId) !== undefined
}

/**
 * Takes up a waiting approval. A no refuses the call, whatever its command is now; a yes holds for one exact command, so if
 * that has changed since, the question is asked again under a new id.
 */
export function resumeApproval(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, request }: { iteration: number; request: HumanInputRequest },
): Promise<Decision> {
  const requestId = request.request_id
  const word = requestId === undefined ? undefined : decisionOf(state, requestId)
  if (requestId !== undefined && (word === 'no' || isUnchanged(call, prepared, request)))
    return decide(state, call, prepared, { iteration, requestId })

  if (word === 'yes') state.emit({ kind: 'notice', message: CHANGED })
  return approve(state, call, prepared, iteration)
}

/** The prompt also covers what argv does not: stdin, and the reasons. Reasons may have gone since, but none may be new. */
function isUnchanged(call: Call, prepared: ReadyCall, { argv, prompt }: HumanInputRequest): boolean {
  if (JSON.stringify(argv) !== JSON.stringify(prepared.argv)) return false
  return prepared.decision === 'allow'
    ? prompt.endsWith(`\n${commandLines(prepared)}`)
    : prompt === promptFor(call, prepared)
}

const CHANGED = 'The command has changed since it was approved, so it was not run, and needs approval again.'

async function decide(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, requestId }: { iteration: number; requestId: string },
): Promise<Decision> {
  const question: Question = {
    requestId,
    prompt: promptFor(call, prepared),
    inputType: 'confirmation',
    sensitive: false,
    command: commandOf(prepared),
    ...(prepared.sandbox && { started: startedAs(prepared) }),
    tool: call.name,
    reasons: prepared.reasons,
    ...(prepared.tool.settings.effects && { effects: prepared.tool.settings.effects }),
  }
  const answer = decisionOf(state, requestId) ?? (await askPerson(state, question))
  const { decision, always = false } = toDecision(answer)
  if (decision === undefined && state.signal.aborted) return interrupted(state.signal)
  if (decision === undefined) {
    leaveQuestion(state.run.paths.interaction, question)
    return { status: 'WAITING_FOR_INPUT', reasonCode: 'approval', question }
  }
  const about = { iteration, action_id: call.action_id, request_id: requestId }
  record(state, {
    type: 'HUMAN_INPUT_RECEIVED',
    ...about,
    response: decision,
    ...(always && { remember: 'process' }),
  })
  if (always) state.alwaysAllowed.add(call.name)
  state.run.journal.sync()
  clearInteraction(state.run.paths.interaction)
  return decision
}

function decisionOf(state: RunState, requestId: string): 'yes' | 'no' | undefined {
  if (!state.reply || state.reply.kind === 'answer' || state.reply.requestId !== requestId) return undefined
  return state.reply.kind === 'approve' ? 'yes' : 'no'
}

/** Whether a text decides on a command: a plain yes, no (or `y`, `n`) or always, and nothing besides. */
export function isDecision(answer: string): boolean {
  return typeof answer === 'string' && /^\s*(?:y|yes|n|no|always)\s*$/i.test(answer)
}

/** Only a plain yes, or always, is a yes. */
function toDecision(answer: string | undefined): { decision?: 'yes' | 'no'; always?: boolean } {
  if (answer === undefined) return {}
  if (/^\s*always\s*$/i.test(answer)) return { decision: 'yes', always: true }
  return { decision: /^\s*y(es)?\s*$/i.test(answer) ? 'yes' : 'no' }
}

function promptFor(call: Call, prepared: ReadyCall): string {
  const why = prepared.reasons.length > 0 ? ` (${prepared.reasons.join(', ')})` : ''
  return `May "${call.name}" run this command?${why}\n${commandLines(prepared)}`
}

/** What a person judges: the tool's own command, where and with what it runs, and what a sandbox makes of it. */
function commandLines(prepared: ReadyCall): string {
  const { cwd, env = {}, passEnv } = prepared.tool.settings
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const started = startedAs(prepared)
  return [
    `  ${commandOf(prepared)}`,
    ...(cwd === undefined ? [] : [`In the directory ${quoteForPerson([cwd])}`]),
    ...(variables.length === 0 ? [] : [`With ${quoteForPerson(variables)}`]),
    ...(passEnv.length === 0 ? [] : [`With the engine's ${passEnv.join(', ')}`]),
    ...(started === undefined ? [] : ['Started in a sandbox, as:', `  ${started}`]),
  ].join('\n')
}

/** All of it, as it would be typed: what a tool gets on stdin can do as much harm as its arguments. */
function commandOf({ argv, stdin, tool, sandbox = [] }: ReadyCall): string {
  const { settings, expanded } = tool
  // the author's own script keeps its lines; an imported description is somebody else's
  const known = settings.trust === undefined ? expanded.command : []
  const command = quoteForPerson(argv.slice(sandbox.length), known)
  return stdin === undefined ? command : `${quoteForPerson(['printf', '%s', stdin])} | ${command}`
}

function startedAs({ argv, sandbox }: ReadyCall): string | undefined {
  return sandbox && quoteForPerson(argv)
}

export const ASK_HUMAN = 'ask_human'

const INPUT_TYPES = ['text', 'password', 'confirmation'] as const

const PROPERTIES = {
  prompt: { type: 'string', description: 'Question or instruction to display to user' },
  input_type: {
    type: 'string',
    enum: [...INPUT_TYPES],
    description: 'Input type: text | password | confirmation',
  },
  sensitive: {
    type: 'boolean',
    description: 'Whether input is sensitive (should hide input characters)',
  },
}

/** The one tool that is not a command. Every agent has it. */
export const askHumanTool: FunctionTool = {
  type: 'function',
  function: {
    name: ASK_HUMAN,
    description: 'Request input from human user. Execution pauses until response received.',
    parameters: {
      type: 'object',
      properties: PROPERTIES,
      required: ['prompt'],
      additionalProperties: false,
    },
  },
}

/** The same for strict mode: every parameter is required, and null stands for what is left out. */
export const strictAskHumanTool: FunctionTool = {
  type: 'function',
  function: {
    ...askHumanTool.function,
    strict: true,
    parameters: {
      ...askHumanTool.function.parameters,
      properties: {
        ...PROPERTIES,
        input_type: { ...PROPERTIES.input_type, type: ['string', 'null'], enum: [...INPUT_TYPES, null] },
        sensitive: { ...PROPERTIES.sensitive, type: ['boolean', 'null'] },
      },
      required: Object.keys(PROPERTIES),
    },
  },
}

/** Parses the model's arguments: the question, or a text that tells the model what is wrong with them. */
function parseQuestion(text: string): Question | string {
  const args = parseObject(text)
  if (!args) return 'ask_human needs a JSON object such as {"prompt":"Which file?"}.'

  const { prompt, sensitive } = args
  const inputType = args.input_type ?? 'text' // strict mode says null for what is left out
  if (typeof prompt !== 'string' || prompt === '') {
    return 'ask_human needs a "prompt": the question to show to the person.'
  }
  if (!isInputType(inputType)) return `ask_human: "input_type" must be one of ${INPUT_TYPES.join(', ')}.`
  const isSaid = (value: boolean) => sensitive === value || sensitive === String(value)
  const isSecret = isSaid(true) || (inputType === 'password' && !isSaid(false))
  return { requestId: randomUUID(), prompt, inputType, sensitive: isSecret }
}

/** Whether a text answers a confirmation: it begins with yes or no, `y` or `n`; more may follow ("yes, proceed"). */
export function isYesOrNo(answer: string): boolean {
  return typeof answer === 'string' && /^\s*(?:yes|y|no|n)(?=[\s,.;:!]|$)/i.test(answer)
}

/** A journaled question as it was asked. */
export function questionOf(request: HumanInputRequest): Question {
  return {
    requestId: request.request_id ?? randomUUID(),
    prompt: request.prompt,
    inputType: isInputType(request.input_type) ? request.input_type : 'text',
    sensitive: request.sensitive ?? false,
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) && !isTooDeep(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined // the caller tells the model what is wanted
  }
}

function isInputType(value: unknown): value is Question['inputType'] {
  return INPUT_TYPES.some((type) => type === value)
}

/** The answer from the terminal; undefined when nobody is there, input has ended, or the run is being stopped. */
async function askPerson(state: RunState, question: Question): Promise<string | undefined> {
  if (!state.ask || state.signal.aborted) return undefined
  state.run.journal.sync()
  const { signal } = state
  let stop = (): void => undefined
  const stopped = new Promise<undefined>((resolve) => {
    stop = () => resolve(undefined)
  })
  signal.addEventListener('abort', stop, { once: true }) // before `ask`, which may stop the run itself
  try {
    return await Promise.race([state.ask(question), stopped])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Leaves a question where a person or a program can find it: `request.json`, and an empty `response.txt` to fill in. */
function leaveQuestion(directory: string, question: Question): void {
  if (isAskedIn(directory, question)) return
  if (isLink(directory)) rmSync(directory) // a tool made it, to have what is written here go elsewhere
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const request = {
    request_id: question.requestId,
    timestamp: new Date().toISOString(),
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
    command: question.command, // this and the following only for an approval
    started: question.started,
    tool_name: question.tool,
    reasons: question.reasons,
    effects: question.effects,
  }
  replaceFile(join(directory, 'response.txt'), '')
  replaceFile(join(directory, 'request.json'), `${JSON.stringify(request, null, 2)}\n`)
  syncName(directory)
}

/**
 * The answer in `response.txt`, without one final newline. Undefined when there is none, when it is blank (a blank `-m` is
 * refused, too), or when it belongs to another question: a crash can leave an old one behind.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_ANSWER`: it is not a regular file, or not text.
 */
export function readResponse(directory: string, question: Question): string | undefined {
  if (!isAskedIn(directory, question)) return undefined
  const text = readText(join(directory, 'response.txt'))
    ?.replace(/^\uFEFF/, '')
    .replace(/\r?\n$/, '')
  return text?.trim() === '' ? undefined : text
}

/** The path of `response.txt` if somebody has written to it, whichever question it answers. */
function responseLyingIn(directory: string): string | undefined {
  const path = join(directory, 'response.txt')
  const what = statSync(path, { throwIfNoEntry: false })
  return what === undefined || what.size === 0 ? undefined : path
}

/** Any program may have written the answer; bytes that are not UTF-8 would reach the model as replacement characters. */
function readText(path: string): string | undefined {
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (what === undefined) return undefined
  if (what.isSymbolicLink()) throw noAnswer(`${path} is a link, and may lead to any file.`)
  if (!what.isFile()) throw noAnswer(`${path} is not a regular file.`) // reading a pipe would wait for ever
  const bytes = readWithoutLink(path)
  if (!isUtf8(bytes) || bytes.includes(0)) throw noAnswer(`${path} is not UTF-8 text.`) // a power cut leaves NULs
  return bytes.toString('utf8')
}

function readWithoutLink(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function noAnswer(why: string): EngineError {
  return new EngineError(
    'ERR_ENGINE_NO_ANSWER',
    `${why}\nWrite the answer into a file of that name, or give it as a message.`,
  )
}

/** Removes question and answer once the answer is in the journal. */
export function clearInteraction(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

function isAskedIn(directory: string, question: Question): boolean {
  if (isLink(directory)) return false
  const text = readIfThere(join(directory, 'request.json'))?.toString()
  if (text === undefined) return false
  try {
    return (JSON.parse(text) as { request_id?: unknown }).request_id === question.requestId
  } catch {
    return false // somebody's edit broke it; the question is written again
  }
}

/**
 * Sensitive answers live in `secrets/<action_id>` (0600) while their run does. Model, journal and records see a token;
 * the value replaces it in argv and stdin when a process is started, and nowhere else.
 */
function keepSecret(directory: string, actionId: string, value: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  replaceFile(join(directory, actionId), value)
  syncName(directory)
}

/** Values by the token that stands for them; empty when the run holds none. */
export function secretTokens(directory: string): Record<string, string> {
  if (!existsSync(directory)) return {} // asked before every command: an exception costs more than the rest of it
  const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile()) // a pipe would be waited for
  return Object.fromEntries(
    files.map(({ name }) => [secretToken(name), readFileSync(join(directory, name), 'utf8')]),
  )
}

/** Erases the answers; called before the run's final `ENGINE_END`. */
export function eraseSecrets(directory: string): void {
  if (!existsSync(directory)) return // most runs have none
  rmSync(directory, { recursive: true, force: true })
  syncName(directory)
}

export function secretToken(actionId: string): string {
  return `«secret:${actionId}»`
}

const ONLY_A_DECISION = 'does not approve it: that takes a decision with its request id.'

/** What to say of a message or `response.txt` while a command waits for a decision; undefined when there is neither. */
export function noApproval(
  { humanRequest, directory }: RunSummary,
  message: string | undefined,
): string | undefined {
  if (humanRequest?.argv === undefined) return undefined
  if (message !== undefined)
    return `A command waits for approval, and a message ${ONLY_A_DECISION}\nThe message is kept as a further instruction, which the agent reads after the decision.`
  const response = responseLyingIn(join(directory, 'interaction'))
  return response && `A command waits for approval, and ${response} ${ONLY_A_DECISION}`
}
