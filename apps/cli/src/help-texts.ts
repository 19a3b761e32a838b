/** Stands before the list of commands. */
export const COMMON_TASKS = `Common tasks:
  delta init hi && delta run --agent hi -w . -m "What is here?"
      a first run, without a key
  delta run --agent ./my-agent -w ./workspace -m "…"
      a run of your agent on the files there
  Ctrl+C, then delta continue -w ./workspace
      stop a run cleanly, and resume it; also after a crash
  delta continue -w ./workspace -m "…"
      answer its question, extend a finished run, retry a failed one
  delta show -w ./workspace --follow
      watch a run from another terminal
  delta show -w ./workspace --request 7
      what the model saw in iteration 7, byte for byte
  delta context explain -w ./workspace
      what fills the context, in bytes and tokens
  delta run … -q | wc -w
      stdout is the answer and nothing else
`

/** Stands behind it. */
export const AFTER_ALL = `
Each command has a --help of its own: delta run --help

For programs:
  delta --agent   describes every command as JSON (ATIP 0.6)`

const ONLY_GENERATORS_RUN = `No model is asked, nothing is journaled and no hook runs. The generators of \
context.yaml run as they would in a run, and write their files.`

/** By the words of a command: whole command lines, each with what it is for, and further help. A paragraph, or a row of a table, is one line. */
export const EXAMPLES: Readonly<Record<string, string>> = {
  init: `Examples:
  delta init hello -t hello-world && delta run --agent hello -m "What is here?"
      a first run, offline

Templates:
  minimal        runs one command and says what it printed
  hello-world    finds the longest files and writes a report; three ways to \
write a tool
  file-ops       reads, searches, writes and moves text files
  api-tester     sends HTTP requests and reports what came back
  code-reviewer  reads source files and writes a review
  research       takes notes over a long run, and answers with its sources

The model of each is a script. A comment in its agent.yaml says how to put a \
real one in its place.`,

  run: `Examples:
  delta run --agent ./my-agent -m "Summarise the text files here"
      in a new workspace of the agent
  delta run -w ./workspace -m @task.md --format json
      the agent in this directory, the task from a file
  git diff | delta run --agent ./my-agent -m - -q > review.md
      the task from a pipe, the answer into a file

Several runs can work in one workspace at the same time: give each the same -w. Each prints its id, for delta continue --run-id.

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
  DELTA_IMPORT_ROOTS                  directories for --import-root, separated by colons
  DELTA_STATE_DIR                     remembers which runs are yours, and where they are kept
  DELTA_DEBUG=1                       stack traces of unexpected errors
  NO_COLOR                            no colours`,

  continue: `Examples:
  delta continue -w ./workspace
      resume after an interruption or a crash
  delta continue -w ./workspace -m "yes, proceed"
      answer, or give a further instruction
  delta continue -w ./workspace --retry
      make the request that failed again
  delta continue -w ./workspace --approve <request-id>
      let a waiting command run

What it does with a run that is
  INTERRUPTED        resumes it; a message is a further instruction
  WAITING_FOR_INPUT  takes the message for the answer; without one, \
interaction/response.txt
  COMPLETED          needs a message, and goes on with that
  FAILED             the same, or with --retry makes the last request again; \
out of iterations, that needs a higher --max-iterations
  RUNNING            changes nothing, exit code 6; with --force, takes it

Exit codes and environment are those of delta run: delta run --help`,

  'list-runs': `Examples:
  delta list-runs -w ./workspace
      every run with its status, agent, model, tokens and task
  delta list-runs -w 'exp/*'
      the runs of all workspaces in exp
  delta list-runs -w ./workspace --resumable --first
      for a script that resumes it
  delta list-runs -w ./workspace --json | jq '.[].usage'
      the tokens of each run

Statuses:
  RUNNING            a process writes it
  WAITING_FOR_INPUT  a person has to answer or approve
  COMPLETED, FAILED  it has ended; delta continue -m goes on
  INTERRUPTED        it was stopped or killed; delta continue goes on
  EMPTY              nothing was begun in it
  DAMAGED            its journal cannot be read; see delta journal verify`,

  show: `Examples:
  delta show -w ./workspace
      the latest run
  delta show -w ./workspace --step 7
      what was thought and done in iteration 7
  delta show -w ./workspace --request 7 | jq .messages
      what the model saw then
  delta show -w ./workspace --answer > answer.md
      what delta run printed, should it be lost
  delta show -w ./workspace --follow
      as it happens, from another terminal
  delta show -w ./workspace -v
      with the tokens of each answer
  delta show -w ./workspace --tool bash --failed
      each call of bash that failed, and why it was made

--follow keeps waiting if the run was killed or has not started, and continues when it is resumed. Ctrl+C ends it.`,

  config: `Examples:
  delta config --agent ./my-agent
      imports resolved, tools in full form, no secrets
  delta config --agent ./my-agent --show-origin
      which file, line or default each value is from
  delta config --agent ./my-agent --strict > ok.yaml
      checks all its files; exit code 2 if one is wrong`,

  'context build': `Examples:
  delta context build --agent ./my-agent -w ./workspace
      the next request of the latest run
  delta context build --agent ./my-agent -m "Go" | jq .messages
      the first one of a new run

${ONLY_GENERATORS_RUN}`,

  'context explain': `Examples:
  delta context explain --agent ./my-agent -w ./workspace
      what fills the context of the latest run

${ONLY_GENERATORS_RUN}`,

  'tool expand': `Examples:
  delta tool expand ./my-agent
      its agent.yaml, with imports and what each tool executes
  delta tool expand ./my-agent --tool list_files --json
      one tool as JSON`,

  'tool lint': `Examples:
  delta tool lint ./my-agent
      exit code 0 without findings, 1 with, 2 if they do not load

It looks at the tools alone. What checks all files of an agent, and runs nothing: delta config --strict --agent ./my-agent`,

  'tool list': `Examples:
  delta tool list ./my-agent
      one tool a line
  delta tool list ./my-agent --json | jq '.[] | select(.decision != "allow")'
      what asks or is refused`,

  'tool import': `Examples:
  delta tool import delta --commands "list-runs,journal verify"
      writes delta.atip.json

ATIP is JSON in which a program says what its commands take and what they do \
to the world. Keep the file beside agent.yaml, and name it there under imports: \
as is printed then. Few programs speak it yet. Any other is a tool, too, by a \
line under tools: in agent.yaml: - { name: …, exec: … }`,

  'journal verify': `Examples:
  delta journal verify -w ./workspace
      exit code 0 if the run can go on, 1 if it cannot`,

  'journal repair': `Examples:
  delta journal repair -w ./workspace
      the journal as it was stays beside it`,

  'mcp serve': `Examples:
  delta mcp serve ./my-agent
      the tools of an agent, in the current directory
  delta mcp serve ./tools.yaml -w ./workspace
      any tools file, somewhere else
  npx -y @modelcontextprotocol/inspector delta mcp serve ./tools.yaml
      a client to try them by hand

Most clients are told of a server like this:
  {"mcpServers": {"mine": {"command": "delta", "args":
    ["mcp", "serve", "/path/to/tools.yaml", "-w", "/path/to/files"]}}}

The policy of the file counts. A call that would need a person's approval is \
refused. It ends when its input ends; a command that runs then is ended first.

Exit codes: 0 the client has closed its side, 1 a message was longer than 10 MB, 2 the \
tools do not load or the directory is missing, 130/143/129 stopped by SIGINT/SIGTERM/SIGHUP`,

  sessions: `Examples:
  delta sessions start bash
      makes a session, and prints its id as JSON
  delta sessions exec <id> "cd src && ls"
      runs in it; the next command starts where this one ended
  delta sessions end <id>
      ends what is left of it`,

  completion: `Examples:
  source <(delta completion bash)
      in ~/.bashrc; for zsh, with zsh, in ~/.zshrc
  delta completion fish | source
      in ~/.config/fish/config.fish`,
}
