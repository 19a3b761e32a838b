import { dirname, isAbsolute, join, relative } from 'node:path'
import { type Problem, safeDefineTool, type Tool } from '@delta/executor'
import { isInside } from '@delta/executor/internal'
import { formatPath, type ValuePath, valueAt } from '@delta/settings'
import type { ToolProblem } from '@delta/tool-expander'
import { withToolHome } from '@delta/tool-expander/internal'
import { collectFindings, type Findings, isSet } from './problems.js'
import { inside, report, type Spot, sentence, strictly } from './report.js'
import { reportNoElement, type SetValue, setIn, setsBelow } from './set.js'
import { addTo, isMap, parsePath, parseYaml, type YamlFile } from './yaml.js'

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
  const keys = isMap(item) ? item : {}
  const parsed = safeDefineTool(item)
  const unknown = parsed.warnings.map(pointElsewhere)
  const isCause = ({ nearest = '' }: Problem) => MODES.includes(nearest)
  const misspelt = MODES.some((mode) => keys[mode] !== undefined) ? [] : unknown.filter(isCause)
  const others = unknown.filter((problem) => !misspelt.includes(problem))
  report(misspelt, strictly(spot))
  report(others, spot)
  if (parsed.ok) return { tool: parsed.tool, rest: parsed.rest, file: spot.file, path: spot.path }
  for (const problem of blameStdin(parsed.problems, keys))
    if (!('code' in problem)) report([problem], spot)
    else if (problem.code !== 'ERR_TOOL_MODE' || misspelt.length === 0) reportProblem(problem, item, spot)
  return undefined
}

/** Where all of its parameters stand nowhere, a `stdin:` that names none of them is the reason: `stdin: jsn`. */
function blameStdin(
  problems: readonly (Problem | ToolProblem)[],
  { stdin, parameters }: Record<string, unknown>,
): readonly (Problem | ToolProblem)[] {
  const others = problems.filter((each) => !('code' in each) || each.code !== 'ERR_PARAMETER_UNKNOWN')
  const unknown = problems.length - others.length
  if (typeof stdin !== 'string' || stdin === 'json' || !Array.isArray(parameters)) return problems
  if (unknown === 0 || unknown < parameters.length) return problems
  const message = `stdin: ${stdin} is none of the parameters: ${parameters.map(writtenName).join(', ')}`
  const hint = 'Write stdin: json for all of them as one JSON object, or the name of one.'
  return [{ code: 'ERR_STDIN', path: 'stdin', message, hint }, ...others]
}

const MODES: readonly string[] = ['exec', 'shell', 'command']

/** Unknown keys of which the hint names the place, or another key than the letters do: by them `cmd` would be `cwd`. */
function pointElsewhere(problem: Problem): Problem & { misplacedKey?: true } {
  if (problem.path === 'cmd') return { ...problem, nearest: 'command', hint: 'Did you mean "command"?' }
  if (problem.path !== 'policy') return problem
  const { unknownKey: _, ...rest } = problem
  return {
    ...rest,
    message: 'a policy below a tool decides nothing',
    hint: POLICY_ELSEWHERE,
    misplacedKey: true,
  }
}

const POLICY_ELSEWHERE =
  'Move it to the first level of agent.yaml, where it holds for all tools. What this one does stands under effects:.'

/** The expander knows the column in the template; the file knows where the template is. */
function reportProblem({ path, message, hint, line, column }: ToolProblem, item: unknown, spot: Spot): void {
  const where = spot.file.locate([...spot.path, ...parsePath(path)], { line, column })
  const name = writtenName(item)
  const tool = `${formatPath(spot.path)}${name === undefined ? '' : ` "${name}"`}`.trim()
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
  if (sets.length === 0) return tools
  const names = [...tools.keys()]
  for (const { path, place } of sets) {
    const [name = ''] = path
    if (hasAll && !tools.has(name)) reportNoElement(name, names, { list: 'tools', place }, findings)
  }
  return byName([...tools].flatMap(([name, loaded]) => setTool(loaded, setsBelow(sets, name), findings)))
}

function setTool(loaded: LoadedTool, sets: readonly SetValue[], findings: Findings): LoadedTool[] {
  const last = sets.at(-1)
  if (last === undefined) return [loaded]
  if (last.path.length === 0 && last.node === undefined) return [] // tools.bash= takes it away
  const found = collectFindings()
  const spot = { ...definitionOf(loaded), findings: found }
  if (sets.some(({ path: [key, name] }) => key === 'parameters' && name !== undefined))
    listParameters(loaded, spot)
  setIn(spot.file, spot.path, sets, findings)
  const remade = readTool(valueAt(spot.file.value, spot.path), spot)
  for (const { message, hint, ...at } of found.problems)
    findings.error(isSet(at) ? at : last.place, message, hint)
  findings.warnings.push(...found.warnings.filter(isSet)) // those of the file itself are known
  return remade === undefined ? [] : [remade]
}

