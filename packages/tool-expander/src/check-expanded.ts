import { ToolExpansionError } from './problems.js'
import type { BindOptions, ExpandedTool } from './tool.js'

// For callers without a type checker: said here, before a missing key becomes the text "undefined" in a command.

/** Refuses what `expandTool` did not make. */
export function checkExpanded(tool: ExpandedTool): void {
  const isExpanded =
    Array.isArray(tool?.command) && tool.parameters?.every?.((parameter) => parameter?.inject_as)
  if (!isExpanded) refuseUse('a tool that expandTool returned')
}

/** Refuses options without both variables. */
export function checkOptions(options: BindOptions): void {
  const { AGENT_HOME, CWD } = options?.variables ?? {}
  if (![AGENT_HOME, CWD].every((path) => /^\/[^\0]*$/.test(path as string)))
    refuseUse('{ variables: { AGENT_HOME, CWD } }, both absolute')
}

function refuseUse(wanted: string): never {
  throw new ToolExpansionError([{ code: 'ERR_USAGE', path: '', message: `Pass ${wanted}.` }])
}
