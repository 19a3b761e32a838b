import type { ArgumentWord } from './exec.js'
import type { ToolProblem } from './problems.js'
import type { Placeholder } from './template.js'
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

/** A template compiled to the full form, before the explicit `parameters:` are laid over it. */
export interface Compiled {
  command: string[]
  substitute: boolean
  inferred: Inferred[]
  checkedWords: readonly string[]
  problems: ToolProblem[]
  /** The argument words; a script has none. */
  words?: ArgumentWord[]
}

/** The parameters of a template, in order of first appearance, from the places they stand in. */
export function inferParameters(places: readonly Placeholder[]): Inferred[] {
  return [...new Set(places.map(({ name }) => name))].map((name, position) => {
    const own = places.filter((place) => place.name === name)
    const checks = own.map(({ checked }) => checked)
    return {
      name,
      inject_as: 'argument',
      position,
      raw: own.some(({ raw }) => raw),
      allow_dash: checks.includes('value') ? false : checks.includes('word') ? undefined : true,
      single: own.some(({ alone }) => !alone),
    }
  })
}
