import { nearestNames } from './fit-shape.js'

/** A place in a command that does not become what its author expects. */
export interface Unreplaced {
  /** Which word. */
  index: number
  /** Where in the word, from 1. */
  column: number
  /** What it is, as a sentence without its place. */
  message: string
  hint: string
  /** Of `${name}`, if that is like none of the variables. */
  name?: string
}

/**
 * Finds what only a shell would expand in a command that is run without one, and names that are nearly those of `variables`.
 *
 * Words behind an interpreter may be a program in which `$x` and `~` mean something: there only nearly right names count, and
 * paths that become a part of a shell's script.
 */
export function findUnreplaced(words: readonly string[], variables: readonly string[]): Unreplaced[] {
  const interpreter = words.findIndex((word) => INTERPRETER.test(word.slice(word.lastIndexOf('/') + 1)))
  return words.flatMap((word, index) => {
    const isProgram = interpreter >= 0 && index > interpreter
    const found = isProgram ? [] : [...tildeIn(word), ...strangersIn(word, variables)]
    if (index > 1 && isScript(words[index - 2], words[index - 1])) found.push(...pathsIn(word, variables))
    return [...mistypedIn(word, variables, isProgram), ...found].map((one) => ({ index, ...one }))
  })
}

/** Programs that run text, or replace variables in it themselves. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|fi)?sh|su|python[\d.]*|node|deno|bun|perl|ruby|php|[gmn]?awk|jq|make|envsubst|tmux|ssh)$/
const SHELL_NAME = /(?:^|\/)(?:ba|da|z|k|mk|fi)?sh$/
const SCRIPT_OPTION = /^-[a-z]*c$/
const BRACED = /\$\{(\w+)\}/g
const BARE = /\$([A-Z_]{2,})\b/g
const SHELL = 'a shell is run with ["sh", "-c", "…"].'

type InWord = Omit<Unreplaced, 'index'>

function tildeIn(word: string): InWord[] {
  if (!word.startsWith('~')) return []
  return [{ column: 1, message: '"~" is not replaced here', hint: `Write the path out; ${SHELL}` }]
}

function mistypedIn(word: string, variables: readonly string[], isProgram: boolean): InWord[] {
  const references = [...word.matchAll(BRACED), ...(isProgram ? [] : word.matchAll(BARE))]
  return references.flatMap(({ 0: written, 1: name = '', index }) => {
    const near = nearVariable(name, variables)
    if (near === undefined || written === `\${${near}}`) return []
    return [{ column: index + 1, message: `"${written}" is not replaced here`, hint: `Write \${${near}}.` }]
  })
}

function strangersIn(word: string, variables: readonly string[]): InWord[] {
  const known = variables.map((name) => `\${${name}}`).join(', ')
  return [...word.matchAll(BRACED), ...word.matchAll(BARE)].flatMap(({ 0: written, 1: name = '', index }) => {
    if (nearVariable(name, variables) !== undefined) return []
    const message = `"${written}" is not replaced here, but passed as it is written`
    const found = { column: index + 1, message, hint: `Replaced are ${known}; ${SHELL}` }
    return [written.startsWith('${') ? { ...found, name } : found]
  })
}

function isScript(program = '', option = ''): boolean {
  return SHELL_NAME.test(program) && SCRIPT_OPTION.test(option)
}

/** Replaced before the shell reads it: a blank in the path makes it two words, and `$(…)` a command. */
function pathsIn(script: string, variables: readonly string[]): InWord[] {
  return [...script.matchAll(BRACED)].flatMap(({ 0: written, 1: name = '', index }) => {
    if (!variables.includes(name)) return []
    const message = `the path of "${written}" is read as a part of the script`
    const hint = `Pass it after the script: ["sh", "-c", "ls \\"$1\\"", "sh", "${written}"].`
    return [{ column: index + 1, message, hint }]
  })
}

/** Ours are capitals; `cwd` may well be somebody's own. */
function nearVariable(name: string, variables: readonly string[]): string | undefined {
  return /^[A-Z_]+$/.test(name) ? nearestNames(name, variables)[0] : undefined
}
