import { isParameter } from './exec.js'
import { problemAt, type ToolProblem } from './problems.js'
import type { Part } from './template.js'
import type { ExpandedParameter } from './tool.js'

/** Parameters that may be missing and have no value to stand in. */
export function isOptional({ required, default: value }: ExpandedParameter): boolean {
  return !required && value === undefined
}

/**
 * A missing optional word is dropped. Refuses a template where the words behind it would then mean something else.
 */
export function checkOptionalWords(
  words: readonly Part[][],
  parameters: readonly ExpandedParameter[],
  template: string,
  path: string,
): ToolProblem[] {
  const optional = new Set(parameters.filter(isOptional).map(({ name }) => name))
  return words.flatMap((word, index) => {
    const part = word[0]
    if (word.length !== 1 || part === undefined || !isParameter(part) || !optional.has(part.name)) return []
    const reason = shifts(words, index)
    if (reason === undefined) return []
    const message = `\${${part.name}} is optional, and without it ${reason}.`
    const hint = `Give ${part.name} a default, write it as --option=\${${part.name}} (dropped whole when missing), or write the tool with command: and inject_as: option.`
    return [problemAt(part.offset, template, { code: 'ERR_PARAMETER_OPTIONAL', path, message, hint })]
  })
}

function shifts(words: readonly Part[][], index: number): string | undefined {
  const before = words[index - 1] ?? []
  const option = before.length === 1 ? before[0] : undefined
  if (typeof option === 'string' && /^-[^=]+$/.test(option) && option !== '--') {
    return `the option ${option} before it would take the next word`
  }
  const later = words.slice(index + 1).find((word) => word.some(isParameter) && !isOptionWord(word))
  const name = later?.find(isParameter)?.name
  return name === undefined ? undefined : `\${${name}} behind it would move to its place`
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord(word: readonly Part[]): boolean {
  return typeof word[0] === 'string' && /^-[^=]+=$/.test(word[0]) && word.length === 2
}
