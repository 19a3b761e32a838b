/** The providers whose formats we speak. */
export const PROVIDERS = ['openai', 'gemini', 'anthropic'] as const
/** Whose format; any server that speaks chat completions is `openai`. */
export type Provider = (typeof PROVIDERS)[number]

/** A parameter in JSON Schema. In strict mode an optional one also admits `null`. */
export interface ParameterSchema {
  type: string | string[]
  description: string
  enum?: (string | number | null)[]
  /** Of an `array`: what each of its values is. */
  items?: { type: string; enum?: (string | number)[] }
}

/** The name under which other implementations export it. */
export type OpenAIParameter = ParameterSchema
/** The name under which other implementations export it. */
export type GeminiParameter = ParameterSchema
/** The name under which other implementations export it. */
export type AnthropicParameter = ParameterSchema

/** The parameters of a command as one object in JSON Schema. */
export interface ParametersSchema {
  type: 'object'
  properties: Record<string, ParameterSchema>
  /** Names; in OpenAI's strict mode all of them. */
  required: string[]
}

/** An entry of `tools` of a chat completion request. */
export interface OpenAITool {
  type: 'function'
  function: {
    name: string
    description: string
    strict?: boolean
    parameters: ParametersSchema & { additionalProperties: false }
  }
}

/** An entry of `functionDeclarations` of a Gemini request. */
export interface GeminiFunctionDeclaration {
  name: string
  description: string
  parameters: ParametersSchema
}

/** An entry of `tools` of a request for a message. */
export interface AnthropicTool {
  name: string
  description: string
  input_schema: ParametersSchema
}

/** A tool in the format of any of the providers. */
export type ProviderTool = OpenAITool | GeminiFunctionDeclaration | AnthropicTool

/** Several tools compiled for one provider. */
export interface ProviderTools<P extends Provider = Provider> {
  provider: P
  tools: ProviderToolOf[P][]
}

/** What each provider calls a tool. */
export interface ProviderToolOf {
  openai: OpenAITool
  gemini: GeminiFunctionDeclaration
  anthropic: AnthropicTool
}

/** One call a model asks for. */
export interface ToolCall {
  /** The provider's; for Gemini, which has none, see `parseToolCall`. */
  id: string
  /** The flat name of a command. */
  name: string
  arguments: Record<string, unknown>
}

/** A result for OpenAI, made by `handleToolResult`. */
export interface OpenAIToolMessage {
  role: 'tool'
  tool_call_id: string
  /** JSON, so that a text stands in quotes. */
  content: string
}

/** A result for Gemini, made by `handleToolResult`. */
export interface GeminiToolMessage {
  role: 'user'
  parts: { function_response: { name: string; response: unknown } }[]
}

/** A result for Anthropic, made by `handleToolResult`. Its `content` is JSON, so that a text stands in quotes. */
export interface AnthropicToolMessage {
  role: 'user'
  content: { type: 'tool_result'; tool_use_id: string; content: string }[]
}

export interface ToolMessageOf {
  openai: OpenAIToolMessage
  gemini: GeminiToolMessage
  anthropic: AnthropicToolMessage
}

/** A result in the format of any of the providers. */
export type Message = ToolMessageOf[Provider]
