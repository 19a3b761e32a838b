import {
  type ExpandedTool,
  expandTool,
  formatProblem,
  type ParameterDefinition,
  type Problem,
  parseTool,
  type ToolDefinition,
} from '@delta/tool-expander'
import type * as z from 'zod/mini'
import { isAgentCommand } from './environment.js'
import { ExecutorError, lineOf } from './errors.js'
import type { Constant } from './policy.js'
import { safeParseToolSettings, type settingsSchema, type ToolSettings } from './settings.js'

/** A tool that can be called: its compiled syntax, and how it runs. */
export interface Tool {
  expanded: ExpandedTool
  settings: ToolSettings
}

/** How long a tool without `timeout_ms` may run. */
export const DEFAULT_TOOL_TIMEOUT_MS = 600_000

/**
 * Makes a tool from its definition, as it stands in an agent's YAML.
 *
 * A key that is nearly a known one (`timeout` for `timeout_ms`) is a problem: without the setting the tool would run all the
 * same. Other unknown keys are ignored, as those of a later version may be, and so are keys that begin with `x-`. To the
 * compiler every unknown key is an error; a value of type `unknown` goes through `parseTool` of the expander first:
 * `defineTool({ ...tool, ...rest })`.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_TOOL`: names every problem of the definition.
 *
 * @example
 * const count = defineTool({ name: 'count_words', exec: 'wc -w ${file}', timeout_ms: 5000 })
 */
export function defineTool(input: WrittenTool): Tool {
  const syntax = parseTool(input)
  const run = safeParseToolSettings(Object(input)) // also where the syntax is wrong, to name all mistakes at once
  const mistyped = run.warnings.filter(({ hint }) => hint?.startsWith('Did you mean'))
  const made = syntax.ok && run.ok ? { expanded: expandTool(syntax.tool), settings: run.settings } : undefined
  const ofDisplay = made ? findDisplayProblems(made.settings.display ?? '', made.expanded) : []
  if (made && mistyped.length === 0 && ofDisplay.length === 0) return made

  const ofSyntax = syntax.ok ? [] : syntax.problems
  const others = [...(run.ok ? ofDisplay : run.problems), ...mistyped]
  const lines = [...ofSyntax.map((problem) => formatProblem(problem)), ...others.map(lineOf)]
  const message = ['The tool cannot be used:', ...lines].join('\n')
  throw new ExecutorError('ERR_EXECUTOR_TOOL', message, [...ofSyntax, ...others])
}

/** How long a tool may run: its `timeout_ms`, else ten minutes, or no limit for `delta` itself. 0: no limit. */
export function toolTimeoutMs(tool: Tool): number {
  return tool.settings.timeoutMs ?? (isAgentTool(tool) ? 0 : DEFAULT_TOOL_TIMEOUT_MS)
}

/** True when the tool's command is an agent of its own by its name: see `isAgentCommand`. */
export function isAgentTool(tool: Tool): boolean {
  return isAgentCommand(tool.expanded.command)
}

/**
 * What happens to a call whose engine died while it ran. A tool with `effects.idempotent` is run again; of imported tools,
 * only one of trust `org` or higher.
 */
export function interruptPolicy({ settings }: Tool): 'report' | 'rerun' | 'ask' {
  if (settings.onInterrupt) return settings.onInterrupt
  const believed = settings.trust === undefined || ['org', 'vendor', 'native'].includes(settings.trust)
  return settings.effects?.idempotent === true && believed ? 'rerun' : 'report'
}

/** `${name}`, or `\${name}` for the text itself. */
const PLACEHOLDER = /(\\)?\$\{([^}]*)\}/g

/** The problems of a tool's `display:`, in the order of the text. */
export function findDisplayProblems(
  display: string,
  { name: toolName, parameters }: Pick<ExpandedTool, 'name' | 'parameters'>,
): Problem[] {
  const names = parameters.map(({ name }) => name)
  const known = names.length > 0 ? ` of ${toolName} (${names.join(', ')})` : `: ${toolName} has none`
  return [...display.matchAll(PLACEHOLDER)]
    .filter(({ 1: escaped, 2: name = '' }) => escaped === undefined && !names.includes(name))
    .map(({ 0: written, index }) => ({
      path: 'display',
      message: `${written} is not a parameter${known}`,
      column: index + 1,
    }))
}

/**
 * The text of `display:` with the arguments of one call; an absent one is empty.
 *
 * @param show - Writes one value. A model chose it, so on a terminal it must have no control characters.
 */
export function renderDisplay(display: string, args: unknown, show: (value: string) => string): string {
  const values = new Map(Object.entries(Object(args)))
  return display.replace(PLACEHOLDER, (written, escaped: string | undefined, name: string) => {
    if (escaped !== undefined) return written.slice(1)
    const value = values.get(name)
    if (value === undefined || value === null) return ''
    return show(typeof value === 'string' ? value : JSON.stringify(value))
  })
}

/** A tool as it is written, in YAML or in a program: known keys, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Omit<ToolDefinition, 'parameters'> & {
    parameters?: readonly WithOwnKeys<ParameterDefinition>[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

/** A union, because an interface such as `ExpandedTool` has no index signature and does not fit a type that has one. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })
