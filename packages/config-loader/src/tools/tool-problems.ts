import { nearestNames } from '@delta/executor'
import { parseTool, type ToolProblem } from '@delta/tool-expander'
import type { Findings } from '../findings.js'
import { formatPath, parsePath, type ValuePath } from '../path.js'
import { sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { hintByNames } from './tool-hints.js'
import { mistypedMode } from './tool-keys.js'

/** Reports what is wrong with a tool that the expander refused. */
export function reportToolProblems(
  problems: readonly ToolProblem[],
  item: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  for (const problem of [...problems, ...hiddenProblems(problems, item)]) {
    const mistyped = problem.code === 'ERR_TOOL_MODE' ? mistypedMode(item) : undefined
    if (mistyped) {
      const { key, meant } = mistyped
      const message = `${nameOf(item, path)}: unknown key "${key}". ${sentence([], problem.message)}`
      findings.error(file.locate([...path, key], { key: true }), message, `Did you mean "${meant}"?`)
      continue
    }
    const { line, column } = problem
    const place = { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) }
    const inTool = parsePath(problem.path)
    // the expander knows the column in the template; the file knows where the template is
    const where = file.locate([...path, ...inTool], place)
    const lineOf = (key: string) => file.locate([...path, key]).line
    const hint = hintByNames(problem, item, lineOf) ?? problem.hint ?? shapeHint(inTool, item)
    findings.error(where, `${nameOf(item, path)}: ${sentence([], problem.message)}`, hint)
  }
}

/** What is wrong besides with a tool of which single values have the wrong form: with these values left out. */
function hiddenProblems(problems: readonly ToolProblem[], item: unknown): ToolProblem[] {
  const shape = problems.filter(({ code }) => code === 'ERR_TOOL_SHAPE' || code === 'ERR_TOOL_NAME')
  const paths = shape.map(({ path }) => parsePath(path).slice(0, 3))
  if (paths.length === 0 || !paths.every(isLeftOut)) return []
  const rest = paths.reduce<unknown>(without, item) as object
  const parsed = parseTool({ ...rest, name: 'unnamed' })
  if (parsed.ok) return []
  const isTold = ({ path, message }: ToolProblem) =>
    problems.some((told) => told.path === path && told.message === message)
  const untyped = shape.flatMap(({ path }) =>
    path.endsWith('.type') ? path.replace(/type$/, 'default') : [],
  )
  return parsed.problems.filter((problem) => !isTold(problem) && !untyped.includes(problem.path))
}

/** Everything else hangs on how the command is written, and on the names of its parameters. */
function isLeftOut([key, index, inner]: ValuePath): boolean {
  const isOfParameter = index !== undefined && inner !== undefined
  return ['name', 'description', 'allow_dash'].includes(String(key)) || (isOfParameter && inner !== 'name')
}

function without(value: unknown, [step, ...rest]: ValuePath): unknown {
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? without(item, rest) : item))
  const { [step as string]: inner, ...others } = value as Record<string, unknown>
  return rest.length === 0 ? others : { ...others, [step as string]: without(inner, rest) }
}

function shapeHint(inTool: ValuePath, item: unknown): string | undefined {
  return typeHint(inTool, item) ?? commandHint(inTool, item) ?? textHint(inTool, item)
}

const TYPES = ['string', 'integer', 'number', 'boolean', 'array']

/** What other languages call them. */
const OTHER_TYPES: Record<string, string> = {
  int: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  str: 'string',
  text: 'string',
  path: 'string',
  file: 'string',
  bool: 'boolean',
  flag: 'boolean',
  list: 'array',
}

function typeHint([key, index, inner]: ValuePath, item: unknown): string | undefined {
  if (key !== 'parameters' || inner !== 'type') return undefined
  const { parameters } = item as { parameters: { type: unknown }[] }
  const written = String(parameters[Number(index)]?.type).toLowerCase()
  const [meant] = Object.hasOwn(OTHER_TYPES, written) ? [OTHER_TYPES[written]] : nearestNames(written, TYPES)
  return meant === undefined ? undefined : `Did you mean "${meant}"?`
}

/** A command in one text is what `exec:` and `shell:` are for. */
function commandHint(inTool: ValuePath, item: unknown): string | undefined {
  const { command } = Object(item) as { command?: unknown }
  if (formatPath(inTool) !== 'command' || typeof command !== 'string') return undefined
  const mode = FOR_A_SHELL.test(command.replace(/\$\{\w+\}/g, '')) ? 'shell' : 'exec'
  return `As one text it is written ${mode}: ${command}`
}

/** Other frameworks write commands as lists; and `true` is a program to a person, a truth value to YAML. */
function textHint([key, inner]: ValuePath, item: unknown): string | undefined {
  if ((key !== 'exec' && key !== 'shell') || inner !== undefined) return undefined
  const written: unknown = Object(item)[key]
  if (typeof written === 'string') return undefined
  if (typeof written === 'boolean' || typeof written === 'number') return `Quote it: ${key}: "${written}"`
  const isOfPlainWords =
    Array.isArray(written) && written.every((word) => typeof word === 'string' && PLAIN_WORD.test(word))
  return isOfPlainWords
    ? `As one text it is written ${key}: ${written.join(' ')}`
    : 'Write the whole command as one text. A list of words is what command: takes.'
}

const PLAIN_WORD = /^(?:[\w./:=@%+,-]|\$\{\w+\})+$/

const FOR_A_SHELL = /[|&;<>$`*?\n]/

/** `tools[2] "count_lines"`: the index for the machine's sake, the name for the person's. */
function nameOf(item: unknown, path: ValuePath): string {
  const name = writtenName(item)
  return name === undefined ? formatPath(path) : `${formatPath(path)} "${name}"`
}

export function writtenName(item: unknown): string | undefined {
  const name = (item as { name?: unknown } | null)?.name
  return typeof name === 'string' ? name : undefined
}
