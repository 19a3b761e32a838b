import { asWritten, compileCommand, compileExec } from './exec.js'
import {
  type Compiled,
  checkOptionalWords,
  type Inferred,
  isOptional,
  mergeParameters,
} from './parameters.js'
import { MAX_PROBLEMS, problemOf, ToolExpansionError, type ToolProblem } from './problems.js'
import { parseShape } from './schema.js'
import { compileShell } from './shell/commands.js'
import type {
  ExpandedTool,
  JsonSchemaProperty,
  ParameterDefinition,
  ParameterType,
  ToolDefinition,
  ToolOrigin,
} from './tool.js'
import { defined, faultsOf } from './values.js'

/** A tool that was accepted. */
export interface ParsedTool {
  ok: true
  /** As its author wrote it, without empty keys. */
  tool: ToolDefinition
  /** Its full form. */
  expanded: ExpandedTool
  /** The keys this package does not know, as they were written. */
  rest: Record<string, unknown>
}

/** What `safeParseTool` makes of a tool, or everything that is wrong with it; look at `ok` first. */
export type ParseResult = ParsedTool | { ok: false; problems: ToolProblem[] }

/**
 * The full form of a tool: an argument vector, and for each parameter where its value goes.
 *
 * @throws {ToolExpansionError} Its `problems` hold everything that is wrong with the definition.
 * @example
 * const tool = expandTool({ name: 'list', exec: 'ls -- ${directory}' })
 * tool.command // ['ls', '--']
 */
export function expandTool(definition: ToolDefinition): ExpandedTool {
  return parsedOrThrown(definition).expanded
}

/**
 * Accepts one tool as read from YAML or JSON.
 *
 * @throws {ToolExpansionError} Its `problems` hold everything that is wrong with the tool.
 * @example
 * const definition = parseTool(JSON.parse(text))
 */
export function parseTool(input: unknown): ToolDefinition {
  return parsedOrThrown(input).tool
}

/**
 * The same as `parseTool`, as a value: never throws, whatever the input is.
 *
 * @example
 * const parsed = safeParseTool({ name: 'list', exec: 'ls ${directory}' })
 * if (parsed.ok) use(parsed.expanded)
 * else for (const problem of parsed.problems) console.error(formatProblem(problem))
 */
export function safeParseTool(input: unknown): ParseResult {
  try {
    const shape = parseShape(input)
    if (!shape.ok) return { ok: false, problems: [...shape.problems, ...templateProblems(input)] }
    const { expanded, problems } = compileTool(shape.tool)
    if (problems.length > 0) return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) }
    return { ...shape, expanded }
  } catch (error) {
    // The stack is the limit, and nothing a person writes comes near it. Or a getter of the input throws.
    const message = `This tool cannot be read: ${(error as Error)?.message}`
    return { ok: false, problems: [problemOf('ERR_TOOL_SHAPE', '', message)] }
  }
}

function parsedOrThrown(input: unknown): ParsedTool {
  const parsed = safeParseTool(input)
  if (parsed.ok) return parsed
  const { name } = Object(input) as { name?: unknown }
  throw new ToolExpansionError(parsed.problems, typeof name === 'string' ? `tool "${name}"` : undefined)
}

/** Problems of the template of a tool whose shape is wrong: its author sees all problems at once. */
function templateProblems(input: unknown): ToolProblem[] {
  const { exec, shell } = (input ?? {}) as ToolDefinition
  return typeof (exec ?? shell) === 'string'
    ? compileSyntax({ name: '', exec: exec ?? undefined, shell }, false).problems
    : []
}

