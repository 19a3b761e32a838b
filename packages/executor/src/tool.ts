import {
  type ExpandedTool,
  formatProblem,
  type ParameterDefinition,
  type Problem,
  safeParseTool,
  type ToolDefinition,
  type ToolProblem,
} from '@delta/tool-expander'
import type { Constant } from '@delta/tool-expander/internal'
import type * as z from 'zod/mini'
import { findDisplayProblems } from './display.js'
import { isAgentCommand } from './environment.js'
import { ExecutorError, lineOf } from './errors.js'
import { safeParseToolSettings, type settingsSchema, type ToolSettings } from './tool-settings.js'

/** A tool that can be called: its compiled syntax, and how it runs. */
export interface Tool {
  expanded: ExpandedTool
  settings: ToolSettings
  /** What `${TOOL_HOME}` stands for: absolute, or seen from `${AGENT_HOME}`. Absent: the same directory as that. */
  home?: string
}

/** A tool, or every problem of its definition: a problem with a `code` is one of its syntax. Warnings come with both. */
export type ParsedTool =
  | {
      ok: true
      tool: Tool
      /** The keys that say how it runs, as they are written. */
      rest: Record<string, unknown>
      warnings: Problem[]
    }
  | { ok: false; problems: (ToolProblem | Problem)[]; warnings: Problem[] }

/**
 * Makes a tool from its definition, as it stands in an agent's YAML.
 *
 * A key that is nearly a known one (`timeout` for `timeout_ms`) is a problem: without the setting the tool would run all the
 * same. Other unknown keys are ignored, as those of a later version may be, and so are keys that begin with `x-`. To the
 * compiler every unknown key is an error; a value of type `unknown` goes through `safeDefineTool`.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_TOOL`: names every problem of the definition.
 *
 * @example
 * const count = defineTool({ name: 'count_words', exec: 'wc -w ${file}', timeout_ms: 5000 })
 */
export function defineTool(input: WrittenTool): Tool {
  const parsed = safeDefineTool(input)
  const mistyped = parsed.warnings.filter(({ nearest }) => nearest !== undefined)
  if (parsed.ok && mistyped.length === 0) return parsed.tool
  const problems = [...(parsed.ok ? [] : parsed.problems), ...mistyped]
  const lines = problems.map((problem) => ('code' in problem ? formatProblem(problem) : lineOf(problem)))
  throw new ExecutorError('ERR_EXECUTOR_TOOL', ['The tool cannot be used:', ...lines].join('\n'), problems)
}

/**
 * Reads the definition of a tool, whatever parsed it, and returns the problems instead of throwing. Unknown keys are warnings;
 * one that is nearly a known key has `nearest`.
 */
export function safeDefineTool(input: unknown): ParsedTool {
  const syntax = safeParseTool(input)
  const isMapping = typeof input === 'object' && input !== null && !Array.isArray(input)
  const run = safeParseToolSettings(isMapping ? input : {}) // also where the syntax is wrong, to name all mistakes at once
  const { warnings } = run
  if (!syntax.ok || !run.ok) {
    const problems = [...(syntax.ok ? [] : syntax.problems), ...(run.ok ? [] : run.problems)]
    return { ok: false, problems, warnings }
  }
  const { expanded, rest } = syntax
  const problems = findDisplayProblems(run.settings.display, expanded)
  if (problems.length > 0) return { ok: false, problems, warnings }
  const isUnlimited = rest.timeout_ms === undefined && isAgentCommand(expanded.command)
  const settings = isUnlimited ? { ...run.settings, timeoutMs: 0 } : run.settings
  return { ok: true, tool: { expanded, settings }, rest, warnings }
}

/** True when the tool's command is an agent of its own by its name: see `isAgentCommand`. */
export function isAgentTool(tool: Tool): boolean {
  return isAgentCommand(tool.expanded.command)
}

/** A tool as it is written, in YAML or in a program: known keys, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Omit<ToolDefinition, 'parameters'> & {
    parameters?: readonly WithOwnKeys<ParameterDefinition>[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

/** A union, because an interface such as `ExpandedTool` has no index signature and does not fit a type that has one. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })
