import { checkWords, compileExec, inferFromWords } from './exec.js'
import type { Compiled, Inferred } from './inferred.js'
import { mergeParameters } from './merge.js'
import { checkOptionalWords, isOptional } from './optional.js'
import { checkParameters } from './parameters.js'
import { problemAt, ToolExpansionError, type ToolProblem } from './problems.js'
import type { ParameterDefinition, ToolDefinition } from './schema.js'
import { compileShell } from './shell/compile.js'
import { type Part, parseElement } from './template.js'
import type { ExpandedParameter, ExpandedTool, ToolOrigin } from './tool.js'

/**
 * The full form of a tool: an argument vector, and for each parameter where its value goes.
 *
 * @throws {ToolExpansionError} with every problem, for a definition `parseTool` would have refused.
 */
export function expandTool(definition: ToolDefinition): ExpandedTool {
  const { tool, problems } = compileTool(definition)
  const [first, ...others] = problems
  if (first !== undefined) throw new ToolExpansionError(definition.name, [first, ...others])
  return tool
}

/** Expands as far as it goes, and says everything that is wrong. */
export function compileTool(definition: ToolDefinition): { tool: ExpandedTool; problems: ToolProblem[] } {
  const { exec, shell } = definition
  const modes = [exec, shell, definition.command].filter((mode) => mode !== undefined)
  if (modes.length !== 1)
    return { tool: finish(definition, NOTHING, []), problems: [wrongModes(modes.length)] }
  if (exec !== undefined) return fromExec(definition, exec)
  if (shell !== undefined) return fromShell(definition, shell)
  return fromCommand(definition, definition.command ?? [])
}

const NOTHING: Compiled = { command: [], substitute: false, inferred: [], checkedWords: [] }

function wrongModes(count: number): ToolProblem {
  const rule = 'Tool must specify exactly one of: exec, shell, or command'
  const message = count === 0 ? rule : `exec:, shell:, and command: are mutually exclusive. ${rule}`
  return { code: 'ERR_TOOL_MODE', path: '', message, hint: 'Keep the one that should run.' }
}

function fromExec(definition: ToolDefinition, template: string) {
  const { compiled = NOTHING, problems, words } = compileExec(template)
  const result = fromTemplate(definition, compiled, problems, { syntax: 'exec', template })
  result.problems.push(...checkOptionalWords(words, result.tool.parameters, template, 'exec'))
  return result
}

function fromShell(definition: ToolDefinition, template: string) {
  const { compiled = NOTHING, problems } = compileShell(template)
  const result = fromTemplate(definition, compiled, problems, { syntax: 'shell', template })
  // A missing optional value is an empty text in a script; said here, the full form needs no rule for it.
  result.tool.parameters = result.tool.parameters.map((parameter) =>
    isOptional(parameter) && parameter.inject_as === 'argument' ? { ...parameter, default: '' } : parameter,
  )
  return result
}

function fromTemplate(
  definition: ToolDefinition,
  compiled: Compiled,
  found: ToolProblem[],
  origin: ToolOrigin,
) {
  const explicit = definition.parameters ?? []
  const { inferred, problems: stdinProblems } = withStdin(compiled.inferred, definition.stdin)
  if (found.length > 0) {
    return {
      tool: finish(definition, compiled, []),
      problems: [...found, ...checkParameters(explicit, inferred)],
    }
  }
  const { parameters, problems } = mergeParameters(inferred, explicit)
  const withOrigin = definition.stdin === undefined ? origin : { ...origin, stdin: definition.stdin }
  return {
    tool: finish(definition, compiled, parameters, withOrigin),
    problems: [...stdinProblems, ...problems, ...checkParameters(explicit, inferred)],
  }
}

function withStdin(inferred: readonly Inferred[], name: string | undefined) {
  if (name === undefined) return { inferred, problems: [] }
  const inTemplate = inferred.some((known) => known.name === name)
  const message = `Parameter '${name}' is declared as stdin: and stands in the template, too`
  const hint = 'A value goes to one place. Remove the placeholder, or the stdin: line.'
  const problems: ToolProblem[] = inTemplate ? [{ code: 'ERR_STDIN', path: 'stdin', message, hint }] : []
  const stdin: Inferred = { name, injectAs: 'stdin', raw: false, offset: 0, single: true }
  return { inferred: inTemplate ? inferred : [...inferred, stdin], problems }
}

