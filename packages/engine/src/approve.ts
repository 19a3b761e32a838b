import { createHash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { quoteForPerson } from '@delta/executor'
import type { HumanInputRequest } from '@delta/journal/runs'
import { decisionIn } from './answer.js'
import { answerTo, clearInteraction } from './interaction.js'
import type { Outcome, Question } from './outcome.js'
import { type Call, type ReadyCall, type RunState, record } from './run-state.js'

/** The person's decision, or the outcome that ends this engine's part because the decision is still open. */
export type Decision = 'yes' | 'no' | Outcome

/**
 * Asks a person whether one exact command may run. At the terminal the answer comes at once. Otherwise the run waits, and
 * only `--approve` or `--deny` with this request's id decides: a tool could have written a file.
 *
 * `waiting` is the question that an earlier engine left open. A no rejects the call, whatever its command is now. A yes holds
 * for one exact command: if the command has changed, the question is asked again under a new id.
 */
export async function approve(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, waiting }: { iteration: number; waiting: HumanInputRequest | undefined },
): Promise<Decision> {
  const decision = waiting && decisionOn(state, waiting)
  const isOpen = waiting && (decision === 'no' || isUnchanged(prepared, waiting))
  if (decision === 'yes' && !isOpen) state.emit({ kind: 'notice', message: CHANGED })
  const question = questionAbout(call, prepared, (isOpen && waiting.request_id) || randomUUID())
  const about = { iteration, action_id: call.action_id, request_id: question.requestId }
  if (question.requestId !== waiting?.request_id)
    record(state, {
      type: 'HUMAN_INPUT_REQUEST',
      ...about,
      prompt: question.prompt,
      input_type: question.inputType,
      sensitive: question.sensitive,
      ...approvable(prepared),
      effects: question.effects,
      reasons: prepared.reasons,
    })

  const answer = await answerTo(state, question, isOpen ? decision : undefined)
  if (typeof answer !== 'string') return answer
  const said = decisionIn(answer) ?? 'no'
  const isAlways = said === 'always'
  const response = isAlways ? 'yes' : said
  record(state, {
    type: 'HUMAN_INPUT_RECEIVED',
    ...about,
    response,
    ...(isAlways && { remember: 'process' }),
  })
  if (isAlways) state.alwaysAllowed.add(call.name)
  state.run.journal.sync()
  clearInteraction(state.run.paths.interaction)
  return response
}

/** The decision on this question that this engine was started with. */
export function decisionOn(
  { reply }: RunState,
  { request_id: requestId }: HumanInputRequest,
): 'yes' | 'no' | undefined {
  if (!reply || reply.kind === 'answer' || reply.requestId !== requestId) return undefined
  return reply.kind === 'approve' ? 'yes' : 'no'
}

/** What an approval approves: all that decides what the command does. `argv` begins with its sandbox. */
function approvable({ argv, stdin, tool }: ReadyCall) {
  const { cwd, env, passEnv } = tool.settings
  return { argv, stdin_sha256: stdinSha256(stdin), cwd, env, pass_env: [...passEnv] }
}

/** The SHA-256 of what a command reads, in hexadecimal; null if it reads nothing. */
export function stdinSha256(stdin: string | undefined): string | null {
  return stdin === undefined ? null : createHash('sha256').update(stdin).digest('hex')
}

function isUnchanged(prepared: ReadyCall, waiting: HumanInputRequest): boolean {
  const { argv, stdin_sha256, cwd, env, pass_env } = waiting
  return isDeepStrictEqual({ argv, stdin_sha256, cwd, env, pass_env }, approvable(prepared))
}

const CHANGED = 'The command has changed since it was approved, so it was not run, and needs approval again.'

function questionAbout(call: Call, prepared: ReadyCall, requestId: string): Question {
  const { effects } = prepared.tool.settings
  return {
    requestId,
    prompt: promptFor(call, prepared),
    inputType: 'confirmation',
    sensitive: false,
    command: commandOf(prepared),
    started: startedAs(prepared),
    tool: call.name,
    reasons: prepared.reasons,
    ...(effects && { effects }),
  }
}

function promptFor(call: Call, prepared: ReadyCall): string {
  const why = prepared.reasons.length > 0 ? ` (${prepared.reasons.join(', ')})` : ''
  return `May "${call.name}" run this command?${why}\n${commandLines(prepared)}`
}

/** What a person judges: the tool's own command, its directory and variables, and the command line in a sandbox. */
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

/** The whole command as it would be typed, with stdin: stdin can do as much harm as arguments. */
function commandOf({ argv, stdin, tool, sandbox }: ReadyCall): string {
  const { settings, expanded } = tool
  // the agent author's own script keeps its lines; an imported description comes from a third party
  const known = settings.trust === undefined ? expanded.command : []
  const command = quoteForPerson(argv.slice(sandbox?.prefix.length), known)
  return stdin === undefined ? command : `${quoteForPerson(['printf', '%s', stdin])} | ${command}`
}

function startedAs({ argv, sandbox }: ReadyCall): string | undefined {
  return sandbox && quoteForPerson(argv)
}
