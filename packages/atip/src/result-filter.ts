import { cut } from './description.js'
import type { AtipTool } from './metadata.js'
import { DEFAULT_REDACT_PATTERNS, redact } from './redact.js'
import { assertTool } from './validate.js'

/** The longest result handed to a model, in characters. */
export const DEFAULT_MAX_RESULT_LENGTH = 100_000

const TRUNCATED = '\n[TRUNCATED]'

/** What is taken out, and where is cut. */
export interface ResultFilterOptions {
  /** In characters, the marker `[TRUNCATED]` included. Default 100000. */
  maxLength?: number | undefined
  /** More patterns, applied after the built-in ones and also when those are off. */
  redactPatterns?: readonly RegExp[] | undefined
  /** Whether the built-in patterns and the variables the tools declare are redacted. Default true. */
  redactSecrets?: boolean | undefined
}

/** What stands between a tool's output and a model; see `createResultFilter`. */
export interface ResultFilter {
  /** Redacts, then cuts, in this order: a secret that straddles the cut does not leak its first half. */
  filter(result: string, toolName: string): string
}

/**
 * Makes results fit for a model: without secrets, and not longer than it should read.
 *
 * @throws {AtipValidationError} A tool is no metadata, so that nothing is known of the secrets it reads.
 */
export function createResultFilter(
  tools: readonly AtipTool[],
  options: ResultFilterOptions = {},
): ResultFilter {
  for (const tool of tools) assertTool(tool)
  const { maxLength = DEFAULT_MAX_RESULT_LENGTH, redactPatterns = [], redactSecrets = true } = options
  const builtIn = redactSecrets ? [...DEFAULT_REDACT_PATTERNS, ...declaredPatterns(tools)] : []
  const patterns = [...builtIn, ...redactPatterns]
  return { filter: (result) => truncate(redact(result, patterns), maxLength) }
}

/** Cuts a text to `maxLength` characters, the marker included. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const room = Math.max(0, maxLength - TRUNCATED.length)
  return cut(text, room) + TRUNCATED.slice(0, maxLength)
}

/** A tool that names the variable its key lives in asks for `NAME=value` to be hidden. */
function declaredPatterns(tools: readonly AtipTool[]): RegExp[] {
  const names = tools.flatMap((tool) =>
    (tool.authentication?.methods ?? []).flatMap(({ envVar }) => envVar ?? []),
  )
  return names
    .filter((name) => /^\w{1,64}$/.test(name))
    .map((name) => new RegExp(`(?<=\\b${name}=["']?)[^\\s"']+`, 'g'))
}
