import type { CommandGroup, OptionEntry } from './entry.js'
import { IMPORT_ROOT, JSON_OUTPUT, RUN_ID, RUNS_DIR, TRUST_WORKSPACE_ENV, WORKSPACE } from './options.js'

const OPTIONS: readonly OptionEntry[] = [
  { flags: '--agent <directory>', description: 'agent directory; default: that of the run, or "."' },
  { ...WORKSPACE, description: 'workspace' },
  RUN_ID,
  RUNS_DIR,
  {
    flags: '-m, --message <text>',
    description: 'as if the user said this now; "-" reads stdin, "@file" a file',
  },
  IMPORT_ROOT,
  { flags: '--strict', description: 'unknown keys in the agent are errors' },
  TRUST_WORKSPACE_ENV,
]

const NOTES = `No model is asked, nothing is journaled and no hook runs. The generators of \
context.yaml run as they would in a run, and write their files.`

export const CONTEXT_COMMANDS: CommandGroup = {
  title: 'See what the model sees',
  commands: [
    {
      name: 'context build',
      description: 'Print the request that would be sent to the model now, as JSON',
      options: OPTIONS,
      examples: [
        ['delta context build --agent ./my-agent -w ./workspace', 'the next request of the latest run'],
        ['delta context build --agent ./my-agent -m "Go" | jq .messages', 'the first one of a new run'],
      ],
      notes: NOTES,
    },
    {
      name: 'context explain',
      description: 'Print bytes and tokens of each source, what was cut and why, and what breaks caching',
      options: [...OPTIONS, JSON_OUTPUT],
      examples: [
        [
          'delta context explain --agent ./my-agent -w ./workspace',
          'what fills the context of the latest run',
        ],
      ],
      notes: NOTES,
    },
  ],
}
