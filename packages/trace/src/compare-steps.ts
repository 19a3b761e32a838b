import { type ChangedValue, changedValues } from './changed-values.js'
import { type Comparable, excerpt, firstDifference } from './comparable.js'
import type { RecordedParts, RequestLines } from './recorded-parts.js'
import type { CostedBlock, SentRequest } from './sent-request.js'
import type { Step, StepCall } from './steps.js'

/** Why two runs are not the same: somebody stepped in, a setting, what the context held, the model, or the world. */
export type Cause = 'intervention' | 'configuration' | 'context' | 'model' | 'environment' | 'unknown'

/** A difference between two runs. */
export interface Difference {
  cause: Cause
  /** The iteration. */
  step: number
  at: 'said' | 'request' | 'answer' | 'call' | 'result' | 'end'
  /** A message, a setting, a source, a call, or the event that ended a run. */
  where: string
  /** The first byte that differs, of a source's own text. */
  byte?: number
  /** What stands around the place, at most eighty characters. Null: there is nothing. */
  left: string | null
  right: string | null
  /** What else is known about it. */
  evidence?: string
}

/** One side of a comparison. */
export interface Side {
  step: Step
  parts: RecordedParts
}

/** How the steps of two runs are compared, one pair after another. */
export interface Comparison {
  equal: Comparable
  /** What was found to be the same: most of a request stands in the requests before it, too. */
  known: {
    /** Of settings and texts of both runs. */
    pairs: Set<string>
    /** Of messages: the lines of both. */
    lines: Map<number, number>
  }
}

/** How two steps differ, in the order in which one thing leads to another: the first explains those after it. */
export function compareSteps(left: Side, right: Side, comparison: Comparison): Difference[] {
  const { equal } = comparison
  const said = [...interventions(left.step, right.step, equal)]
  const sent = compareRequests(left, right, comparison)
  const answered = [...compareAnswers(left.step, right.step, equal)]
  const found: Found[] = [
    ...said,
    ...(sent ?? []).filter(({ where }) => said.length === 0 || where !== CONVERSATION), // it holds what was said
    ...answered.map((each) => (sent || each.at !== 'answer' ? each : { ...each, cause: 'unknown' as const })),
  ]
  return found.map((each) => ({ step: left.step.n, ...each }))
}

type Found = Omit<Difference, 'step'>

/** What people and the engine said before the request. */
function* interventions(left: Step, right: Step, equal: Comparable): Generator<Found> {
  const count = Math.max(left.said.length, right.said.length)
  for (let index = 0; index < count; index++) {
    const [one, other] = [left.said[index], right.said[index]]
    const differ = differing(one && equal(one.text), other && equal(other.text))
    if (!differ && one?.role === other?.role) continue
    const role = (other ?? one)?.role
    const where = role === 'system' ? 'SYSTEM_MESSAGE' : 'USER_MESSAGE'
    yield { cause: 'intervention', at: 'said', where, ...(differ ?? { left: null, right: null }) }
  }
}

function differing(
  left: string | undefined,
  right: string | undefined,
): Pick<Difference, 'left' | 'right'> | undefined {
  if (left === right) return undefined
  if (left === undefined || right === undefined)
    return {
      left: left === undefined ? null : excerpt(left),
      right: right === undefined ? null : excerpt(right),
    }
  const found = firstDifference(left, right)
  return found && { left: found.left, right: found.right }
}

/** Undefined if one of the requests is not recorded. */
function compareRequests(left: Side, right: Side, comparison: Comparison): Found[] | undefined {
  if (isSameBody(left.step.request, right.step.request)) return []
  const [one, other] = [sentIn(left), sentIn(right)]
  if (one === undefined || other === undefined) return undefined
  return [...compareSettings(one, other, comparison), ...compareBlocks(one, other, comparison)]
}

