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
  const optional = new Set(parameters.filter(isOptional).map(({ name }) => name))
  if (optional.size === 0) return []
  const last = words.findLast(({ pieces }) => pieces.some(isParameter) && !isOptionWord(pieces))
  return words.flatMap((word, index) => {
    if (!isWholeParameter(word.pieces)) return []
    const [{ name, offset }] = word.pieces
    const option = words[index - 1]?.shape ?? ''
    const takesNext = /^-(?!-$)[^=\0]+$/.test(option)
    if (!optional.has(name) || (!takesNext && word === last)) return []
    const next = last?.pieces.find(isParameter)?.name
    const fault = takesNext ? `${option} would take the next word` : `\${${next}} would move to its place`
    return [problemAt(word, offset, 'ERR_PARAMETER_OPTIONAL', `Without \${${name}}, ${fault}.`)]
  })
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord(pieces: readonly Part[]): boolean {
  return /^-[^=\0]+=\0$/.test(shapeOf(pieces)) && isParameter(pieces[1])
}
