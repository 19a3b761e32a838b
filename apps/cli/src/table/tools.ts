import type { CommandEntry, CommandGroup } from './entry.js'
import { MCP_SERVE } from './mcp.js'
import { IMPORT_ROOT, JSON_OUTPUT } from './options.js'

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
    ['delta tool expand ./my-agent', 'its agent.yaml, with imports and what each tool executes'],
    ['delta tool expand ./my-agent --tool list_files --json', 'one tool as JSON'],
  ],
}

const LINT: CommandEntry = {
  name: 'tool lint',
  description: 'Say what a reviewer would ask: unknown keys, missing descriptions, risky templates',
  arguments: [PATH],
  options: [JSON_OUTPUT, IMPORT_ROOT],
  examples: [['delta tool lint ./my-agent', 'exit code 0 without findings, 1 with, 2 if they do not load']],
  notes: `It looks at the tools alone. What checks all files of an agent, and runs \
nothing: delta config --strict --agent ./my-agent`,
}

const LIST: CommandEntry = {
  name: 'tool list',
  description: 'List the tools of an agent: parameters, effects, and what the policy says to them',
  arguments: [PATH],
  options: [JSON_OUTPUT, IMPORT_ROOT],
  examples: [
    ['delta tool list ./my-agent', 'one tool a line'],
    [
      'delta tool list ./my-agent --json | jq \'.[] | select(.decision != "allow")\'',
      'what asks or is refused',
    ],
  ],
}

const IMPORT: CommandEntry = {
  name: 'tool import',
  description: 'Ask a program that speaks ATIP to describe itself, and keep that for agents to import',
  arguments: [{ name: '<program>', description: 'name or path; it is run once, as <program> --agent' }],
  options: [
    { flags: '--commands <list>', description: 'only these commands and groups, separated by commas' },
    { flags: '-o, --output <file>', description: 'where to; "-" is stdout (default: <name>.atip.json)' },
  ],
  examples: [['delta tool import delta --commands "list-runs,journal verify"', 'writes delta.atip.json']],
  notes: `ATIP is JSON in which a program says what its commands take and what they do \
to the world. Keep the file beside agent.yaml, and name it there under imports: \
as is printed then. Few programs speak it yet. Any other is a tool, too, by a \
line under tools: in agent.yaml: - { name: …, exec: … }`,
}

/** Found before the table is loaded, see `main.ts`; here for the help. */
const SESSIONS: CommandEntry = {
  name: 'sessions',
  description: 'A shell whose state outlives one command, for agents; the same as delta-sessions',
  arguments: [
    {
      name: '[words...]',
      description: 'start, exec, end, list or cleanup; delta sessions --help',
      firstWords: ['start', 'exec', 'end', 'list', 'cleanup'],
    },
  ],
  examples: [
    ['delta sessions start bash', 'makes a session, and prints its id as JSON'],
    ['delta sessions exec <id> "cd src && ls"', 'runs in it; the next command starts where this one ended'],
    ['delta sessions end <id>', 'ends what is left of it'],
  ],
}

const OLD_EXPAND: CommandEntry = { ...EXPAND, name: 'tool:expand', hidden: true }

export const TOOL_COMMANDS: CommandGroup = {
  title: 'Tools',
  commands: [EXPAND, LINT, LIST, IMPORT, MCP_SERVE, SESSIONS, OLD_EXPAND],
}
