import { nearestNames } from '@delta/settings'

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
    const isScript =
      index > 1 && SHELL_NAME.test(words[index - 2] ?? '') && SCRIPT_OPTION.test(words[index - 1] ?? '')
    const tilde = word.startsWith('~') && !isProgram ? [{ index, column: 1, ...TILDE }] : []
    const references = [...word.matchAll(REFERENCE)].flatMap(({ 0: written, index: at }) => {
      const found = problemOf(written, variables, { isProgram, isScript })
      return found ? [{ index, column: at + 1, ...found }] : []
    })
    return [...tilde, ...references]
  })
}

/** Programs that run text, or replace variables in it themselves. */
const INTERPRETER =
  /^(?:(?:ba|da|z|k|mk|fi)?sh|su|python[\d.]*|node|deno|bun|perl|ruby|php|[gmn]?awk|jq|make|envsubst|tmux|ssh)$/
const SHELL_NAME = /(?:^|\/)(?:ba|da|z|k|mk|fi)?sh$/
const SCRIPT_OPTION = /^-[a-z]*c$/
const REFERENCE = /\$\{\w+\}|\$[A-Z_]{2,}\b/g
const SHELL = 'a shell is run with ["sh", "-c", "…"].'
const TILDE = { message: '"~" is not replaced here', hint: `Write the path out; ${SHELL}` }

function problemOf(
  written: string,
  variables: readonly string[],
  { isProgram, isScript }: { isProgram: boolean; isScript: boolean },
): Omit<Unreplaced, 'index' | 'column'> | undefined {
  const isBraced = written.startsWith('${')
  const name = written.replaceAll(/[${}]/g, '')
  // ours are capitals; `cwd` may well be somebody's own
  const near = /^[A-Z_]+$/.test(name) ? nearestNames(name, variables)[0] : undefined
  if (isBraced && name === near) {
    if (!isScript) return undefined
    // replaced before the shell reads it: a blank in the path makes it two words, and `$(…)` a command
    const hint = `Pass it after the script: ["sh", "-c", "ls \\"$1\\"", "sh", "${written}"].`
    return { message: `the path of "${written}" is read as a part of the script`, hint }
  }
  if (near !== undefined && (isBraced || !isProgram))
    return { message: `"${written}" is not replaced here`, hint: `Write \${${near}}.` }
  if (near !== undefined || isProgram) return undefined
  const message = `"${written}" is not replaced here, but passed as it is written`
  const known = variables.map((variable) => `\${${variable}}`).join(', ')
  return { message, hint: `Replaced are ${known}; ${SHELL}`, ...(isBraced && { name }) }
}
