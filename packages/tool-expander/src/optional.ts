import type { Word } from './exec.js'
import { problemAt, type ToolProblem } from './problems.js'
import { beginningOf, isParameter, isWholeParameter, type Part } from './template.js'
import type { ExpandedParameter } from './tool.js'

/** Parameters that may be missing and have no value to stand in. */
export function isOptional({ required, default: value }: ExpandedParameter): boolean {
  return !required && value === undefined
}

/** A missing optional word is dropped. Refuses it where the words beside it would then mean something else. */
export function checkOptionalWords(
  words: readonly Word[],
  parameters: readonly ExpandedParameter[],
): ToolProblem[] {
  const optional = parameters.filter(isOptional).map(({ name }) => name)
  return words.flatMap(({ parts, template, path }, index) => {
    if (!isWholeParameter(parts) || !optional.includes(parts[0].name)) return []
    const [{ name, offset }] = parts
    const reason = shifts(words, index)
    if (reason === undefined) return []
    const message = `\${${name}} is optional, and without it ${reason}.`
    const hint = `Give it a default, write --option=\${${name}} (dropped whole), or use command: with inject_as: option.`
    return [problemAt(offset, template, path, 'ERR_PARAMETER_OPTIONAL', message, hint)]
  })
}

function shifts(words: readonly Word[], index: number): string | undefined {
  const before = words[index - 1]?.parts ?? []
  const option = beginningOf(before)
  if (before.length === 1 && /^-(?!-$)[^=]+$/.test(option)) {
    return `the option ${option} before it would take the next word`
  }
  const later = words.slice(index + 1).flatMap(({ parts }) => (isOptionWord(parts) ? [] : parts))
  const next = later.find(isParameter)
  return next && `\${${next.name}} behind it would move to its place`
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord(parts: readonly Part[]): boolean {
  return parts.length === 2 && /^-[^=]+=$/.test(beginningOf(parts)) && isParameter(parts[1])
}
