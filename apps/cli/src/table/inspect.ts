import type { CommandGroup } from './entry.js'
import { IMPORT_ROOT, JSON_OUTPUT, RUNS_DIR, TRUST_WORKSPACE_ENV, WORKSPACE } from './options.js'

const STATUSES = ['RUNNING', 'WAITING_FOR_INPUT', 'COMPLETED', 'FAILED', 'INTERRUPTED', 'EMPTY', 'DAMAGED']

export const INSPECT_COMMANDS: CommandGroup = {
  title: 'Look at runs',
  commands: [
    {
      name: 'list-runs',
      description: 'List the runs of workspaces, newest first',
      arguments: [{ name: '[more...]', description: 'further workspaces, or patterns' }],
      options: [
        {
          ...WORKSPACE,
          description: "workspace, or a pattern such as 'exp/*'; may be repeated",
          repeatable: true,
        },
        RUNS_DIR,
        { flags: '--resumable', description: 'only those that delta continue takes up without a message' },
        {
          flags: '--status <status>',
          description: 'only those with this status; may be repeated',
          choices: STATUSES,
          repeatable: true,
        },
        {
          flags: '--first',
          description:
            'print only the id of the newest of them, sub-agents left out; exit code 1 if there is none',
        },
        JSON_OUTPUT,
      ],
      examples: [
        ['delta list-runs -w ./workspace', 'every run with its status, agent, model, tokens and task'],
        ["delta list-runs -w 'exp/*'", 'the runs of all workspaces in exp'],
        ['delta list-runs -w ./workspace --resumable --first', 'for a script that resumes it'],
        ["delta list-runs -w ./workspace --json | jq '.[].usage'", 'the tokens of each run'],
      ],
      notes: `Statuses:
  RUNNING            a process writes it
  WAITING_FOR_INPUT  a person has to answer or approve
  COMPLETED, FAILED  it has ended; delta continue -m goes on
  INTERRUPTED        it was stopped or killed; delta continue goes on
  EMPTY              nothing was begun in it
  DAMAGED            its journal cannot be read; see delta journal verify`,
    },
    {
      name: 'show',
      description: "Print a run's transcript, one step of it, or exactly what the model was sent",
      arguments: [
        { name: '[run]', description: 'id of the run, or a beginning that only it has; default: the latest' },
      ],
      options: [
        WORKSPACE,
        RUNS_DIR,
        {
          flags: '--step <n>',
          description: 'only iteration n, with whole outputs and what the context held',
        },
        { flags: '--request <n>', description: 'the request of iteration n, byte for byte as it was sent' },
        { flags: '--tool <name>', description: 'only the calls of this tool, each with its thought' },
        { flags: '--failed', description: 'only calls and requests that did not succeed' },
        { flags: '--answer', description: 'the answer of a run that is completed, and nothing else' },
        { flags: '--follow', description: 'keep printing until the run has ended or waits for input' },
        { flags: '-v, --verbose', description: 'whole outputs, hooks, tokens' },
        { flags: '--json', description: 'print the journal lines instead' },
      ],
      examples: [
        ['delta show -w ./workspace', 'the latest run'],
        ['delta show -w ./workspace --step 7', 'what was thought and done in iteration 7'],
        ['delta show -w ./workspace --request 7 | jq .messages', 'what the model saw then'],
        ['delta show -w ./workspace --answer > answer.md', 'what delta run printed, should it be lost'],
        ['delta show -w ./workspace --follow', 'as it happens, from another terminal'],
        ['delta show -w ./workspace -v', 'with the tokens of each answer'],
        [
          'delta show -w ./workspace --tool bash --failed',
          'each call of bash that failed, and why it was made',
        ],
      ],
      notes: `What --follow watches may be killed, or not have begun. Then one line on stderr \
says so, and it goes on printing when somebody takes the run up; Ctrl+C ends it.`,
    },
    {
      name: 'config',
      description: 'Print an agent as the engine understands it, and where its settings come from',
      options: [
        { flags: '--agent <directory>', description: 'agent directory', default: '.' },
        { ...WORKSPACE, description: 'workspace whose .env counts', default: '.' },
        { flags: '--show-origin', description: 'one value a line, with the file and line it comes from' },
        JSON_OUTPUT,
        IMPORT_ROOT,
        {
          flags: '--strict',
          description: 'unknown keys, and values that become code of sed, python or ssh, are errors',
        },
        TRUST_WORKSPACE_ENV,
      ],
      examples: [
        ['delta config --agent ./my-agent', 'imports resolved, tools in full form, no secrets'],
        ['delta config --agent ./my-agent --show-origin', 'which file, line or default each value is from'],
        [
          'delta config --agent ./my-agent --strict > ok.yaml',
          'checks all its files; exit code 2 if one is wrong',
        ],
      ],
    },
  ],
}
