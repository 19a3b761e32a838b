import { REDACTED, redactPatterns, SECRET_PATTERNS } from '@delta/tool-expander/internal'
import type { AtipTool } from './metadata.js'
import { cut } from './safety.js'
import { assertTool } from './schema.js'

/** Names that announce a secret, as in `password=`, `"api_key": `. */
const ANNOUNCED = '(?:passw(?:or)?d|secret|token|api[_-]?key)'

/*
 * What the interface redacts besides: values announced by a name. Every pattern reads a text of n
 * characters in time proportional to n. "At least six" is written `x{6}x*`: V8 keeps a place on its stack for each `x` of
 * `x{6,}`, and some millions of them overflow it.
 */
const ANNOUNCED_SECRETS = [
  /\bBearer\s{1,8}[A-Za-z0-9._~+/-]{6}[A-Za-z0-9._~+/-]*=*/g,
  /\bBasic\s{1,8}(?=[a-z]*[A-Z0-9+/=])[A-Za-z0-9+/]{6}[A-Za-z0-9+/]*=*/g,
  // After its name: up to the closing quote if there is an opening one, else up to the next space or separator.
  new RegExp(
    `(?<=${ANNOUNCED}["']?\\s?[=:]\\s?["']?)(?:(?<=")[^"\\n]+|(?<=')[^'\\n]+|(?<!["'])[^\\s"',;&]+)`,
    'gi',
  ),
]

/** Patterns for `text.replace(pattern, '[REDACTED]')`: those of every tool and the interface's own. All have the flag `g`. */
export const DEFAULT_REDACT_PATTERNS: readonly RegExp[] = [...SECRET_PATTERNS, ...ANNOUNCED_SECRETS]

/** The longest result handed to a model, in characters. */
export const DEFAULT_MAX_RESULT_LENGTH = 100_000

const TRUNCATED = '\n[TRUNCATED]'

/** What is redacted, and where the text is cut. */
export interface ResultFilterOptions {
  /** In characters, the marker `[TRUNCATED]` included. Default 100000. */
  maxLength?: number | undefined
  /** More patterns, applied after the built-in ones and also when those are off. */
  redactPatterns?: readonly RegExp[] | undefined
  /** Whether the built-in patterns and the variables the tools declare are redacted. Default true. */
  redactSecrets?: boolean | undefined
}

/** Stands between a tool's output and a model; see `createResultFilter`. */
export interface ResultFilter {
  /** Redacts, then cuts, in this order: a secret that straddles the cut does not leak its first half. */
  filter(result: string, toolName: string): string
}

/**
 * Makes results fit for a model: without secrets, and not longer than it should read.
 *
 * @throws {AtipValidationError} A tool is not valid metadata, so the names of its secrets are unknown.
 * @example
 * createResultFilter([gh], { maxLength: 2000 }).filter(stdout, 'gh_pr_list')
 */
export function createResultFilter(
  tools: readonly AtipTool[],
  options: ResultFilterOptions = {},
): ResultFilter {
  for (const tool of tools) assertTool(tool)
  const { maxLength = DEFAULT_MAX_RESULT_LENGTH, redactPatterns: own = [], redactSecrets = true } = options
  const patterns = redactSecrets ? [...ANNOUNCED_SECRETS, ...declaredPatterns(tools), ...own] : own
  const redact = (text: string) =>
    patterns.reduce((rest, each) => rest.replaceAll(everywhere(each), REDACTED), text)
  return { filter: (text) => truncate(redact(redactSecrets ? redactPatterns(text) : text), maxLength) }
}

/** Cuts a text to `maxLength` characters, the marker included. */
export function truncate(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  const room = Math.max(0, maxLength - TRUNCATED.length)
  return cut(text, room) + TRUNCATED.slice(0, maxLength)
}

function everywhere(pattern: RegExp): RegExp {
  return pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`)
}

/** A tool that names the variable its key lives in asks for the value in `NAME=value` to be redacted. */
function declaredPatterns(tools: readonly AtipTool[]): RegExp[] {
  return tools
    .flatMap((tool) => tool.authentication?.methods ?? [])
    .flatMap(({ envVar }) => envVar ?? [])
    .filter((name) => /^\w{1,64}$/.test(name))
    .map((name) => new RegExp(`(?<=\\b${name}=["']?)[^\\s"']+`, 'g'))
}
