import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { screenWidth } from '../present/print.js'
import { printable } from '../present/printable.js'
import type { ArgumentEntry, CommandEntry, OptionEntry } from '../table/entry.js'
import { COMMAND_TABLE, GROUP_DESCRIPTIONS } from '../table/index.js'
import type { Terminal } from '../terminal/terminal.js'
import { COMMON_TASKS } from './common-tasks.js'
import { fitted } from './fitted.js'
import { withMeantCommand } from './meant-command.js'
import { withHints } from './with-hints.js'

/** Runs the command of a parsed command line. */
export type Execute = (name: string, options: object, positional: string[]) => Promise<void>

/** The argument parser for the whole table, or for one command of it: creating them all takes a fiftieth of a start. */
export function createParser(terminal: Terminal, execute: Execute, only?: CommandEntry): Command {
  const program = new Command('delta')
    .description(
      'Runs agents made of YAML, Markdown and commands. Everything that happens is kept in plain files under .delta/.',
    )
    .option('-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => screenWidth(terminal) ?? USUAL_WIDTH,
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(printable(text.replace(/^error: /, 'Error: '))), // as all other errors
      outputError: (text, write) => write(withMeantCommand(text, namesIn())),
    })
    .configureHelp({ minWidthToWrap: 20 }) // on a terminal of 60 columns, the names leave little more
    .showSuggestionAfterError(true)
    .showHelpAfterError('(delta --help lists the commands and options)')
    .helpCommand('help [command...]', 'show the help of a command')
    .addHelpText('after', ({ command }) => fitted(COMMON_TASKS, helpWidth(command)))

  for (const { title, commands } of COMMAND_TABLE) {
    program.commandsGroup(`${title}:`)
    const parsed = only === undefined ? commands : commands.filter((entry) => entry === only)
    for (const entry of parsed) addCommand(parentOf(entry, program), entry, terminal, execute)
  }
  return program
}

/** The command whose name stands first. */
export function typedCommand(argv: readonly string[]): CommandEntry | undefined {
  const isTyped = ({ name }: CommandEntry) => name.split(' ').every((word, index) => argv[index] === word)
  return COMMAND_TABLE.flatMap(({ commands }) => commands).find(isTyped)
}

/** What may be typed after `delta`, or after the name of a group. */
function namesIn(group?: string): string[] {
  const before = group === undefined ? '' : `${group} `
  return COMMAND_TABLE.flatMap(({ commands }) => commands)
    .filter(({ name, hidden }) => !hidden && name.startsWith(before))
    .map(({ name }) => name.slice(before.length))
}

/** `tool expand` is a command of `tool`, which is created with its first command. */
function parentOf(entry: CommandEntry, program: Command): Command {
  const group = entry.name.split(' ').slice(0, -1)[0]
  if (group === undefined) return program
  const known = program.commands.find((command) => command.name() === group)
  if (known) return known
  return program
    .command(group)
    .description(GROUP_DESCRIPTIONS[group] ?? '')
    .configureOutput({ outputError: (text, write) => write(withMeantCommand(text, namesIn(group))) })
    .showHelpAfterError(`(delta ${group} --help lists its commands)`)
}

function addCommand(parent: Command, entry: CommandEntry, terminal: Terminal, execute: Execute): void {
  const command = parent
    .command(entry.name.split(' ').at(-1) ?? '', { hidden: entry.hidden ?? false })
    .description(entry.description)
    .showHelpAfterError(`(delta ${entry.name} --help says what it takes)`)
    .addHelpText('after', ({ command }) => furtherHelp(entry, helpWidth(command)))
  command.configureOutput({ outputError: withHints(entry, command, terminal) })
  for (const argument of entry.arguments ?? []) command.addArgument(argumentOf(argument))
  for (const option of entry.options ?? []) command.addOption(optionOf(option))
  // commander passes the positional arguments, then the options, then the command
  command.action((...given) => execute(entry.name, given.at(-2), given.slice(0, -2)))
}

function argumentOf({ name, description, choices, default: value }: ArgumentEntry): Argument {
  const argument = new Argument(name, description).default(value)
  if (choices) return argument.choices(choices)
  return argument.variadic ? argument : argument.argParser(notEmpty)
}

function optionOf(entry: OptionEntry): Option {
  const option = new Option(entry.flags, entry.description).hideHelp(entry.hidden ?? false)
  option.mandatory = entry.required ?? false
  if (entry.choices) option.choices(entry.choices)
  else if (entry.flags.includes('<')) option.argParser(notEmpty)
  if (entry.default !== undefined) option.default(entry.default)
  if (entry.repeatable)
    option
      .default([], entry.default === undefined ? 'none' : JSON.stringify(entry.default))
      .argParser<string[]>(collector(entry))
  return option
}

/** An empty value usually comes from an unset variable, and would silently mean something else. */
function notEmpty(value: string): string {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  return value
}

function collector({ choices }: OptionEntry): (value: string, before: string[]) => string[] {
  return (value, before) => {
    notEmpty(value)
    if (choices && !choices.includes(value))
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`)
    return [...before, value]
  }
}

/** Of the help in a file or a pipe. */
const USUAL_WIDTH = 80

/** As the parser takes for the rest of the help. */
function helpWidth(command: Command): number {
  return command.configureOutput().getOutHelpWidth?.() ?? USUAL_WIDTH
}

function furtherHelp({ examples, notes }: CommandEntry, columns: number): string {
  const width = Math.max(...examples.map(([command]) => command.length))
  const side = examples.map(([command, purpose]) => `  ${command.padEnd(width)}   ${purpose}`)
  const lines = side.every((line) => line.length <= columns)
    ? side
    : examples.map(([command, purpose]) => fitted(`  ${command}\n      ${purpose}`, columns))
  const further = notes === undefined ? [] : ['', fitted(notes, columns)]
  return ['', 'Examples:', ...lines, ...further].join('\n')
}
