import { baseName } from '../programs.js'
import { TAKES_NAMES, valuesOf } from '../shell/rules.js'
import type { Word } from '../shell/scan.js'
import type { Stand } from './read-as-values.js'
import type { ScriptCommand, ShellSource } from './source.js'

// Which variables of a script hold values that could be code: those set to one, to another such variable, or from what `echo`
// and `printf` write of one. The output of other commands is theirs.

/** A piece of a script in which `$1` is a function's own. */
interface FunctionText {
  name: string
  start: number
  end: number
}

/** What a script does with values that its variables hold. */
export interface Held {
  names: ReadonlySet<string>
  /** The functions that are called with values. */
  functions: readonly FunctionText[]
}

const DEFINITION = /(?<![^\s;&|({])(?:function\s+([\w:.-]+)\s*(?:\(\))?|([\w:.-]+)\s*\(\))/g
/** `x=$(printf %s ${value})`, with nothing behind that could make something else of it. */
const WRITES_IT = /^\w+\+?="?\$\(\s*(?:echo|printf)\s[^|)]*\)/
const OWN = /^[1-9@*]$/

/** Before the name of a function: what stands for its positionals. */
const CALL = 'call '

/** @param own - Positionals that hold values: those of a script inside a script. */
export function heldValues(source: ShellSource, own: Iterable<string> = []): Held {
  const { template, commands, names } = source
  const functions = functionsOf(template)
  const defined = new Set(functions.map(({ name }) => name))
  const called = new Set<string>()
  const copies = new Map<string, string[]>()
  const reached = [...own]
  const set = (name: string, word: Word) => {
    const found = WRITES_IT.test(template.slice(word.offset, word.offset + 80)) ? word.found : valuesOf(word)
    if (found.some((value) => names.withCode.has(value.name))) reached.push(name)
    for (const other of variablesIn(textOf(template, word))) {
      const key = OWN.test(other) ? (callOf(functions, word.offset) ?? other) : other
      copies.set(key, [...(copies.get(key) ?? []), name])
    }
  }
  for (const [index, command] of commands.entries()) {
    for (const [name, word] of settingsOf(command, template)) set(name, word)
    if (readsValues(command, commands[index - 1], names.withCode)) reached.push(...readInto(command))
    const [name = ''] = command.shapes
    if (defined.has(name)) for (const word of command.words.slice(1)) set(CALL + name, word)
  }
  const held = new Set<string>()
  for (let name = reached.pop(); name !== undefined; name = reached.pop()) {
    if (held.has(name)) continue
    held.add(name)
    reached.push(...(copies.get(name) ?? []))
    if (name.startsWith(CALL)) called.add(name.slice(CALL.length))
  }
  for (const name of [...held]) if (name.startsWith(CALL) || isChecked(template, name)) held.delete(name)
  return { names: held, functions: functions.filter(({ name }) => called.has(name)) }
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

/** Whether `read` gets a value: from a here-document, or from what writes it as it is. */
function readsValues(
  command: ScriptCommand,
  before: ScriptCommand | undefined,
  withCode: ReadonlySet<string>,
): boolean {
  const found = command.isFed && /^(?:echo|printf)$/.test(baseName(before?.shapes[0])) ? before?.words : []
  const values = [
    ...(found ?? []).flatMap((word) => word.found),
    ...command.documents.flatMap((each) => each.found),
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

/** Whether a script looks at a variable before it uses it: `case $x in *[!0-9]*) exit 1;; esac`, `[[ $x =~ ^[0-9]+$ ]]`. */
function isChecked(template: string, name: string): boolean {
  const variable = `"?\\$\\{?${name.replace(/\W/g, '\\$&')}\\}?"?`
  return new RegExp(`\\bcase\\s+${variable}\\s+in\\s[^)]*\\[[!^]|${variable}\\s+=~\\s+\\^`).test(template)
}

/** What stands for the positionals of the function a place belongs to. */
function callOf(functions: readonly FunctionText[], offset: number): string | undefined {
  const at = functions.findLast(({ start, end }) => start < offset && offset < end)
  return at && CALL + at.name
}

/** Each ends where the next one begins: what stands between them has no `$1` of its own that matters. */
function functionsOf(template: string): FunctionText[] {
  const found = [...template.matchAll(DEFINITION)]
  return found.map(({ 1: named, 2: plain = '', index: start }, position) => ({
    name: named ?? plain,
    start,
    end: found[position + 1]?.index ?? template.length,
  }))
}

const COMPUTED =
  /\$?\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|\$\[[^\]]*\]|\$\{\w+\[[^\]]*\]|\$\{\w+:(?![-=+?])[^}]*/g

/** Every place of a script where a variable that holds a value is expanded or computed. */
export function standsOf({ scan, template }: ShellSource, { names, functions }: Held): Stand[] {
  const holds = (name: string, offset: number) =>
    OWN.test(name) && !names.has(name)
      ? functions.some(({ start, end }) => start < offset && offset < end)
      : names.has(name)
  const stands = new Map<number, Stand>()
  const expanded = new Set(scan.expanded.map(({ offset }) => offset))
  for (const { name, offset } of scan.expanded) {
    const bare = name.replace(/^\$(?=.)/, '')
    const written = name.startsWith('$') ? name : bracedAt(template, offset)
    if (written && holds(bare, offset)) stands.set(offset, { offset, length: written.length, written })
  }
  for (const { 0: text, index } of template.matchAll(COMPUTED)) {
    // An associative array has texts for subscripts.
    if (/^\$\{\w+\[/.test(text) && /\b(?:declare|typeset|local)\s+-\w*A/.test(template)) continue
    const isSubstring = /^\$\{\w+:/.test(text)
    if (isSubstring && !expanded.has(index)) continue
    for (const { 0: written, 1: name = '', 2: positional = '', index: inside } of text.matchAll(NAMES)) {
      const offset = index + inside
      if (!stands.has(offset) && inside > 0 && holds(name || positional, offset))
        stands.set(offset, { offset, length: written.length, written, isComputed: !isSubstring })
    }
  }
  return [...stands.values()]
}

/** A name in arithmetic, with its `$` if it has one, or a positional. What stands in braces is read elsewhere. */
const NAMES = /(?<![\w{$])\$?([A-Za-z_]\w*)|\$([1-9@*])/g

/** `${x%.txt}`, but neither a length nor what is named by another variable. */
function bracedAt(template: string, offset: number): string | undefined {
  BRACED.lastIndex = offset
  return BRACED.exec(template)?.[0]
}

const BRACED = /\$\{\w+(?:[-:=+?#%/^,@][^{}'"`$]*)?\}/y
