import type { Question } from './outcome.js'

/**
 * True when the text answers the question. A command takes a decision; the answer to a confirmation begins with yes, no, `y` or
 * `n`, and more may follow ("yes, but …"); any other question takes any text.
 */
export function isAnswerTo(
  { command, inputType }: Pick<Question, 'command' | 'inputType'>,
  text: string,
): boolean {
  if (command !== undefined) return decisionIn(text) !== undefined
  return inputType !== 'confirmation' || /^\s*(?:yes|y|no|n)(?=[\s,.;:!]|$)/i.test(text)
}

/** The decision on a command; undefined unless the text is exactly yes, no, `y`, `n` or always. */
export function decisionIn(text: string): 'yes' | 'no' | 'always' | undefined {
  switch (text.trim().toLowerCase()) {
    case 'yes':
    case 'y':
      return 'yes'
    case 'no':
    case 'n':
      return 'no'
    case 'always':
      return 'always'
    default:
      return undefined
  }
}
