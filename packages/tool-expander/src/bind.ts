import { isOptionWord } from './parameters.js'
import { MAX_PROBLEMS, problemOf, ToolExpansionError } from './problems.js'
import {
  ENGINE_VARIABLES,
  isParameter,
  isWholeParameter,
  type Part,
  parseElement,
  WRITTEN_VARIABLE,
} from './template.js'
import type {
  BindOptions,
  ExpandedParameter,
  ExpandedTool,
  JsonSchemaProperty,
  Matches,
  Variables,
} from './tool.js'
import { complaintAbout, fit, HAS_NUL, isNested, looksLikeOption, schemaOf, textOf } from './values.js'

/** Why a call was refused. `message` is written for the model that made the call. */
export interface BindProblem {
  code:
    | 'ERR_ARGUMENTS'
    | 'ERR_ARGUMENT_UNKNOWN'
    | 'ERR_ARGUMENT_MISSING'
    | 'ERR_ARGUMENT_VALUE'
    | 'ERR_ARGUMENT_DASH'
  /** Its name; absent when the call as a whole is refused. */
  parameter?: string
  /** A sentence. */
  message: string
}

/** What `bindArguments` made of a call; look at `ok` first. `stdin` is there when the tool has a parameter for it and the call a value. */
export type BindResult = { ok: true; argv: string[]; stdin?: string } | { ok: false; reasons: BindProblem[] }

/** What stands for a piece of a word: fixed text, a path, or what was sent for a parameter; nothing when it is absent. */
interface Value {
  texts: string[]
  parameter?: ExpandedParameter
}

/** One call being bound. */
interface Call {
  tool: ExpandedTool
  values: Map<string, Value>
  refuse: (code: BindProblem['code'], message: string, place?: { parameter: string }) => void
}

/**
 * A model's arguments to the exact argument vector and standard input of one call.
 *
 * Every problem of the call is in `reasons`. Values are never expanded, split or parsed:
 * each arrives byte for byte, as one argument, as part of one word, or as stdin.
 *
 * @throws {ToolExpansionError} `ERR_EXPANDER_USAGE`: a variable is not an absolute path. The call itself never throws.
 * @example
 * const tool = expandTool({ name: 'find_text', exec: 'rg -- ${pattern}' })
 * bindArguments(tool, { pattern: 'a b' }) // { ok: true, argv: ['rg', '--', 'a b'] }
 * bindArguments(tool, {}) // { ok: false, reasons: [{ code: 'ERR_ARGUMENT_MISSING', … }] }
 */
export function bindArguments(tool: ExpandedTool, args: unknown, options: BindOptions = {}): BindResult {
  const { variables = {}, matches } = options
  checkVariables(tool, variables)
  const values: Call['values'] = new Map()
  for (const [name, path = ''] of Object.entries(variables)) values.set(name, { texts: [path] })
  // By message, because one value can spoil several words.
  const reasons = new Map<string, BindProblem>()
  const call: Call = {
    tool,
    values,
    refuse: (code, message, place) => {
      if (reasons.size < MAX_PROBLEMS) reasons.set(message, { code, ...place, message })
    },
  }
  const json = readValues(call, args, matches)
  const argv = reasons.size > 0 ? [] : bindCommand(call)
  if (reasons.size > 0) return { ok: false, reasons: [...reasons.values()] }

  const stdin = tool.parameters.find(({ inject_as }) => inject_as === 'stdin')
  const [text] = tool.stdin === 'json' ? [JSON.stringify(json)] : (values.get(stdin?.name ?? '')?.texts ?? [])
  return text === undefined ? { ok: true, argv } : { ok: true, argv, stdin: text }
}

/** A missing variable would become the text "undefined" in a command. */
function checkVariables({ command }: ExpandedTool, variables: Variables): void {
  for (const name of ENGINE_VARIABLES) {
    const path = variables[name] ?? (command.join('\n').includes(`\${${name}}`) ? '' : '/')
    if (/^\/[^\0]*$/.test(path)) continue
    const message = 'Pass { variables: { AGENT_HOME, CWD, TOOL_HOME } }, all absolute.'
    throw new ToolExpansionError([problemOf('ERR_EXPANDER_USAGE', '', message)])
  }
}

