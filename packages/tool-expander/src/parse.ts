import { compileTool } from './expand.js'
import type { ToolProblem } from './problems.js'
import { parseShape, type ToolDefinition } from './schema.js'

export type ParseResult =
  | { ok: true; tool: ToolDefinition; rest: Record<string, unknown> }
  | { ok: false; problems: ToolProblem[] }

/**
 * Accepts one tool as read from YAML or JSON, or says everything that is wrong with it.
 *
 * @returns `tool`, which `expandTool` takes without throwing, and `rest`: the keys this package does not know.
 */
export function parseTool(input: unknown): ParseResult {
  const shape = parseShape(input)
  if (!shape.ok) return shape
  const { problems } = compileTool(shape.definition)
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, tool: shape.definition, rest: shape.rest }
}
