import { Help } from 'commander'

/** The help of `delta` before its list of commands. */
export const COMMON_TASKS = `Common tasks:
  delta init hi && delta run --agent hi -w . -m "Hello"
      a first run, without a key
  delta run --agent ./my-agent -w ./workspace -m "…"
      a run of your agent on the files there
  Ctrl+C, then delta continue -w ./workspace
      stop a run cleanly, and resume it; also after a crash
  delta continue -w ./workspace -m "…"
      answer its question, extend a finished run, retry a failed one
  delta show -w ./workspace --follow
      watch a run from another terminal
  delta show -w ./workspace --request 1
      what the model saw in iteration 1, byte for byte
  delta context explain -w ./workspace
      what fills the context, in bytes and tokens
  delta run … -q | wc -w
      stdout is the answer and nothing else
`

/** The help of `delta` behind its list of commands. */
export const AFTER_ALL = `
Each command has a --help of its own: delta run --help

For programs:
  delta --agent   describes every command as JSON (ATIP 0.6, the Agent Tool Introspection Protocol)`

const ONLY_GENERATORS_RUN = `
No model is asked, nothing is journaled and no hook runs. The generators of \
context.yaml run as they would in a run, and write their files.`

/** What the help of a command says below its options, by the words of the command. A paragraph, or a row of a table, is one line. */
export const MORE_HELP: Readonly<Record<string, string>> = {
  init: `
Templates:
  minimal        runs one command and says what it printed
  hello-world    writes a report on files; three ways to write a tool
  file-ops       reads, searches, writes and moves text files
  api-tester     sends HTTP requests and reports what came back
  code-reviewer  reads source files and writes a review
  research       takes notes over a long run, and answers with its sources

The model of each is a script. --provider writes a real one in its place; \
local is a server on this machine.`,

  run: `
Example:
  git diff | delta run --agent ./critic -m - -q > review.md

Several runs can work in one workspace at the same time: give each the same -w.
Each prints its id, for delta continue --run-id.

An agent calls another by a tool. The task goes to its stdin: there it is text,
whatever it begins with. In the agent.yaml of the caller:
  - name: ask_reviewer
    exec: >-
      delta run --agent \${AGENT_HOME}/reviewer
      -m - -w \${work_dir} -q
    stdin: task

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 6 another process \
writes the run, 101 waiting for input, 130/143/129 stopped by SIGINT/SIGTERM/SIGHUP

Environment:
  DELTA_API_KEY       the model's key, or the variable that its provider names
  DELTA_BASE_URL      the address of its API
  DELTA_IMPORT_ROOTS  as --import-root, separated by colons
  DELTA_PRICES        a file of prices, after those of the agent
  DELTA_STATE_DIR     remembers your runs, and where they are
  DELTA_DEBUG=1       stack traces of unexpected errors
  NO_COLOR            no colours`,

  continue: `
What it does with a run that is
  INTERRUPTED        resumes it; a message is a further instruction
  WAITING_FOR_INPUT  takes the message, or interaction/response.txt, as answer
  COMPLETED          needs a message, and continues with it, or with what \
delta say said too late
  FAILED             needs a message, or --retry, which sends the last request \
again (out of iterations: with a higher --max-iterations)
  RUNNING            changes nothing, exit code 6; --force ends the other \
process and resumes

Exit codes and environment are those of delta run: delta run --help`,

  say: `
The run reads it before its next request, and before it would complete. It gets no further iterations. If the run \
ends first, delta continue takes it.`,

  fork: `
The run and its workspace are only read: it may be running, or of somebody else. What the fork inherits is not \
paid again, and counts for --max-iterations.

Examples:
  delta fork site --at 7 -m "Now in French."
      go on from iteration 7 with another instruction, with the files as they
      were then
  delta fork site --at 7 --without-files --model gpt-5
      another model goes on from the conversation alone

Exit codes and environment are those of delta run: delta run --help`,

  'list-runs': `
An EMPTY run never started. The journal of a DAMAGED one cannot be read: delta \
journal verify says why.`,

  show: `
Examples:
  delta show -w ./workspace --request 1 | jq .messages
      what the model saw in iteration 1
  delta show -w ./workspace --tool bash --failed
      each call of bash that failed, and why it was made

--follow keeps waiting if the run was killed or has not started, and continues \
when it is resumed. Ctrl+C ends it.`,

  view: `
Examples:
  delta view
      the runs of this directory and below
  delta view 4be1c2
      opens on one run
  ssh -L 7333:127.0.0.1:7333 HOST
      to look at the runs of another machine: delta view runs there

The page is served to this machine only, and only with the printed address, which \
ends with a token. Nothing is written. Ctrl+C ends it.`,

  export: `
Examples:
  delta export --format atif -o run.json
      the latest run, for viewers of trajectories
  delta export 4be1c2 --format atif --sub-agents -o out/
      a run and those that it started, a file each
  delta export --format otlp |
    curl -H 'Content-Type: application/json' \\
    --data-binary @- http://localhost:4318/v1/traces
      to a collector

sft prints nothing of a run that did not end with an answer. Exit code 1 if \
nothing was written, or if a run is damaged: then up to the damage.`,

  import: `
The run can be shown and exported, and never continued. Its events have the time \
of the import.`,

  config: `
Example:
  delta config --agent ./my-agent --strict > ok.yaml
      checks all its files; exit code 2 if one is wrong`,

  'context build': ONLY_GENERATORS_RUN,
  'context explain': ONLY_GENERATORS_RUN,

  'tool lint': `
Exit code 0 without findings, 1 with, 2 if the tools do not load. It looks at \
the tools alone; delta config --strict checks all files of an agent.`,

  'tool list': `
Example:
  delta tool list ./my-agent --json |
    jq '.[] | select(.decision != "allow")'
      what asks or is refused`,

  'tool import': `
Example:
  delta tool import delta --commands "list-runs,show"
      writes delta.atip.json

ATIP (Agent Tool Introspection Protocol) is JSON in which a program describes its commands, their options and their \
effects. For a program without it, write a tool in agent.yaml:
  - { name: …, exec: … }`,

  'journal verify': '\nExit code 0 if the journal is as it was written and the run can go on, else 1.',
  'journal repair': '\nThe journal as it was stays beside it.',

  'mcp import': `
Examples:
  delta mcp import -o fs.yaml -- fs-server '\${CWD}'
  delta mcp import https://example.com/mcp
  delta mcp import fs.yaml --check

Then add to agent.yaml: imports: [./fs.yaml]. The server starts in the workspace of a run. In its command, \${CWD} is the \
workspace, and \${TOOL_HOME} the directory of the file.

Exit codes: 0 done, or nothing changed; 2 the file cannot be used or exists, 3 --check found a change, \
9 the server does not start or respond`,

  'mcp call': `
Example:
  delta mcp call fs.yaml read --text <<< '{"path":"a"}'

Within a run all calls of a file reach one server, which ends with the run. Elsewhere each call starts one for itself.

Exit codes: 0 done; 1 the tool reports a failure; 2 the file or the arguments cannot be used; 9 the tool changed since it was \
imported, or the server fails; 130/143/129 stopped by a signal`,

  'mcp serve': `
Most clients take a configuration like this:
  {"mcpServers": {"mine": {"command": "delta", "args":
    ["mcp", "serve", "/path/to/tools.yaml",
     "-w", "/path/to/files"]}}}

The policy of the file applies. A call that needs a person's approval is refused. \
The server ends the running commands and itself when its input ends.

Exit codes: 0 the client has closed its side, 1 a message was longer than 10 MB, \
2 the tools do not load or the directory is missing, 130/143/129 stopped by a signal`,

  'eval run': `
An eval.yaml:
  tasks: tasks/
  variants:
    mine: { agent: ./my-agent }
    oracle: { agent: oracle }
  repeats: 3
  score: { command: sh check.sh }

Each directory in tasks/ with an instruction.md is a task. workspace/ beside it \
is what the agent finds, tests/ what only the scorer sees, and solution/solve.sh \
what the oracle runs. Exit code 0 of the scorer scores 1, and 1 scores 0.

Exit codes: 0 each cell counts, 1 some do not, 2 usage or configuration, 130/143/129 \
stopped by a signal`,

  completion: `
  source <(delta completion bash)
      in ~/.bashrc; for zsh, with zsh, in ~/.zshrc
  delta completion fish | source
      in ~/.config/fish/config.fish`,
}

/** What precedes words that may be wrapped: the first column of a table with its gap, an indentation, or nothing. */
const START = /^ +\S.*? {2,}(?=\S)|^ {6,}|^(?! )/

/** A text of the help in lines of at most this many columns: paragraphs and tables are wrapped, code is not. */
export function fitted(text: string, columns: number): string {
  const help = Object.assign(new Help(), { minWidthToWrap: NARROWEST })
  const lines = text.split('\n').map((line) => {
    const start = START.exec(line)?.[0]
    if (start === undefined) return line
    const words = help.boxWrap(line.slice(start.length), columns - start.length)
    return start + words.replaceAll('\n', `\n${' '.repeat(start.length)}`)
  })
  return lines.join('\n')
}

/** Commander's 40 is more than the names of options leave on a terminal of 60 columns. */
export const NARROWEST = 20
