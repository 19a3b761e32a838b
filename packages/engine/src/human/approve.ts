import { randomUUID } from 'node:crypto'
import { quoteForPerson } from '@delta/executor'
import type { HumanInputRequest } from '@delta/journal'
import { interrupted, type Outcome, type Question } from '../outcome.js'
import { type Call, type ReadyCall, type RunState, record } from '../run-state.js'
import { askPerson } from './ask-person.js'
import { clearInteraction, leaveQuestion } from './interaction.js'

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
