import { describe, OPENAI_DESCRIPTION_MAX_LENGTH } from './description.js'
import { type AtipLeaf, collision, everyLeaf, leavesOf } from './leaves.js'
import type { AtipTool } from './metadata.js'
import { toParameters } from './parameters.js'
import type {
  AnthropicTool,
  GeminiFunctionDeclaration,
  OpenAITool,
  Provider,
  ProviderToolOf,
  ProviderTools,
} from './providers.js'

/** How tools are written for a provider. */
export interface CompileOptions {
  /** OpenAI's strict mode; the other providers have none and ignore it. */
  strict?: boolean | undefined
}

/** One OpenAI tool per leaf. @throws {AtipValidationError} */
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
 */
export function compileTools<P extends Provider>(
  tools: readonly AtipTool[],
  provider: P,
  options: CompileOptions = {},
): ProviderTools<P> {
  const compile = compilers[provider]
  return { provider, tools: [...indexLeaves(tools, 'last').values()].map((leaf) => compile(leaf, options)) }
}

/**
 * Every leaf of several tools by its flat name: the one map that calls are looked up in.
 *
 * @param keep - Which description of a command stays when two tools of one name describe it.
 * @param separator - What joins the words of a flat name. Default `_`.
 * @throws {AtipValidationError} Two different commands have one flat name.
 */
export function indexLeaves(
  tools: readonly AtipTool[],
  keep: 'first' | 'last',
  separator = '_',
): Map<string, AtipLeaf> {
  const index = new Map<string, AtipLeaf>()
  for (const leaf of tools.flatMap((tool) => everyLeaf(tool, separator))) {
    const rival = index.get(leaf.name)
    if (rival && !sameCommand(rival, leaf)) throw collision(leaf, rival)
    if (!rival || keep === 'last') index.set(leaf.name, leaf)
  }
  return index
}

function sameCommand(a: AtipLeaf, b: AtipLeaf): boolean {
  return a.tool.name === b.tool.name && JSON.stringify(a.path) === JSON.stringify(b.path)
}

const compilers: { [P in Provider]: (leaf: AtipLeaf, options: CompileOptions) => ProviderToolOf[P] } = {
  openai: (leaf, { strict = false }) => {
    const description = describe(leaf.command.description, leaf.effects, OPENAI_DESCRIPTION_MAX_LENGTH)
    const { type, properties, required } = toParameters(leaf, { strict })
    const parameters = { type, properties, required, additionalProperties: false as const }
    const named = { name: leaf.name, description }
    return {
      type: 'function',
      function: strict ? { ...named, strict, parameters } : { ...named, parameters },
    }
  },
  gemini: (leaf) => ({
    name: leaf.name,
    description: describe(leaf.command.description, leaf.effects),
    parameters: toParameters(leaf),
  }),
  anthropic: (leaf) => ({
    name: leaf.name,
    description: describe(leaf.command.description, leaf.effects),
    input_schema: toParameters(leaf),
  }),
}
