import type { CommandEntry, CommandGroup } from './entry.js'
import { IMPORT_ROOT } from './options.js'

const PATH = { name: '<path>', description: 'agent directory, agent.yaml or tools file' }

const EXPAND: CommandEntry = {
  name: 'tool expand',
  description: 'Print the full form of the tools of an agent or a tools file',
  arguments: [PATH],
  options: [
    { flags: '--json', description: 'print JSON instead of YAML' },
    { flags: '--tool <name>', description: 'only this tool' },
    IMPORT_ROOT,
  ],
  examples: [
    ['delta tool expand ./my-agent', 'the same document, tools expanded, imports resolved'],
    ['delta tool expand tools/files.yaml --tool read_file --json', 'one tool as JSON'],
  ],
  load: () => import('../commands/tool-expand.js'),
}

export const TOOL_COMMANDS: CommandGroup = {
  title: 'Look at tools',
  commands: [EXPAND, { ...EXPAND, name: 'tool:expand', hidden: true }],
}
