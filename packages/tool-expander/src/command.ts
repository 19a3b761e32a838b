import { shapeOf } from './command-words.js'
import type { ParameterDefinition, ToolDefinition } from './definition.js'
import { checkWords, faultOf, inferFromWords } from './exec.js'
import type { ArgumentWord, Compiled, Inferred } from './inferred.js'
import { plainNames } from './plain.js'
import { problemAt, type ToolProblem } from './problems.js'
import { type Opening, parseElement, textOf } from './template.js'
import type { Injection } from './tool.js'

/**
 * Compiles a hand-written `command:`. What its parameters say about injection is taken as the template's word.
 *
 * @param elsewhere - What becomes of a parameter that says nothing and stands in no place.
 */
export function compileCommand(definition: ToolDefinition, elsewhere: Injection = 'argument'): Compiled {
  const { command = [], parameters = [], substitute = false, checked_words: checkedWords } = definition
  const problems: ToolProblem[] = []
  const words = command.map((template, index): ArgumentWord => {
    const place = { template, path: `command[${index}]` }
    const refuse = (opening: Opening) => {
      problems.push(problemAt(place, opening.offset, ...faultOf(opening)))
    }
    const pieces = substitute ? parseElement(template, refuse) : textOf(template)
    return { ...place, pieces, shape: shapeOf(pieces) }
  })
  if (definition.command) problems.push(...checkWords(words, plainNames(parameters)))
  const placed = inferFromWords(words).map((known) =>
    checkedWords?.some((word) => word.includes(`\${${known.name}}`))
      ? { ...known, allow_dash: undefined }
      : known,
  )
  const isPlaced = (name: string) => placed.some((known) => known.name === name)
  const others = parameters
    .map((entry) => asWritten(entry, isPlaced(entry.name) ? 'argument' : elsewhere))
    .filter(({ inject_as }) => !substitute || inject_as !== 'argument')
  return {
    command: command as string[], // a copy of the author's
    substitute,
    inferred: [...placed, ...others],
    checkedWords: checkedWords as string[] | undefined,
    problems,
    words,
  }
}

/** A parameter as its entry says, with nothing inferred. */
export function asWritten(
  { name, inject_as: written, position }: ParameterDefinition,
  inferred: Injection = 'argument',
): Inferred {
  const inject_as = written ?? inferred
  return { name, inject_as, position }
}