/** Expands as far as it goes, and says everything that is wrong. */
function compileTool(definition: ToolDefinition): { expanded: ExpandedTool; problems: ToolProblem[] } {
  const { name, description, exec, shell, input_schema, parameters: explicit = [] } = definition
  const { stdin, allow_dash, __meta } = definition
  const { isJson, compiled } = compileInput(definition)
  const { command, substitute, inferred, checkedWords, words = [], problems } = compiled
  problems.push(...checkModes(definition), ...checkStdin(inferred, definition, isJson))
  const all = isJson ? inJson(inferred, explicit) : inferred.filter(({ name }) => name !== stdin)
  if (stdin !== undefined && !isJson) all.push({ name: stdin, inject_as: 'stdin' })
  // Behind a broken template every parameter would look unknown.
  if (problems.length > 0) all.push(...explicit.map((entry) => asWritten(entry)))
  if (input_schema !== undefined && isJson) problems.push(...checkInputSchema(input_schema, all))
  const isUsable = input_schema !== undefined && problems.length === 0
  const described = isUsable ? parametersOf(input_schema, all, explicit) : explicit
  const { parameters, problems: misfits } = mergeParameters(all, described, allow_dash)
  problems.push(...misfits, ...checkOptionalWords(words, parameters))
  // A missing optional value is an empty text in a script. Said here, the full form needs no rule for it.
  if (shell !== undefined) {
    for (const parameter of parameters)
      if (parameter.inject_as === 'argument' && isOptional(parameter)) parameter.default = ''
  }
  const syntax: ToolOrigin['syntax'] = exec === undefined ? 'shell' : 'exec'
  const template = exec ?? shell
  const expanded: ExpandedTool = defined({
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
  return { expanded, problems }
}

/**
 * What the template alone says, and whether `stdin: json` means all arguments as JSON. Where the tool has a parameter of that
 * name, or no other one, it means that parameter.
 */
function compileInput(definition: ToolDefinition): { compiled: Compiled; isJson: boolean } {
  const { stdin, input_schema, parameters } = definition
  if (stdin === 'json') {
    const compiled = compileSyntax(definition, true)
    const names = [...compiled.inferred, ...(parameters ?? [])].map(({ name }) => name)
    const isName = names.includes('json') || (names.length === 0 && parameters === undefined)
    if (input_schema !== undefined || !isName) return { compiled, isJson: true }
  }
  return { compiled: compileSyntax(definition, false), isJson: false }
}

function compileSyntax(definition: ToolDefinition, isJson: boolean): Compiled {
  const { exec, shell, parameters } = definition
  const stdin = isJson ? undefined : definition.stdin
  if (exec !== undefined) return compileExec(exec, parameters, stdin)
  if (shell !== undefined) return compileShell(shell, parameters, stdin)
  return compileCommand(definition, isJson ? 'json' : 'argument')
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

type Schema = Readonly<Record<string, unknown>>

/** What is wrong with an `input_schema`, seen beside the parameters of its tool. */
function checkInputSchema(schema: Schema, parameters: readonly Inferred[]): ToolProblem[] {
  const faults = faultsOf(schema)
  if (schema.type !== 'object') faults.push({ path: ['type'], message: 'must be object' })
  const problems = faults.map(({ path, message }) => {
    const key = ['input_schema', ...path].join('.')
    return problemOf('ERR_TOOL_SHAPE', key, `${key} ${message}`)
  })
  if (faults.length > 0) return problems
  for (const { name, inject_as } of parameters) {
    if (inject_as === 'json') {
      const message = 'input_schema stands instead of parameters'
      problems.push(problemOf('ERR_PARAMETER', 'parameters', message, `Put ${name} into input_schema.`))
    } else if (propertyOf(schema, name) === undefined) {
      const message = `\${${name}} is not among the properties of input_schema`
      problems.push(problemOf('ERR_PARAMETER', 'input_schema.properties', message, 'Add it there.'))
    }
  }
  return problems
}

/** What a schema says of the parameters that stand in the command, too. `explicit` says more. */
function parametersOf(
  schema: Schema,
  placed: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
): ParameterDefinition[] {
  const required = schema.required as string[] | undefined
  return placed.map(({ name }) => {
    const { type, items = {}, enum: allowed } = propertyOf(schema, name) ?? {}
    const isPlain = allowed?.every((each) => /string|number/.test(typeof each))
    return {
      name,
      type: /^(?:integer|number|boolean|array|object)$/.test(String(type))
        ? (type as ParameterType)
        : 'string',
      required: required?.includes(name) === true,
      ...(type === 'array' && { items }),
      ...(isPlain && { enum: allowed as string[] }),
      ...explicit.find((entry) => entry.name === name),
    }
  })
}

function propertyOf(schema: Schema, name: string): JsonSchemaProperty | undefined {
  const { properties } = schema as JsonSchemaProperty
  return properties && Object.hasOwn(properties, name) ? Object(properties[name]) : undefined
}
