import type { BindOptions } from './bind.js'
import { problemOf, ToolExpansionError } from './problems.js'
import type { ExpandedTool } from './tool.js'

// For callers without a type checker: said here, before a missing key becomes the text "undefined" in a command.

/** Refuses what `expandTool` did not make. */
export function checkExpanded(tool: ExpandedTool): void {
  if (!Array.isArray(tool?.command) || tool.parameters?.every?.(({ inject_as }) => inject_as) !== true)
    refuseUse('This is no expanded tool', 'Pass what expandTool returns.')
}

/** Refuses options without both variables. */
export function checkOptions(options: BindOptions): BindOptions {
  for (const name of ['AGENT_HOME', 'CWD'] as const) {
    if (typeof options?.variables?.[name] !== 'string')
      refuseUse(`variables.${name} is missing`, "Pass { variables: { AGENT_HOME: '/agent', CWD: '/work' } }.")
  }
  return options
}

function refuseUse(message: string, hint: string): never {
  throw new ToolExpansionError([problemOf('ERR_USAGE', '', message, hint)])
}
