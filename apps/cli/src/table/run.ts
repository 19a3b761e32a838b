import type { CommandGroup } from './entry.js'
import { ENGINE_OPTIONS, RUN_ID, RUNS_DIR } from './options.js'

const MESSAGE = '"-" reads stdin, "@file" a file'

export const RUN_COMMANDS: CommandGroup = {
  title: 'Run agents',
  commands: [
    {
      name: 'run',
      description: 'Start a run of an agent, or take up an interrupted one with the same message',
      options: [
        { flags: '--agent <directory>', description: 'agent directory', default: '.' },
        { flags: '-m, --message <text>', description: `the task; ${MESSAGE}` },
        {
          flags: '-w, --work-dir <directory>',
          description:
            'workspace, created if it is missing; default: a new one, workspaces/W001 … of the agent',
        },
        {
          flags: '--runs-dir <directory>',
          description:
            'keep the runs here, outside the workspace (or DELTA_RUNS_DIR); remembered for -w; default: .delta in it',
        },
        { flags: '--run-id <id>', description: 'id of the new run; default: made from the time' },
        { flags: '-y, --yes', description: 'without -w: make a new workspace, do not ask' },
        { flags: '--new', description: 'start a new run even if one could be resumed (or DELTA_NEW=1)' },
        { flags: '--task <text>', description: 'renamed to -m/--message', hidden: true },
        ...ENGINE_OPTIONS,
      ],
      examples: [
        [
          'delta run --agent ./my-agent -m "Summarise the text files here"',
          'in a new workspace of the agent',
        ],
        [
          'delta run -w ./workspace -m @task.md --format json',
          'the agent in this directory, the task from a file',
        ],
        [
          'git diff | delta run --agent ./my-agent -m - -q > review.md',
          'the task from a pipe, the answer into a file',
        ],
      ],
      notes: `Any number of runs may go on in one workspace at the same time, also of \
different agents: give each the same -w. Each prints its id, and \
delta continue --run-id takes one of them.

An agent calls another by a tool. The task goes to its stdin: there it is text, \
whatever it begins with. In the agent.yaml of the caller:
  - name: ask_reviewer
    exec: delta run --agent \${AGENT_HOME}/reviewer -m - -w \${work_dir} -q
    stdin: task

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 6 another process writes the \
run, 101 waiting for input, 130/143/129 stopped by SIGINT/SIGTERM/SIGHUP

Environment:
  DELTA_API_KEY or OPENAI_API_KEY     the model's key
  DELTA_BASE_URL or OPENAI_BASE_URL   the model's address; anything that speaks \
chat completions
  DELTA_IMPORT_ROOTS                  directories for --import-root, separated \
by colons
  DELTA_NEW=1                         as --new
  DELTA_RUNS_DIR                      as --runs-dir
  DELTA_STATE_DIR                     where it is remembered which runs are
                                      yours, and where they are kept
  DELTA_DEBUG=1                       stack traces of unexpected errors
  NO_COLOR                            no colours`,
    },
    {
      name: 'continue',
      description: 'Go on with a run: resume it, answer its question, extend or retry it with a message',
      options: [
        {
          flags: '-w, --work-dir <directory>',
          description: 'workspace of the run; required',
          required: true,
        },
        { flags: '-m, --message <text>', description: `an answer, or a further instruction; ${MESSAGE}` },
        { flags: '--retry', description: 'a FAILED run: go on without a message, with the same request' },
        RUN_ID,
        RUNS_DIR,
        { flags: '--agent <directory>', description: 'where the agent is now, if it was moved' },
        {
          flags: '--trust-run',
          description: 'go on with a run that you did not start here: the commands of its agent are run',
        },
        { flags: '--force', description: 'end the process that writes the run, and take it' },
        {
          flags: '--approve <request-id>',
          description: 'let the waiting command run; delta show has the id',
        },
        { flags: '--deny <request-id>', description: 'refuse the waiting command' },
        ...ENGINE_OPTIONS,
      ],
      examples: [
        ['delta continue -w ./workspace', 'resume after an interruption or a crash'],
        ['delta continue -w ./workspace -m "yes, proceed"', 'answer, or give a further instruction'],
        ['delta continue -w ./workspace --retry', 'make the request that failed again'],
        ['delta continue -w ./workspace --approve <request-id>', 'let a waiting command run'],
      ],
      notes: `What it does with a run that is
  INTERRUPTED        resumes it; a message is a further instruction
  WAITING_FOR_INPUT  takes the message for the answer; without one, \
interaction/response.txt
  COMPLETED          needs a message, and goes on with that
  FAILED             the same, or with --retry makes the last request again; \
out of iterations, that needs a higher --max-iterations
  RUNNING            changes nothing, exit code 6; with --force, takes it

Exit codes and environment are those of delta run: delta run --help`,
    },
  ],
}