function compareSettings(left: Sent, right: Sent, { equal, known }: Comparison): Found[] {
  const [api, other] = [left.request.api ?? null, right.request.api ?? null]
  const pair = `${left.lines.parameters} ${right.lines.parameters}`
  if (api === other && known.pairs.has(pair)) return []
  const [one, another] = [left, right].map(({ parts, lines }) => settingsIn(parts.part(lines.parameters)))
  const settings =
    api === other ? changedValues(one, another, equal) : [{ path: 'llm.provider', left: api, right: other }]
  if (settings.length === 0) known.pairs.add(pair)
  return settings.map((each) => ({ ...CONFIGURATION, ...placed(each) }))
}

const CONFIGURATION = { cause: 'configuration', at: 'request' } as const

/** A request, and what it was made of. */
interface Sent {
  request: SentRequest
  lines: RequestLines
  parts: RecordedParts
}

function isSameBody(one: SentRequest | undefined, other: SentRequest | undefined): boolean {
  return !!one?.sha256 && one.sha256 === other?.sha256 && one.api === other.api
}

function sentIn({ step: { request }, parts }: Side): Sent | undefined {
  const lines = request && parts.linesOf(request)
  if (request === undefined || lines === undefined) return undefined
  const areThere = [lines.parameters, ...lines.messages].every((line) => parts.part(line) !== undefined)
  return areThere ? { request, lines, parts } : undefined
}

/** These say how an answer is sent, not what is asked: they are not compared. */
const HOW_IT_IS_SENT = new Set(['stream', 'stream_options'])

/** The tools stand beside the model's parameters, as in `agent.yaml`. */
function settingsIn(body: unknown): object {
  const { tools, ...llm } = Object(body) as Record<string, unknown>
  const kept = Object.entries(llm).filter(([name, value]) => !HOW_IT_IS_SENT.has(name) && !isEmptyList(value))
  return { llm: Object.fromEntries(kept), ...(tools !== undefined && { tools }) }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0 // the place of the conversation
}

function placed({ path, left, right }: ChangedValue): Pick<Difference, 'where' | 'left' | 'right'> {
  return { where: path, ...(differing(left ?? undefined, right ?? undefined) ?? { left, right }) }
}

/** Compares what each source of `context.yaml` was. */
function* compareBlocks(left: Sent, right: Sent, comparison: Comparison): Generator<Found> {
  const others = new Map(right.request.blocks.map((block) => [block.source_id, block]))
  const known = new Set(left.request.blocks.map(({ source_id }) => source_id))
  for (const block of left.request.blocks) {
    if (block.type === 'tools') continue // compared as parameters
    const other = others.get(block.source_id)
    const found = other
      ? compareBlock([left, block], [right, other], comparison)
      : { left: block.source_id, right: null }
    if (found) yield { ...causeIn(block), ...found }
  }
  for (const block of right.request.blocks)
    if (!known.has(block.source_id)) yield { ...causeIn(block), left: null, right: block.source_id }
}

/** The file that says where a conversation is cut. */
const CONVERSATION = 'context.yaml'

/** All earlier events were equal, so a conversation differs only if `context.yaml` cuts it elsewhere. */
function causeIn({ type, source_id }: CostedBlock): Pick<Found, 'cause' | 'at' | 'where'> {
  if (type === 'journal') return { ...CONFIGURATION, where: CONVERSATION }
  return { cause: 'context', at: 'request', where: source_id }
}

function compareBlock(
  [left, one]: [Sent, CostedBlock],
  [right, other]: [Sent, CostedBlock],
  comparison: Comparison,
): Pick<Difference, 'byte' | 'left' | 'right'> | undefined {
  const { equal, known } = comparison
  const pair = `${one.sha256} ${other.sha256}`
  if (one.sha256 === other.sha256 || known.pairs.has(pair)) return undefined
  const lists = [linesOf(left, one), linesOf(right, other)] as const
  if (
    lists.every(Boolean) &&
    areSame([left.parts, lists[0] ?? []], [right.parts, lists[1] ?? []], comparison)
  )
    return undefined
  const [text, another] = [textOf(left, one), textOf(right, other)]
  if (text === undefined || another === undefined) return { left: null, right: null }
  const found = firstDifference(equal(text), equal(another))
  if (found === undefined && !lists.some(Boolean)) known.pairs.add(pair)
  return found
}

