import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from './lib/built-program.mjs'
import { root } from './lib/environment.mjs'

/**
 * @typedef {{ flags: string, short?: string, long?: string, description: string, argChoices?: string[], mandatory: boolean, hidden: boolean,
 *   defaultValue?: unknown }} Option
 * @typedef {{ name(): string, description: string, argChoices?: string[], required: boolean, variadic: boolean, defaultValue?: unknown }} Argument
 * @typedef {{ name(): string, description(): string, commands: Command[], options: Option[], registeredArguments: Argument[],
 *   createHelp(): { visibleCommands(command: Command): Command[] } }} Command
 */

const FILE = join(root, 'apps/cli/src/described-commands.json')

/** Writes what `delta --agent` says of the commands, from the built command line; with `--check` it only says whether that is current. */
function main() {
  const text = `${JSON.stringify(describeBelow(builtProgram().createProgram({ argv: [], stdout: {} })), null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(FILE, text)
  else if (readFileSync(FILE, 'utf8') !== text) {
    console.error(`${FILE} is not what the program says. Update it with: node scripts/describe-commands.mjs`)
    return 1
  }
  return 0
}

/**
 * @param {Command} command
 * @returns {object} by name
 */
function describeBelow(command, above = '') {
  const own = command
    .createHelp()
    .visibleCommands(command)
    .filter((each) => each.name() !== 'help')
  return Object.fromEntries(own.map((each) => [each.name(), describe(each, `${above}${each.name()}`)]))
}

/** @param {Command} command @param {string} words */
function describe(command, words) {
  const description = command.description()
  if (command.commands.length > 0) return { description, commands: describeBelow(command, `${words} `) }
  const options = command.options.filter(({ hidden }) => !hidden).map(describeOption)
  const effects = EFFECTS[words]
  if (effects === undefined)
    throw new Error(`delta ${words}: EFFECTS does not say what it does to the world.`)
  return { description, arguments: command.registeredArguments.map(describeArgument), options, effects }
}

/** @param {Argument} argument */
function describeArgument(argument) {
  return {
    name: argument.name(),
    type: argument.argChoices ? 'enum' : 'string',
    description: argument.description,
    required: argument.required,
    variadic: argument.variadic || undefined,
    enum: argument.argChoices,
    default: argument.defaultValue,
  }
}

/**
 * The type of an option, by the placeholder in angle brackets.
 *
 * @type {Record<string, string>}
 */
const TYPES = { n: 'integer', directory: 'directory', file: 'file' }

/** @param {Option} option */
function describeOption({ flags, short, long, description, argChoices, mandatory, defaultValue }) {
  const placeholder = /<(.*)>/.exec(flags)?.[1]
  const type = placeholder === undefined ? 'boolean' : (TYPES[placeholder] ?? 'string')
  return {
    name: long?.slice(2) ?? flags,
    flags: [short, long].filter(Boolean),
    type: argChoices ? 'enum' : type,
    description,
    required: mandatory,
    variadic: Array.isArray(defaultValue) || undefined,
    enum: argChoices,
    default: typeof defaultValue === 'string' ? defaultValue : undefined,
  }
}

const READS = {
  filesystem: { read: true, write: false, delete: false },
  network: false,
  subprocess: false,
  idempotent: true,
  reversible: true,
  destructive: false,
  interactive: { stdin: 'none' },
}

const WRITES = { ...READS, filesystem: { read: true, write: true, delete: false } }

/** Programs that files of the user name may do anything; what is left out here is unknown. */
const STARTS_PROGRAMS = {
  filesystem: { read: true, write: true },
  subprocess: true,
  interactive: { stdin: 'none' },
}

const RUNS_AN_AGENT = {
  ...STARTS_PROGRAMS,
  network: true,
  idempotent: false,
  interactive: { stdin: 'optional' },
  cost: { billable: true },
}

/**
 * What each command does to the world.
 *
 * @type {Record<string, object>}
 */
const EFFECTS = {
  init: { ...WRITES, idempotent: false },
  completion: READS,
  run: RUNS_AN_AGENT,
  continue: RUNS_AN_AGENT,
  say: { ...WRITES, idempotent: false, reversible: false },
  fork: RUNS_AN_AGENT,
  replay: RUNS_AN_AGENT,
  'eval init': { ...WRITES, idempotent: false },
  'eval run': RUNS_AN_AGENT,
  'eval work': RUNS_AN_AGENT,
  'eval retry': RUNS_AN_AGENT,
  'eval status': READS,
  'eval report': READS,
  'list-runs': READS,
  show: READS,
  cost: READS,
  diff: READS,
  view: WRITES,
  export: WRITES,
  import: { ...WRITES, idempotent: false },
  config: READS,
  'context build': STARTS_PROGRAMS,
  'context explain': STARTS_PROGRAMS,
  'tool expand': READS,
  'tool lint': READS,
  'tool list': READS,
  'tool import': STARTS_PROGRAMS,
  'mcp import': { ...STARTS_PROGRAMS, network: true },
  'mcp call': { ...STARTS_PROGRAMS, network: true, interactive: { stdin: 'optional' } },
  'mcp serve': { ...STARTS_PROGRAMS, interactive: { stdin: 'required' } },
  sessions: STARTS_PROGRAMS,
  'journal verify': READS,
  'journal repair': WRITES,
}

process.exitCode = main()
