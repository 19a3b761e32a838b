import { baseName, programIndex } from '../programs.js'
import type { ExpandedParameter, ExpandedTool } from '../tool.js'
import type { Source } from './source.js'

/** An entry of `parameters:`, as the rules about parameters see it. */
export interface Entry {
  parameter: ExpandedParameter
  /** Where it stands: `parameters[1]`. */
  path: string
  /** The template itself keeps its values from being taken for options, or checks the finished word. */
  isProtected: boolean
  /** A call is refused if a value makes a word begin with a dash. */
  isChecked: boolean
  /** The program that a call runs. */
  program: string
  /** Undefined for a hand-written `command:`. */
  syntax: 'exec' | 'shell' | undefined
}

export function entriesOf(tool: ExpandedTool, source: Source | undefined): Entry[] {
  const inWords = new Set(namesIn(tool.checked_words))
  const names = protectedNames(inWords, source)
  const program = baseName(tool.command[programIndex(tool.command)])
  return tool.parameters.map((parameter, index) => ({
    parameter,
    path: `parameters[${index}]`,
    isProtected: names.has(parameter.name),
    isChecked:
      parameter.allow_dash === false || (parameter.allow_dash === undefined && inWords.has(parameter.name)),
    program,
    syntax: source?.syntax,
  }))
}

function namesIn(words: readonly string[] = []): string[] {
  return words.flatMap((word) => [...word.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name))
}

function protectedNames(inWords: ReadonlySet<string>, source: Source | undefined): Set<string> {
  const inTemplate = source?.inferred.filter(({ raw, allow_dash }) => raw || allow_dash) ?? []
  return new Set([...inWords, ...inTemplate.map(({ name }) => name)])
}
