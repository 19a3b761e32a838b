import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { AFTER_ALL, COMMON_TASKS, fitted, MORE_HELP, NARROWEST } from './help-texts.js'
import { NEW_MODELS } from './new-models.js'
import { EXIT, type Terminal } from './terminal.js'
import { printable } from './text.js'
import { readTypedWords } from './typed-words.js'
import { UsageError } from './usage.js'

/** Parses the arguments, runs one command and returns its exit code. */
export async function runProgram(terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.completed
  const program = createProgram(terminal, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(readTypedWords(program, terminal.argv), { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
    throw error
  }
}

/** What a file of `commands/` exports for a command: options and arguments in, exit code out. Each file is a bundle of its own, so that a start loads little. */
interface CommandModule {
  // `never` accepts every command's own type of options, which its lines below guarantee
  execute(options: never, terminal: Terminal, ...positional: never[]): Promise<number>
}

/**
 * Every command with its options, in the order of the help; completion and `described-commands.json` are made from it, too.
 * Where `run` or `continue` was typed, only their group.
 */
export function createProgram(terminal: Terminal, onEnd: (exitCode: number) => void = () => {}): Command {
  const program = emptyProgram(terminal)
  const adding = addingTo(program, terminal, onEnd)
  program.commandsGroup('Run:')
  addRunning(adding)
  addForking(adding)
  // a run starts without the options of all other commands
  if (!['run', 'continue'].includes(terminal.argv[0] ?? '')) addOthers(program, adding, terminal)
  refuseUnusableValues(program)
  return program
}

function addOthers(program: Command, adding: Adding, terminal: Terminal): void {
  program.commandsGroup('Evaluate:')
  addEvaluating(adding)
  program.commandsGroup('Look:')
  addLooking(adding)
  program.commandsGroup('Change:')
  addChanging(adding)
  program.commandsGroup('Connect:')
  addConnecting(adding)
  program
    .command('completion-words [words...]', { hidden: true })
    .action(async (words: string[]) => (await import('./commands/completion.js')).printWords(terminal, words))
  program
    .command('mcp-keep', { hidden: true })
    .action(async () => void (await (await commandsWithMcp()).keepCommand.execute({}, terminal)))
}

function emptyProgram({ stdout, stderr }: Terminal): Command {
  const width = stdout.columns || USUAL_WIDTH
  return new Command('delta')
    .description(
      'Runs agents made of YAML, Markdown and commands. Everything that happens is kept in plain files under .delta/.',
    )
    .option('-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => width,
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(printable(text.replace(/^error: /, 'Error: '))), // as all other errors
    })
    .configureHelp({ minWidthToWrap: NARROWEST })
    .showHelpAfterError('See delta --help.')
    .helpCommand('help [command...]', 'show the help of a command')
    .addHelpText('before', () => fitted(COMMON_TASKS, width))
    .addHelpText('after', () => fitted(AFTER_ALL, width))
}

const commandsThatRun = () => import('./commands-that-run.js')
const commandsWithMcp = () => import('./commands-with-mcp.js')

interface Adding {
  /** A command that only has commands below it. */
  group(name: string, description: string): void
  /** A command by its words, such as `tool expand`. */
  add(words: string, load: () => Promise<CommandModule>): Command
}

function addingTo(program: Command, terminal: Terminal, onEnd: (exitCode: number) => void): Adding {
  const width = terminal.stdout.columns || USUAL_WIDTH
  return {
    group: (name, description) =>
      void program.command(name).description(description).showHelpAfterError(`See delta ${name} --help.`),
    add(words, load) {
      const [name = '', above] = words.split(' ').reverse()
      const parent = above === undefined ? program : findCommand(program, above)
      return parent
        .command(name)
        .showHelpAfterError(`See delta ${words} --help.`)
        .addHelpText('after', () => fitted(MORE_HELP[words] ?? '', width))
        .action(async (...given: unknown[]) => {
          // commander passes the positional arguments, then the options, then the command
          const [options, positional] = [given.at(-2), given.slice(0, -2)]
          onEnd(await (await load()).execute(options as never, terminal, ...(positional as never[])))
        })
    },
  }
}

function findCommand(program: Command, name: string): Command {
  return program.commands.find((each) => each.name() === name) ?? program
}

function addRunning({ add }: Adding): void {
  add('init', () => import('./commands/init.js'))
    .description('Make a new agent directory that runs at once, without a key')
    .argument('[name]', 'directory to make', 'my-agent')
    .addOption(choices('-t, --template <name>', 'what to begin with', TEMPLATE_NAMES).default('minimal'))
    .addOption(choices('--provider <name>', 'a real model instead of the script', Object.keys(NEW_MODELS)))

  engineOptions(
    add('run', async () => (await commandsThatRun()).runCommand)
      .description('Start a run of an agent, or resume an interrupted one with the same message')
      .option('--agent <directory>', 'agent directory', '.')
      .option('-m, --message <text>', `the task; ${MESSAGE}`)
      .option(
        '-w, --work-dir <directory>',
        'workspace, created if it is missing; default: a new one, workspaces/W001 … of the agent',
      )
      .option(
        '--runs-dir <directory>',
        'keep the runs here, outside the workspace (or DELTA_RUNS_DIR); remembered for -w; default: .delta in it',
      )
      .option('--run-id <id>', 'id of the new run; default: made from the time')
      .option('-y, --yes', 'without -w: make a new workspace, do not ask')
      .option('--new', 'start a new run even if one could be resumed (or DELTA_NEW=1)')
      .addOption(new Option('--task <text>', 'renamed to -m/--message').hideHelp()),
  )

  engineOptions(
    add('continue', async () => (await commandsThatRun()).continueCommand)
      .description('Continue a run: resume it, answer its question, extend or retry it')
      .requiredOption('-w, --work-dir <directory>', 'workspace of the run; required')
      .option('-m, --message <text>', `an answer, or a further instruction; ${MESSAGE}`)
      .option('--retry', 'retry the last request of a FAILED run, without a message')
      .addOption(runId())
      .addOption(runsDirectory())
      .option('--agent <directory>', 'where the agent is now, if it was moved')
      .option(
        '--trust-run',
        'continue a run that you did not start here; this runs the commands of its agent',
      )
      .option('--force', 'end the process that writes the run, and take over')
      .option(
        '--approve <request-id>',
        'let the waiting command run; delta show has the id, of which a prefix is enough',
      )
      .option('--deny <request-id>', 'refuse the waiting command'),
  )

  add('say', () => import('./commands/say.js'))
    .description('Say something to a running run, which reads it before its next request')
    .argument('<run>', 'run id, unique prefix, or run directory')
    .requiredOption('-m, --message <text>', `what to say; ${MESSAGE}; required`)
    .addOption(workspace('workspace whose runs have the id'))
    .addOption(runsDirectory())
}

function addForking({ add }: Adding): void {
  engineOptions(
    add('fork', async () => (await commandsThatRun()).forkCommand)
      .description('Make another run that goes on from an iteration of a run, elsewhere')
      .argument('[run]', 'run id, unique prefix, run directory or workspace; default: the latest')
      .requiredOption('--at <n>', 'the last iteration that the fork has; 0: only the task; required')
      .addOption(workspace('workspace whose runs have the id'))
      .option('--into <directory>', 'workspace of the fork; default: ./<workspace>-fork-<n>')
      .option('--runs-dir <directory>', 'keep the fork here, outside its workspace; default: .delta in it')
      .option('-m, --message <text>', `a further instruction; ${MESSAGE}`)
      .option('--agent <directory>', 'another agent; needed for a run that is not yours')
      .option('--no-run', 'only make the fork, and print its id and workspace')
      .addOption(
        new Option('--without-files', 'fork the conversation alone; --into may hold files').conflicts([
          'allowMissing',
        ]),
      )
      .option('--allow-missing', 'fork even if some files of the iteration were not kept'),
  )

  engineOptions(
    add('replay', async () => (await commandsThatRun()).replayCommand)
      .description(
        'Run an agent again on the record of a run; exit code 3 and the cause if something differs',
      )
      .argument('[run]', 'run id, unique prefix, run directory or workspace; default: the latest')
      .addOption(workspace('workspace whose runs have the id'))
      .option('--at <n>', 'begin after this iteration; default: 0, or where a fork begins')
      .addOption(
        choices('--live <side>', 'what is asked and started: model, tools or both; default: nothing', [
          'model',
          'tools',
          'both',
        ]),
      )
      .option('--assert', 'with --live: exit code 3 if anything differs')
      .addOption(repeatable('--mask <regex>', 'text that does not count, such as times; may be repeated'))
      .option('--into <directory>', 'keep the replay in this new workspace; default: a temporary one')
      .option('--agent <directory>', 'another agent; needed for a run that is not yours')
      .option('--without-files', 'live tools begin in an empty directory'),
  )
}

function addEvaluating({ add, group }: Adding): void {
  group('eval', 'Run tasks x variants x repeats, score them, and compare')
  add('eval init', async () => ({ execute: (await commandsThatRun()).evalCommand.init }))
    .description('Write an eval.yaml whose task is a past run')
    .requiredOption('--fork <run>', 'run id, prefix, or directory')
    .requiredOption('--at <n>', 'iteration to fork at; 0: the task alone')
    .requiredOption('--models <list>', 'models to compare, separated by commas')
    .requiredOption('--score <command>', 'exit code 0 scores 1, and 1 scores 0')
  evalWork(
    add('eval run', async () => ({ execute: (await commandsThatRun()).evalCommand.run }))
      .description('Plan an evaluation and run its cells; the same command goes on after a kill')
      .argument('[file]', 'default: eval.yaml')
      .option('--into <directory>', 'directory of the evaluation; default: <name>.eval beside the file')
      .option('--only <glob>', 'only cells of this name, such as "luna/*/3"')
      .option('--dry-run', 'only say what would be run'),
  )
  add('eval status', async () => ({ execute: (await commandsThatRun()).evalCommand.status }))
    .description('Say how far an evaluation is')
    .argument('[directory]', EVALUATION)
    .option('--watch', 'again every 2 s, until each cell has its result')
    .addOption(oneOf('--cells <state>', 'instead: the cells in this state', CELL_STATES))
    .option('--json', 'print JSON')
  evalWork(
    add('eval work', async () => ({ execute: (await commandsThatRun()).evalCommand.work }))
      .description('Be one more worker of an evaluation')
      .argument('<directory>', 'of the evaluation')
      .option('--shard <k/n>', 'begin with the kth of n parts; then help with the others'),
  )
  evalWork(
    add('eval retry', async () => ({ execute: (await commandsThatRun()).evalCommand.retry }))
      .description('Run cells again that have no score by no fault of the agent')
      .argument('[words...]', 'directory of the evaluation, then cells as variant/task/repeat')
      .option('--fresh', 'start them anew, in an empty workspace'),
  )
  add('eval report', async () => ({ execute: (await commandsThatRun()).evalCommand.report }))
    .description('Say what an evaluation shows: scores with intervals, and what differs')
    .argument('[directory]', `${EVALUATION}; or a .csv file with the columns variant, task and score`)
    .addOption(
      choices('--format <format>', 'csv: a line for each cell', ['text', 'json', 'csv', 'html']).default(
        'text',
      ),
    )
    .option('--baseline <variant>', 'what the others are compared with; default: that of eval.yaml')
    .option('--allow-missing', 'give a score also where more than 5 % of the cells are missing')
    .option('-o, --output <file>', 'write a file')
}

/** What the commands share that run cells. */
function evalWork(command: Command): Command {
  return command
    .option('--concurrency <n>', 'runs at once; default: eval.yaml, or 16')
    .option('--prices <file>', 'prices of models, before those of the agents')
    .option('-q, --quiet', 'no progress on stderr')
    .option('--json', 'print the status as JSON at the end')
    .option('--trust-run', 'run an evaluation that is not yours, with the agents and scorers in it')
}

function addLooking({ add, group }: Adding): void {
  add('list-runs', () => import('./commands/list-runs.js'))
    .description('List the runs of workspaces, newest first')
    .argument('[more...]', 'further workspaces, as the shell writes them for -w exp/*')
    .addOption(
      repeatable('-w, --work-dir <directory>', 'workspace, any with --runs-dir alone; may be repeated', '.'),
    )
    .addOption(runsDirectory())
    .option('--run-id <id>', 'only runs whose id begins with this')
    .option('--resumable', 'only runs that delta continue resumes without a message')
    .addOption(repeatable('--status <status>', 'only runs with this status; may be repeated', [], STATUSES))
    .option(
      '--first',
      'print only the id of the newest one, without sub-agents; exit code 1 if there is none',
    )
    .option('--json', 'print JSON')

  add('show', () => import('./commands/show.js'))
    .description("Print a run's transcript, one iteration of it, or exactly what the model was sent")
    .argument('[run]', RUN)
    .addOption(lookedAt())
    .addOption(runId())
    .addOption(runsDirectory())
    .addOption(
      new Option(
        '--step <n>',
        'only iteration n, with full tool output and the parts of its context',
      ).conflicts(['request', 'answer', 'follow']),
    )
    .addOption(
      new Option('--request <n>', 'the request of iteration n, byte for byte as it was sent').conflicts([
        'answer',
        'follow',
        'tool',
        'failed',
      ]),
    )
    .option('--tool <name>', 'only the calls of this tool, each with its thought')
    .option('--failed', 'only calls and requests that did not succeed')
    .addOption(
      new Option('--answer', 'only the answer of a completed run').conflicts([
        'follow',
        'tool',
        'failed',
        'json',
      ]),
    )
    .option('--follow', 'keep printing until the run has ended or waits for input')
    .option('-v, --verbose', 'full tool output, hooks, token counts and reasoning')
    .option('--json', 'print the journal lines instead')

  add('cost', () => import('./commands/cost.js'))
    .description('Print what runs cost, by source of the context, step, tool, call, model or run')
    .argument('[runs...]', 'run ids, prefixes, workspaces or directories of runs; default: the latest run')
    .addOption(lookedAt())
    .addOption(runsDirectory())
    .addOption(
      oneOf('--by <key>', 'what a row is; default: source, of several runs run', COST_KEYS).conflicts(
        'cache',
      ),
    )
    .option('--cache', 'instead: what kept the provider from using its cache, and what that cost')
    .option('--prices <file>', 'prices of models, before all others; implies --reprice')
    .option('--reprice', 'look all prices up again, instead of those recorded with each answer')
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .option('--json', 'print JSON')

  add('diff', () => import('./commands/diff.js'))
    .description('Compare two runs: the first difference and its cause; exit code 3 if there is one')
    .argument('[a]', 'run id, prefix, or the directory of a run or workspace')
    .argument('[b]', 'the other one')
    .addOption(lookedAt())
    .addOption(runsDirectory())
    .option(
      '--files',
      'also name the files that differ after the last iteration, if both runs have snapshots',
    )
    .addOption(repeatable('--mask <regex>', 'text that does not count, such as times; may be repeated'))
    .option('--json', 'print JSON')

  add('view', () => import('./commands/view.js'))
    .description('Look at runs in a browser: a page on this machine, live while they run')
    .argument(
      '[runs...]',
      'run ids, prefixes, workspaces or directories of runs; default: this directory and all below',
    )
    .option('--port <number>', 'port of the page; default: 7333, or the next free one')
    .option('--export <file>', 'write the page of the named runs, or the latest, as one HTML file, and end')
    .option('--full', 'in the file: whole texts; default: the first 16 KiB of each')
    .option('--redact', 'in the file: replace what looks like a secret, and the home and work directories')
    .addOption(runsDirectory())

  add('export', () => import('./commands/export.js'))
    .description('Print runs in a format of other programs, for their viewers, collectors and training')
    .argument('[runs...]', 'run ids, prefixes, workspaces or directories of runs; default: the latest run')
    .addOption(
      oneOf(
        '--format <format>',
        'required: atif, a trajectory; otlp, spans of OpenTelemetry; hf, a session of the Hugging Face Hub; sft, chats for fine-tuning',
        ['atif', 'otlp', 'hf', 'sft'],
      ),
    )
    .option('-o, --output <path>', 'write a file, or one for each run into a directory')
    .option('--redact', 'replace what looks like a secret, and the home and work directories')
    .option('--sub-agents', 'with the runs that its calls started')
    .option('--content', 'otlp: with what was said, not only numbers and names')
    .addOption(lookedAt())
    .addOption(runsDirectory())

  add('import', () => import('./commands/import.js'))
    .description('Make a run of a file of another program, to look at it; prints its id')
    .argument('<file>', 'the file')
    .addOption(choices('--format <format>', 'atif, a trajectory', ['atif']).makeOptionMandatory())
    .addOption(workspace('workspace that gets the run'))
    .addOption(runsDirectory())

  add('config', () => import('./commands/config.js'))
    .description('Print an agent as the engine understands it, and where its settings come from')
    .option('--agent <directory>', 'agent directory', '.')
    .addOption(workspace('workspace whose .env counts'))
    .option('--json', 'print JSON')
    .option('--model <name>', 'as --set llm.model=<name>')
    .addOption(
      repeatable('--set <path=value>', 'as for delta run, to see what would be used; may be repeated'),
    )
    .addOption(importRoot())
    .option('--strict', 'unknown keys, and values that become code of sed, python or ssh, are errors')
    .addOption(trustWorkspaceEnv())

  group('context', 'See what would be sent to the model, and what it costs')
  contextOptions(
    add('context build', async () => ({
      execute: (await import('./commands/context.js')).build,
    })).description('Print the request that would be sent to the model now, as JSON'),
  )
  contextOptions(
    add('context explain', async () => ({
      execute: (await import('./commands/context.js')).explain,
    })).description('Print bytes and tokens of each source, what was cut and why, and what breaks caching'),
  ).option('--json', 'print JSON')
}

function addChanging({ add, group }: Adding): void {
  group('tool', 'Look at tools as the engine sees them')
  add('tool expand', async () => ({ execute: (await import('./commands/tool.js')).expand }))
    .description('Print the full form of the tools of an agent or a tools file')
    .argument('<path>', TOOLS)
    .option('--json', 'print JSON instead of YAML')
    .option('--tool <name>', 'only this tool')
    .addOption(importRoot())
  add('tool lint', async () => ({ execute: (await import('./commands/tool.js')).lint }))
    .description('Report what a reviewer would ask: unknown keys, missing descriptions, risky templates')
    .argument('<path>', TOOLS)
    .option('--json', 'print JSON')
    .addOption(importRoot())
  add('tool list', async () => ({ execute: (await import('./commands/tool.js')).list }))
    .description('List the tools of an agent: parameters, effects and policy decisions')
    .argument('<path>', TOOLS)
    .option('--json', 'print JSON')
    .addOption(importRoot())
  add('tool import', () => import('./commands/tool-import.js'))
    .description('Save what a program says of itself in ATIP, for agents to import')
    .argument('<program>', 'name or path; it is run once, as <program> --agent')
    .option('--commands <list>', 'only these commands and groups, separated by commas')
    .option('-o, --output <file>', 'output file; "-" is stdout (default: <name>.atip.json)')
  group('journal', 'Check and repair journals')
  add('journal verify', async () => ({ execute: (await import('./commands/journal.js')).verify }))
    .description("Report whether a run's journal is intact; changes nothing")
    .argument('[run]', RUN)
    .addOption(lookedAt())
    .addOption(runId())
    .addOption(runsDirectory())
    .option('--json', 'print JSON')
  add('journal repair', async () => ({ execute: (await import('./commands/journal.js')).repair }))
    .description("Set damaged lines of a run's journal aside; deletes nothing")
    .argument('[run]', RUN)
    .addOption(lookedAt())
    .addOption(runId())
    .addOption(runsDirectory())
    .option('--force', 'end the process that writes the run first')
    .option('--json', 'print JSON')
}

function addConnecting({ add, group }: Adding): void {
  group('mcp', 'Use the tools of MCP servers, or be one')
  add('mcp import', async () => (await commandsWithMcp()).importCommand)
    .description('Ask an MCP server what tools it has, and write them into a file that agents import')
    .argument(
      '[words...]',
      'the command that starts the server, after --; or its address; or a file to check',
    )
    .option('-o, --output <file>', 'file to write; default: <name>.yaml')
    .option('--name <name>', "prefix of the tools' names; default: the server's own name")
    .addOption(
      repeatable('--header <name=variable>', 'HTTP header from an environment variable; may be repeated'),
    )
    .addOption(
      repeatable('--pass-env <variable>', 'environment variable that the server gets; may be repeated'),
    )
    .option('--check', 'only say what changed since; exit code 3 if something did')
    .option('--update', 'accept what changed')
  add('mcp call', () => import('./commands/mcp-call.js'))
    .description('Call a tool of an imported MCP server, with its arguments as JSON on stdin')
    .argument('<file>', 'written by delta mcp import')
    .argument('<tool>', "the server's own name of the tool")
    .option('--text', 'print the text of the result; default: all of it, as JSON')
  add('mcp serve', async () => (await commandsWithMcp()).serveCommand)
    .description('Offer tools to an MCP client, over stdin and stdout')
    .argument('<path>', TOOLS)
    .addOption(workspace('where the commands run'))
    .addOption(importRoot())
  add('sessions', () => import('./commands/sessions.js')) // its words are found before they are parsed here, see main.ts
    .description('A shell whose state outlives one command, for agents; the same as delta-sessions')
    .argument('[words...]', 'start, exec, end, list or cleanup; delta sessions --help')
  add('completion', () => import('./commands/completion.js'))
    .description('Print a script that lets a shell complete delta')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(['bash', 'zsh', 'fish']))
}

