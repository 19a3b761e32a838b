import type { AtipArgument, AtipCommand, AtipEffects, AtipOption, AtipTool } from '@delta/atip'
import type { Argument, Command, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { createProgram } from '../program.js'
import { EXIT, type Terminal } from '../terminal.js'
import { printJson } from '../text.js'

/** `delta --agent`: this command line in ATIP, from the same commands as the parser and the help. */
export async function execute(_flags: object, terminal: Terminal): Promise<number> {
  printJson(terminal, {
    atip: '0.6',
    name: 'delta',
    version: manifest.version,
    description: manifest.description,
    trust: { source: 'native', verified: false },
    commands: describeBelow(createProgram(terminal)),
  } satisfies AtipTool)
  return EXIT.completed
}

function describeBelow(command: Command, above = ''): Record<string, AtipCommand> {
  const shown = command.createHelp().visibleCommands(command)
  const own = shown.filter((each) => each.name() !== 'help')
  return Object.fromEntries(own.map((each) => [each.name(), describe(each, `${above}${each.name()}`)]))
}

function describe(command: Command, path: string): AtipCommand {
  const description = command.description()
  if (command.commands.length > 0) return { description, commands: describeBelow(command, `${path} `) }
  const effects = EFFECTS[path]
  return {
    description,
    arguments: command.registeredArguments.map(argumentOf),
    options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
    ...(effects && { effects }),
  }
}

function argumentOf(argument: Argument): AtipArgument {
  return {
    name: argument.name(),
    type: argument.argChoices ? 'enum' : 'string',
    description: argument.description,
    required: argument.required,
    ...(argument.variadic && { variadic: true }),
    ...(argument.argChoices && { enum: argument.argChoices }),
    ...(argument.defaultValue !== undefined && { default: argument.defaultValue }),
  }
}

/** The type of an option, by the placeholder in angle brackets. */
const TYPES: Readonly<Record<string, AtipOption['type']>> = {
  n: 'integer',
  directory: 'directory',
  file: 'file',
}

function optionOf(option: Option): AtipOption {
  const { flags, description, argChoices, mandatory, defaultValue } = option
  const placeholder = /<(.*)>/.exec(flags)?.[1]
  const type = placeholder === undefined ? 'boolean' : (TYPES[placeholder] ?? 'string')
  const isRepeatable = Array.isArray(defaultValue)
  return {
    name: option.long?.slice(2) ?? flags,
    flags: [option.short, option.long].flatMap((flag) => flag ?? []),
    type: argChoices ? 'enum' : type,
    description,
    required: mandatory,
    ...(isRepeatable && { variadic: true }),
    ...(argChoices && { enum: argChoices }),
    ...(typeof defaultValue === 'string' && { default: defaultValue }),
  }
}

const READS: AtipEffects = {
  filesystem: { read: true, write: false, delete: false },
  network: false,
  subprocess: false,
  idempotent: true,
  reversible: true,
  destructive: false,
  interactive: { stdin: 'none' },
}

const WRITES: AtipEffects = { ...READS, filesystem: { read: true, write: true, delete: false } }

/** Programs that files of the user name may do anything; what is left out here is unknown. */
const STARTS_PROGRAMS: AtipEffects = {
  filesystem: { read: true, write: true },
  subprocess: true,
  interactive: { stdin: 'none' },
}

const RUNS_AN_AGENT: AtipEffects = {
  ...STARTS_PROGRAMS,
  network: true,
  idempotent: false,
  interactive: { stdin: 'optional' },
  cost: { billable: true },
}

/** What each command does to the world. A test names the ones that are missing. */
const EFFECTS: Readonly<Record<string, AtipEffects>> = {
  init: { ...WRITES, idempotent: false },
  completion: READS,
  run: RUNS_AN_AGENT,
  continue: RUNS_AN_AGENT,
  'list-runs': READS,
  show: READS,
  config: READS,
  'context build': STARTS_PROGRAMS,
  'context explain': STARTS_PROGRAMS,
  'tool expand': READS,
  'tool lint': READS,
  'tool list': READS,
  'tool import': STARTS_PROGRAMS,
  'mcp serve': { ...STARTS_PROGRAMS, interactive: { stdin: 'required' } },
  sessions: STARTS_PROGRAMS,
  'journal verify': READS,
  'journal repair': WRITES,
}
