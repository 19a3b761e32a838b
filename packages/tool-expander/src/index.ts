export { type BindProblem, type BindResult, bindArguments } from './bind.js'
export { expandTool, type ParseResult, parseTool } from './expand.js'
export {
  type FunctionTool,
  type JsonSchema,
  toFunctionTool,
  toJsonSchema,
} from './json-schema.js'
export { SCHEMA_WORDS } from './nested.js'
export {
  formatProblem,
  isToolExpansionError,
  type Problem,
  ToolExpansionError,
  type ToolProblem,
  type ToolProblemCode,
} from './problems.js'
export { RESERVED_TOOL_NAMES, toolSchemas } from './schema.js'
export type {
  BindOptions,
  ExpandedParameter,
  ExpandedTool,
  Injection,
  JsonSchemaProperty,
  Matches,
  ParameterDefinition,
  ParameterType,
  ToolDefinition,
  ToolOrigin,
} from './tool.js'

/** What a model sends for a call, before it is bound. */
export type Arguments = Record<string, unknown>