const MESSAGE = '"-" reads stdin, "@file" a file'
const RUN = 'run id or unique prefix; default: the latest'
const TOOLS = 'agent directory, agent.yaml or tools file'
const EVALUATION = 'default: that of eval.yaml here'
const CELL_STATES = ['scored', 'unscored-agent', 'unscored-infra', 'invalid', 'pending', 'running', 'lost']
const COST_KEYS = ['source', 'step', 'tool', 'call', 'model', 'run']
const STATUSES = ['RUNNING', 'WAITING_FOR_INPUT', 'COMPLETED', 'FAILED', 'INTERRUPTED', 'EMPTY', 'DAMAGED']

/** What `run` and `continue` share. */
function engineOptions(command: Command): Command {
  return command
    .option('--model <name>', 'as --set llm.model=<name>')
    .addOption(
      repeatable(
        '--set <path=value>',
        'set a value of the agent for this run, such as llm.temperature=0 or tools.bash.timeout_ms=5000; an empty value removes the key; may be repeated',
      ),
    )
    .option(
      '--max-iterations <n>',
      'iterations after a message before the run fails (default: agent.yaml, or 30)',
    )
    .option('--prices <file>', 'prices of models, before those of the agent')
    .option('-i, --interactive', 'answer questions on stdin, one line each; an approval only at a terminal')
    .addOption(
      choices(
        '--format <format>',
        'on stdout: text, the answer; json, one object with status, answer and usage; stream-json, the journal line by line; raw, the answer byte for byte',
        ['text', 'json', 'stream-json', 'raw'],
      ).default('text'),
    )
    .option('-q, --quiet', 'no progress on stderr')
    .option('-v, --verbose', 'full tool output, reasoning, hooks and token counts on stderr')
    .option('--no-sync', 'do not wait for the disk: faster, but a power cut may lose events')
    .addOption(importRoot())
    .option('--strict', 'unknown keys in the agent are errors')
    .addOption(trustWorkspaceEnv())
}

