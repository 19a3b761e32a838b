import type { CommandWord } from './command-words.js'
import type { Template, ToolProblem } from './problems.js'
import { isParameter, isWholeParameter, type Part, writeElement, writePart } from './template.js'
import type { ExpandedParameter } from './tool.js'

/** What a template alone says about a parameter, in the words of the full form. */
export interface Inferred extends Pick<ExpandedParameter, 'name' | 'inject_as'> {
  position?: number | undefined
  raw?: boolean
  /** True: every place it stands in is safe from, or meant for, a leading `-`. False: it is checked. */
  allow_dash?: boolean | undefined
  /** It stands inside a word or a script, where a list has no place. */
  single?: boolean
}

/** A word of an argument vector, and where it was written. */
export interface ArgumentWord extends CommandWord, Template {
  pieces: Part[]
}

/** A template compiled to the full form, before the explicit `parameters:` are laid over it. */
export interface Compiled {
  command: string[]
  substitute: boolean
  inferred: Inferred[]
  checkedWords?: string[] | undefined
  problems: ToolProblem[]
  /** The argument words; a script has none. */
  words?: ArgumentWord[]
}

/** The parameters of a template, in order of first appearance, from the places they stand in. */
export function inferParameters(places: readonly Part[]): Inferred[] {
  const parameters = new Map<string, Inferred>()
  for (const { name, raw, checked, alone } of places.filter(isParameter)) {
    const position = parameters.size
    const known = parameters.get(name) ?? { name, inject_as: 'argument', position, allow_dash: true }
    known.raw ||= !!raw
    known.single ||= !alone
    if (checked === 'value') known.allow_dash = false
    else if (checked && known.allow_dash) known.allow_dash = undefined
    parameters.set(name, known)
  }
  return [...parameters.values()]
}

/** An argument vector as `command:`, in the plain form where all values come behind it, each once. */
export function writeCommand(
  words: readonly Part[][],
  inferred: Inferred[],
): Pick<Compiled, 'command' | 'substitute' | 'inferred'> {
  const fixed = words.filter((pieces) => !pieces.some(isParameter))
  const values = words.slice(fixed.length)
  const substitute =
    !values.every(isWholeParameter) ||
    inferred.length < values.length ||
    fixed.some((pieces) => /\$\{(AGENT_HOME|CWD)\}/.test(pieces.join('')))
  const command = substitute ? words.map(writeElement) : fixed.map((pieces) => pieces.map(writePart).join(''))
  return { command, substitute, inferred }
}
