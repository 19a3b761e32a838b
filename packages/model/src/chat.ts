/** A conversation's messages, spelled as OpenAI's chat completions spell them. Unknown fields are kept. */
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

interface CacheBreakpoint {
  /** A cacheable prefix of the request ends here. Its lifetime is the provider's default, or `1h`. */
  prompt_cache?: boolean | string | undefined
}

/** The text of a message, without its images and files; '' for none. */
export function textOf(content: Content | null): string {
  if (content === null || typeof content === 'string') return content ?? ''
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Instructions and background. Some models take them as `developer` messages. */
export interface SystemMessage {
  role: 'system' | 'developer'
  content: Content
  [field: string]: unknown
}

/** The words of a person. */
export interface UserMessage {
  role: 'user'
  content: Content
  [field: string]: unknown
}

/** The words of the model, and the tool calls it asks for. */
export interface AssistantMessage {
  role: 'assistant'
  /** Null when there are only tool calls. */
  content: string | null
  tool_calls?: ToolCall[]
  /** Reasoning, and other fields that the provider expects to get back. */
  [field: string]: unknown
}

/** A tool result, which answers the tool call with this id. */
export interface ToolMessage {
  role: 'tool'
  tool_call_id: string
  content: Content
  [field: string]: unknown
}

/** A tool call that the model asks for. */
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

/** The JSON body that is sent, exactly: nothing is added or removed. */
export interface ChatRequest {
  messages: readonly ChatMessage[]
  tools?: readonly FunctionTool[] | undefined
  /** The API's name of the model. */
  model?: string | undefined
  /** True to receive the answer as a stream; see `streamingRequest`. */
  stream?: boolean | undefined
  [parameter: string]: unknown
}

/** The same request for an answer as a stream, with the usage at its end. */
export function streamingRequest(request: ChatRequest): ChatRequest {
  return { stream_options: { include_usage: true }, ...request, stream: true }
}

/** The answer, in a uniform shape (`message`) and as it arrived (`raw`). */
export interface ChatResponse {
  /** Ready to be sent back. `parseCompletion` lists the changes that this takes. */
  message: AssistantMessage
  /** The provider's word, such as `stop` or `tool_calls`. `length` and `content_filter` have these names for every provider. */
  finishReason?: string
  /** Absent when the provider sends none. */
  usage?: Usage
  /** The whole answer as it arrived. For a stream, the completion that its pieces add up to. */
  raw: unknown
}

/** Tokens as the provider counts them. Further counts are kept. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  [count: string]: unknown
}

/** Options of one request. */
export interface CompleteOptions {
  /** Ends the request with `ERR_MODEL_ABORTED`. */
  signal?: AbortSignal | undefined
  /** `JSON.stringify(request)` in UTF-8, if the caller already has it. These very bytes are sent. */
  bytes?: Uint8Array | undefined
  /** Called with each piece as it arrives. */
  onDelta?: ((delta: ModelDelta) => void) | undefined
}

/** A piece of an answer. */
export interface ModelDelta {
  /** Text. */
  content?: string
  /** Reasoning. */
  reasoning?: string
}

/** A model: anything that answers a conversation. */
export interface ChatModel {
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
