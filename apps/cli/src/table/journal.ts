import type { CommandGroup } from './entry.js'
import { JSON_OUTPUT, RUNS_DIR, WORKSPACE } from './options.js'

const RUN = {
  name: '[run]',
  description: 'id of the run, or a beginning that only it has; default: the latest',
}

export const JOURNAL_COMMANDS: CommandGroup = {
  title: 'Look after journals',
  commands: [
    {
      name: 'journal verify',
      description: "Say what is right and wrong with a run's journal; changes nothing",
      arguments: [RUN],
      options: [WORKSPACE, RUNS_DIR, JSON_OUTPUT],
      examples: [['delta journal verify -w ./workspace', 'exit code 0 if the run can go on, 1 if it cannot']],
    },
    {
      name: 'journal repair',
      description: "Set damaged lines of a run's journal aside; deletes nothing",
      arguments: [RUN],
      options: [
        WORKSPACE,
        RUNS_DIR,
        { flags: '--force', description: 'end the process that writes the run first' },
        JSON_OUTPUT,
      ],
      examples: [['delta journal repair -w ./workspace', 'the journal as it was stays beside it']],
    },
  ],
}
