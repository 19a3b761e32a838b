import { parseToolSettings, TOOL_SETTING_KEYS, type Tool, type ToolSettings } from '@delta/executor'
import { expandTool, parseTool } from '@delta/tool-expander'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import { reportForeign, sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { checkDisplay, checkTool } from './check-tool.js'
import { mistypedMode, reportUnknownKeys, strangeKeys, strangeParameterKeys } from './tool-keys.js'
import { reportToolProblems, writtenName } from './tool-problems.js'

/** What follows from the text of a definition alone. */
export interface MadeTool {
  tool: Tool
  /** How it runs, as the author wrote it. */
  rest: Record<string, unknown>
}

/** A tool, and where it is defined. */
export interface LoadedTool extends MadeTool {
  file: YamlFile
  path: ValuePath
  /** Of an import that says effects of its own: where it says which. */
  effectsFrom?: { file: YamlFile; paths: Readonly<Record<string, ValuePath>> }
}

/** Reads the list of tools at `base` of a file. Tools that cannot be used are reported and left out. */
export function readTools(
  items: readonly unknown[],
  file: YamlFile,
  base: ValuePath,
  findings: Findings,
): LoadedTool[] {
  const tools = items.flatMap((item, index) => readTool(item, file, [...base, index], findings) ?? [])
  reportRepeatedNames(items, file, base, findings)
  return tools
}

/** Undefined: it cannot be used, and that was reported. */
export function readTool(
  item: unknown,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): LoadedTool | undefined {
  const parsed = parseTool(item)
  reportUnknownKeys(strangeParameterKeys(item), file, path, findings)
  if (!parsed.ok) {
    reportToolProblems(parsed.problems, item, file, path, findings)
    readSettings(settingsIn(item), file, path, findings)
    const told = mistypedMode(item)?.key // with the problem it causes
    const strange = strangeKeys(item).filter((key) => key !== told)
    reportUnknownKeys(strange, file, path, findings)
    return undefined
  }
  const settings = readSettings(parsed.rest, file, path, findings)
  if (settings === undefined) return undefined
  const expanded = expandTool(parsed.tool)
  checkTool(expanded, item, file, path, findings)
  checkDisplay(settings.display, expanded, file, path, findings)
  return { tool: { expanded, settings }, rest: parsed.rest, file, path }
}

function readSettings(
  rest: Record<string, unknown>,
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): ToolSettings | undefined {
  const parsed = parseToolSettings(rest)
  reportUnknownKeys(parsed.unknownKeys, file, path, findings)
  if (parsed.ok) return parsed.settings
  reportForeign(parsed.problems, file, path, findings.error)
  return undefined
}

/** How a tool runs whose syntax is wrong: to be checked all the same. */
function settingsIn(item: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(isMap(item) ? item : {}).filter(([key]) => TOOL_SETTING_KEYS.includes(key)),
  )
}

function reportRepeatedNames(
  items: readonly unknown[],
  file: YamlFile,
  base: ValuePath,
  findings: Findings,
): void {
  const seen = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const name = writtenName(item)
    if (name === undefined) continue
    const earlier = seen.get(name)
    seen.set(name, index)
    if (earlier === undefined) continue
    const { line } = file.locate([...base, earlier, 'name'])
    const path = [...base, index]
    const message = sentence(path, `the tool "${name}" is already defined on line ${line}`)
    findings.error(file.locate([...path, 'name']), message, 'Rename one of the two.')
  }
}
