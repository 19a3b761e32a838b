import { TEMPLATE_NAMES } from '../agent/templates.js'
import type { CommandGroup } from './entry.js'
import { COMPLETION_SHELLS } from './shells.js'

export const SETUP_COMMANDS: CommandGroup = {
  title: 'Start',
  commands: [
    {
      name: 'init',
      description: 'Make a new agent directory that runs at once, without a key',
      arguments: [{ name: '[name]', description: 'directory to make', default: 'my-agent' }],
      options: [
        {
          flags: '-t, --template <name>',
          description: 'what to begin with',
          choices: TEMPLATE_NAMES,
          default: 'minimal',
        },
      ],
      examples: [
        [
          'delta init hello -t hello-world && delta run --agent hello -m "What is here?"',
          'a first run, offline',
        ],
      ],
    },
    {
      name: 'completion',
      description: 'Print a script that lets a shell complete delta',
      arguments: [{ name: '<shell>', description: 'bash, zsh or fish', choices: COMPLETION_SHELLS }],
      examples: [
        ['source <(delta completion bash)', 'in ~/.bashrc; the same for zsh'],
        ['delta completion fish | source', 'in ~/.config/fish/config.fish'],
      ],
    },
    {
      name: 'reference',
      description: 'Print the help of every command as one Markdown page',
      examples: [['delta reference > docs/cli.md', 'as scripts/cli-reference.mjs does']],
      hidden: true,
    },
  ],
}
