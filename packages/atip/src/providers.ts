/** The providers whose formats we speak. */
export const PROVIDERS = ['openai', 'gemini', 'anthropic'] as const
export type Provider = (typeof PROVIDERS)[number]

/** A parameter in JSON Schema. In strict mode an optional one also admits `null`. */
export interface ParameterSchema {
  type: string | string[]
  description: string
  enum?: (string | number | null)[]
  items?: { type: string; enum?: (string | number)[] }
}

/** The names under which other implementations export it. */
export type OpenAIParameter = ParameterSchema
export type GeminiParameter = ParameterSchema
export type AnthropicParameter = ParameterSchema

export interface ParametersSchema {
  type: 'object'
  properties: Record<string, ParameterSchema>
  required: string[]
}

export interface OpenAITool {
  type: 'function'
  function: {
    name: string
    description: string
    strict?: boolean
    parameters: ParametersSchema & { additionalProperties: false }
  }
}

export interface GeminiFunctionDeclaration {
  name: string
  description: string
  parameters: ParametersSchema
}

export interface AnthropicTool {
  name: string
  description: string
  input_schema: ParametersSchema
}

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
  id: string
  name: string
  arguments: Record<string, unknown>
}

export interface OpenAIToolMessage {
  role: 'tool'
  tool_call_id: string
  content: string
}

export interface GeminiToolMessage {
  role: 'user'
  parts: { function_response: { name: string; response: unknown } }[]
}

export interface AnthropicToolMessage {
  role: 'user'
  content: { type: 'tool_result'; tool_use_id: string; content: string }[]
}

export interface ToolMessageOf {
  openai: OpenAIToolMessage
  gemini: GeminiToolMessage
  anthropic: AnthropicToolMessage
}

export type Message = ToolMessageOf[Provider]
