import { isParameter, isWholeParameter, type Word } from './exec.js'
import { problemAt, type ToolProblem } from './problems.js'
import type { Part } from './template.js'
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
    const [part] = parts
    if (!isWholeParameter(parts) || !isParameter(part) || !optional.includes(part.name)) return []
    const reason = shifts(words, index)
    if (reason === undefined) return []
    const message = `\${${part.name}} is optional, and without it ${reason}.`
    const hint = `Give it a default, write --option=\${${part.name}} (dropped whole), or use command: with inject_as: option.`
    return [problemAt(part.offset, template, { code: 'ERR_PARAMETER_OPTIONAL', path, message, hint })]
  })
}

function shifts(words: readonly Word[], index: number): string | undefined {
  const [option, ...more] = words[index - 1]?.parts ?? []
  if (typeof option === 'string' && more.length === 0 && /^-(?!-$)[^=]+$/.test(option)) {
    return `the option ${option} before it would take the next word`
  }
  const later = words.slice(index + 1).find(({ parts }) => parts.some(isParameter) && !isOptionWord(parts))
  const name = later?.parts.find(isParameter)?.name
  return name === undefined ? undefined : `\${${name}} behind it would move to its place`
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord([option, value, ...more]: readonly Part[]): boolean {
  return typeof option === 'string' && /^-[^=]+=$/.test(option) && isParameter(value) && more.length === 0
}