function contextOptions(command: Command): Command {
  return command
    .option('--agent <directory>', 'agent directory; default: that of the run, or "."')
    .addOption(workspace('workspace'))
    .addOption(runId())
    .addOption(runsDirectory())
    .option('-m, --message <text>', 'as if the user said this now; "-" reads stdin, "@file" a file')
    .addOption(importRoot())
    .option('--strict', 'unknown keys in the agent are errors')
    .addOption(trustWorkspaceEnv())
}

const workspace = (about: string) => new Option('-w, --work-dir <directory>', about).default('.')
const lookedAt = () =>
  new Option('-w, --work-dir <directory>', 'workspace; default: ".", or any with --runs-dir')
const runId = () => new Option('--run-id <id>', 'run id or unique prefix; default: the latest')
const runsDirectory = () =>
  new Option(
    '--runs-dir <directory>',
    'where the runs are kept, if that is outside the workspace and not remembered',
  )
const importRoot = () =>
  repeatable('--import-root <directory>', 'let the agent import files from here, too; may be repeated')
const trustWorkspaceEnv = () =>
  new Option(
    '--trust-workspace-env',
    'use the base URL in the .env of the workspace or the project, though others can write it',
  )

const choices = (flags: string, about: string, values: readonly string[]) =>
  new Option(flags, about).choices(values)

