import { asWritten, compileCommand } from './command.js'
import { defined } from './defined.js'
import type { ParameterDefinition, ToolDefinition } from './definition.js'
import { compileExec } from './exec.js'
import type { Compiled, Inferred } from './inferred.js'
import { checkInputSchema, parametersOf } from './input-schema.js'
import { mergeParameters } from './merge.js'
import { checkOptionalWords, isOptional } from './optional.js'
import { problemOf, type ToolProblem } from './problems.js'
import { compileShell } from './shell/compile.js'
import type { ExpandedTool, ToolOrigin } from './tool.js'

/** Expands as far as it goes, and says everything that is wrong. */
export function compileTool(definition: ToolDefinition): { tool: ExpandedTool; problems: ToolProblem[] } {
  const { name, description, exec, shell, input_schema, parameters: explicit = [] } = definition
  const { stdin, allow_dash, __meta } = definition
  const isJson = readsJson(definition)
  const {
    command,
    substitute,
    inferred,
    checkedWords,
    words = [],
    problems,
  } = compileSyntax(definition, isJson)
  problems.push(...checkModes(definition), ...checkStdin(inferred, definition, isJson))
  const all = isJson ? inJson(inferred, explicit) : inferred.filter(({ name }) => name !== stdin)
  if (stdin !== undefined && !isJson) all.push({ name: stdin, inject_as: 'stdin' })
  // Behind a broken template every parameter would look unknown.
  if (problems.length > 0) all.push(...explicit.map((entry) => asWritten(entry)))
  if (input_schema !== undefined && isJson) problems.push(...checkInputSchema(input_schema, all))
  const isUsable = input_schema !== undefined && problems.length === 0
  const described = isUsable ? parametersOf(input_schema, all, explicit) : explicit
  const merged = mergeParameters(all, described, allow_dash)
  const { parameters } = merged
  problems.push(...merged.problems, ...checkOptionalWords(words, parameters))
  // A missing optional value is an empty text in a script. Said here, the full form needs no rule for it.
  if (shell !== undefined) {
    for (const parameter of parameters)
      if (parameter.inject_as === 'argument' && isOptional(parameter)) parameter.default = ''
  }
  const syntax: ToolOrigin['syntax'] = exec === undefined ? 'shell' : 'exec'
  const template = exec ?? shell
  const tool: ExpandedTool = defined({
    name,
    description,
    command,
    parameters: parameters.map(defined),
    substitute: substitute || undefined,
    stdin: isJson ? ('json' as const) : undefined,
    input_schema: input_schema as ExpandedTool['input_schema'], // checkInputSchema has looked at it
    allow_dash,
    checked_words: checkedWords?.length ? checkedWords : undefined,
    __meta: template === undefined ? __meta && defined(__meta) : defined({ syntax, template, stdin }),
  })
  return { tool, problems }
}

/** What the template alone says. */
export function compileSyntax(definition: ToolDefinition, isJson = false): Compiled {
  const { exec, shell, parameters } = definition
  const stdin = isJson ? undefined : definition.stdin
  if (exec !== undefined) return compileExec(exec, parameters, stdin)
  if (shell !== undefined) return compileShell(shell, parameters, stdin)
  return compileCommand(definition, isJson ? 'json' : 'argument')
}

/** Whether `stdin: json` means all arguments as JSON, not a parameter of that name. A tool that names no parameter at all has that one. */
function readsJson({ stdin, input_schema, parameters, exec, shell, command = [] }: ToolDefinition): boolean {
  if (stdin !== 'json' || input_schema !== undefined) return stdin === 'json'
  const template = exec ?? shell ?? command.join(' ')
  const placed = [...template.matchAll(/\$\{(?!AGENT_HOME\}|CWD\})(\w+)(?::raw)?\}/g)].map(([, name]) => name)
  const names = [...placed, ...(parameters ?? []).map(({ name }) => name)]
  return !names.includes('json') && (parameters !== undefined || names.length > 0)
}

/** Every parameter that is listed, in that order, then those that only the template names. */
function inJson(inferred: readonly Inferred[], explicit: readonly ParameterDefinition[]): Inferred[] {
  const known = new Map(inferred.map((each) => [each.name, each]))
  const names = new Set([...explicit, ...inferred].map(({ name }) => name))
  return [...names].map((name) => known.get(name) ?? { name, inject_as: 'json' })
}

function checkModes({ exec, shell, command }: ToolDefinition): ToolProblem[] {
  const count = [exec, shell, command].filter((mode) => mode !== undefined).length
  if (count === 1) return []
  const conflict = count ? 'exec:, shell:, and command: are mutually exclusive. ' : ''
  const message = `${conflict}Tool must specify exactly one of: exec, shell, or command`
  return [problemOf('ERR_TOOL_MODE', '', message)]
}

function checkStdin(
  inferred: readonly Inferred[],
  { stdin, input_schema }: ToolDefinition,
  isJson: boolean,
): ToolProblem[] {
  if (input_schema !== undefined && !isJson)
    return [problemOf('ERR_STDIN', 'input_schema', 'input_schema needs stdin: json', 'Add stdin: json.')]
  if (!isJson && inferred.some(({ inject_as }) => inject_as === 'json'))
    return [problemOf('ERR_STDIN', 'stdin', 'inject_as: json needs stdin: json', 'Add stdin: json.')]
  const others = inferred.filter(({ name, inject_as, single }) =>
    name === stdin && !isJson ? single !== undefined : inject_as === 'stdin',
  )
  if (others.length < (stdin === undefined ? 2 : 1)) return []
  return [problemOf('ERR_STDIN', 'stdin', 'Only one parameter can go to stdin, and to no other place')]
}
