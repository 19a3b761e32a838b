import { quoteForPerson } from '@delta/executor'
import { fromWire } from '@delta/model/internal'
import { type Comparable, differing } from './comparable.js'
import { CONVERSATION, compareRequests } from './compare-requests.js'
import type { Comparison, Difference, Side } from './difference.js'
import type { Said, Step, StepCall } from './steps.js'

/** How two steps differ, in the order in which one thing leads to another: the first explains those after it. */
export async function compareSteps(left: Side, right: Side, comparison: Comparison): Promise<Difference[]> {
  const { equal } = comparison
  const said = [...interventions(left.step, right.step, equal)]
  const sent = compareRequests(left, right, comparison)
  const answered = [...compareAnswers(left.step, right.step, equal)]
  const byModel = answered.some(({ cause }) => cause === 'model')
  const isByHook = byModel && (await isSameBeforeHook(left.step, right.step, equal))
  const found: Found[] = [
    ...said,
    ...(sent ?? []).filter(({ where }) => said.length === 0 || where !== CONVERSATION), // it holds what was said
    ...answered.map((each) => {
      if (each.cause !== 'model') return each
      if (isByHook) return { ...each, cause: 'intervention' as const, where: AFTER_ANSWER }
      return sent ? each : { ...each, cause: 'unknown' as const }
    }),
  ]
  return found.map((each) => ({ step: left.step.n, ...each }))
}

type Found = Omit<Difference, 'step'>

/** What people and the engine said before the request. */
function* interventions(left: Step, right: Step, equal: Comparable): Generator<Found> {
  const count = Math.max(left.said.length, right.said.length)
  for (let index = 0; index < count; index++) {
    const [one, other] = [left.said[index], right.said[index]]
    const differ = differing(one && wordsIn(one, equal), other && wordsIn(other, equal))
    if (!differ && one?.role === other?.role) continue
    const role = (other ?? one)?.role
    const where = role === 'system' ? 'SYSTEM_MESSAGE' : 'USER_MESSAGE'
    yield { cause: 'intervention', at: 'said', where, ...(differ ?? { left: null, right: null }) }
  }
}

/** A text, and the images and files beside it. */
function wordsIn({ text, parts }: Pick<Said, 'text' | 'parts'>, equal: Comparable): string {
  const media = (parts ?? []).flatMap((part) =>
    part.type === 'text' ? [] : [`[${part.type} ${part.media_type}, SHA-256 ${part.blob}]`],
  )
  return [equal(text), ...media].join(' ')
}

function* compareAnswers(left: Step, right: Step, equal: Comparable): Generator<Found> {
  const [one, other] = [left.thought, right.thought]
  const said = differing(one && equal(one.content), other && equal(other.content))
  if (said && one && other) yield { cause: 'model', at: 'answer', where: 'answer', ...said }
  if (!one || !other) return // the end of one of them says why
  const count = Math.max(left.calls.length, right.calls.length)
  for (let index = 0; index < count; index++) {
    const [call, another] = [left.calls[index], right.calls[index]]
    const order = `call ${index + 1} of ${count}`
    const asked = differing(call && equal(wordsOf(call)), another && equal(wordsOf(another)))
    if (asked) yield { cause: 'model', at: 'answer', where: order, call: index + 1, ...asked }
    else if (call && another)
      for (const found of compareCalls(
        { ...call, guard: guardOf(left, call) },
        { ...another, guard: guardOf(right, another) },
        { order, equal },
      ))
        yield { ...found, call: index + 1 }
  }
}

function wordsOf({ name, args }: Pick<StepCall, 'name' | 'args'>): string {
  return `${name} ${JSON.stringify(args)}`
}

const AFTER_ANSWER = 'post_llm_response'

/** True if the models said the same, and a hook changed an answer. */
async function isSameBeforeHook(left: Step, right: Step, equal: Comparable): Promise<boolean> {
  const isHooked = [left, right].some(({ hooks }) =>
    hooks.some(({ hook_name: name, status }) => name === AFTER_ANSWER && status !== 'SKIPPED'),
  )
  if (!isHooked) return false
  const [one, other] = [await answerBeforeHook(left), await answerBeforeHook(right)]
  return one !== undefined && other !== undefined && equal(one) === equal(other)
}

/** Undefined if the model's own answer is not recorded. */
async function answerBeforeHook({ request }: Step): Promise<string | undefined> {
  const { api = 'chat' } = request ?? {}
  if (api !== 'chat' && api !== 'responses' && api !== 'messages') return undefined
  try {
    const { message } = fromWire(api, await request?.response())
    const calls = (message.tool_calls ?? []).map(({ function: { name, arguments: args } }) => [name, args])
    return JSON.stringify([message.content ?? '', calls])
  } catch {
    return undefined // damaged, or of no API
  }
}

/** A call, and what a hook said in place of running it. */
type GuardedCall = StepCall & { guard: string | undefined }

/** Which hook ran is in the journal; that it refused the call, in the result. A person or the policy is asked elsewhere. */
function guardOf(
  { hooks }: Step,
  { actionId, argv, status, asked, observation }: StepCall,
): string | undefined {
  if (argv !== null || status !== 'BLOCKED' || asked !== undefined) return undefined
  const isGuard = hooks.some(
    (hook) =>
      hook.hook_name === 'pre_tool_execution' && hook.action_id === actionId && hook.status !== 'SKIPPED',
  )
  return isGuard ? observation : undefined
}

/** People and hooks come first: what they decide is what starts, and what the model reads. */
function* compareCalls(
  left: GuardedCall,
  right: GuardedCall,
  { order, equal }: { order: string; equal: Comparable },
): Generator<Found> {
  const answered = differing(answerTo(left), answerTo(right))
  const whom = left.name === 'ask_human' ? 'ask_human' : `approval of ${left.name}`
  if (answered) yield { cause: 'intervention', at: 'call', where: whom, ...answered }
  const guarded = differing(left.guard && equal(left.guard), right.guard && equal(right.guard))
  if (guarded) yield { cause: 'intervention', at: 'call', where: 'pre_tool_execution', ...guarded }
  if (answered || guarded) return
  const command = ({ argv }: StepCall) => (argv === null ? undefined : equal(quoteForPerson(argv)))
  const started = differing(command(left), command(right))
  if (started) yield { cause: 'configuration', at: 'call', where: `tools.${left.name}`, ...started }
  const [one, other] = [left, right].map((call) => call.override && equal(call.override))
  const isHidden = one !== undefined && one === other // the model has read the same
  const result = isHidden
    ? differing(outcomeOf(left), outcomeOf(right))
    : differing(resultOf(left, equal), resultOf(right, equal))
  if (result) yield { cause: 'environment', at: 'result', where: `${left.name} (${order})`, ...result }
  const override = result ? undefined : differing(one, other) // a hook may pass on what differs
  if (override) yield { cause: 'intervention', at: 'result', where: 'post_tool_execution', ...override }
}

function answerTo({ asked }: StepCall): string | undefined {
  return asked?.answer?.response
}

function resultOf(call: StepCall, equal: Comparable): string {
  return (
    outcomeOf(call) + wordsIn({ text: call.observation, ...(call.parts && { parts: call.parts }) }, equal)
  )
}

/** Empty where it says no more than the text. */
function outcomeOf({ status, exitCode }: StepCall): string {
  return status === 'SUCCESS' && exitCode === 0 ? '' : `[${status ?? 'no result'}, exit ${exitCode ?? '-'}] `
}
