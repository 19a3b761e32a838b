import { parseTool, type ToolProblem } from '@delta/tool-expander'
import type { Findings } from '../findings.js'
import { formatPath, parsePath, type ValuePath } from '../path.js'
import { sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { shapeHint } from './shape-hint.js'
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

/** `tools[2] "count_lines"`: the index for the machine's sake, the name for the person's. */
function nameOf(item: unknown, path: ValuePath): string {
  const name = writtenName(item)
  return name === undefined ? formatPath(path) : `${formatPath(path)} "${name}"`
}

export function writtenName(item: unknown): string | undefined {
  const name = (item as { name?: unknown } | null)?.name
  return typeof name === 'string' ? name : undefined
}
