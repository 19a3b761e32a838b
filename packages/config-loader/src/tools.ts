import type { Tool, ToolSettings } from '@delta/executor'
import {
  findDisplayProblems,
  formatPath,
  safeParseToolSettings,
  type ValuePath,
  valueAt,
} from '@delta/executor/internal'
import { safeParseTool, type ToolProblem } from '@delta/tool-expander'
import { collectFindings, type Findings, isSet } from './problems.js'
import { inside, report, reportUnreplaced, type Spot, sentence } from './report.js'
import { reportNoElement, type SetValue, setIn, setsBelow } from './set.js'
import { isMap, parsePath, type YamlFile } from './yaml.js'

/** A tool, and where it is defined. */
export interface LoadedTool {
  tool: Tool
  /** How it runs, as the author wrote it. */
  rest: Record<string, unknown>
  file: YamlFile
  path: ValuePath
  /** The import says something about its effects, so not all of them are from the file. */
  hasImportedEffects?: boolean
}

/** Tools by name. A later definition replaces an earlier one in its place. */
export type ToolSet = ReadonlyMap<string, LoadedTool>

/** Reads a list of tools. Tools that cannot be used are reported and left out. */
export function readTools(items: readonly unknown[], spot: Spot): LoadedTool[] {
  const tools = items.flatMap((item, index) => readTool(item, inside(spot, index)) ?? [])
  reportRepeatedNames(items, spot)
  return tools
}

/** Reports what is wrong with a tool. Undefined: it cannot be used. */
function readTool(item: unknown, spot: Spot): LoadedTool | undefined {
  const parsed = safeParseTool(item)
  const keys = isMap(item) ? item : {}
  if (!parsed.ok) for (const problem of parsed.problems) reportProblem(problem, item, spot)
  const settings = readSettings(keys, spot)
  if (!parsed.ok || settings === undefined) return undefined
  const { expanded } = parsed
  if (!expanded.substitute && expanded.__meta === undefined)
    reportUnreplaced(expanded.command, inside(spot, 'command'), adviceFor)
  const { display } = settings
  if (display !== undefined) report(findDisplayProblems(display, expanded), spot)
  return { tool: { expanded, settings }, rest: parsed.rest, file: spot.file, path: spot.path }
}

function readSettings(definition: Record<string, unknown>, spot: Spot): ToolSettings | undefined {
  const parsed = safeParseToolSettings(definition)
  const command = 'Did you mean "command"?' // by its letters `cmd` would be `cwd`
  report(
    parsed.warnings.map((warning) => (warning.path === 'cmd' ? { ...warning, hint: command } : warning)),
    spot,
  )
  if (parsed.ok) return parsed.settings
  report(parsed.problems, spot)
  return undefined
}

/** The expander knows the column in the template; the file knows where the template is. */
function reportProblem({ path, message, hint, line, column }: ToolProblem, item: unknown, spot: Spot): void {
  const where = spot.file.locate([...spot.path, ...parsePath(path)], { line, column })
  const name = writtenName(item)
  const tool = name === undefined ? formatPath(spot.path) : `${formatPath(spot.path)} "${name}"`
  const way = hint ?? howToWrite(path, valueAt(item, parsePath(path)))
  spot.findings.error(where, `${tool}: ${sentence([], message)}`, way)
}

