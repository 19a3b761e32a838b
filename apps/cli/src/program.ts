import { Command, CommanderError, Option } from 'commander'
import { reportFailure } from './failure.js'
import { EXIT, type Terminal } from './terminal.js'

/** Parses the arguments, runs one command and returns its exit code. Every command's code is loaded when it runs. */
export async function runProgram(terminal: Terminal): Promise<number> {
  let exitCode: number = EXIT.completed
  const program = describe(terminal, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(terminal.argv, { from: 'user' })
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage
    return reportFailure(terminal, error)
  }
}

type Finish = (exitCode: number) => void

function describe(terminal: Terminal, finish: Finish): Command {
  const program = new Command('delta')
    .description(
      'Runs agents made of YAML, Markdown and commands. Everything that happens is kept in plain files under .delta/.',
    )
    .option('-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    })
    .showSuggestionAfterError(true)
    .showHelpAfterError('(delta --help lists the commands and options)')
    .helpCommand('help [command]', 'show the help of a command')

  addRunCommands(program, terminal, finish)
  addInspectionCommands(program, terminal, finish)
  addToolCommands(program, terminal, finish)
  return program
}

function addRunCommands(program: Command, terminal: Terminal, finish: Finish): void {
  const run = program
    .command('run')
    .description('Start a run of an agent, or take up an interrupted one with the same message')
    .option('--agent <directory>', 'agent directory', '.')
    .option('-m, --message <text>', 'the task; "-" reads stdin, "@file" a file')
    .option('-w, --work-dir <directory>', 'workspace; made if it is missing')
    .option('--run-id <id>', 'name of the new run')
    .option('-y, --yes', 'use a new workspace without asking')
    .option('--new', 'start a new run even if one could be resumed')
    .addOption(new Option('--task <text>', 'renamed to -m/--message').hideHelp())
  withEngineOptions(run)
    .addHelpText('after', RUN_EXAMPLES)
    .action(async (options) =>
      finish(await (await import('./commands/run.js')).runCommand(options, terminal)),
    )

  const resume = program
    .command('continue')
    .description('Go on with a run: resume it, answer its question, or extend it with a message')
    .requiredOption('-w, --work-dir <directory>', 'workspace of the run')
    .option('-m, --message <text>', 'an answer, or a further instruction; "-" reads stdin, "@file" a file')
    .option('--run-id <id>', 'which run; default: the latest')
    .option('--force', 'take the run from its owner')
    .option('--approve <request-id>', 'let the waiting command run')
    .option('--deny <request-id>', 'refuse the waiting command')
  withEngineOptions(resume)
    .addHelpText('after', CONTINUE_EXAMPLES)
    .action(async (options) =>
      finish(await (await import('./commands/continue.js')).continueCommand(options, terminal)),
    )

  program
    .command('init')
    .description('Make a new agent directory that runs at once')
    .argument('[directory]', 'where to make it', 'my-agent')
    .option('-t, --template <name>', 'minimal or hello-world', 'minimal')
    .addHelpText('after', INIT_EXAMPLES)
    .action(async (directory, options) =>
      finish(await (await import('./commands/init.js')).initCommand(directory, options, terminal)),
    )
}

function withEngineOptions(command: Command): Command {
  return command
    .option(
      '--max-iterations <n>',
      'think-act cycles after a message before the run fails (default: agent.yaml, or 30)',
    )
    .option('-i, --interactive', 'answer questions at the terminal')
    .addOption(
      new Option('--format <format>', 'what stdout gets')
        .choices(['text', 'json', 'stream-json', 'raw'])
        .default('text'),
    )
    .option('-q, --quiet', 'no progress on stderr')
    .option('-v, --verbose', 'more progress on stderr')
    .option('--no-sync', 'do not wait for the disk; for throwaway runs')
    .option('--import-root <directory>', 'let the agent import files from here, too', collect, [])
    .option('--strict', 'unknown keys in the agent are errors')
    .option('--trust-workspace-env', "use a changed base URL from the workspace's .env")
}

function addInspectionCommands(program: Command, terminal: Terminal, finish: Finish): void {
  program
    .command('list-runs')
    .description('List the runs of a workspace')
    .option('-w, --work-dir <directory>', 'workspace', '.')
    .option('--json', 'print JSON')
    .action(async (options) =>
      finish(await (await import('./commands/list-runs.js')).listRunsCommand(options, terminal)),
    )
}

function addToolCommands(program: Command, terminal: Terminal, finish: Finish): void {
  const tool = program.command('tool').description('Look at tools as the engine sees them')
  for (const [parent, name, hidden] of [
    [tool, 'expand', false],
    [program, 'tool:expand', true],
  ] as const) {
    parent
      .command(name, { hidden })
      .description('Print the full form of the tools of an agent or a tools file')
      .argument('<path>', 'agent directory, agent.yaml or tools file')
      .option('--json', 'print JSON instead of YAML')
      .option('--tool <name>', 'only this tool')
      .option('--import-root <directory>', 'let the agent import files from here, too', collect, [])
      .addHelpText('after', EXPAND_EXAMPLES)
      .action(async (path, options) =>
        finish(await (await import('./commands/tool-expand.js')).toolExpandCommand(path, options, terminal)),
      )
  }
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

const RUN_EXAMPLES = `
Examples:
  delta run --agent ./my-agent -m "Summarise the text files here"
  delta run -w ./workspace -m @task.md --format json
  git diff | delta run --agent reviewer -m - -q > review.md

Exit codes: 0 completed, 1 failed, 2 usage, 6 busy, 101 waiting for input, 130/143/129 stopped by a signal`

const CONTINUE_EXAMPLES = `
Examples:
  delta continue -w ./workspace                          resume after an interruption or a crash
  delta continue -w ./workspace -m "yes, proceed"        answer, or give a further instruction
  delta continue -w ./workspace --approve <request-id>   let a waiting command run`

const INIT_EXAMPLES = `
Example:
  delta init hello -t hello-world && delta run --agent hello -m "What is here?"`

const EXPAND_EXAMPLES = `
Examples:
  delta tool expand ./my-agent
  delta tool expand tools/files.yaml --tool read_file --json`
