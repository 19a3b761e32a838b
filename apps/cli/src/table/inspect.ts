import type { CommandGroup } from './entry.js'
import { JSON_OUTPUT, WORKSPACE } from './options.js'

export const INSPECT_COMMANDS: CommandGroup = {
  title: 'Look at runs',
  commands: [
    {
      name: 'list-runs',
      description: 'List the runs of a workspace, newest first',
      options: [WORKSPACE, JSON_OUTPUT],
      examples: [['delta list-runs -w ./workspace', 'every run with its status']],
      load: () => import('../commands/list-runs.js'),
    },
  ],
}
