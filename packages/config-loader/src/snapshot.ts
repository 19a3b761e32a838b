import { maskSecrets } from './mask-secrets.js'
import { expandedFormOf, type ToolSet } from './tools/tool-set.js'
import type { YamlFile } from './yaml/file.js'

/** What a run keeps of the agent it ran: a record, never executed. */
export interface Snapshot {
  /** The files of `configuration/<seq>/`, by name: agent.yaml resolved, the others as they are. */
  files: Record<string, string>
  /** The same as a value, for `ENGINE_START`. */
  config: Record<string, unknown>
  /** Some of agent.yaml was written in files that it imports. */
  hasImports: boolean
  /** What the option `overrides` set, of each path the last: loading the same files with them gives the same agent. */
  overrides: string[]
}

/**
 * The main file with its imports resolved away and its tools in full form. Values whose names say that they are
 * secret are masked, for this is written into every run.
 */
export function resolveDocument(document: Record<string, unknown>, tools: ToolSet): Record<string, unknown> {
  const { imports: _, ...rest } = document
  const resolved = [...tools.values()].map(expandedFormOf)
  return maskSecrets({
    ...rest,
    ...(resolved.length > 0 || 'tools' in document ? { tools: resolved } : {}),
  }) as Record<string, unknown>
}

export function makeSnapshot(
  config: Record<string, unknown>,
  { files, ...rest }: { files: Record<string, string | undefined> } & Omit<Snapshot, 'files' | 'config'>,
): Snapshot {
  const present = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    config,
    ...rest,
    files: { ...Object.fromEntries(present), 'agent.yaml': toYaml(config) },
  }
}

/** What a file says: as it is written, or in plain YAML if something was set in it. */
export function textOf({ text, value, setBy }: YamlFile): string {
  return setBy === undefined ? text : toYaml((value ?? {}) as Record<string, unknown>)
}

/**
 * YAML in which each key, and each element of a list, has one line of JSON: two runs' configurations compare by
 * tools, and writing it costs a tenth of what a YAML library takes for prettier text.
 */
function toYaml(config: Record<string, unknown>): string {
  const lines = Object.entries(config).flatMap(([key, value]) => {
    const name = /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key)
    if (!Array.isArray(value) || value.length === 0) return `${name}: ${JSON.stringify(value)}`
    return [`${name}:`, ...value.map((item) => `  - ${JSON.stringify(item)}`)]
  })
  return `${lines.join('\n')}\n`
}
