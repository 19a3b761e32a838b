import { CONTEXT_COMMANDS } from './context.js'
import type { CommandGroup } from './entry.js'
import { INSPECT_COMMANDS } from './inspect.js'
import { JOURNAL_COMMANDS } from './journal.js'
import { RUN_COMMANDS } from './run.js'
import { SETUP_COMMANDS } from './setup.js'
import { TOOL_COMMANDS } from './tools.js'

/** Every command of `delta`, in the order of the help. */
export const COMMAND_TABLE: readonly CommandGroup[] = [
  SETUP_COMMANDS,
  RUN_COMMANDS,
  INSPECT_COMMANDS,
  CONTEXT_COMMANDS,
  TOOL_COMMANDS,
  JOURNAL_COMMANDS,
]

/** What the words of a group such as `delta tool` are about. */
export const GROUP_DESCRIPTIONS: Readonly<Record<string, string>> = {
  context: 'See what would be sent to the model, and what it costs',
  mcp: 'Give tools to other programs',
  tool: 'Look at tools as the engine sees them',
  journal: 'Check and repair journals',
}
