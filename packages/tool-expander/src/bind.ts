import { checkExpanded, checkOptions } from './check-expanded.js'
import { looksLikeOption } from './dash.js'
import { isOptionWord } from './optional.js'
import {
  type EngineVariable,
  isEngineVariable,
  isParameter,
  isWholeParameter,
  type Part,
  parseElement,
} from './template.js'
import type { ExpandedParameter, ExpandedTool } from './tool.js'
import { complaintAbout } from './values.js'

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

/** One call being bound: what each parameter holds, as text, and what is wrong so far. */
interface Call {
  tool: ExpandedTool
  values: Map<string, string | string[]>
  variables: BindOptions['variables']
  reasons: BindProblem[]
}

/**
 * A model's arguments to the exact argument vector and standard input of one call.
 *
 * Every problem of the call is in `reasons`. Values are never expanded, split or parsed:
 * each arrives byte for byte, as one argument, as part of one word, or as stdin.
 *
 * @throws {ToolExpansionError} `ERR_USAGE`: the tool is not expanded, or a variable is missing. The call itself never throws.
 */
export function bindArguments(tool: ExpandedTool, args: unknown, options: BindOptions): BindResult {
  checkExpanded(tool)
  const { variables } = checkOptions(options)
  const reasons: BindProblem[] = []
  const values = readValues(tool, args, reasons)
  if (reasons.length > 0) return { ok: false, reasons }

  const call: Call = { tool, values, variables, reasons }
  const argv = tool.command.flatMap((element) =>
    tool.substitute
      ? bindElement(call, parseElement(element))
      : element.replace(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: EngineVariable) => variables[name]),
  )
  argv.push(...appended(tool).flatMap((parameter) => bindAppended(call, parameter)))
  for (const word of tool.checked_words ?? []) finishWord(call, parseElement(word), true)
  if (reasons.length > 0) return { ok: false, reasons }

  const stdin = values.get(tool.parameters.find(({ inject_as }) => inject_as === 'stdin')?.name ?? '')
  return { ok: true, argv, ...(stdin === undefined ? {} : { stdin: String(stdin) }) }
}

function readValues(tool: ExpandedTool, args: unknown, reasons: BindProblem[]): Call['values'] {
  const { name: toolName, parameters } = tool
  const values: Call['values'] = new Map()
  const names = () => parameters.map(({ name }) => `"${name}"`).join(', ') || 'no parameters'
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    const message = `The arguments of ${toolName} must be an object with ${names()}.`
    reasons.push({ code: 'ERR_ARGUMENTS', message })
    return values
  }
  const refuse = (code: BindProblem['code'], parameter: string, message: string) => {
    reasons.push({ code, parameter, message })
  }
  for (const name of Object.keys(args)) {
    if (parameters.some((parameter) => parameter.name === name)) continue
    const shown = JSON.stringify(name.slice(0, 64))
    refuse('ERR_ARGUMENT_UNKNOWN', name, `${toolName} has no parameter ${shown}. It takes ${names()}.`)
  }
  for (const parameter of parameters) {
    const { name, required } = parameter
    const given = Object.hasOwn(args, name) ? (args as Record<string, unknown>)[name] : undefined
    const value = given ?? parameter.default ?? null
    if (value === null) {
      const what = given === null ? 'must not be null' : 'is missing'
      if (required) refuse('ERR_ARGUMENT_MISSING', name, `"${name}" ${what}; ${toolName} requires it.`)
      continue
    }
    // An empty default stands for "absent, but keep the place", whatever the type.
    const reason = value === '' && given !== value ? undefined : complaintAbout(parameter, value)
    if (reason) refuse('ERR_ARGUMENT_VALUE', name, `"${name}" ${reason}.`)
    else values.set(name, Array.isArray(value) ? value.map(String) : String(value))
  }
  return values
}

/** One element of the command, as the words it becomes: one, or none or many where it is a whole placeholder. */
function bindElement(call: Call, parts: readonly Part[]): string[] {
  const isWhole = isWholeParameter(parts)
  if (isWhole || isOptionWord(parts)) {
    const value = call.values.get(parts.find(isParameter)?.name ?? '')
    if (value === undefined) return []
    if (isWhole && Array.isArray(value)) {
      const [{ name }] = parts
      return value.map((item) => finishWord({ ...call, values: new Map([[name, item]]) }, parts))
    }
  }
  return [finishWord(call, parts)]
}

/** What comes behind the command, in order. */
function appended({ parameters, substitute }: ExpandedTool): ExpandedParameter[] {
  const rank = ({ position = Number.MAX_VALUE }: ExpandedParameter) => position
  return parameters
    .filter(({ inject_as }) => inject_as === 'option' || (inject_as === 'argument' && !substitute))
    .sort((a, b) => rank(a) - rank(b))
}

function bindAppended(call: Call, parameter: ExpandedParameter): string[] {
  const { name, inject_as, option_name = `--${name}`, type } = parameter
  const words = bindElement(call, [{ name, offset: 0 }])
  if (inject_as === 'argument') return words
  if (type === 'boolean') return words[0] === 'true' ? [option_name] : []
  return words.flatMap((word) => [option_name, word])
}

/**
 * Joins a word, and refuses it where a value made it look like an option.
 *
 * @param isListed - It is one of `checked_words`, so parameters are checked that do not say otherwise.
 */
function finishWord(
  { tool, values, variables, reasons }: Call,
  parts: readonly Part[],
  isListed = false,
): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part
    return isEngineVariable(part.name) ? variables[part.name] : String(values.get(part.name) ?? '')
  })
  const word = texts.join('')
  if (!looksLikeOption(word)) return word
  // Behind empty values stands what they let come first, and the last of them is to blame.
  const first = parts.findIndex((part, index) => !isParameter(part) || texts[index] !== '')
  const name = [parts[first], parts[first - 1]].find(isParameter)?.name
  const owner = tool.parameters.find((parameter) => parameter.name === name)
  const passes = owner?.allow_dash ?? !(owner && isListed)
  const isNumber = owner?.type === 'number' && parts.length === 1
  if (name && !passes && !isNumber) {
    const shown = JSON.stringify(word.slice(0, 40))
    const message = `"${name}" makes an argument that begins with "-" (${shown}), which the command could take for an option. Send a value that does not begin with "-"; put ./ before a path.`
    if (!reasons.some((reason) => reason.message === message))
      reasons.push({ code: 'ERR_ARGUMENT_DASH', parameter: name, message })
  }
  return word
}