/** Reads the values for the command. Gives all of them as they stand in the JSON of `stdin: json`. */
function readValues({ tool, values, refuse }: Call, args: unknown, matches?: Matches): unknown {
  const { name: toolName, parameters, input_schema: schema } = tool
  const names = () => parameters.map(({ name }) => `"${name}"`).join(', ') || 'no parameters'
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    refuse('ERR_ARGUMENTS', `The arguments of ${toolName} must be an object with ${names()}.`)
    return undefined
  }
  const fitted = (isWhole: boolean, schema: JsonSchemaProperty, value: unknown, name: string) => {
    let isRefused = false
    const refuseIn = (place: string, reason: string) => {
      isRefused = true
      refuse('ERR_ARGUMENT_VALUE', `"${place}" ${reason}.`, { parameter: name || place })
    }
    const read = fit(schema, value, name, { isWhole, matches, refuse: refuseIn })
    return isRefused ? null : read
  }
  const whole = schema && fitted(false, schema, args, '')
  const known = new Set(parameters.map(({ name }) => name))
  const given = new Map<string, unknown>(Object.entries(Object(whole ?? args)))
  for (const name of given.keys()) {
    if (schema || known.has(name)) continue
    const message = `${toolName} has no parameter ${JSON.stringify(name.slice(0, 64))}. It takes ${names()}.`
    refuse('ERR_ARGUMENT_UNKNOWN', message, { parameter: name })
  }
  const json: [name: string, value: unknown][] = []
  for (const parameter of parameters) {
    const { name, required, inject_as } = parameter
    const sent = given.get(name)
    const value = sent ?? parameter.default ?? null
    // An empty default stands for "absent, but keep the place", whatever the type.
    const isAbsent = value === null || (value === '' && sent !== value)
    const isTyped = !isAbsent && (isNested(parameter) || tool.stdin === 'json')
    const read = isTyped ? fitted(true, schemaOf(parameter), value, name) : value
    if (!isAbsent) json.push([name, read])
    const texts = value === null ? [] : [isNested(parameter) ? read : value].flat().map(textOf)
    const isInCommand = inject_as === 'argument' || inject_as === 'option'
    const complaint = isNested(parameter)
      ? isInCommand && texts.join().includes('\0') && HAS_NUL
      : inject_as !== 'json' && complaintAbout(parameter, value, matches)
    const reason = !isAbsent && complaint
    const what = sent === null ? 'must not be null' : 'is missing'
    if (value === null && required)
      refuse('ERR_ARGUMENT_MISSING', `"${name}" ${what}; ${toolName} requires it.`, { parameter: name })
    if (reason) refuse('ERR_ARGUMENT_VALUE', `"${name}" ${reason}.`, { parameter: name })
    values.set(name, { parameter, texts: reason ? [] : texts })
  }
  return whole ?? Object.fromEntries(json)
}

function bindCommand(call: Call): string[] {
  const { command, parameters, substitute, checked_words = [] } = call.tool
  const argv = command.flatMap((element) =>
    substitute
      ? bindElement(call, parseElement(element))
      : element.replace(WRITTEN_VARIABLE, (_, name: string) => String(call.values.get(name)?.texts)),
  )
  const rank = ({ position = Infinity }: ExpandedParameter) => position
  const appended = parameters
    .filter(({ inject_as }) => inject_as === 'option' || (inject_as === 'argument' && !substitute))
    .sort((a, b) => rank(a) - rank(b) || 0) // of two that say nothing, neither comes first
  argv.push(...appended.flatMap((parameter) => bindAppended(call, parameter)))
  for (const word of checked_words) finishWord(call, parseElement(word), undefined, true)
  return argv
}

function bindAppended(
  call: Call,
  { name, inject_as, option_name = `--${name}`, type }: ExpandedParameter,
): string[] {
  const words = bindElement(call, [{ name, offset: 0 }])
  if (inject_as === 'argument') return words
  if (type === 'boolean') return words[0] === 'true' ? [option_name] : []
  return words.flatMap((word) => [option_name, word])
}

/** One element of the command, as the words it becomes: one, or none or many where it is a whole placeholder. */
function bindElement(call: Call, parts: readonly Part[]): string[] {
  const { texts = [] } = call.values.get(parts.find(isParameter)?.name ?? '') ?? {}
  const isDropped = texts.length === 0 && isOptionWord(parts)
  if (!isDropped && !isWholeParameter(parts)) return [finishWord(call, parts)]
  return texts.map((text) => finishWord(call, parts, text))
}

/**
 * Joins a word, and refuses it where a value made it look like an option.
 *
 * @param item - The one text of a list that a whole placeholder stands for.
 * @param isListed - It is one of `checked_words`, so parameters are checked that do not say otherwise.
 */
function finishWord(
  { values, refuse }: Call,
  parts: readonly Part[],
  item?: string,
  isListed = false,
): string {
  let word = ''
  let leading: ExpandedParameter | undefined
  for (const part of parts) {
    const { texts, parameter } = typeof part === 'string' ? { texts: part } : (values.get(part.name) ?? {})
    // Behind empty values stands what they let come first, and the last of them is to blame.
    if (!word) leading = parameter ?? leading
    word += item ?? String(texts ?? '')
  }
  if (!leading || !looksLikeOption(word)) return word
  const { name, type, allow_dash = !isListed } = leading
  if (!allow_dash && !(type === 'number' && parts.length === 1)) {
    const shown = JSON.stringify(word.slice(0, 40))
    const message = `"${name}" makes ${shown}, which looks like an option. Send a value that does not begin with "-"; put ./ before a path. If this value is right, the tool's author must set allow_dash or stdin: json.`
    refuse('ERR_ARGUMENT_DASH', message, { parameter: name })
  }
  return word
}
