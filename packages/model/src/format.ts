import type {
  BlobReader,
  ChatRequest,
  ChatResponse,
  ContentPart,
  LeftOut,
  ModelDelta,
  ProviderItems,
} from './chat.js'
import { ModelError } from './errors.js'
import type { Fields } from './response.js'

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

/** What a mapping needs besides the request, and where it notes what it leaves out. */
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
}

/** What an event brought. */
export interface AddedEvent {
  /** The text in it. */
  readonly delta: ModelDelta
  /** It is a sign of life, and no part of the answer. */
  readonly isEmpty: boolean
  /** It is the last one of the answer. So is `[DONE]`, in any API. */
  readonly isLast?: boolean | undefined
}

/** An image or a file of a message. */
export type Media = Exclude<ContentPart, { type: 'text' }>

export function base64Of({ blob }: Media, blobs: BlobReader): string {
  return Buffer.from(blobs(blob)).toString('base64')
}

export function dataUri(part: Media, blobs: BlobReader): string {
  return `data:${part.media_type};base64,${base64Of(part, blobs)}`
}

/** The reader of blobs where there are none. */
export function noBlobs(sha256: string): never {
  const message = `A message holds the blob ${sha256}, and nothing was given to read it: pass a BlobReader to toWire.`
  throw new ModelError('ERR_MODEL_SETTINGS', message)
}

/** Notes items that an API cannot take, because another one made them. */
export function noteForeignItems(items: ProviderItems | undefined, { leftOut }: Mapping): void {
  if (!items) return
  const { iteration, api, list } = items
  leftOut.push({ ...(iteration !== undefined && { iteration }), api, items: list.length })
}