function fromCommand(definition: ToolDefinition, command: readonly string[]) {
  const explicit = definition.parameters ?? []
  const problems: ToolProblem[] = []
  const written = explicit.map((entry) => parameterAsWritten(entry, definition.stdin))
  if (definition.stdin !== undefined && !written.some(({ name }) => name === definition.stdin)) {
    written.push({ name: definition.stdin, type: 'string', inject_as: 'stdin', required: true })
  }
  let parameters = written
  if (definition.substitute) {
    const substituted = substitute(command, written, definition, problems)
    parameters = substituted
  }
  const inferred = parameters.map(({ name, inject_as }) => ({
    name,
    injectAs: inject_as,
    raw: false,
    offset: 0,
    single: false,
  }))
  problems.push(...checkParameters(explicit, inferred))
  const compiled = {
    ...NOTHING,
    command: [...command],
    substitute: definition.substitute ?? false,
    checkedWords: definition.checked_words ?? [],
  }
  return {
    tool: finish(definition, compiled, parameters, definition.__meta as ToolOrigin | undefined),
    problems,
  }
}

function parameterAsWritten(entry: ParameterDefinition, stdin: string | undefined): ExpandedParameter {
  const { raw: _raw, ...metadata } = entry
  return {
    ...(metadata as Partial<ExpandedParameter>),
    name: entry.name,
    type: entry.type ?? 'string',
    inject_as: entry.inject_as ?? (entry.name === stdin ? 'stdin' : 'argument'),
    required: (entry.required ?? true) && entry.default === undefined,
  }
}

function substitute(
  command: readonly string[],
  written: readonly ExpandedParameter[],
  definition: ToolDefinition,
  problems: ToolProblem[],
): ExpandedParameter[] {
  const words = command.map((element, index): Part[] => {
    const path = `command[${index}]`
    const parsed = parseElement(element, (offset, reference) => {
      const message =
        reference?.modifier === 'raw' ? ':raw modifier is only allowed in shell: mode' : 'Not a placeholder.'
      const hint = 'Write \\${ for a literal ${.'
      problems.push(problemAt(offset, element, { code: 'ERR_PLACEHOLDER', path, message, hint }))
    })
    problems.push(...checkElement(parsed, index, element, path))
    return parsed
  })
  problems.push(...checkWords(words, command.join(' '), 'command'))
  const inferred = inferFromWords(words)
  const glued = definition.checked_words ?? []
  const placed = inferred.map((known): ExpandedParameter => {
    const entry = written.find(({ name }) => name === known.name)
    const inGluedWord = glued.some((word) => word.includes(`\${${known.name}}`))
    const allowDash =
      entry?.allow_dash ?? (inGluedWord ? undefined : entry?.enum !== undefined || known.allowDash)
    return {
      ...(entry ?? { name: known.name, type: 'string', inject_as: 'argument', required: true }),
      ...(known.position === undefined ? {} : { position: known.position }),
      ...(allowDash === undefined ? {} : { allow_dash: allowDash }),
    }
  })
  const elsewhere = written.filter(({ name }) => !inferred.some((known) => known.name === name))
  for (const { name, inject_as } of elsewhere) {
    if (inject_as !== 'argument') continue
    const message = `Parameter '${name}' not found in template`
    problems.push({
      code: 'ERR_PARAMETER_UNKNOWN',
      path: 'parameters',
      message,
      hint: `With substitute: true, write \${${name}} in command.`,
    })
  }
  return [...placed, ...elsewhere]
}

function checkElement(
  _parts: readonly Part[],
  _index: number,
  _element: string,
  _path: string,
): ToolProblem[] {
  return []
}

function finish(
  definition: ToolDefinition,
  compiled: Compiled,
  parameters: readonly ExpandedParameter[],
  origin?: ToolOrigin,
): ExpandedTool {
  const allowed = (parameter: ExpandedParameter) =>
    definition.allow_dash && parameter.inject_as === 'argument'
      ? { ...parameter, allow_dash: true }
      : parameter
  return {
    name: definition.name,
    ...(definition.description === undefined ? {} : { description: definition.description }),
    command: compiled.command,
    parameters: parameters.map(allowed),
    ...(compiled.substitute ? { substitute: true } : {}),
    ...(definition.allow_dash === undefined ? {} : { allow_dash: definition.allow_dash }),
    ...(compiled.checkedWords.length > 0 ? { checked_words: compiled.checkedWords } : {}),
    ...(origin === undefined ? {} : { __meta: origin }),
  }
}
