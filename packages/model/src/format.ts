import type {
  AssistantMessage,
  BlobReader,
  CacheBreakpoint,
  ChatRequest,
  ChatResponse,
  Content,
  ContentPart,
  LeftOut,
  ModelDelta,
} from './chat.js'
import { ModelError } from './errors.js'
import { type Fields, isObject } from './response.js'

/** How one API spells a request and its answer. */
export interface Format {
  /** Appended to the base URL. */
  readonly path: string
  /** The field of the body that holds the conversation. */
  readonly list: 'messages' | 'input'
  toBody(request: ChatRequest, mapping: Mapping): Fields
  /** @throws {ModelError} `ERR_MODEL_RESPONSE`: it is not an answer of this API. */
  read(answer: unknown): ChatResponse
  /** Adds up one streamed answer. */
  startStream(): StreamReader
}

/** What a mapping needs besides the request. It adds to `leftOut`. */
export interface Mapping {
  readonly blobs: BlobReader
  readonly leftOut: LeftOut[]
}

/** Adds up the events of a streamed answer. */
export interface StreamReader {
  /** Adds the data of an event. */
  add(event: Fields): AddedEvent
  /**
   * The answer that the events add up to, to be read as a whole one.
   *
   * @param isDone - `[DONE]` came.
   * @throws {ModelError} `ERR_MODEL_RESPONSE`: the stream ended before the answer did.
   */
  end(isDone: boolean): unknown
  /** The answer so far, as far as it says what it costs; undefined while neither a text nor a call has come. */
  soFar(): unknown
}

/** What an event brought. */
export interface AddedEvent {
  /** The text in it. */
  readonly delta: ModelDelta
  readonly kind: EventKind
  /** How many of its characters the process keeps. Default: all. */
  readonly kept?: number | undefined
  /** How many parts of the answer begin with it. Default: none. */
  readonly parts?: number | undefined
}

/**
 * `alive`: a sign of life, not a part of the answer. `whole`: a part with which the answer is whole; counts may follow, or `[DONE]`.
 * `last`: nothing of the answer follows. So is `[DONE]`, in any API.
 */
export type EventKind = 'alive' | 'part' | 'whole' | 'last'

/** Whether a cacheable prefix ends here. */
export type Mark = CacheBreakpoint['prompt_cache']

/** A message, or something with content like one. */
export interface Said extends CacheBreakpoint {
  readonly content: Content
}

/** An image or a file of a message. */
export type Media = Exclude<ContentPart, { type: 'text' }>

export function base64Of({ blob }: Media, blobs: BlobReader): string {
  return Buffer.from(blobs(blob)).toString('base64')
}

export function dataUri(part: Media, blobs: BlobReader): string {
  return `data:${part.media_type};base64,${base64Of(part, blobs)}`
}

/** Stands for a reader of blobs where none was given. */
export function noBlobs(sha256: string): never {
  const message = `A message holds the blob ${sha256}, and nothing was given to read it: pass a BlobReader to toWire.`
  throw new ModelError('ERR_MODEL_SETTINGS', message)
}

/** True for an image or a file of ours. A hook or a program may write parts as one API spells them. */
export function isMedia(part: ContentPart): part is Media {
  return (part.type === 'image' || part.type === 'file') && typeof part.blob === 'string'
}

/** The error for a part that an API does not know. */
export function unknownPart({ type }: ContentPart, api: string): ModelError {
  const known = 'Known are text, and an image or file with its "blob".'
  return new ModelError(
    'ERR_MODEL_SETTINGS',
    `A message has a part of the type ${JSON.stringify(type)}, which cannot be sent to ${api}. ${known}`,
  )
}

/** The parts of a content. A string is one part. */
export function partsOf(content: Content): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** A mark on a message stands on its last part. */
export function markLast(parts: readonly ContentPart[], mark: Mark): ContentPart[] {
  const last = parts.length - 1
  return parts.map((part, index) => {
    return mark && index === last ? { ...part, prompt_cache: part.prompt_cache || mark } : part
  })
}

/** The content of a message as Chat Completions and Responses want it. Text stays a string, unless a cacheable prefix ends with it. */
export function contentOf({ content, prompt_cache }: Said, toPart: (part: ContentPart) => Fields): unknown {
  if (typeof content === 'string' && (!prompt_cache || content === '')) return content
  return markLast(partsOf(content), prompt_cache).map(toPart)
}

/** The mark of a part in Chat Completions and Responses. An empty text may carry none. */
export function breakpointOf(part: ContentPart): Fields {
  const isMarked = part.prompt_cache && !(part.type === 'text' && part.text === '')
  return isMarked ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {}
}

/** The items of an answer that go back unchanged, and its calls among them by the ids that the conversation has for them. */
export interface OwnItems {
  /** Undefined where another API made them, where calls were changed since, or where something else stands in their place. */
  readonly list?: readonly Fields[]
  readonly calls: ReadonlyMap<string, Fields>
}

/**
 * Finds the items that an API made, and notes what it cannot take: the items of another one, and the fields in which a chat
 * completion keeps its reasoning. A hook or a command may have put anything into `items`.
 */
export function ownItems(message: AssistantMessage, origin: Origin, mapping: Mapping): OwnItems {
  const { items, tool_calls = [] } = message
  const list: unknown = items?.api === origin.api ? items.list : undefined
  if (Array.isArray(list) && list.every(isObject)) {
    const calls = list.filter(origin.isCall)
    if (calls.length === tool_calls.length)
      return { list, calls: new Map(tool_calls.map(({ id }, index) => [id, calls[index] ?? {}])) }
  }
  noteFields(message, mapping)
  noteItems(message, mapping)
  return { calls: new Map() }
}

/** The API that a mapping is for, and which of its items are calls. */
export interface Origin {
  readonly api: string
  isCall(item: unknown): item is Fields
}

/** Notes the items of an answer that an API does without. */
export function noteItems({ items, iteration }: AssistantMessage, mapping: Mapping, count?: number): void {
  if (Array.isArray(items?.list)) note(String(items.api), count ?? items.list.length, iteration, mapping)
}

/** The fields of a message, and of a call, that every API has, or that are ours. */
const COMMON = new Set(['role', 'name', 'content', 'tool_calls', 'items', 'iteration', 'prompt_cache'])
const COMMON_OF_CALL = new Set(['id', 'type', 'function'])

/** Notes the further fields of a message of a chat, such as its reasoning. */
function noteFields(message: AssistantMessage, mapping: Mapping): void {
  const countOf = (fields: object, common: ReadonlySet<string>): number =>
    Object.entries(fields).filter(([name, value]) => value != null && !common.has(name)).length
  const { tool_calls = [], iteration } = message
  const ofCalls = tool_calls.map((call) => countOf(call, COMMON_OF_CALL))
  const count = ofCalls.reduce((sum, each) => sum + each, countOf(message, COMMON))
  note('chat', count, iteration, mapping)
}

function note(api: string, count: number, iteration: number | undefined, { leftOut }: Mapping): void {
  if (count > 0) leftOut.push({ ...(iteration !== undefined && { iteration }), api, items: count })
}
