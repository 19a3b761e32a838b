import type { YAMLError } from 'yaml'
import { TAB, type YamlFault } from './fault.js'

type StructureFault = Partial<YamlFault> & { structure: string }

/** What is said of a fault of indentation. Undefined: the fault is none. */
export function structureFault(fault: YAMLError, text: string): StructureFault | undefined {
  const { code, message } = fault
  const structure = message
  if (code === 'TAB_AS_INDENT') return { structure: TAB, hint: WITH_SPACES }
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return keyInsideOfValue(fault, text) ?? { structure, hint: ONE_COLUMN }
  if (message.startsWith('All mapping items'))
    return tabBefore(fault, text) ?? { structure, hint: UNDER_EACH_OTHER }
  if (message.startsWith('Sequence item without')) return { structure, hint: UNDER_EACH_OTHER }
  if (message.startsWith('A block sequence may not')) return { structure, hint: ELEMENT_OR_KEY }
  return message.startsWith('Implicit map keys need') ? { structure, hint: ONE_COLUMN } : undefined
}

const WITH_SPACES = 'Indent with spaces.'
const UNDER_EACH_OTHER =
  'The keys of one list element stand under each other: indent this one as those above it. A new element begins with "- ".'
const ONE_COLUMN =
  'A key has ": " behind it, and the keys of one map begin in one column. A comment above a value begins in the column of the value.'
const ELEMENT_OR_KEY =
  'Under one key stand either keys, or elements that begin with "- ". The elements of one list begin in one column.'

/** `name: a`, and the next key further right: the parser takes it for a part of the value, and complains of that. */
function keyInsideOfValue({ pos: [start, end] }: YAMLError, text: string): StructureFault | undefined {
  const before = text.slice(lineStart(text, start), start)
  if (!/: +$/.test(before)) return undefined
  const dash = /^ *-(?=\w)/.exec(before)?.[0].length
  if (dash !== undefined) {
    const message = 'Not valid YAML: behind this - a blank is missing.'
    return { structure: message, message, shownAt: lineStart(text, start) + dash - 1, hint: NEW_ELEMENT }
  }
  const line = lineStart(text, end)
  const indentation = text.slice(line).search(/[^ \t]/)
  const message = 'Not valid YAML: this line is indented deeper than the key that it should stand under.'
  return { structure: message, message, shownAt: line + indentation, hint: DEEPER }
}

const NEW_ELEMENT = 'A list element begins with "- ".'
const DEEPER =
  'The keys of one map begin in one column. If this is no key but the rest of a text that contains ": ", quote the whole text.'

/** Spaces with a tab behind them are no fault to the parser, but the column they lead to is. */
function tabBefore({ pos: [offset] }: YAMLError, text: string): StructureFault | undefined {
  const message = 'Not valid YAML: Tabs are not allowed as indentation.'
  const line = text.slice(lineStart(text, offset))
  return /^ *\t/.test(line) ? { structure: TAB, message, hint: WITH_SPACES } : undefined
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1
}
