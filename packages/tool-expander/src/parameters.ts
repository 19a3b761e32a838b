import { problemAt, problemOf, type ToolProblem, type ToolProblemCode } from './problems.js'
import {
  isParameter,
  isWholeParameter,
  type Part,
  type Pieces,
  shapeOf,
  type Word,
  WRITTEN_VARIABLE,
  writeElement,
  writePart,
} from './template.js'
import type { ExpandedParameter, ParameterDefinition } from './tool.js'
import {
  complaintAbout,
  faultOfPattern,
  faultsOf,
  fit,
  HAS_NUL,
  isNested,
  looksLikeOption,
  schemaOf,
  textOf,
} from './values.js'

/** What a template alone says about a parameter, in the words of the full form. */
export interface Inferred extends Pick<ExpandedParameter, 'name' | 'inject_as'> {
  position?: number | undefined
  raw?: boolean
  /** True: every place it stands in is safe from, or meant for, a leading `-`. False: it is checked. */
  allow_dash?: boolean | undefined
  /** It stands inside a word or a script, where a list has no place. */
  single?: boolean
}

/** A template compiled to the full form, before the explicit `parameters:` are laid over it. */
export interface Compiled {
  command: string[]
  substitute: boolean
  inferred: Inferred[]
  checkedWords?: string[] | undefined
  problems: ToolProblem[]
  /** The argument words; a script has none. */
  words?: Word[]
}

/** The parameters of a template, in order of first appearance, from the places they stand in. */
export function inferParameters(places: Pieces): Inferred[] {
  const parameters = new Map<string, Inferred>()
  for (const { name, raw, checked, alone } of places.filter(isParameter)) {
    const position = parameters.size
    const known = parameters.get(name) ?? { name, inject_as: 'argument', position, allow_dash: true }
    known.raw ||= !!raw
    known.single ||= !alone
    if (checked === 'value') known.allow_dash = false
    else if (checked && known.allow_dash) known.allow_dash = undefined
    parameters.set(name, known)
  }
  return [...parameters.values()]
}

/** An argument vector as `command:`, in the plain form where all values come behind it, each once. */
export function writeCommand(
  words: readonly Part[][],
  inferred: Inferred[],
): Pick<Compiled, 'command' | 'substitute' | 'inferred'> {
  const fixed = words.filter((pieces) => !pieces.some(isParameter))
  const values = words.slice(fixed.length)
  const substitute =
    !values.every(isWholeParameter) ||
    inferred.length < values.length ||
    fixed.some((pieces) => pieces.join('').search(WRITTEN_VARIABLE) >= 0)
  const command = substitute ? words.map(writeElement) : fixed.map((pieces) => pieces.map(writePart).join(''))
  return { command, substitute, inferred }
}

/** What is known of a parameter before its template is read. */
export interface KnownParameter {
  name: string
  type?: string | undefined
  enum?: readonly (string | number)[] | undefined
}

/** The names of parameters whose values are never code: whole numbers, and words of an `enum` that only have letters and digits. */
export function plainNames(parameters: readonly KnownParameter[] = []): ReadonlySet<string> {
  return new Set(parameters.filter(isPlain).map(({ name }) => name))
}

function isPlain({ type, enum: words }: KnownParameter): boolean {
  return type === 'integer' || !!words?.every((word) => /^[\w.-]+$/.test(String(word)))
}

/** Parameters that may be missing and have no value to stand in. */
export function isOptional({ required, default: value }: ExpandedParameter): boolean {
  return !required && value === undefined
}

/** A missing optional word is dropped. Refuses it where the words beside it would then mean something else. */
export function checkOptionalWords(
  words: readonly Word[],
  parameters: readonly ExpandedParameter[],
): ToolProblem[] {
  const optional = new Set(parameters.filter(isOptional).map(({ name }) => name))
  if (optional.size === 0) return []
  const last = words.findLast(({ pieces }) => pieces.some(isParameter) && !isOptionWord(pieces))
  return words.flatMap((word, index) => {
    if (!isWholeParameter(word.pieces)) return []
    const [{ name, offset }] = word.pieces
    const option = words[index - 1]?.shape ?? ''
    const takesNext = /^-(?!-$)[^=\0]+$/.test(option)
    if (!optional.has(name) || (!takesNext && word === last)) return []
    const next = last?.pieces.find(isParameter)?.name
    const fault = takesNext ? `${option} would take the next word` : `\${${next}} would move to its place`
    return [problemAt(word, offset, 'ERR_PARAMETER_OPTIONAL', `Without \${${name}}, ${fault}.`)]
  })
}

/** `--in=${a}`: an option that carries its own value. */
export function isOptionWord(pieces: Pieces): boolean {
  return /^-[^=\0]+=\0$/.test(shapeOf(pieces)) && isParameter(pieces[1])
}

/** Reports what is wrong with a key of an entry. */
type Refuse = (code: ToolProblemCode, key: string, message: string, hint?: string) => void

/**
 * Lays the explicit `parameters:` over what the template says.
 *
 * How a value is injected is the template's word alone; the explicit entry adds meaning: description, type, default.
 */
