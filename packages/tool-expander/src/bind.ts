import { looksLikeOption } from './dash.js'
import { isParameter } from './exec.js'
import { isOptionWord } from './optional.js'
import { type EngineVariable, isEngineVariable, type Part, parseElement } from './template.js'
import type { ExpandedParameter, ExpandedTool } from './tool.js'
import { renderValue } from './values.js'

/** Why a call was refused. `message` is written for the model that made the call. */
export interface BindProblem {
  code:
    | 'ERR_ARGUMENTS'
    | 'ERR_ARGUMENT_UNKNOWN'
    | 'ERR_ARGUMENT_MISSING'
    | 'ERR_ARGUMENT_VALUE'
    | 'ERR_ARGUMENT_DASH'
  parameter?: string
  message: string
}

export type BindResult = { ok: true; argv: string[]; stdin?: string } | { ok: false; reasons: BindProblem[] }

export interface BindOptions {
  /** Absolute paths that `${AGENT_HOME}` and `${CWD}` in the tool's command stand for. */
  variables: Record<EngineVariable, string>
}

type Values = ReadonlyMap<string, string | string[]>

/**
 * A model's arguments to the exact argument vector and standard input of one call.
 *
 * Every problem of the call is in `reasons`. Values are never expanded, split or parsed:
 * each arrives byte for byte, as one argument, as part of one word, or as stdin.
 */
export function bindArguments(tool: ExpandedTool, args: unknown, { variables }: BindOptions): BindResult {
  const { values, reasons } = readValues(tool, args)
  if (reasons.length > 0) return { ok: false, reasons }

  const refused: BindProblem[] = []
  const argv = tool.substitute
    ? substituteWords(tool, values, variables, refused)
    : tool.command.map((element) => replaceVariables(element, variables))
  argv.push(...appended(tool, values, refused))
  for (const word of tool.checked_words ?? []) checkGluedWord(word, tool, values, variables, refused)
  if (refused.length > 0) return { ok: false, reasons: distinct(refused) }

  const stdin = tool.parameters.find(({ inject_as }) => inject_as === 'stdin')
  const input = stdin === undefined ? undefined : values.get(stdin.name)
  return { ok: true, argv, ...(typeof input === 'string' ? { stdin: input } : {}) }
}

function readValues(tool: ExpandedTool, args: unknown): { values: Values; reasons: BindProblem[] } {
  const values = new Map<string, string | string[]>()
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    const message = `The arguments of ${tool.name} must be an object with ${describeNames(tool)}.`
    return { values, reasons: [{ code: 'ERR_ARGUMENTS', message }] }
  }
  const reasons: BindProblem[] = Object.keys(args)
    .filter((name) => !tool.parameters.some((parameter) => parameter.name === name))
    .map((name) => ({
      code: 'ERR_ARGUMENT_UNKNOWN',
      parameter: name,
      message: `${tool.name} has no parameter "${name}". It takes ${describeNames(tool)}.`,
    }))
  for (const parameter of tool.parameters) {
    const given = Object.hasOwn(args, parameter.name)
      ? (args as Record<string, unknown>)[parameter.name]
      : undefined
    const value = given ?? parameter.default
    if (value === undefined || value === null) {
      if (parameter.required) reasons.push(missing(tool, parameter, given))
    } else if (value === '' && given === undefined) values.set(parameter.name, '')
    else {
      const rendered = renderValue(parameter, value)
      if (rendered.ok) values.set(parameter.name, rendered.text)
      else
        reasons.push({
          code: 'ERR_ARGUMENT_VALUE',
          parameter: parameter.name,
          message: `"${parameter.name}" ${rendered.reason}.`,
        })
    }
  }
  return { values, reasons }
}

function missing(tool: ExpandedTool, { name }: ExpandedParameter, given: unknown): BindProblem {
  const what = given === null ? 'must not be null' : 'is missing'
  return {
    code: 'ERR_ARGUMENT_MISSING',
    parameter: name,
    message: `"${name}" ${what}; ${tool.name} requires it.`,
  }
}

