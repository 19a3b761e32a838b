import type { ArgumentWord } from '../inferred.js'
import { isOptional } from '../optional.js'
import { beginningOf, isParameter, isWholeParameter, type Placeholder, writePart } from '../template.js'
import { complaintAbout } from '../values.js'
import type { LintFinding } from './finding.js'
import type { ExecSource } from './source.js'

/** A value that may be missing or empty, and what another word is then taken for. */
type Moved = [value: Placeholder, message: string, hint: string]

/** Where a missing or empty value lets another word stand in its place. */
export function optionalMovesWords({ words, parameters, at }: ExecSource): LintFinding[] {
  const namesOf = (some: typeof parameters) => new Set(some.map(({ name }) => name))
  const optional = namesOf(parameters.filter(isOptional))
  const empty = namesOf(parameters.filter((parameter) => complaintAbout(parameter, '') === undefined))
  return [...droppedWords(words, optional), ...emptiedOptions(words, optional, empty)].map(
    ([{ offset }, message, hint]) => at('optional-moves-words', offset, message, hint),
  )
}

/** A whole word is dropped, and the fixed one behind it moves up. */
function droppedWords(words: readonly ArgumentWord[], optional: ReadonlySet<string>): Moved[] {
  const dropped: Placeholder[] = []
  return words.flatMap((word) => {
    const { pieces } = word
    if (isWholeParameter(pieces) && optional.has(pieces[0].name)) dropped.push(pieces[0])
    const isOperand = /^[^-]/.test(beginningOf(pieces))
    return (isOperand ? dropped.splice(0) : []).map((value): Moved => {
      const message = `Without ${value.name}, ${textOf(word)} moves to its place.`
      return [value, message, giveDefault(value)]
    })
  })
}

/** `-o${x}` without its value is `-o`, which takes what stands behind it. */
function emptiedOptions(
  words: readonly ArgumentWord[],
  optional: ReadonlySet<string>,
  empty: ReadonlySet<string>,
): Moved[] {
  return words.flatMap(({ pieces, shape }, index): Moved[] => {
    const value = pieces.find(isParameter)
    const behind = words[index + 1]
    if (!value || !/^-[^-]\0$/.test(shape) || !behind || behind.shape.startsWith('-')) return []
    const option = beginningOf(pieces)
    const taken = `${option} may take ${textOf(behind)} for its value.`
    const { name } = value
    if (optional.has(name)) return [[value, `Without ${name}, ${taken}`, giveDefault(value)]]
    const hint = `Write ${option} \${${name}}, or give ${name} a pattern, as in .+`
    return empty.has(name) ? [[value, `When ${name} is empty, ${taken}`, hint]] : []
  })
}

function giveDefault({ name }: Placeholder): string {
  return `Give ${name} a default, or write it as --option=\${${name}}.`
}

function textOf({ pieces }: ArgumentWord): string {
  return pieces.map(writePart).join('')
}