export function mergeParameters(
  inferred: readonly Inferred[],
  explicit: readonly ParameterDefinition[],
  allowDash: boolean | undefined,
): { parameters: ExpandedParameter[]; problems: ToolProblem[] } {
  const problems: ToolProblem[] = []
  const entries = byName(explicit)
  const parameters = inferred.map((known) => parameterOf(known, entries.get(known.name), allowDash))
  const wanted = byName(inferred)
  const merged = byName(parameters)
  explicit.forEach((entry, index) => {
    const { name } = entry
    const refuse: Refuse = (code, key, message, hint) => {
      problems.push(problemOf(code, `parameters[${index}].${key}`, message, hint))
    }
    const known = wanted.get(name)
    const parameter = merged.get(name)
    if (entries.get(name) !== entry)
      refuse('ERR_PARAMETER', 'name', `Parameter '${name}' is defined twice`, 'Keep one of them.')
    else if (known && parameter) checkEntry(entry, known, parameter, refuse)
    else refuse('ERR_PARAMETER_UNKNOWN', 'name', `Parameter '${name}' not found in template`)
  })
  return { parameters, problems }
}

/** The first of each name. */
function byName<Entry extends { name: string }>(entries: readonly Entry[]): Map<string, Entry> {
  return new Map(entries.toReversed().map((entry) => [entry.name, entry]))
}

function checkEntry(
  entry: ParameterDefinition,
  known: Inferred,
  parameter: ExpandedParameter,
  refuse: Refuse,
): void {
  const { name, raw, type, pattern, required, default: value } = entry
  for (const key of ['inject_as', 'position'] as const) {
    const { [key]: was } = known
    const { [key]: wanted = was } = entry
    const message = `Cannot override ${key} for parameter '${name}' (inferred: ${was}, explicit: ${wanted})`
    if (wanted !== was) refuse('ERR_PARAMETER_OVERRIDE', key, message)
  }
  const message = `:raw modifier must be specified in template syntax (\${${name}:raw})`
  if (raw !== undefined && raw !== !!known.raw) refuse('ERR_PARAMETER_OVERRIDE', 'raw', message)
  if (type === 'array' && (known.single || known.inject_as === 'stdin')) {
    const hint = 'Give it a word of its own in exec:, or inject_as: option in command:.'
    refuse('ERR_PARAMETER', 'type', `Parameter '${name}' cannot be an array here`, hint)
  }
  for (const [key, wanted] of BELONGS) {
    const isThere = entry[key] !== undefined && (key !== 'required' || Array.isArray(required))
    const message = `${key} of '${name}' belongs to type: ${wanted}`
    if (isThere && type !== wanted && !(wanted === 'number' && type === 'integer'))
      refuse('ERR_PARAMETER', key, message, `Write type: ${wanted}, or remove it.`)
  }
  const { items = true, properties = {} } = entry
  const faults = faultsOf({ items, properties })
  for (const { path, message } of faults) {
    const key = path.join('.')
    refuse('ERR_PARAMETER', key, `${key} of '${name}' ${message}`)
  }
  const fault = faultOfPattern(pattern)
  if (fault) refuse('ERR_PARAMETER', 'pattern', `The pattern of '${name}': ${fault}`)
  else if (faults.length === 0) {
    // A parameter that no template places, as in a hand-written command:, is checked only if it says so.
    const passes = (parameter.allow_dash ?? !('allow_dash' in known)) || type === 'number'
    const check = (key: string, given: unknown): void => {
      const isOption = !passes && [given].flat().some((item) => looksLikeOption(String(item)))
      const option = isOption ? 'looks like an option: say allow_dash: true' : undefined
      const complain = (place: string, reason: string | undefined) => {
        if (reason) refuse('ERR_PARAMETER', key, `The ${key} of '${place}' ${reason}`)
      }
      if (isNested(parameter)) {
        fit(schemaOf(parameter), given, name, { refuse: complain, isWhole: true })
        const hasNul =
          parameter.inject_as !== 'stdin' && [given].flat().some((item) => textOf(item).includes('\0'))
        complain(name, hasNul ? HAS_NUL : option)
      } else complain(name, complaintAbout(parameter, given) ?? option)
    }
    entry.enum?.map((word, index) => check(`enum[${index}]`, type === 'array' ? [word] : word))
    if (value !== undefined && value !== '') check('default', value)
  }
}

/** Keys that say something of values of one type only. */
const BELONGS = [
  ['items', 'array'],
  ['properties', 'object'],
  ['required', 'object'],
  ['required_properties', 'object'],
  ['minimum', 'number'],
  ['maximum', 'number'],
] as const

function parameterOf(
  known: Inferred,
  entry: Partial<ParameterDefinition> = {},
  allowDash?: boolean,
): ExpandedParameter {
  const { name, inject_as, position } = known
  const isOption = inject_as === 'option'
  const isExempt = inject_as === 'argument' && (allowDash || entry.enum !== undefined)
  // What is added has its place before the entry's keys, so that a tool which is expanded again is written as it was.
  const places: Partial<ParameterDefinition> = {
    description: undefined,
    option_name: isOption ? `--${name}` : undefined,
    required: true,
    default: undefined,
    required_properties: undefined,
    allow_dash: false,
  }
  return {
    ...{ name, type: 'string', inject_as, position },
    ...places,
    ...entry,
    raw: undefined,
    required: entry.required !== false && entry.default === undefined,
    required_properties: Array.isArray(entry.required) ? entry.required : entry.required_properties,
    allow_dash: entry.allow_dash ?? (isExempt || known.allow_dash),
  } as object as ExpandedParameter // the caller drops what is undefined
}
