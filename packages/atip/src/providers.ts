/** Whose format. Any server that speaks chat completions is `openai`. */
export type Provider = 'openai' | 'gemini' | 'anthropic'

/** A parameter in JSON Schema. In strict mode an optional one also admits `null`. */
export interface ParameterSchema {
  type: string | string[]
  description: string
  enum?: (string | number | null)[]
  /** For an `array`: the type of its values. */
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

/** One tool call a model asks for. */
export interface ToolCall {
  /** The provider's. Where Gemini gives none, it is made from the name; see `parseToolCall`. */
  id: string
  /** The flat name of a command. */
  name: string
  arguments: Record<string, unknown>
}

/** A tool result for OpenAI, made by `handleToolResult`. */
export interface OpenAIToolMessage {
  role: 'tool'
  tool_call_id: string
  /** JSON, so a string is in quotes. */
  content: string
}

/** A tool result for Gemini, made by `handleToolResult`. `id` is there if Gemini gave the call one. */
export interface GeminiToolMessage {
  role: 'user'
  parts: { function_response: { id?: string; name: string; response: unknown } }[]
}

/** A tool result for Anthropic, made by `handleToolResult`. Its `content` is JSON, so a string is in quotes. */
export interface AnthropicToolMessage {
  role: 'user'
  content: { type: 'tool_result'; tool_use_id: string; content: string }[]
}

export interface ToolMessageOf {
  openai: OpenAIToolMessage
  gemini: GeminiToolMessage
  anthropic: AnthropicToolMessage
}

/** A tool result in the format of any of the providers. */
export type Message = ToolMessageOf[Provider]
