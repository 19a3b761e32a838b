import type { Tool } from '@delta/executor'
import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import type { YamlFile } from '../yaml/file.js'
import type { LoadedTool } from './tools.js'

/** Tools by name. A later definition replaces an earlier one in its place. */
export type ToolSet = ReadonlyMap<string, LoadedTool>

/** A tool that another file's tool of the same name replaced. */
export interface Override {
  /** Of the tool. */
  name: string
  /** `file:line` of the definition that counts. */
  by: string
  /** `file:line` of the one that does not. */
  replaced: string
}

export function byName(tools: readonly LoadedTool[]): ToolSet {
  return new Map(tools.map((loaded) => [loaded.tool.expanded.name, loaded]))
}

/** The same without where they are defined. */
export function toolsAlone(tools: ToolSet): ReadonlyMap<string, Tool> {
  return new Map([...tools].map(([name, { tool }]) => [name, tool]))
}

/** As `delta tool expand` prints it: the full syntax, and how it runs as the author wrote it. */
export function expandedFormOf({ tool, rest }: LoadedTool): Record<string, unknown> {
  return { ...tool.expanded, ...rest }
}

/** Adds a tool; says so where it takes the name of one that another file has. */
export function addTool(
  tools: Map<string, LoadedTool>,
  loaded: LoadedTool,
  { overrides, findings }: { overrides: Override[]; findings: Findings },
): void {
  const { name } = loaded.tool.expanded
  const earlier = tools.get(name)
  if (earlier !== undefined && areTwoCommands(earlier, loaded)) {
    findings.error(
      { file: loaded.file.name },
      `"${name}" would be two commands, of this file and of ${earlier.file.name}: nobody chose between them.`,
      'Give one import a "prefix:", or choose its "commands:".',
    )
  } else if (earlier !== undefined && earlier.file !== loaded.file) {
    const override = { name, by: placeOf(loaded), replaced: placeOf(earlier) }
    const isKnown = overrides.some(
      (known) => known.name === name && known.by === override.by && known.replaced === override.replaced,
    )
    if (!isKnown) overrides.push(override) // two files may meet along several ways
  }
  tools.set(name, loaded)
}

/** A tool that somebody wrote may replace one of a program. That two programs meet in one name is an accident. */
function areTwoCommands(one: LoadedTool, other: LoadedTool): boolean {
  const [command, otherCommand] = [one, other].map(({ tool: { expanded, settings } }) =>
    settings.trust === undefined ? undefined : expanded.command.join('\0'),
  )
  return command !== undefined && otherCommand !== undefined && command !== otherCommand
}

/** Where it is defined: `file:line`. Reads the file once more, for positions. */
export function placeOf({ file, path }: LoadedTool): string {
  return fileAndLine(file, path)
}

/** Where each effect stands that an import says of a tool. */
export function effectPlacesOf(loaded: LoadedTool | undefined): Record<string, string> {
  if (loaded?.effectsFrom === undefined) return {}
  const { file, paths } = loaded.effectsFrom
  return Object.fromEntries(Object.entries(paths).map(([key, path]) => [key, fileAndLine(file, path)]))
}

function fileAndLine(file: YamlFile, path: ValuePath): string {
  const { file: name, line } = file.locate(path)
  return line === undefined ? name : `${name}:${line}`
}
