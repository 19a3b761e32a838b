import { nearestNames } from '@delta/executor'
import { formatPath, type ValuePath } from '../path.js'
import { PARAMETER_TYPES } from './parameter-types.js'

/** What to write in place of a value that has the wrong form. */
export function shapeHint(inTool: ValuePath, item: unknown): string | undefined {
  return typeHint(inTool, item) ?? commandHint(inTool, item) ?? textHint(inTool, item)
}

/** What other languages call them. */
const OTHER_TYPES: Record<string, string> = {
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  str: 'string',
  text: 'string',
  path: 'string',
  file: 'string',
  bool: 'boolean',
  flag: 'boolean',
  list: 'array',
}

function typeHint([key, index, inner]: ValuePath, item: unknown): string | undefined {
  if (key !== 'parameters' || inner !== 'type') return undefined
  const { parameters } = item as { parameters: { type: unknown }[] }
  const written = String(parameters[Number(index)]?.type).toLowerCase()
  const [meant] = Object.hasOwn(OTHER_TYPES, written)
    ? [OTHER_TYPES[written]]
    : nearestNames(written, PARAMETER_TYPES)
  return meant === undefined ? undefined : `Did you mean "${meant}"?`
}

/** A command in one text is what `exec:` and `shell:` are for. */
function commandHint(inTool: ValuePath, item: unknown): string | undefined {
  const { command } = Object(item) as { command?: unknown }
  if (formatPath(inTool) !== 'command' || typeof command !== 'string') return undefined
  const mode = FOR_A_SHELL.test(command.replace(/\$\{\w+\}/g, '')) ? 'shell' : 'exec'
  return `As one text it is written ${mode}: ${command}`
}

/** Other frameworks write commands as lists; and `true` is a program to a person, a truth value to YAML. */
function textHint([key, inner]: ValuePath, item: unknown): string | undefined {
  if ((key !== 'exec' && key !== 'shell') || inner !== undefined) return undefined
  const written: unknown = Object(item)[key]
  if (typeof written === 'string') return undefined
  if (typeof written === 'boolean' || typeof written === 'number') return `Quote it: ${key}: "${written}"`
  const isOfPlainWords =
    Array.isArray(written) && written.every((word) => typeof word === 'string' && PLAIN_WORD.test(word))
  return isOfPlainWords
    ? `As one text it is written ${key}: ${written.join(' ')}`
    : 'Write the whole command as one text. A list of words is what command: takes.'
}

const PLAIN_WORD = /^(?:[\w./:=@%+,-]|\$\{\w+\})+$/

const FOR_A_SHELL = /[|&;<>$`*?\n]/
