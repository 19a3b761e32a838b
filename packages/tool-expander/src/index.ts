export { type BindProblem, type BindResult, bindArguments } from './bind.js'
export { expandTool, type ParsedTool, type ParseResult, parseTool, safeParseTool } from './expand.js'
export {
  type FunctionTool,
  type JsonSchema,
  toFunctionTool,
  toJsonSchema,
} from './json-schema.js'
export type { CostEstimate, Effects, PolicyRules, TrustLevel } from './policy.js'
export {
  formatProblem,
  isToolExpansionError,
  type Problem,
  type ToolExpansionError,
  type ToolProblem,
  type ToolProblemCode,
} from './problems.js'
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
