import { baseName } from '../programs.js'
import { TAKES_NAMES, valuesOf } from '../shell/rules.js'
import type { Word } from '../shell/scan.js'
import { functionsIn } from './functions-in.js'
import type { ScriptCommand, ShellSource } from './source.js'

// Which variables of a script hold values that could be code: those set to one, to another such variable, or from what `echo`
// and `printf` write of one. The output of other commands is theirs.

/** What a script does with values that its variables hold. */
export interface Held {
  names: ReadonlySet<string>
  /** Whether a positional holds one, at a place of the script: that of a function which is called with values. */
  positionalHolds: (name: string, offset: number) => boolean
}

/** `x=$(printf %s ${value})`, with nothing behind that could make something else of it. */
const WRITES_IT = /^\w+\+?="?\$\(\s*(?:echo|printf)\s[^|)]*\)/
export const OWN = /^[1-9@*]$/

/** Before the name of a function: what stands for its positionals. */
const CALL = 'call '

/** @param own - Positionals that hold values: those of a script inside a script. */
export function heldValues(source: ShellSource, own: Iterable<string> = []): Held {
  const { template, commands, names } = source
  const functions = functionsIn(template)
  const checked = checkedIn(template)
  const copies = new Map<string, string[]>()
  const reached = [...own]
  const set = (name: string, word: Word) => {
    const found = WRITES_IT.test(template.slice(word.offset, word.offset + 80)) ? word.found : valuesOf(word)
    if (found.some((value) => names.withCode.has(value.name) && !checked.has(value.name))) reached.push(name)
    for (const other of variablesIn(textOf(template, word))) {
      const key = OWN.test(other) ? callOf(functions.at(word.offset), other) : other
      const known = copies.get(key)
      if (known) known.push(name)
      else copies.set(key, [name])
    }
  }
  for (const [index, command] of commands.entries()) {
    for (const [name, word] of settingsOf(command, template)) set(name, word)
    if (readsValues(command, commands[index - 1], names.withCode)) reached.push(...readInto(command))
    const [name = ''] = command.shapes
    if (functions.names.has(name)) for (const word of command.words.slice(1)) set(CALL + name, word)
  }
  const held = new Set<string>()
  for (let name = reached.pop(); name !== undefined; name = reached.pop()) {
    if (held.has(name) || checked.has(name)) continue
    held.add(name)
    for (const copy of copies.get(name) ?? []) reached.push(copy)
  }
  return {
    names: held,
    positionalHolds: (name, offset) => held.has(callOf(functions.at(offset), name)),
  }
}

/** What stands for a positional: the call of its function, or itself outside of functions. */
function callOf(name: string | undefined, positional: string): string {
  return name === undefined ? positional : CALL + name
}

/** The variables a command sets, each with its word. Before a program they are only its environment. */
function settingsOf({ assignments, words, shapes }: ScriptCommand, template: string): [string, Word][] {
  const [command = ''] = shapes
  if (command === 'in') {
    const [, name] = /(?:for|select)\s+(\w+)\s+$/.exec(template.slice(0, words[0]?.offset).slice(-200)) ?? []
    return name === undefined ? [] : words.slice(1).map((word) => [name, word])
  }
  if (/^printf$/.test(command) && shapes[1] === '-v')
    return words.slice(3).map((word) => [shapes[2] ?? '', word])
  const set = words.length === 0 ? assignments : TAKES_NAMES.has(command) ? words.slice(1) : []
  return set.flatMap((word): [string, Word][] => {
    const [, name] = /^(\w+)\+?=/.exec(word.shape) ?? []
    return name === undefined ? [] : [[name, word]]
  })
}

/** Whether `read` gets a value: from a here-document or a here-string, or from what writes it as it is. */
function readsValues(
  command: ScriptCommand,
  before: ScriptCommand | undefined,
  withCode: ReadonlySet<string>,
): boolean {
  const found =
    command.fedFrom < command.fedTo && /^(?:echo|printf)$/.test(baseName(before?.shapes[0]))
      ? before?.words
      : []
  const values = [
    ...(found ?? []).flatMap((word) => word.found),
    ...[...command.documents, ...command.inputs].flatMap((each) => each.found),
  ]
  return values.some(({ name }) => withCode.has(name))
}

function readInto({ shapes: [name = '', ...operands] }: ScriptCommand): string[] {
  return name === 'read' ? operands.filter((operand) => /^[A-Za-z_]\w*$/.test(operand)) : []
}

const WORD_TEXT = /(?:\\.|"(?:\\.|[^"\\])*"|'[^']*'|\$\([^()]*\)|[^\s;&|()<>])*/sy

/** A word as it is written, without what stands in single quotes or is computed by commands. */
function textOf(template: string, { offset }: Word): string {
  WORD_TEXT.lastIndex = offset
  const [text = ''] = WORD_TEXT.exec(template) ?? []
  return text.replace(/\\.|'[^']*'|\$\([^()]*\)/gs, ' ')
}

function variablesIn(text: string): string[] {
  return [...text.matchAll(/\$\{?(\w+|[@*])/g)].map(([, name = '']) => name)
}

/** `case $x in *[!0-9]*) exit 1;; esac` and `[[ $x =~ ^[0-9]+$ ]]`: who looks at a variable so knows what is in it. */
const CHECKED = /\bcase\s+"?\$\{?(\w+)\}?"?\s+in\s[^)]*\[[!^][\w.-]+\]|"?\$\{?(\w+)\}?"?\s+=~\s+\^\S*\$/g

function checkedIn(template: string): Set<string> {
  return new Set([...template.matchAll(CHECKED)].map(([, looked, matched = '']) => looked ?? matched))
}
