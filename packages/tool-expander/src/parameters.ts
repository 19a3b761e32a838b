import type { Inferred } from './inferred.js'
import type { ToolProblem } from './problems.js'
import type { ParameterDefinition } from './schema.js'
import { isEngineVariable } from './template.js'
import type { ExpandedParameter } from './tool.js'
import { renderValue, wholePattern } from './values.js'

/** Checks explicit parameters on their own: repeated names, patterns, defaults, types that fit their place. */
export function checkParameters(
  explicit: readonly ParameterDefinition[],
  inferred: readonly Inferred[],
): ToolProblem[] {
  const problems: ToolProblem[] = []
  explicit.forEach((entry, index) => {
    const refuse = (key: string, message: string, hint: string) => {
      problems.push({ code: 'ERR_PARAMETER', path: `parameters[${index}].${key}`, message, hint })
    }
    const known = inferred.find(({ name }) => name === entry.name)
    if (explicit.findIndex(({ name }) => name === entry.name) !== index) {
      refuse('name', `Parameter '${entry.name}' is defined twice`, 'Keep one of them.')
    }
    if (isEngineVariable(entry.name)) {
      refuse(
        'name',
        `${entry.name} is the engine's own variable and never a parameter`,
        'Choose another name.',
      )
    }
    if (entry.type === 'array' && (known?.single || (known?.injectAs ?? entry.inject_as) === 'stdin')) {
      refuse(
        'type',
        `Parameter '${entry.name}' cannot be an array here`,
        'A list needs a whole word of exec:, or inject_as: option.',
      )
    }
    if (entry.pattern !== undefined && !isPattern(entry.pattern)) {
      refuse(
        'pattern',
        `The pattern of '${entry.name}' is not a regular expression: ${entry.pattern}`,
        'Correct it.',
      )
    } else if (entry.default !== undefined && entry.default !== '') {
      const rendered = renderValue(
        {
          ...(entry as Partial<ExpandedParameter>),
          ...PLAIN,
          name: entry.name,
          type: entry.type ?? 'string',
        },
        entry.default,
      )
      if (!rendered.ok)
        refuse(
          'default',
          `The default of '${entry.name}' ${rendered.reason}`,
          'Correct the default, or the type.',
        )
    }
  })
  const stdin = inferred.filter(({ injectAs }) => injectAs === 'stdin')
  if (stdin.length > 1) {
    const message = `Only one parameter can go to stdin, not ${stdin.map(({ name }) => name).join(' and ')}`
    problems.push({ code: 'ERR_STDIN', path: 'stdin', message, hint: 'Pass the others as arguments.' })
  }
  return problems
}

const PLAIN = { inject_as: 'argument', required: true } as const

function isPattern(pattern: string): boolean {
  try {
    wholePattern(pattern)
    return true
  } catch {
    return false // SyntaxError is the only thing a RegExp constructor throws
  }
}
