/** The API that a server speaks: Chat Completions, Responses or Messages. */
export type Api = 'chat' | 'responses' | 'messages'

/**
 * A conversation's messages, spelled as Chat Completions spells them, whichever API they came from. Unknown fields are
 * kept and sent. `items`, `iteration`, `is_error` and `prompt_cache` are ours: no API gets them as they are.
 */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** The content of a message: a string, or parts in order. A system message has parts of type `text` only. */
export type Content = string | readonly ContentPart[]

/** A part of a message: text, or an image or file whose bytes are kept elsewhere, under their SHA-256 (`blob`). */
export type ContentPart =
  | ({ type: 'text'; text: string } & CacheBreakpoint)
  | ({
      type: 'image' | 'file'
      blob: string
      media_type: string
      /** Size of the blob. */
      bytes: number
      /** In pixels; so is `height`. */
      width?: number | undefined
      height?: number | undefined
      name?: string | undefined
    } & CacheBreakpoint)

/** A place in a conversation where a prefix ends that the provider may keep in its cache. */
export interface CacheBreakpoint {
  /** A cacheable prefix of the request ends here. Its lifetime is the provider's default, or `1h`. */
  prompt_cache?: boolean | string | undefined
}

/** True for a message that is one text, or none, and has no field of ours: every API of chat completions takes it as it is. */
export function isPlain({ content, items, iteration, is_error, prompt_cache }: ChatMessage): boolean {
  const isOurs = items !== undefined || iteration !== undefined || is_error !== undefined
  return !isOurs && prompt_cache === undefined && !Array.isArray(content)
}

/** The text of a message, without its images and files; '' for none. */
export function textOf(content: Content | null): string {
  if (content === null || typeof content === 'string') return content ?? ''
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Instructions and background. Some models take them as `developer` messages. */
export interface SystemMessage extends CacheBreakpoint {
  role: 'system' | 'developer'
  content: Content
  [field: string]: unknown
}

/** What a person says. */
export interface UserMessage extends CacheBreakpoint {
  role: 'user'
  content: Content
  [field: string]: unknown
}

/** An answer of the model, with the tool calls it asks for. */
export interface AssistantMessage extends CacheBreakpoint {
  role: 'assistant'
  /** Null when there are only tool calls. */
  content: string | null
  tool_calls?: ToolCall[]
  /** The whole answer as its API gave it, which goes back to that API unchanged. */
  items?: ProviderItems
  /** The iteration of the run that the answer belongs to. */
  iteration?: number
  /** Reasoning, and other fields that the provider expects to get back. */
  [field: string]: unknown
}

/** The output items of a Responses answer, or the content blocks of a Messages answer: verbatim, in order. */
export interface ProviderItems {
  api: string
  list: readonly unknown[]
}

/** A tool result, which answers the tool call with this id. */
export interface ToolMessage extends CacheBreakpoint {
  role: 'tool'
  tool_call_id: string
  content: Content
  /** The call did not succeed. */
  is_error?: boolean
  [field: string]: unknown
}

/** What the model wants done: `arguments` is the string as it came, JSON or not. */
export interface ToolCall {
  /** The `ToolMessage` with the result refers to it. */
  id: string
  type: 'function'
  /** `arguments` is the string that the model wrote. It may not be JSON. */
  function: { name: string; arguments: string; [field: string]: unknown }
  [field: string]: unknown
}

/** The description of a tool for the model. `parameters` is a JSON Schema. */
export interface FunctionTool {
  type: 'function'
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown>
    strict?: boolean
    [field: string]: unknown
  }
  [field: string]: unknown
}

/** A request to a model. A server gets the body that `toWire` makes of it. */
export interface ChatRequest {
  messages: readonly ChatMessage[]
  tools?: readonly FunctionTool[] | undefined
  /** The API's name of the model. */
  model?: string | undefined
  /** True to receive the answer as a stream. */
  stream?: boolean | undefined
  /** Any other parameter of the API, sent unchanged. */
  [parameter: string]: unknown
}

/** Reads the bytes of an image or file by their SHA-256. */
export type BlobReader = (sha256: string) => Uint8Array

/** The body of a request, as one API wants it. */
export interface WireRequest {
  /** `ai-sdk`: the options of a call to another library, not the bytes that it sends. */
  api: Api | 'ai-sdk'
  /** The field of the body that holds the conversation. */
  list: 'messages' | 'input' | 'prompt'
  body: Record<string, unknown>
  /** Items of other APIs that this one cannot read. The text and tool calls of these answers are in the body. */
  leftOut: LeftOut[]
  /** Where it goes, without query. */
  url?: string
  /** The names of its headers, but for those with which the client describes itself (`x-stainless-…`). */
  headerNames?: string[]
}

/** The items of an answer that a request does without. */
export interface LeftOut {
  iteration?: number
  /** The API that they came from. */
  api: string
  items: number
}

/** The answer, in a uniform shape (`message`) and as it arrived (`raw`). */
export interface ChatResponse {
  /** Ready to be sent back. `parseCompletion` lists the changes that this takes. */
  message: AssistantMessage
  /** `stop`, `tool_calls`, `length` and `content_filter` have these names for every provider; any other word is the provider's. */
  finishReason?: string
  /** The tokens as the provider counts them; `normaliseUsage` reads it. Absent when the provider sends none. */
  usage?: unknown
  /** The model that answered, as the response names it. */
  model?: string
  /** The whole answer as it arrived. For a stream, the answer that its pieces add up to. */
  raw: unknown
  /** How long the request was held back before it was sent, in milliseconds: by a limiter or a queue. */
  waitedMs?: number
}

/** Options of `ChatModel.complete`. */
export interface CompleteOptions {
  /** Ends the request with `ERR_MODEL_ABORTED`. */
  signal?: AbortSignal | undefined
  /** The body that `toWire` made, as JSON in UTF-8, if the caller already has it. These very bytes are sent. */
  bytes?: Uint8Array | undefined
  /** Needed for messages with images or files, without `bytes`. */
  blobs?: BlobReader | undefined
  /** Called with each piece as it arrives. */
  onDelta?: ((delta: ModelDelta) => void) | undefined
}

/** A piece of an answer. */
export interface ModelDelta {
  content?: string
  reasoning?: string
}

/** A model: anything that answers a conversation. */
export interface ChatModel {
  /**
   * Loads what the first request needs, such as a vendor's package. A run calls it before it begins.
   *
   * @throws {ModelError} `ERR_MODEL_SETTINGS`: it is not installed.
   */
  load?(): Promise<void>
  /**
   * Makes the body of a request. Pure. A model without it gets the body of a chat completion.
   *
   * @param blobs - Needed for messages with images or files.
   * @throws {ModelError} `ERR_MODEL_SETTINGS`: this API cannot take the request.
   */
  toWire?(request: ChatRequest, blobs?: BlobReader): WireRequest
  /**
   * Asks for the next message, in one attempt.
   *
   * @throws {ModelError} `retryable` says whether another attempt may succeed; `retryDelayMs` says when to make it.
   */
  complete(request: ChatRequest, options?: CompleteOptions): Promise<ChatResponse>
}

/** The defaults of `llm` in agent.yaml. */
export const LLM_DEFAULTS = {
  baseUrl: 'https://api.openai.com/v1',
  /** Idle timeout. */
  timeoutMs: 600_000,
  /** Attempts for one request, the first included. */
  maxAttempts: 5,
  stream: true,
  strictTools: false,
} as const
