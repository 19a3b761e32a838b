/** A conversation's messages, spelled as OpenAI's chat completions spell them. Unknown fields are kept. */
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** What a message says: a string, or parts in their order. A system message has parts of text alone. */
export type Content = string | readonly ContentPart[]

/** A piece of a message: text, or an image or a file whose bytes are kept elsewhere, under their SHA-256 (`blob`). */
export type ContentPart =
  | ({ type: 'text'; text: string } & CacheBreakpoint)
  | ({
      type: 'image' | 'file'
      blob: string
      media_type: string
      /** How many. */
      bytes: number
      /** In pixels; so is `height`. */
      width?: number | undefined
      height?: number | undefined
      name?: string | undefined
    } & CacheBreakpoint)

interface CacheBreakpoint {
  /** A prefix that the provider may keep ends here: for its usual time, or `1h`. */
  prompt_cache?: boolean | string | undefined
}

/** The words of a message, without its images and files; '' for none. */
export function textOf(content: Content | null): string {
  if (content === null || typeof content === 'string') return content ?? ''
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Instructions, and background to the conversation. Some models take them as `developer` messages. */
export interface SystemMessage {
  role: 'system' | 'developer'
  content: Content
  [field: string]: unknown
}

/** What a person said. */
export interface UserMessage {
  role: 'user'
  content: Content
  [field: string]: unknown
}

/** What the model said, and the calls it asks for. */
export interface AssistantMessage {
  role: 'assistant'
  /** Null when there are only calls. */
  content: string | null
  tool_calls?: ToolCall[]
  /** Reasoning, and anything else the provider expects to be sent back. */
  [field: string]: unknown
}

/** The result of the call with this id. */
export interface ToolMessage {
  role: 'tool'
  tool_call_id: string
  /** What the model reads. */
  content: Content
  [field: string]: unknown
}

/** A call that the model asks for. */
export interface ToolCall {
  /** The `ToolMessage` with the result refers to it. */
  id: string
  type: 'function'
  /** `arguments` is the text as the model wrote it, which may not be JSON. */
  function: { name: string; arguments: string; [field: string]: unknown }
  [field: string]: unknown
}

/** A tool as it is described to the model; `parameters` is a JSON Schema. */
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

/** Exactly the JSON body that is sent: nothing is added to it and nothing is taken away. */
export interface ChatRequest {
  messages: readonly ChatMessage[]
  tools?: readonly FunctionTool[] | undefined
  /** As the API calls it. */
  model?: string | undefined
  /** True to receive the answer as a stream; see `streamingRequest`. */
  stream?: boolean | undefined
  [parameter: string]: unknown
}

/** The same request, asking for the answer as a stream, with the usage at its end. */
export function streamingRequest(request: ChatRequest): ChatRequest {
  return { stream_options: { include_usage: true }, ...request, stream: true }
}

/** The answer, both in a uniform shape and as it came. */
export interface ChatResponse {
  /** Ready to be sent back; `parseCompletion` says what was changed for that. */
  message: AssistantMessage
  /** `stop`, `tool_calls`, … in the provider's words, except that `length` and `content_filter` are always called so; absent when it gave none. */
  finishReason?: string
  /** Absent when the provider did not count. */
  usage?: Usage
  /** The whole answer as it came; for a stream, the completion its pieces add up to. */
  raw: unknown
}

/** In tokens, as the provider counts them. Further counts are kept. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  [count: string]: unknown
}

/** Options of one request. */
export interface CompleteOptions {
  /** Ends the request: `ERR_MODEL_ABORTED`. */
  signal?: AbortSignal | undefined
  /** `JSON.stringify(request)` in UTF-8, if the caller already has it: saves serialising a long conversation twice. */
  body?: Uint8Array | undefined
  /** Called with each piece as it comes; at least once when there is any. */
  onDelta?: ((delta: ModelDelta) => void) | undefined
}

/** A piece of an answer. */
export interface ModelDelta {
  /** Of the text. */
  content?: string
  /** Of the reasoning before it. */
  reasoning?: string
}

/** The one thing a model has to do. */
export interface ChatModel {
  /**
   * Asks for the next message.
   *
   * @throws {ModelError} Nothing is retried here: look at `retryable`, and wait `retryDelayMs`.
   */
  complete(request: ChatRequest, options?: CompleteOptions): Promise<ChatResponse>
}

/** Used where `llm` says nothing. */
export const LLM_DEFAULTS = {
  baseUrl: 'https://api.openai.com/v1',
  /** How long a server may be silent. */
  timeoutMs: 600_000,
  /** Attempts in all, the first included. */
  maxAttempts: 5,
  /** Whether answers are asked for as a stream. */
  stream: true,
  /** Whether tools are offered in strict mode. */
  strictTools: false,
} as const
