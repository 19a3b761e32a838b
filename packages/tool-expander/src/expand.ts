import { compileSyntax, compileTool } from './compile.js'
import type { ToolDefinition } from './definition.js'
import { ENOUGH, problemOf, ToolExpansionError, type ToolProblem } from './problems.js'
import { type Parsed, parseShape, type Refused } from './schema.js'
import type { ExpandedTool } from './tool.js'

/** What `parseTool` says of a tool; look at `ok` first. */
export type ParseResult = Parsed | Refused

/** What `parseTool` has just compiled, so that the `expandTool` behind it need not do so again. */
const EXPANDED = new WeakMap<ToolDefinition, ExpandedTool>()

/**
 * Accepts one tool as read from YAML or JSON, or says everything that is wrong with it.
 *
 * @returns `tool`, which `expandTool` takes without throwing, and `rest`: the keys this package does not know. It was compiled
 *   as it is: who changes `tool` changes a copy.
 */
export function parseTool(input: unknown): ParseResult {
  try {
    const shape = parseShape(input)
    if (!shape.ok) return { ok: false, problems: [...shape.problems, ...templateProblems(input)] }
    const { tool, problems } = compileTool(shape.tool)
    if (problems.length > 0) return { ok: false, problems: problems.slice(0, ENOUGH) }
    EXPANDED.set(shape.tool, tool)
    return shape
  } catch (error) {
    // The stack is the limit, and nothing a person writes comes near it. Or a getter of the input throws.
    const message = `This tool cannot be read: ${(error as Error)?.message}`
    return { ok: false, problems: [problemOf('ERR_TOOL_SHAPE', '', message)] }
  }
}

/**
 * The full form of a tool: an argument vector, and for each parameter where its value goes.
 *
 * @throws {ToolExpansionError} with every problem, for a definition `parseTool` refuses.
 */
export function expandTool(definition: ToolDefinition): ExpandedTool {
  const known = EXPANDED.get(definition)
  EXPANDED.delete(definition)
  if (known) return known
  const parsed = parseTool(definition)
  if (!parsed.ok)
    throw new ToolExpansionError(parsed.problems, definition?.name && `tool "${definition.name}"`)
  return expandTool(parsed.tool)
}

/** What the template of a misshapen tool says against itself, so that its author hears everything at once. */
function templateProblems(input: unknown): ToolProblem[] {
  const { exec, shell } = (input ?? {}) as ToolDefinition
  return typeof (exec ?? shell) === 'string'
    ? compileSyntax({ name: '', exec: exec ?? undefined, shell }).problems
    : []
}
