import { isMeasured, textOfBlock } from './cache-break.js'
import { type ChangedValue, changedValues } from './changed-values.js'
import { differing, firstDifference } from './comparable.js'
import type { Comparison, Difference, Side } from './difference.js'
import type { RecordedParts, RequestLines } from './recorded-parts.js'
import type { CostedBlock, SentRequest } from './sent-request.js'

type Found = Omit<Difference, 'step'>

/**
 * How the requests of two steps differ: settings, then sources, whichever APIs they were sent to. Where nothing else explains it, the
 * hook that rewrote one of them does. Undefined if one of the requests is not recorded.
 */
export function compareRequests(left: Side, right: Side, comparison: Comparison): Found[] | undefined {
  if (isSameBody(left.step.request, right.step.request)) return []
  const [one, other] = [sentIn(left), sentIn(right)]
  if (one === undefined || other === undefined) return undefined
  const settings = compareSettings(one, other, comparison)
  const sources = compareSources(one, other, comparison)
  const isMixed = sources.length > 0 && !(isChat(one) && isChat(other)) // in other APIs sources stand among the messages
  const conversation = isMixed ? [] : compareConversations(one, other, comparison)
  const found = [...settings, ...sources, ...conversation]
  return found.length > 0 ? found : compareWhole(one, other, comparison)
}

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

function apiOf({ request: { api = 'chat' } }: Sent): string {
  return api
}

/** A parameter that a hook set, and no setting of the agent, is the hook's. */
function compareSettings(left: Sent, right: Sent, { equal, known, isSetting }: Comparison): Found[] {
  const [api, other] = [apiOf(left), apiOf(right)]
  const pair = `${left.lines.parameters} ${right.lines.parameters}`
  if (api === other && known.pairs.has(pair)) return []
  const [one, another] = [left, right].map(({ parts, lines }) => settingsIn(parts.part(lines.parameters)))
  const apiSetting = isSetting('llm.api') && !isSetting('llm.provider') ? 'llm.api' : 'llm.provider'
  const changed =
    api === other ? changedValues(one, another, equal) : [{ path: apiSetting, left: api, right: other }]
  if (changed.length === 0) known.pairs.add(pair)
  const hook = left.request.rewrittenBy ?? right.request.rewrittenBy
  return changed.map((each) =>
    hook === undefined || each.path === apiSetting || isSetting(each.path)
      ? { ...CONFIGURATION, ...placed(each) }
      : { ...BY_HOOK, ...placed(each), where: hook },
  )
}

const CONFIGURATION = { cause: 'configuration', at: 'request' } as const
const BY_HOOK = { cause: 'intervention', at: 'request' } as const

/** These say how an answer is sent, not what is asked. */
const HOW_IT_IS_SENT = new Set(['stream', 'stream_options'])

/** These are sources of `context.yaml`, which are compared one by one. */
const CONTEXT = new Set(['system', 'instructions'])

/** The tools stand beside the model's parameters, as in `agent.yaml`. */
function settingsIn(body: unknown): object {
  const { tools, ...llm } = Object(body) as Record<string, unknown>
  const isSetting = ([name, value]: [string, unknown]) =>
    !HOW_IT_IS_SENT.has(name) && !CONTEXT.has(name) && !isEmptyList(value)
  const kept = Object.entries(llm).filter(isSetting)
  return { llm: Object.fromEntries(kept), ...(tools !== undefined && { tools }) }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0 // the place of the conversation
}

function placed({ path, left, right }: ChangedValue): Pick<Difference, 'where' | 'left' | 'right'> {
  return { where: path, ...(differing(left ?? undefined, right ?? undefined) ?? { left, right }) }
}

/** Compares what each source of `context.yaml` was, without the conversation. */
function compareSources(left: Sent, right: Sent, comparison: Comparison): Found[] {
  const isSource = ({ type }: CostedBlock) => type !== 'tools' && type !== 'journal'
  const ours = left.request.blocks.filter(isSource)
  const theirs = new Map(right.request.blocks.filter(isSource).map((block) => [block.source_id, block]))
  const known = new Set(ours.map(({ source_id }) => source_id))
  const added = [...theirs.values()].filter(({ source_id }) => !known.has(source_id))
  return [
    ...ours.flatMap((block) => {
      const other = theirs.get(block.source_id)
      if (other === undefined) return [{ ...sourceOf(block), left: block.source_id, right: null }]
      const found = compareSource([left, block], [right, other], comparison)
      return found ? [{ ...sourceOf(block), ...found }] : []
    }),
    ...added.map((block) => ({ ...sourceOf(block), left: null, right: block.source_id })),
  ]
}