/** As `choices`, in a sentence of its own. */
function oneOf(flags: string, about: string, values: readonly string[]): Option {
  const option = new Option(flags, about).argParser((value) => {
    if (values.includes(usable(value))) return value
    throw new UsageError(`${option.long} ${value}: choose one of ${values.join(', ')}.`)
  })
  option.argChoices = [...values]
  return option
}

/** May be given several times; the values are collected. */
function repeatable(
  flags: string,
  about: string,
  byDefault: string | readonly string[] = [],
  values?: readonly string[],
): Option {
  const option = new Option(flags, about)
    .default([], byDefault.length === 0 ? 'none' : JSON.stringify(byDefault))
    .argParser<string[]>((value, before) => {
      usable(value)
      if (values?.includes(value) === false)
        throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`)
      return [...before, value]
    })
  option.variadic = false
  if (values) option.argChoices = [...values]
  return option
}

/** A value that is empty or was not UTF-8 would silently mean something else. */
function refuseUnusableValues(command: Command): void {
  const options = command.options.filter(({ required }) => required)
  for (const each of [...options, ...command.registeredArguments])
    if (!each.parseArg && !each.variadic) each.argParser(usable)
  for (const child of command.commands) refuseUnusableValues(child)
}

/** An empty value usually comes from an unset variable. In the place of bytes that are not UTF-8, Node.js puts U+FFFD. */
function usable(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  if (value.includes('\ufffd'))
    throw new InvalidArgumentError(
      'It is not UTF-8 text, or contains U+FFFD. Rename the file, or convert the text and give it with -m - or -m @file.',
    )
  return value
}

/** Columns of the help when no terminal tells. */
const USUAL_WIDTH = 80

/** The agents that `delta init` can make; each is a directory of `templates/`. */
export const TEMPLATE_NAMES = [
  'minimal',
  'hello-world',
  'file-ops',
  'api-tester',
  'code-reviewer',
  'research',
] as const
