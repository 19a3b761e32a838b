import { compileExec } from './exec.js'
import { compileTool } from './expand.js'
import type { ToolProblem } from './problems.js'
import { parseShape, type ToolDefinition } from './schema.js'
import { compileShell } from './shell/compile.js'

export type ParseResult =
  | { ok: true; tool: ToolDefinition; rest: Record<string, unknown> }
  | { ok: false; problems: ToolProblem[] }

/**
 * Accepts one tool as read from YAML or JSON, or says everything that is wrong with it.
 *
 * @returns `tool`, which `expandTool` takes without throwing, and `rest`: the keys this package does not know.
 */
export function parseTool(input: unknown): ParseResult {
  try {
    return parse(input)
  } catch (error) {
    if (error instanceof RangeError) return { ok: false, problems: [TOO_DEEP] }
    throw error
  }
}

/** The stack is the limit, and nothing a person writes comes near it. */
const TOO_DEEP: ToolProblem = {
  code: 'ERR_TOOL_SHAPE',
  path: '',
  message: 'This tool is nested too deeply to be understood.',
  hint: 'Put the script into a file and run that.',
}

function parse(input: unknown): ParseResult {
  const shape = parseShape(input)
  if (!shape.ok) return { ok: false, problems: [...shape.problems, ...templateProblems(input)] }
  const { problems } = compileTool(shape.definition)
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, tool: shape.definition, rest: shape.rest }
}

/** What the template of a misshapen tool says against itself, so that its author hears everything at once. */
function templateProblems(input: unknown): ToolProblem[] {
  const { exec, shell } = (input ?? {}) as { exec?: unknown; shell?: unknown }
  if (typeof exec === 'string') return compileExec(exec).problems
  return typeof shell === 'string' ? compileShell(shell).problems : []
}