function describeNames({ parameters }: ExpandedTool): string {
  if (parameters.length === 0) return 'no parameters'
  return parameters.map(({ name }) => `"${name}"`).join(', ')
}

function substituteWords(
  tool: ExpandedTool,
  values: Values,
  variables: BindOptions['variables'],
  refused: BindProblem[],
): string[] {
  return tool.command.flatMap((element) => {
    const parts = parseElement(element, () => undefined)
    const only = parts.length === 1 ? parts[0] : undefined
    if (only !== undefined && isParameter(only)) {
      const value = values.get(only.name)
      const words = value === undefined ? [] : [value].flat()
      for (const word of words) checkWord(word, parameterNamed(tool, only.name), refused)
      return words
    }
    if (isOptionWord(parts) && parts.some((part) => isParameter(part) && !values.has(part.name))) return []
    const word = finish(parts, values, variables)
    const owner = dashOwner(parts, values)
    if (owner !== undefined) checkWord(word, parameterNamed(tool, owner), refused)
    return [word]
  })
}

function appended(
  { parameters, substitute }: ExpandedTool,
  values: Values,
  refused: BindProblem[],
): string[] {
  return parameters
    .filter(({ inject_as }) => inject_as === 'option' || (inject_as === 'argument' && !substitute))
    .map((parameter, index) => ({ parameter, rank: parameter.position ?? Number.POSITIVE_INFINITY, index }))
    .sort((a, b) => (a.rank === b.rank ? a.index - b.index : a.rank - b.rank))
    .flatMap(({ parameter }) => {
      const value = values.get(parameter.name)
      if (value === undefined) return []
      const words = [value].flat()
      for (const word of words) checkWord(word, parameter, refused)
      if (parameter.inject_as === 'argument') return words
      const option = parameter.option_name ?? `--${parameter.name}`
      if (parameter.type === 'boolean') return value === 'true' ? [option] : []
      return words.flatMap((word) => [option, word])
    })
}

function checkGluedWord(
  element: string,
  tool: ExpandedTool,
  values: Values,
  variables: BindOptions['variables'],
  refused: BindProblem[],
): void {
  const parts = parseElement(element, () => undefined)
  const owner = parameterNamed(tool, dashOwner(parts, values))
  if (owner?.allow_dash === true) return
  checkWord(finish(parts, values, variables), owner && { ...owner, allow_dash: false }, refused)
}

function checkWord(word: string, owner: ExpandedParameter | undefined, refused: BindProblem[]): void {
  if (owner?.allow_dash !== false || !looksLikeOption(word)) return
  const message = `"${owner.name}" makes an argument that begins with "-" (${JSON.stringify(word.slice(0, 40))}), which the command could take for an option. Send a value that does not begin with "-", for a path for example ./${word.slice(0, 20)}.`
  refused.push({ code: 'ERR_ARGUMENT_DASH', parameter: owner.name, message })
}

/** Whose value the first character of a word is; undefined when the author wrote it. */
function dashOwner(parts: readonly Part[], values: Values): string | undefined {
  let owner: string | undefined
  for (const part of parts) {
    if (!isParameter(part)) return owner
    owner = part.name
    if (values.get(part.name)) return owner
  }
  return owner
}

function finish(parts: readonly Part[], values: Values, variables: BindOptions['variables']): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      if (isEngineVariable(part.name)) return variables[part.name]
      return [values.get(part.name) ?? ''].flat().join(' ')
    })
    .join('')
}

function replaceVariables(element: string, variables: BindOptions['variables']): string {
  return element.replace(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: EngineVariable) => variables[name])
}

function parameterNamed(
  { parameters }: ExpandedTool,
  name: string | undefined,
): ExpandedParameter | undefined {
  return parameters.find((parameter) => parameter.name === name)
}

function distinct(problems: readonly BindProblem[]): BindProblem[] {
  return problems.filter(
    (problem, index) => problems.findIndex(({ message }) => message === problem.message) === index,
  )
}