/** Where a tool is written; one of an ATIP file in full form, in a list of its own. */
function definitionOf(loaded: LoadedTool): Pick<LoadedTool, 'file' | 'path'> {
  const { file, path, tool } = loaded
  const written = valueAt(file.value, path)
  if (isMap(written) && written.name === tool.expanded.name) return { file, path }
  const { file: own } = parseYaml(JSON.stringify(expandedFormOf(loaded)), file)
  return own ? { file: own, path: [] } : { file, path }
}

/** Adds parameters that only the template names to the list of parameters, in which they can be set. */
function listParameters({ tool }: LoadedTool, { file, path }: Spot): void {
  const list = [...path, 'parameters']
  const written = valueAt(file.value, list)
  const items: unknown[] = Array.isArray(written) ? written : []
  const missing = tool.expanded.parameters.filter(
    ({ name }) => !items.some((item) => isMap(item) && item.name === name),
  )
  if (missing.length > 0)
    addTo(
      file,
      list,
      missing.map(({ name }) => ({ name })),
    )
}

export function byName(tools: readonly LoadedTool[]): ToolSet {
  return new Map(tools.map((loaded) => [loaded.tool.expanded.name, loaded]))
}

/**
 * The tools without the places of their definitions. One that names `${TOOL_HOME}` knows its own directory.
 *
 * @param main - The file whose directory is `${AGENT_HOME}`.
 */
export function toolsAlone(tools: ToolSet, main: YamlFile): ReadonlyMap<string, Tool> {
  return new Map(
    [...tools].map(([name, { tool, file }]) => [
      name,
      namesToolHome(tool) ? { ...tool, home: homeOf(file, main) } : tool,
    ]),
  )
}

function namesToolHome({ expanded, settings: { cwd = '', env, sandbox } }: Tool): boolean {
  const { read = [], write = [] } = sandbox ?? {}
  const texts = [...expanded.command, cwd, ...Object.values(env), ...read, ...write]
  return texts.some((text) => text.includes(TOOL_HOME))
}

const TOOL_HOME = '${TOOL_HOME}'

/** Seen from the agent's directory, which can move, or absolute. */
function homeOf(file: YamlFile, main: YamlFile): string {
  const [home, agent] = [dirname(file.path), dirname(main.path)]
  return isInside(home, agent) ? relative(agent, home) : home
}

/** The full form as a run records it: it is to mean the same in a file that lies elsewhere. */
export function recordedFormOf(loaded: LoadedTool, main: YamlFile): Record<string, unknown> {
  const { tool, rest, file } = loaded
  if (!namesToolHome(tool)) return expandedFormOf(loaded)
  const home = homeOf(file, main)
  const path = isAbsolute(home) ? home : join('${AGENT_HOME}', home)
  const { cwd, env, sandbox } = rest
  const filled = JSON.parse(
    JSON.stringify({ cwd, env, sandbox }).replaceAll(TOOL_HOME, () => JSON.stringify(path).slice(1, -1)),
  ) as object
  return { ...withToolHome(tool.expanded, path), ...rest, ...filled }
}

/** As `delta tool expand` prints it: the full syntax, and how it runs as the author wrote it. */
export function expandedFormOf({ tool, rest }: LoadedTool): Record<string, unknown> {
  return { ...tool.expanded, ...rest }
}

/**
 * The tools with what a package may say of them. None of its tools gets a credential that only its own file names: whoever uses it
 * may say so with `--set`, or define the tool anew.
 *
 * @param packages - Directories.
 * @param main - The file that imports them; it may lie in one itself.
 */
export function withoutCredentials(
  tools: ToolSet,
  packages: readonly string[],
  main: YamlFile,
  findings: Findings,
): ToolSet {
  const isForeign = ({ file, path }: LoadedTool) =>
    file.path !== main.path &&
    packages.some((directory) => isInside(file.path, directory)) &&
    file.setBy?.([...path, 'pass_env']) === undefined
  const each = ([name, loaded]: [string, LoadedTool]): [string, LoadedTool] => {
    const { tool, file, path } = loaded
    const [key] = tool.settings.passEnv
    if (key === undefined || !isForeign(loaded)) return [name, loaded]
    const at = [...path, 'pass_env']
    const message = sentence(at, `${key} is not passed on to a tool of a package`)
    findings.warn(
      file.locate(at),
      message,
      `Define "${name}" in your own file, or --set tools.${name}.pass_env=[${key}].`,
    )
    const { pass_env: _, ...rest } = loaded.rest
    return [name, { ...loaded, rest, tool: { ...tool, settings: { ...tool.settings, passEnv: [] } } }]
  }
  return new Map([...tools].map(each))
}

/** Where a value stands: `file:line`. */
export function fileAndLine(file: YamlFile, path: ValuePath): string {
  const { file: name, line } = file.locate(path, { key: true })
  return line === undefined ? name : `${name}:${line}`
}