/** The lines of a conversation; undefined for a text, and for a request that was not sent to Chat Completions. */
function linesOf({ request, lines }: Sent, block: CostedBlock): number[] | undefined {
  const { message, from, to } = block
  if (message === undefined || (from !== undefined && to !== undefined) || !isChat(request)) return undefined
  return lines.messages.slice(message, message + block.messages)
}

/** Compares conversations message by message, each pair of messages once. */
function areSame(
  [left, lines]: [RecordedParts, number[]],
  [right, others]: [RecordedParts, number[]],
  { equal, known }: Comparison,
): boolean {
  if (lines.length !== others.length) return false
  return lines.every((line, index) => {
    const other = others[index] as number
    if (known.lines.get(line) === other) return true
    const [one, another] = [left.part(line), right.part(other)].map((part) => equal(inJson([part])))
    if (one === another) known.lines.set(line, other)
    return one === another
  })
}

/** A block counts the messages of that API. */
function isChat({ api }: SentRequest): boolean {
  return api === undefined || api === 'chat'
}

/** The own text of a source; of a conversation, its messages as JSON. Undefined unless the request was sent to Chat Completions. */
function textOf({ request, lines, parts }: Sent, block: CostedBlock): string | undefined {
  const { message, from, to, header_bytes = 0 } = block
  if (message === undefined) return ''
  if (!isChat(request)) return undefined
  if (from === undefined || to === undefined)
    return inJson(lines.messages.slice(message, message + block.messages).map(parts.part))
  const { content } = Object(parts.part(lines.messages[message] ?? 0)) as { content?: unknown }
  const text = typeof content === 'string' ? content : textInParts(content)
  return Buffer.from(text).toString('utf8', from + header_bytes, to)
}

function inJson(messages: readonly unknown[]): string {
  return JSON.stringify(messages.map(withoutIds))
}

function textInParts(content: unknown): string {
  return Array.isArray(content) ? content.map((part) => Object(part).text ?? '').join('') : ''
}

/** The ids of calls differ from run to run. */
function withoutIds(message: unknown): unknown {
  const { tool_call_id, tool_calls, ...rest } = Object(message) as Record<string, unknown>
  if (!Array.isArray(tool_calls)) return rest
  return { ...rest, tool_calls: tool_calls.map(({ id: _, ...call }) => call) }
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
    if (asked) yield { cause: 'model', at: 'answer', where: order, ...asked }
    else if (call && another) yield* compareCalls(call, another, { order, equal })
  }
}

function wordsOf({ name, args }: StepCall): string {
  return `${name} ${JSON.stringify(args)}`
}

function* compareCalls(
  left: StepCall,
  right: StepCall,
  { order, equal }: { order: string; equal: Comparable },
): Generator<Found> {
  const command = ({ argv }: StepCall) => argv && equal(argv.join(' '))
  const started = differing(command(left) ?? undefined, command(right) ?? undefined)
  if (started) yield { cause: 'configuration', at: 'call', where: `tools.${left.name}`, ...started }
  const answered = differing(answerTo(left), answerTo(right))
  const whom = left.name === 'ask_human' ? 'ask_human' : `approval of ${left.name}`
  if (answered) yield { cause: 'intervention', at: 'call', where: whom, ...answered }
  const override = differing(left.override && equal(left.override), right.override && equal(right.override))
  if (override) yield { cause: 'intervention', at: 'result', where: 'post_tool_execution', ...override }
  const result = differing(resultOf(left, equal), resultOf(right, equal))
  if (result && !answered && !override)
    yield { cause: 'environment', at: 'result', where: `${left.name} (${order})`, ...result }
}

function answerTo({ asked }: StepCall): string | undefined {
  return asked?.answer?.response
}

/** Names the status only where it says more than the text. */
function resultOf({ status, exitCode, observation }: StepCall, equal: Comparable): string {
  const outcome =
    status === 'SUCCESS' && exitCode === 0 ? '' : `[${status ?? 'no result'}, exit ${exitCode ?? '-'}] `
  return outcome + equal(observation)
}