function sourceOf({ source_id: where }: CostedBlock): Pick<Found, 'cause' | 'at' | 'where'> {
  return { cause: 'context', at: 'request', where }
}

function compareSource(
  [left, one]: [Sent, CostedBlock],
  [right, other]: [Sent, CostedBlock],
  { equal, known }: Comparison,
): Pick<Difference, 'byte' | 'left' | 'right'> | undefined {
  const pair = `${one.sha256} ${other.sha256}`
  if (one.sha256 === other.sha256 || known.pairs.has(pair)) return undefined
  const [text, another] = [textOf(left, one), textOf(right, other)]
  const isRewritten = [left, right].some(({ request }) => request.rewrittenBy !== undefined)
  if (text === undefined || another === undefined)
    return isRewritten ? undefined : { left: null, right: null } // a hook may have replaced it, which is found as such
  const found = firstDifference(equal(text), equal(another))
  if (found === undefined) {
    known.pairs.add(pair)
    return undefined
  }
  const { at, ...excerpts } = found
  return { byte: Buffer.byteLength(text.slice(0, equal.placeIn(text, at))), ...excerpts }
}

/** The own text of a source. Undefined for an image, and for a text that a hook changed. */
function textOf(sent: Sent, block: CostedBlock): string | undefined {
  const { message, from, to, header_bytes: header = 0 } = block
  if (message === undefined) return ''
  if (from === undefined || to === undefined) return undefined
  const isRewritten = sent.request.rewrittenBy !== undefined
  const whole =
    isChat(sent) && !isRewritten ? textInChat(sent, { message, from, to }) : textInBody(sent, block)
  if (whole === undefined || (isRewritten && !isMeasured(whole, block))) return undefined
  return Buffer.from(whole).toString('utf8', header)
}

function textInChat({ lines, parts }: Sent, place: { message: number; from: number; to: number }): string {
  const { content } = Object(parts.part(lines.messages[place.message] ?? 0)) as { content?: unknown }
  const text = typeof content === 'string' ? content : textInParts(content)
  return Buffer.from(text).toString('utf8', place.from, place.to)
}

function textInBody({ request, parts }: Sent, block: CostedBlock): string | undefined {
  const body = parts.bodyOf(request)
  return body && textOfBlock(body, block)
}

function textInParts(content: unknown): string {
  return Array.isArray(content) ? content.map((part) => Object(part).text ?? '').join('') : ''
}

/** A block counts the messages of that API. */
function isChat(sent: Sent): boolean {
  return apiOf(sent) === 'chat'
}

/** The file that says where a conversation is cut, and how the sources stand beside it. */
export const CONVERSATION = 'context.yaml'

/** All earlier events were equal, so a conversation differs only if `context.yaml` cuts it elsewhere. */
function compareConversations(left: Sent, right: Sent, comparison: Comparison): Found[] {
  const [one, other] = [left, right].map(({ request }) =>
    request.blocks.find(({ type }) => type === 'journal'),
  )
  const isRewritten = [left, right].some(({ request }) => request.rewrittenBy !== undefined)
  if (isRewritten || apiOf(left) !== apiOf(right)) {
    const found = differing(countOf(one), countOf(other)) // the messages themselves are others
    return found ? [{ ...CONFIGURATION, where: CONVERSATION, ...found }] : []
  }
  if (one?.sha256 === other?.sha256) return []
  const found = compareMessages([left, linesOf(left, one)], [right, linesOf(right, other)], comparison)
  return found ? [{ ...CONFIGURATION, where: CONVERSATION, ...found }] : []
}

/** Each pair of messages is compared once. */
function compareMessages(
  [{ parts: ours }, mine]: [Sent, readonly number[]],
  [{ parts: theirs }, others]: [Sent, readonly number[]],
  { equal, known }: Comparison,
): Pick<Difference, 'left' | 'right'> | undefined {
  const isSame = (line: number, other: number | undefined) => {
    if (other === undefined) return false
    if (known.lines.get(line) === other) return true
    const [one, another] = [ours.part(line), theirs.part(other)].map((part) => equal(inJson([part])))
    if (one === another) known.lines.set(line, other)
    return one === another
  }
  if (mine.length === others.length && mine.every((line, index) => isSame(line, others[index])))
    return undefined
  return differing(equal(inJson(mine.map(ours.part))), equal(inJson(others.map(theirs.part))))
}

function countOf({ messages = 0 }: Partial<CostedBlock> = {}): string {
  return messages === 1 ? '1 message' : `${messages} messages`
}

