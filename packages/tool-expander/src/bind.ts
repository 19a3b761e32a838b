import { looksLikeOption } from './dash.js'
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
 */
export function bindArguments(tool: ExpandedTool, args: unknown, { variables }: BindOptions): BindResult {
  const call: Call = { tool, values: new Map(), variables, reasons: [] }
  readValues(call, args)
  if (call.reasons.length > 0) return { ok: false, reasons: call.reasons }

  const argv = tool.command.flatMap((element) =>
    tool.substitute
      ? bindElement(call, parseElement(element))
      : element.replace(/\$\{(AGENT_HOME|CWD)\}/g, (_, name: EngineVariable) => variables[name]),
  )
  argv.push(...appended(tool).flatMap((parameter) => bindAppended(call, parameter)))
  for (const word of tool.checked_words ?? [])
    checkWord(call, parseElement(word), (owner) => owner.allow_dash !== true)
  if (call.reasons.length > 0) return { ok: false, reasons: call.reasons }

  const stdin = call.values.get(tool.parameters.find(({ inject_as }) => inject_as === 'stdin')?.name ?? '')
  return { ok: true, argv, ...(stdin === undefined ? {} : { stdin: String(stdin) }) }
}

function readValues({ tool, values, reasons }: Call, args: unknown): void {
  const { name: toolName, parameters } = tool
  const names = parameters.map(({ name }) => `"${name}"`).join(', ') || 'no parameters'
  const refuse = (code: BindProblem['code'], parameter: string, message: string) => {
    reasons.push({ code, parameter, message })
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    reasons.push({
      code: 'ERR_ARGUMENTS',
      message: `The arguments of ${toolName} must be an object with ${names}.`,
    })
    return
  }
  for (const name of Object.keys(args)) {
    if (parameters.some((parameter) => parameter.name === name)) continue
    const shown = JSON.stringify(name.slice(0, 64))
    refuse('ERR_ARGUMENT_UNKNOWN', name, `${toolName} has no parameter ${shown}. It takes ${names}.`)
  }
  for (const parameter of parameters) {
    const { name, required } = parameter
    const given = Object.hasOwn(args, name) ? (args as Record<string, unknown>)[name] : undefined
    const value = given ?? parameter.default
    if (value === undefined || value === null) {
      const what = given === null ? 'must not be null' : 'is missing'
      if (required) refuse('ERR_ARGUMENT_MISSING', name, `"${name}" ${what}; ${toolName} requires it.`)
      continue
    }
    // An empty default stands for "absent, but keep the place", whatever the type.
    const rendered =
      given === value || value !== '' ? renderValue(parameter, value) : { ok: true as const, text: '' }
    if (rendered.ok) values.set(name, rendered.text)
    else refuse('ERR_ARGUMENT_VALUE', name, `"${name}" ${rendered.reason}.`)
  }
}

/** One element of the command, as the words it becomes: one, or none or many where it is a whole placeholder. */
function bindElement(call: Call, parts: readonly Part[]): string[] {
  const { values } = call
  const [first] = parts
  const absent = parts.some((part) => isValue(part) && !values.has(part.name))
  const isWhole = parts.length === 1 && first !== undefined && isValue(first)
  if (absent && (isWhole || isOptionWord(parts))) return []
  const value = isWhole ? values.get(first.name) : undefined
  if (!isWhole || !Array.isArray(value)) return [checkWord(call, parts, isChecked)]
  return value.map((item) => checkWord({ ...call, values: new Map([[first.name, item]]) }, parts, isChecked))
}

/** What comes behind the command, in order. */
function appended({ parameters, substitute }: ExpandedTool): ExpandedParameter[] {
  const rank = ({ position = Number.POSITIVE_INFINITY }: ExpandedParameter) => position
  return parameters
    .filter(({ inject_as }) => inject_as === 'option' || (inject_as === 'argument' && !substitute))
    .sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)))
}

function bindAppended(
  call: Call,
  { name, inject_as, option_name = `--${name}`, type }: ExpandedParameter,
): string[] {
  const words = bindElement(call, [{ name, raw: false, offset: 0 }])
  if (inject_as === 'argument') return words
  if (type === 'boolean') return words[0] === 'true' ? [option_name] : []
  return words.flatMap((word) => [option_name, word])
}

/** Finishes a word, and refuses it where a value made it look like an option. */
function checkWord(
  call: Call,
  parts: readonly Part[],
  applies: (owner: ExpandedParameter) => boolean,
): string {
  const { tool, values, variables, reasons } = call
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part
    return isEngineVariable(part.name) ? variables[part.name] : String(values.get(part.name) ?? '')
  })
  const word = texts.join('')
  const owner = looksLikeOption(word)
    ? tool.parameters.find(({ name }) => name === ownerOf(parts, texts))
    : undefined
  if (owner !== undefined && applies(owner)) {
    const shown = JSON.stringify(word.slice(0, 40))
    const message = `"${owner.name}" makes an argument that begins with "-" (${shown}), which the command could take for an option. Send a value that does not begin with "-"; put ./ before a path.`
    if (!reasons.some((reason) => reason.message === message)) {
      reasons.push({ code: 'ERR_ARGUMENT_DASH', parameter: owner.name, message })
    }
  }
  return word
}

function isChecked({ allow_dash }: ExpandedParameter): boolean {
  return allow_dash === false
}

/** Whose value the first character of a word is; undefined when the author wrote it. */
function ownerOf(parts: readonly Part[], texts: readonly string[]): string | undefined {
  // Behind empty values stands what they let come first, and the last of them is to blame.
  let owner: string | undefined
  for (const [index, part] of parts.entries()) {
    if (!isValue(part)) return owner
    owner = part.name
    if (texts[index] !== '') return owner
  }
  return owner
}

function isValue(part: Part): part is Exclude<Part, string> {
  return typeof part !== 'string' && !isEngineVariable(part.name)
}
