import { checkWords, inferFromWords, type Word } from './exec.js'
import type { Compiled, Inferred } from './inferred.js'
import { problemAt, type ToolProblem } from './problems.js'
import type { ParameterDefinition, ToolDefinition } from './schema.js'
import { parseElement } from './template.js'

/** Compiles a hand-written `command:`. What its parameters say about injection is taken as the template's word. */
export function compileCommand(definition: ToolDefinition): {
  compiled: Compiled
  problems: ToolProblem[]
  words?: Word[]
} {
  const { command = [], parameters = [], substitute = false, checked_words: checkedWords = [] } = definition
  const problems: ToolProblem[] = []
  if (!substitute) {
    if (command[0] === '') problems.push(...checkWords([{ parts: [], template: '', path: 'command[0]' }]))
    return { compiled: { command, substitute, inferred: parameters.map(asWritten), checkedWords }, problems }
  }
  const words = command.map((element, index) => parseWord(element, `command[${index}]`, problems))
  problems.push(...checkWords(words))
  const placed = inferFromWords(words).map((known): Inferred => {
    const isGlued = checkedWords.some((word) => word.includes(`\${${known.name}}`))
    return isGlued ? { ...known, allowDash: undefined } : known
  })
  const others = parameters.filter(({ inject_as = 'argument' }) => inject_as !== 'argument').map(asWritten)
  return {
    compiled: { command, substitute, inferred: [...placed, ...others], checkedWords },
    problems,
    words,
  }
}

function parseWord(template: string, path: string, problems: ToolProblem[]): Word {
  const parts = parseElement(template, (offset) => {
    const message = 'Neither a placeholder nor a literal ${ (:raw modifier is only allowed in shell: mode).'
    const hint = 'Write ${name} for a value, \\${ for a literal ${.'
    problems.push(problemAt(offset, template, { code: 'ERR_PLACEHOLDER', path, message, hint }))
  })
  return { parts, template, path }
}

/** A parameter as its entry says, with nothing inferred. */
export function asWritten({ name, inject_as = 'argument', position }: ParameterDefinition): Inferred {
  return { name, injectAs: inject_as, position }
}
