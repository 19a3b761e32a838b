import { shapeOf } from './command-words.js'
import type { ArgumentWord } from './inferred.js'
import { problemAt, type ToolProblem } from './problems.js'
import { isParameter, isWholeParameter, type Part } from './template.js'
import type { ExpandedParameter } from './tool.js'

/** Parameters that may be missing and have no value to stand in. */
export function isOptional({ required, default: value }: ExpandedParameter): boolean {
  return !required && value === undefined
}

/** A missing optional word is dropped. Refuses it where the words beside it would then mean something else. */
export function checkOptionalWords(
  words: readonly ArgumentWord[],
  parameters: readonly ExpandedParameter[],
): ToolProblem[] {
  const optional = parameters.filter(isOptional).map(({ name }) => name)
  return words.flatMap((word, index) => {
    const { pieces } = word
    if (!isWholeParameter(pieces) || !optional.includes(pieces[0].name)) return []
    const [{ name, offset }] = pieces
    const reason = shifts(words, index)
    if (reason === undefined) return []
    const message = `\${${name}} is optional, and without it ${reason}.`
    const hint = `Give it a default, write --option=\${${name}} (dropped whole), or use command: with inject_as: option.`
    return [problemAt(offset, word, 'ERR_PARAMETER_OPTIONAL', message, hint)]
  })
}

function shifts(words: readonly ArgumentWord[], index: number): string | undefined {
  const option = shapeOf(words[index - 1])
  if (/^-(?!-$)[^=\0]+$/.test(option)) return `the option ${option} before it would take the next word`
  const later = words.slice(index + 1).flatMap(({ pieces }) => (isOptionWord(pieces) ? [] : pieces))
  const next = later.find(isParameter)
  return next && `\${${next.name}} behind it would move to its place`
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord(pieces: readonly Part[]): boolean {
  return /^-[^=\0]+=\0$/.test(shapeOf({ pieces })) && isParameter(pieces[1])
}