/** The lines of a conversation. In other APIs than Chat Completions, with those of sources, which were found to be the same. */
function linesOf(sent: Sent, block: CostedBlock | undefined): number[] {
  if (!isChat(sent)) return messagesOf(sent)
  const { message, messages = 0 } = block ?? {}
  return message === undefined ? [] : sent.lines.messages.slice(message, message + messages)
}

/** What is no part of a source: its header, role and place, which `context.yaml` says; or what a hook sent in place of it all. */
function compareWhole(left: Sent, right: Sent, comparison: Comparison): Found[] {
  const found =
    compareLayouts(left, right) ??
    compareContext(left, right, comparison) ??
    compareMessages([left, othersOf(left)], [right, othersOf(right)], comparison)
  const hook = left.request.rewrittenBy ?? right.request.rewrittenBy
  if (found === undefined) return []
  return [
    hook === undefined
      ? { ...CONFIGURATION, where: CONVERSATION, ...found }
      : { ...BY_HOOK, where: hook, ...found },
  ]
}

/** The same texts may stand in another order, in other roles, in one message, or without a header. A hook may have moved them all. */
function compareLayouts(left: Sent, right: Sent): Pick<Difference, 'left' | 'right'> | undefined {
  const isLaidOut = (sent: Sent) => isChat(sent) && sent.request.rewrittenBy === undefined
  return isLaidOut(left) && isLaidOut(right) ? differing(layoutOf(left), layoutOf(right)) : undefined
}

/** As `system: system_prompt (header) + guide | history | user: clock`: `+` joins the sources of one message. */
function layoutOf({ request: { blocks }, lines, parts }: Sent): string {
  let message: number | undefined
  return blocks
    .filter(({ type, messages }) => type !== 'tools' && messages > 0)
    .map((block, index) => {
      const isJoined = block.message !== undefined && block.message === message
      message = block.message
      if (block.type === 'journal') return `${index > 0 ? ' | ' : ''}${block.source_id}`
      const { role } = Object(parts.part(lines.messages[block.message ?? 0] ?? 0)) as { role?: string }
      const header = block.header_bytes ? ' (header)' : ''
      return `${isJoined ? ' + ' : `${index > 0 ? ' | ' : ''}${role}: `}${block.source_id}${header}`
    })
    .join('')
}

/** Compares the sources that an API has beside its messages. */
function compareContext(left: Sent, right: Sent, { equal, known }: Comparison) {
  const pair = `context ${left.lines.parameters} ${right.lines.parameters}`
  if (known.pairs.has(pair)) return undefined
  const [one, other] = [left, right].map(({ lines, parts }) => {
    const { system, instructions } = Object(parts.part(lines.parameters)) as Record<string, unknown>
    return equal(JSON.stringify([system, instructions]))
  })
  if (one === other) known.pairs.add(pair)
  return differing(one, other)
}

/** The lines beside the conversation, which has been compared; all, where a hook may have moved it. */
function othersOf(sent: Sent): number[] {
  const { message, messages = 0 } = sent.request.blocks.find(({ type }) => type === 'journal') ?? {}
  const all = messagesOf(sent)
  if (!isChat(sent) || sent.request.rewrittenBy !== undefined || message === undefined) return all
  return [...all.slice(0, message), ...all.slice(message + messages)]
}

function messagesOf(sent: Sent): number[] {
  const { lines, parts } = sent
  return isChat(sent)
    ? lines.messages
    : lines.messages.filter((line) => Object(parts.part(line)).type !== 'reasoning')
}

function inJson(messages: readonly unknown[]): string {
  return JSON.stringify(messages.map(withoutIds))
}

/** The ids of calls differ from run to run, and so does the reasoning, which is no part of an answer. */
function withoutIds(message: unknown): unknown {
  const { tool_calls: calls, content, ...rest } = Object(message) as Record<string, unknown>
  return {
    ...withoutOwnIds(rest),
    ...(content !== undefined && {
      content: Array.isArray(content) ? content.filter(isSaid).map(withoutOwnIds) : content,
    }),
    ...(Array.isArray(calls) && { tool_calls: calls.map(withoutOwnIds) }),
  }
}

const IDS = new Set(['id', 'call_id', 'tool_call_id', 'tool_use_id'])
const REASONING = new Set(['reasoning', 'reasoning_content', 'reasoning_details'])

function withoutOwnIds(value: unknown): object {
  return Object.fromEntries(
    Object.entries(Object(value)).filter(([name]) => !IDS.has(name) && !REASONING.has(name)),
  )
}

function isSaid(part: unknown): boolean {
  return !/^(redacted_)?thinking$/.test(Object(part).type)
}
