import { isOptional } from '../optional.js'
import { beginningOf, isWholeParameter, type Placeholder, writePart } from '../template.js'
import type { LintFinding } from './finding.js'
import type { ExecSource } from './source.js'

/** A whole word whose value may be missing is dropped, and the fixed one behind it moves up. */
export function optionalMovesWords({ words, parameters, at }: ExecSource): LintFinding[] {
  const optional = new Set(parameters.filter(isOptional).map(({ name }) => name))
  const dropped: Placeholder[] = []
  return words.flatMap(({ pieces }) => {
    if (isWholeParameter(pieces) && optional.has(pieces[0].name)) dropped.push(pieces[0])
    const isOperand = /^[^-]/.test(beginningOf(pieces))
    return (isOperand ? dropped.splice(0) : []).map(({ name, offset }) => {
      const message = `Without ${name}, ${pieces.map(writePart).join('')} moves to its place.`
      return at('optional-moves-words', offset, message, giveDefault(name))
    })
  })
}

export function giveDefault(name: string): string {
  return `Give ${name} a default, or write it as --option=\${${name}}.`
}
