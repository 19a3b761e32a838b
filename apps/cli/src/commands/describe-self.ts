import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AtipArgument, AtipCommand, AtipOption, AtipTool } from '@delta/atip'
import { printJson } from '../present/print.js'
import { COMMAND_EFFECTS } from '../table/effects.js'
import type { ArgumentEntry, CommandEntry, OptionEntry } from '../table/entry.js'
import { COMMAND_TABLE, GROUP_DESCRIPTIONS } from '../table/index.js'
import { EXIT, type Terminal } from '../terminal/terminal.js'

/** `delta --agent`: this command line in ATIP, from the same table as the parser and the help. */
export async function execute(_flags: object, terminal: Terminal): Promise<number> {
  const { version, description } = JSON.parse(
    readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'),
  ) as { version: string; description: string }
  const tool: AtipTool = {
    atip: '0.6',
    name: 'delta',
    version,
    description,
    trust: { source: 'native', verified: false },
    commands: commandTree(),
  }
  printJson(terminal, tool)
  return EXIT.completed
}

type Commands = Record<string, AtipCommand>

function commandTree(): Commands {
  const tree: Commands = {}
  const entries = COMMAND_TABLE.flatMap(({ commands }) => commands).filter(({ hidden }) => !hidden)
  for (const entry of entries) {
    const [first = '', second] = entry.name.split(' ')
    if (second === undefined) tree[first] = commandOf(entry)
    else {
      const group = tree[first] ?? { description: GROUP_DESCRIPTIONS[first] ?? '', commands: {} }
      tree[first] = { ...group, commands: { ...group.commands, [second]: commandOf(entry) } }
    }
  }
  return tree
}

function commandOf({
  name,
  description,
  arguments: positional = [],
  options = [],
}: CommandEntry): AtipCommand {
  const effects = COMMAND_EFFECTS[name]
  return {
    description,
    arguments: positional.map(argumentOf),
    options: options.filter(({ hidden }) => !hidden).map(optionOf),
    ...(effects && { effects }),
  }
}

function argumentOf({ name, description, choices, default: value }: ArgumentEntry): AtipArgument {
  return {
    name: name.replace(/[^\w-]/g, ''),
    type: choices ? 'enum' : 'string',
    description,
    required: name.startsWith('<'),
    ...(name.includes('...') && { variadic: true }),
    ...(choices && { enum: [...choices] }),
    ...(value !== undefined && { default: value }),
  }
}

/** The type of an option, by the placeholder in angle brackets. */
const TYPES: Readonly<Record<string, AtipOption['type']>> = {
  n: 'integer',
  directory: 'directory',
  file: 'file',
}

function optionOf(entry: OptionEntry): AtipOption {
  const { flags, description, choices, repeatable, required = false, default: value } = entry
  const placeholder = /<(.*)>/.exec(flags)?.[1]
  const type = placeholder === undefined ? 'boolean' : (TYPES[placeholder] ?? 'string')
  return {
    name: /--([\w-]+)/.exec(flags)?.[1] ?? flags,
    flags: flags.match(/(?<![\w-])--?[A-Za-z][\w-]*/g) ?? [],
    type: choices ? 'enum' : type,
    description,
    required,
    ...(repeatable && { variadic: true }),
    ...(choices && { enum: [...choices] }),
    ...(value !== undefined && { default: value }),
  }
}
