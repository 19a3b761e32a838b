import type { ArgumentWord } from '../inferred.js'
import { isOptional } from '../optional.js'
import { beginningOf, isParameter, isWholeParameter, type Placeholder, writePart } from '../template.js'
import type { LintFinding } from './finding.js'
import type { ExecSource } from './source.js'

/** A value that may be missing, what is then read in its place, and how. */
type Moved = [value: Placeholder, word: ArgumentWord, message: (word: string) => string]

/** Where a missing value lets another word stand in its place. */
export function optionalMovesWords({ words, parameters, at }: ExecSource): LintFinding[] {
  const optional = new Set(parameters.filter(isOptional).map(({ name }) => name))
  return [...droppedWords(words, optional), ...emptiedOptions(words, optional)].map(
    ([{ name, offset }, { pieces }, message]) => {
      const text = `Without ${name}, ${message(pieces.map(writePart).join(''))}.`
      const hint = `Give ${name} a default, or write it as --option=\${${name}}.`
      return at('optional-moves-words', offset, text, hint)
    },
  )
}

/** A whole word is dropped, and the fixed one behind it moves up. */
function droppedWords(words: readonly ArgumentWord[], optional: ReadonlySet<string>): Moved[] {
  const dropped: Placeholder[] = []
  return words.flatMap((word) => {
    const { pieces } = word
    if (isWholeParameter(pieces) && optional.has(pieces[0].name)) dropped.push(pieces[0])
    const isOperand = /^[^-]/.test(beginningOf(pieces))
    const moves = (text: string) => `${text} moves to its place`
    return (isOperand ? dropped.splice(0) : []).map((value): Moved => [value, word, moves])
  })
}

/** `-o${x}` without its value is `-o`, which takes what stands behind it. */
function emptiedOptions(words: readonly ArgumentWord[], optional: ReadonlySet<string>): Moved[] {
  return words.flatMap(({ pieces, shape }, index): Moved[] => {
    const value = pieces.find(isParameter)
    const behind = words[index + 1]
    const isEmptied = value && optional.has(value.name) && /^-[^-]\0$/.test(shape)
    if (!isEmptied || !behind || behind.shape.startsWith('-')) return []
    return [[value, behind, (text) => `${beginningOf(pieces)} may take ${text} for its value`]]
  })
}
