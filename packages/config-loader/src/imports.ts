import { importSchema, TOOL_FILE_KEYS, toolFileSchema } from './agent-schema.js'
import { type AtipImport, isAtip, readAtipTools } from './atip-import.js'
import type { Findings } from './findings.js'
import { type Roots, resolveImport } from './import-path.js'
import type { ValuePath } from './path.js'
import { reportShape, sentence } from './report.js'
import { fitShape } from './shape.js'
import { type LoadedTool, readTools } from './tools.js'
import { displayName, readYaml, type Workplace } from './workplace.js'
import type { YamlFile } from './yaml-file.js'

/** Tools by name. A later definition replaces an earlier one in its place. */
export type ToolSet = ReadonlyMap<string, LoadedTool>

/** A tool that another file's tool of the same name replaced. */
export interface Override {
  name: string
  /** `file:line` of the definition that counts. */
  by: string
  /** `file:line` of the one that does not. */
  replaced: string
}

/** What one load of an agent knows while it follows imports. */
export interface ImportState {
  workplace: Workplace
  findings: Findings
  overrides: Override[]
  /** Every file once, however many import it, by resolved path and how it is imported. */
  loaded: Map<string, ToolSet>
}

interface Importer {
  file: YamlFile
  /** Resolved paths from the main file down to this one. */
  chain: readonly string[]
  roots: Roots
}

/**
 * The tools of a file and of everything it imports: imports in their order, then the file's own, the last one wins.
 *
 * A file imported along two ways is read once. A circle is reported with the whole chain.
 */
export async function collectTools(
  entries: readonly unknown[],
  items: readonly unknown[],
  importer: Importer,
  state: ImportState,
  base: ValuePath = ['tools'],
): Promise<ToolSet> {
  const tools = new Map<string, LoadedTool>()
  for (const [index, entry] of entries.entries()) {
    for (const imported of await importEntry(entry, ['imports', index], importer, state))
      add(tools, imported, state)
  }
  for (const own of readTools(items, importer.file, base, state.findings)) add(tools, own, state)
  return tools
}

function add(tools: Map<string, LoadedTool>, loaded: LoadedTool, { overrides }: ImportState): void {
  const { name } = loaded.tool.expanded
  const earlier = tools.get(name)
  if (earlier !== undefined && earlier.file !== loaded.file) {
    overrides.push({ name, by: origin(loaded), replaced: origin(earlier) })
  }
  tools.set(name, loaded)
}

function origin({ file, path }: LoadedTool): string {
  const { line } = file.locate(path)
  return `${file.name}:${line}`
}

async function importEntry(
  entry: unknown,
  path: ValuePath,
  importer: Importer,
  state: ImportState,
): Promise<LoadedTool[]> {
  const { file, chain, roots } = importer
  const { value, problems } = fitShape(importSchema, entry, ['atip', 'commands', 'trust', 'prefix'])
  reportShape(problems, file, state.findings, path)
  if (value === undefined) return []

  const atip = typeof value === 'string' ? undefined : value
  const resolved = resolveImport(atip?.atip ?? String(value), file.path, state.workplace.home, roots)
  if (!resolved.ok) {
    state.findings.error(file.locate(path), sentence(path, resolved.message), resolved.hint)
    return []
  }
  if (chain.includes(resolved.path)) {
    reportCircle(resolved.path, path, importer, state)
    return []
  }
  const key = `${resolved.path} ${JSON.stringify(atip ?? {})}`
  const inner = { file, chain: [...chain, resolved.path], roots: resolved.roots }
  const tools = state.loaded.get(key) ?? (await loadToolFile(resolved.path, atip, inner, path, state))
  state.loaded.set(key, tools)
  return [...tools.values()]
}

function reportCircle(path: string, at: ValuePath, { file, chain }: Importer, state: ImportState): void {
  const circle = [...chain.slice(chain.indexOf(path)), path]
  const shown = circle.map((step) => displayName(state.workplace, step)).join(' → ')
  const message = sentence(at, `the imports go in a circle: ${shown}`)
  state.findings.error(file.locate(at), message, 'Remove one of them.')
}

/** @param importer - The importing file, with the chain that already ends in this one. */
async function loadToolFile(
  path: string,
  atip: AtipImport | undefined,
  importer: Importer,
  at: ValuePath,
  state: ImportState,
): Promise<ToolSet> {
  const { findings } = state
  const { exists, file } = readYaml(path, state.workplace, findings)
  if (!exists) findings.error(importer.file.locate(at), sentence(at, `${path} vanished while it was read`))
  if (file === undefined) return new Map()
  if (isAtip(file)) return byName(await readAtipTools(file, atip, findings))
  if (atip !== undefined) {
    findings.error(
      importer.file.locate(at),
      sentence(at, `${file.name} is not an ATIP file: it has no "atip" member`),
    )
    return new Map()
  }

  const { value, problems } = fitShape(toolFileSchema, file.value, TOOL_FILE_KEYS)
  reportShape(problems, file, findings)
  if (value === undefined) return new Map()
  if (value.tools === undefined && value.imports === undefined) {
    findings.error(file.locate([]), 'An imported file must contain a list "tools:".')
  }
  return collectTools(value.imports ?? [], value.tools ?? [], { ...importer, file }, state)
}

function byName(tools: readonly LoadedTool[]): ToolSet {
  return new Map(tools.map((loaded) => [loaded.tool.expanded.name, loaded]))
}
