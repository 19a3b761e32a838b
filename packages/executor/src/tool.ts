import {
  type ExpandedTool,
  formatProblem,
  type ParameterDefinition,
  type Problem,
  safeParseTool,
  type ToolDefinition,
} from '@delta/tool-expander'
import type * as z from 'zod/mini'
import { isAgentCommand } from './environment.js'
import { ExecutorError } from './errors.js'
import type { Constant } from './policy.js'
import {
  parseToolSettings,
  SYNTAX_KEYS,
  type settingsSchema,
  type ToolSettings,
  unknownParameterKeys,
} from './settings.js'

/** A tool that can be called: its compiled syntax, and how it runs. */
export interface Tool {
  expanded: ExpandedTool
  settings: ToolSettings
}

/** How long a tool that says nothing may run. */
export const DEFAULT_TOOL_TIMEOUT_MS = 600_000

/**
 * Makes a tool from its definition, as it stands in an agent's YAML.
 *
 * A key that is nearly a known one (`timeout` for `timeout_ms`) is a problem: nobody reads warnings of a call, and without
 * the setting the tool would run all the same. Other keys nobody knows are ignored, as those of a later version may be, and
 * those that begin with `x-`, which are the author's own. To the compiler every unknown key is one. What a parser calls
 * `unknown` goes through `safeParseTool` of the expander first: `defineTool({ ...tool, ...rest })`.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_TOOL`: names every problem of the definition.
 */
export function defineTool(input: WrittenTool): Tool {
  const syntax = safeParseTool(input)
  const keys = Object.entries(Object(input)).filter(([key]) => !SYNTAX_KEYS.includes(key))
  const run = parseToolSettings(Object.fromEntries(keys)) // also where the syntax is wrong, to name all mistakes at once
  const strange = [...run.warnings, ...unknownParameterKeys(Object(input))]
  const mistyped = strange.filter(({ hint = '' }) => hint.startsWith('Did you mean'))
  const made = syntax.ok && run.ok ? { expanded: syntax.expanded, settings: run.settings } : undefined
  const ofDisplay = made ? findDisplayProblems(made.settings.display ?? '', made.expanded) : []
  if (made && mistyped.length === 0 && ofDisplay.length === 0) return made

  const ofSyntax = syntax.ok ? [] : syntax.problems
  const others: Problem[] = [...(run.ok ? ofDisplay : run.problems), ...mistyped]
  const lines = [
    ...ofSyntax.map((problem) => formatProblem(problem)),
    ...others.map(({ path, message, hint }) => `${path}: ${message}${hint === undefined ? '' : `. ${hint}`}`),
  ]
  const problems = [...ofSyntax, ...others]
  throw new ExecutorError('ERR_EXECUTOR_TOOL', `The tool cannot be used:\n${lines.join('\n')}`, problems)
}

/**
 * The tools by name, as `executeTool` looks them up.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: two tools have one name.
 */
export function toolMap(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    const { name } = tool.expanded
    if (byName.has(name)) {
      const message = `Two tools are called "${name}". A model could not tell them apart.`
      throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
    }
    byName.set(name, tool)
  }
  return byName
}

/** How long a tool may run: as it says, else ten minutes, or no limit for `delta` itself. 0: no limit. */
export function toolTimeoutMs(tool: Tool): number {
  return tool.settings.timeoutMs ?? (isAgentTool(tool) ? 0 : DEFAULT_TOOL_TIMEOUT_MS)
}

/**
 * True when the tool's command is by its name an agent of its own, see `isAgentCommand`, which may take its time. The other
 * commands of `delta` are tools like any other: `delta sessions exec` gives the model a shell.
 */
export function isAgentTool(tool: Tool): boolean {
  return isAgentCommand(tool.expanded.command)
}

/**
 * What happens to a call whose engine died while it ran. A tool that says of itself that it may
 * run twice is run again; that of an imported tool counts only from trust `org` up.
 */
export function interruptPolicy({ settings }: Tool): 'report' | 'rerun' | 'ask' {
  if (settings.onInterrupt) return settings.onInterrupt
  const believed = settings.trust === undefined || ['org', 'vendor', 'native'].includes(settings.trust)
  return settings.effects?.idempotent === true && believed ? 'rerun' : 'report'
}

/** `${name}`, or `\${name}` for the text itself. */
const PLACEHOLDER = /(\\)?\$\{([^}]*)\}/g

/** What is wrong with `display:` of a tool, in the order of the text. */
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
 * The text of `display:` with the arguments of one call; those that are absent become nothing.
 *
 * @param show - How one value is written; a model chose it, so a terminal wants it without control characters.
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

/** A tool as it is written, in YAML or in a program. No key but those there are, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Omit<ToolDefinition, 'parameters'> & {
    parameters?: readonly WithOwnKeys<ParameterDefinition>[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

/** Both, for an interface such as `ExpandedTool` has no signature and would not be taken for one with it. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })
