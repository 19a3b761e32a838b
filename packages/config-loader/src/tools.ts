import { parseToolSettings, TOOL_SETTING_KEYS, type Tool } from '@delta/executor'
import { expandTool, parseTool, type ToolProblem } from '@delta/tool-expander'
import type { Findings } from './findings.js'
import { nearestName } from './nearest.js'
import { formatPath, parsePath, type ValuePath } from './path.js'
import { reportForeign, sentence } from './report.js'
import type { YamlFile } from './yaml-file.js'

/** A tool, and where it is defined. */
export interface LoadedTool {
  tool: Tool
  /** As `delta tool expand` prints it: the full syntax, and how it runs as the author wrote it. */
  expandedForm: Record<string, unknown>
  file: YamlFile
  path: ValuePath
}

/** Every key a tool or one of its parameters can have. Used only to guess what a mistyped one meant: the packages that read them decide. */
const TOOL_KEYS = [
  ...['name', 'description', 'exec', 'shell', 'stdin', 'command', 'parameters', 'substitute', 'allow_dash'],
  ...['checked_words', '__meta', 'max_chars', 'keep'],
  ...['type', 'inject_as', 'position', 'option_name', 'required', 'default', 'enum', 'pattern'],
  ...TOOL_SETTING_KEYS,
]

/** Reads the list of tools at `base` of a file. Tools that cannot be used are reported and left out. */
export function readTools(
  items: readonly unknown[],
  file: YamlFile,
  base: ValuePath,
  findings: Findings,
): LoadedTool[] {
  const tools = items.flatMap((item, index) => readTool(item, file, [...base, index], findings) ?? [])
  reportRepeatedNames(tools, findings)
  return tools
}

function readTool(
  item: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): LoadedTool | undefined {
  const parsed = parseTool(item)
  if (!parsed.ok) {
    for (const problem of parsed.problems) reportToolProblem(problem, item, file, path, findings)
    for (const key of strangeKeys(item)) reportUnknownKey(key, file, path, findings)
    return undefined
  }
  for (const key of parsed.unknownKeys) reportUnknownKey(key, file, path, findings)
  const settings = parseToolSettings(parsed.rest)
  if (!settings.ok) {
    reportForeign(settings.problems, file, path, findings.error)
    return undefined
  }
  for (const key of settings.unknownKeys) reportUnknownKey(key, file, path, findings)
  const expanded = expandTool(parsed.tool)
  return {
    tool: { expanded, settings: settings.settings },
    expandedForm: { ...expanded, ...parsed.rest },
    file,
    path,
  }
}

/** The expander knows the column in the template; the file knows where the template is. */
function reportToolProblem(
  problem: ToolProblem,
  item: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  const { line, column } = problem
  const place = { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) }
  const where = file.locate([...path, ...parsePath(problem.path)], place)
  findings.error(where, `${nameOf(item, path)}: ${sentence([], problem.message)}`, problem.hint)
}

function reportUnknownKey(key: string, file: YamlFile, path: ValuePath, findings: Findings): void {
  if (key.startsWith('x-')) return
  const names = parsePath(key)
  const nearest = nearestName(String(names.at(-1)), TOOL_KEYS)
  const hint = nearest === undefined ? undefined : `Did you mean "${nearest}"?`
  findings.unknownKey(
    file.locate([...path, ...names], { key: true }),
    sentence(path, `unknown key "${key}"`),
    hint,
  )
}

function strangeKeys(item: unknown): string[] {
  const keys = typeof item === 'object' && item !== null && !Array.isArray(item) ? Object.keys(item) : []
  return keys.filter((key) => !TOOL_KEYS.includes(key))
}

function reportRepeatedNames(tools: readonly LoadedTool[], findings: Findings): void {
  const seen = new Map<string, LoadedTool>()
  for (const loaded of tools) {
    const { name } = loaded.tool.expanded
    const earlier = seen.get(name)
    if (earlier !== undefined) {
      const place = loaded.file.locate([...loaded.path, 'name'])
      const { line } = earlier.file.locate([...earlier.path, 'name'])
      findings.error(
        place,
        sentence(loaded.path, `the tool "${name}" is already defined on line ${line}`),
        'Rename one of the two.',
      )
    }
    seen.set(name, loaded)
  }
}

/** `tools[2] "count_lines"`: the index for the machine's sake, the name for the person's. */
function nameOf(item: unknown, path: ValuePath): string {
  const name = (item as { name?: unknown } | null)?.name
  return typeof name === 'string' ? `${formatPath(path)} "${name}"` : formatPath(path)
}
