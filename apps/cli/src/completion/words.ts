import type { CommandEntry, OptionEntry } from '../table/entry.js'
import { COMMAND_TABLE } from '../table/index.js'

/** What a value is, as far as a shell can help with it. */
export type ValueKind = 'file' | 'run' | 'nothing'

/** What can follow a command. */
export interface CommandWords {
  /** As typed after `delta`: `run`, `tool`, `tool expand`. */
  path: string
  description: string
  /** The next words there are: commands of a group, or the values of an argument that has only some. */
  children: readonly string[]
  /** What its argument is, if it takes one. */
  argument?: ValueKind
  options: OptionWords[]
}

export interface OptionWords {
  long: string
  short?: string
  description: string
  /** Of an option that takes one. */
  value?: ValueKind
  choices: readonly string[]
}

/** Everything that can be completed, as data: the root is the first, with an empty path. */
export function completionWords(): CommandWords[] {
  const entries = COMMAND_TABLE.flatMap(({ commands }) => commands).filter(({ hidden }) => !hidden)
  const groups = [...new Set(entries.flatMap(({ name }) => name.split(' ').slice(0, -1)))]
  const topLevel = [...new Set(entries.map(({ name }) => name.split(' ')[0] ?? ''))]
  return [
    { path: '', description: '', children: [...topLevel, 'help'], options: [] },
    { path: 'help', description: 'Show the help of a command', children: topLevel, options: [] },
    ...groups.map((group) => groupOf(group, entries)),
    ...entries.flatMap(commandOf),
  ]
}

/** The command itself, and what it is once its argument is one of the few there are: nothing of the same comes again. */
function commandOf(entry: CommandEntry): CommandWords[] {
  const { name: path, description, arguments: [argument] = [] } = entry
  const children = argument?.choices ?? argument?.firstWords ?? []
  const options = (entry.options ?? []).filter(({ hidden }) => !hidden).map(wordsOf)
  return [
    { path, description, children, ...argumentOf(entry), options },
    ...children.map((child) => ({ path: `${path} ${child}`, description: '', children: [], options })),
  ]
}

function groupOf(group: string, entries: CommandEntry[]): CommandWords {
  const children = entries.filter(({ name }) => name.startsWith(`${group} `))
  return {
    path: group,
    description: '',
    children: children.map(({ name }) => name.slice(group.length + 1)),
    options: [],
  }
}

function wordsOf({ flags, description, choices = [] }: OptionEntry): OptionWords {
  const short = /^-\w/.exec(flags)?.[0]
  return {
    long: /--[\w-]+/.exec(flags)?.[0] ?? '',
    ...(short === undefined ? {} : { short }),
    description,
    ...valueKindOf(flags, description),
    choices,
  }
}

function argumentOf({ arguments: [first] = [] }: CommandEntry): { argument?: ValueKind } {
  return first === undefined ? {} : { argument: first.name === '[run]' ? 'run' : 'file' }
}

/** Told by the word in angle brackets; the id of a new run is made up, and everything else cannot be guessed. */
function valueKindOf(flags: string, description: string): { value?: ValueKind } {
  const [, word] = /<([\w=-]+)>/.exec(flags) ?? []
  if (word === undefined) return {}
  if (['directory', 'file', 'text'].includes(word)) return { value: 'file' } // a text may be @file
  return { value: word === 'id' && description.startsWith('which run') ? 'run' : 'nothing' }
}
