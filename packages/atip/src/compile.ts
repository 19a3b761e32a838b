import { type AtipLeaf, indexLeaves, leavesOf } from './leaves.js'
import type { AtipArgument, AtipOption, AtipTool } from './metadata.js'
import type {
  AnthropicTool,
  GeminiFunctionDeclaration,
  OpenAITool,
  ParameterSchema,
  ParametersSchema,
  Provider,
  ProviderToolOf,
  ProviderTools,
} from './providers.js'
import { describe, OPENAI_DESCRIPTION_MAX_LENGTH } from './safety.js'

/** How tools are written for a provider. */
export interface CompileOptions {
  /** OpenAI's strict mode; the other providers have none and ignore it. */
  strict?: boolean | undefined
}

/**
 * One OpenAI tool per leaf.
 *
 * @throws {AtipValidationError}
 * @example
 * await fetch(url, { method: 'POST', body: JSON.stringify({ model, messages, tools: toOpenAI(gh) }) })
 */
export function toOpenAI(tool: AtipTool, options: CompileOptions = {}): OpenAITool[] {
  return leavesOf(tool).map((leaf) => compilers.openai(leaf, options))
}

/** One Gemini function declaration per leaf. @throws {AtipValidationError} */
export function toGemini(tool: AtipTool): GeminiFunctionDeclaration[] {
  return leavesOf(tool).map((leaf) => compilers.gemini(leaf, {}))
}

/** One Anthropic tool per leaf. @throws {AtipValidationError} */
export function toAnthropic(tool: AtipTool): AnthropicTool[] {
  return leavesOf(tool).map((leaf) => compilers.anthropic(leaf, {}))
}

/**
 * Compiles several tools. The same command described twice (two versions of one tool) counts
 * once, as it was described last.
 *
 * @throws {AtipValidationError} A tool is invalid, or two different commands have one flat name.
 * @example
 * const { tools } = compileTools([gh, notes], 'anthropic')
 */
export function compileTools<P extends Provider>(
  tools: readonly AtipTool[],
  provider: P,
  options: CompileOptions = {},
): ProviderTools<P> {
  const compile = compilers[provider]
  return { provider, tools: [...indexLeaves(tools, 'last').values()].map((leaf) => compile(leaf, options)) }
}

const compilers: { [P in Provider]: (leaf: AtipLeaf, options: CompileOptions) => ProviderToolOf[P] } = {
  openai: (leaf, { strict = false }) => {
    const description = describe(leaf, OPENAI_DESCRIPTION_MAX_LENGTH)
    const parameters = { ...toParameters(leaf, strict), additionalProperties: false as const }
    const named = { name: leaf.name, description }
    return {
      type: 'function',
      function: strict ? { ...named, strict, parameters } : { ...named, parameters },
    }
  },
  gemini: (leaf) => ({ name: leaf.name, description: describe(leaf), parameters: toParameters(leaf) }),
  anthropic: (leaf) => ({ name: leaf.name, description: describe(leaf), input_schema: toParameters(leaf) }),
}

/**
 * A leaf's arguments and options as one JSON Schema object.
 *
 * @param strict - OpenAI's strict mode: every parameter is required, and `null` stands
 *   for an optional one that is absent.
 */
function toParameters(leaf: AtipLeaf, strict = false): ParametersSchema {
  const parameters = [...(leaf.command.arguments ?? []), ...leaf.options]
  return {
    type: 'object',
    // Not by assignment: a parameter may be called `__proto__`.
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, toSchema(parameter, strict && !isRequired(parameter))]),
    ),
    required: parameters.filter((parameter) => strict || isRequired(parameter)).map(({ name }) => name),
  }
}

const HINTS: Partial<Record<AtipArgument['type'], string>> = {
  file: ' (file path)',
  directory: ' (directory path)',
  url: ' (URL)',
}

function toSchema(parameter: AtipArgument | AtipOption, nullable: boolean): ParameterSchema {
  const description = (parameter.description ?? '') + (HINTS[parameter.type] ?? '')
  const type = valueType(parameter)
  const values = parameter.enum
  if (isRepeated(parameter)) {
    const items = values ? { type, enum: [...values] } : { type }
    return { type: nullable ? ['array', 'null'] : 'array', description, items }
  }
  const schema: ParameterSchema = { type: nullable ? [type, 'null'] : type, description }
  if (values) schema.enum = nullable ? [...values, null] : [...values]
  return schema
}

/** An argument is required unless it says otherwise, an option only if it says so. */
export function isRequired(parameter: AtipArgument | AtipOption): boolean {
  return 'flags' in parameter ? parameter.required === true : parameter.required !== false
}

/** Whether it accepts several values: an `array`, or any type that may be repeated. */
export function isRepeated(parameter: AtipArgument | AtipOption): boolean {
  return parameter.type === 'array' || parameter.variadic === true
}

/** The flag to write: the first long one, or the first. */
export function longFlag({ flags }: AtipOption): string {
  return flags.find((flag) => flag.startsWith('--')) ?? flags[0] ?? ''
}

/** The JSON type of one value. */
export function valueType(parameter: AtipArgument | AtipOption): 'string' | 'integer' | 'number' | 'boolean' {
  switch (parameter.type) {
    case 'integer':
    case 'number':
    case 'boolean':
      return parameter.type
    case 'enum':
      return parameter.enum?.every((value) => typeof value === 'number') ? 'number' : 'string'
    default:
      return 'string'
  }
}
