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
      notes: `Templates:
  minimal        runs one command and says what it printed
  hello-world    finds the longest files and writes a report; three ways to \
write a tool
  file-ops       reads, searches, writes and moves text files
  api-tester     sends HTTP requests and reports what came back
  code-reviewer  reads source files and writes a review
  research       takes notes over a long run, and answers with its sources

The model of each is a script. A comment in its agent.yaml says how to put a \
real one in its place.`,
    },
    {
      name: 'completion',
      description: 'Print a script that lets a shell complete delta',
      arguments: [{ name: '<shell>', description: 'bash, zsh or fish', choices: COMPLETION_SHELLS }],
      examples: [
        ['source <(delta completion bash)', 'in ~/.bashrc; for zsh, with zsh, in ~/.zshrc'],
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