/** What to write for a list in the place of a string, or a mapping or names in that of a list of parameters. */
function howToWrite(path: string, input: unknown): string | undefined {
  if (path === 'exec' && Array.isArray(input) && input.every((word) => typeof word === 'string')) {
    const text = input.map((word) => (/[\s"]/.test(word) ? `'${word}'` : word)).join(' ')
    return `Write exec: ${JSON.stringify(text)}`
  }
  if (path === 'parameters' && typeof input === 'object') {
    const entries = Object.keys(input ?? {}).map((name) => `{ name: ${name}, … }`)
    return `Write parameters: [${entries.join(', ')}]`
  }
  return /^parameters\[\d+\]$/.test(path) && typeof input === 'string'
    ? `Write { name: ${input} }`
    : undefined
}

function writtenName(item: unknown): string | undefined {
  return isMap(item) && typeof item.name === 'string' ? item.name : undefined
}

function reportRepeatedNames(items: readonly unknown[], spot: Spot): void {
  const names = items.map(writtenName)
  for (const [index, name] of names.entries()) {
    const earlier = names.lastIndexOf(name, index - 1)
    if (name === undefined || index === 0 || earlier === -1) continue
    const { line } = spot.file.locate([...spot.path, earlier, 'name'])
    const { file, path } = inside(spot, index)
    const where = line === undefined ? `as ${formatPath([...spot.path, earlier])}` : `on line ${line}`
    const message = sentence(path, `the tool "${name}" is already defined ${where}`)
    spot.findings.error(file.locate([...path, 'name']), message, 'Rename one of the two.')
  }
}

function adviceFor(name: string): string {
  return `For the value of "${name}" add substitute: true to the tool; the text itself is then \\\${${name}}.`
}

/**
 * The tools with what was set in them. A tool with a set value is read again from its definition.
 *
 * @param sets - Their paths begin with the name of a tool.
 * @param hasAll - False if tools are missing because something is wrong with them: then no name is reported as unknown.
 */
export function setTools(
  tools: ToolSet,
  sets: readonly SetValue[],
  { hasAll }: { hasAll: boolean },
  findings: Findings,
): ToolSet {
  const names = [...tools.keys()]
  for (const { path, place } of sets) {
    const [name = ''] = path
    if (hasAll && !tools.has(name)) reportNoElement(name, names, { list: 'tools', place }, findings)
  }
  return byName([...tools].flatMap(([name, loaded]) => setTool(loaded, setsBelow(sets, name), findings)))
}

function setTool(loaded: LoadedTool, sets: readonly SetValue[], findings: Findings): LoadedTool[] {
  const [first] = sets
  if (first === undefined) return [loaded]
  const { path } = loaded
  const set = setIn(definitionOf(loaded, sets), loaded.file, path, sets, findings)
  if (set.value === undefined) return [] // tools.bash= takes it away
  const found = collectFindings()
  const remade = readTool(set.value, { file: set.file, path, findings: found })
  const place = (sets.at(-1) ?? first).place
  for (const { message, hint, ...at } of found.problems) findings.error(isSet(at) ? at : place, message, hint)
  findings.warnings.push(...found.warnings.filter(isSet)) // those of the file itself are known
  return remade === undefined ? [] : [remade]
}

/**
 * A tool as its author wrote it, or in full form if it comes from an ATIP file. If parameters are set, those that only the
 * template names become elements of the list.
 */
function definitionOf(loaded: LoadedTool, sets: readonly SetValue[]): unknown {
  const { file, path, tool } = loaded
  const written = valueAt(file.value, path)
  const item = isMap(written) && written.name === tool.expanded.name ? written : expandedFormOf(loaded)
  const parameters = Array.isArray(item.parameters) ? item.parameters : []
  if (!sets.some(({ path: [key, name] }) => key === 'parameters' && name !== undefined)) return item
  const added = tool.expanded.parameters.flatMap(({ name }) =>
    parameters.some((each: unknown) => isMap(each) && each.name === name) ? [] : [{ name }],
  )
  return { ...item, parameters: [...parameters, ...added] }
}

export function byName(tools: readonly LoadedTool[]): ToolSet {
  return new Map(tools.map((loaded) => [loaded.tool.expanded.name, loaded]))
}

/** The tools without the places of their definitions. */
export function toolsAlone(tools: ToolSet): ReadonlyMap<string, Tool> {
  return new Map([...tools].map(([name, { tool }]) => [name, tool]))
}

/** As `delta tool expand` prints it: the full syntax, and how it runs as the author wrote it. */
export function expandedFormOf({ tool, rest }: LoadedTool): Record<string, unknown> {
  return { ...tool.expanded, ...rest }
}

/** Where a value stands: `file:line`. */
export function fileAndLine(file: YamlFile, path: ValuePath): string {
  const { file: name, line } = file.locate(path, { key: true })
  return line === undefined ? name : `${name}:${line}`
}
