import { readdirSync } from 'node:fs'
import { effectsSchema } from '@delta/executor'
import { atipImportSchema, importSchema, TOOL_FILE_KEYS, toolFileSchema } from './agent-schema.js'
import { type AtipImport, isAtip, readAtipTools } from './atip-import.js'
import { displayName, readYaml, type Workplace } from './files.js'
import { type Roots, resolveImport } from './import-path.js'
import { isMap, type ValuePath } from './path.js'
import type { Findings } from './problems.js'
import { fitShape, report, type Spot, sentence, withoutFaults, wrong } from './shape.js'
import { byName, fileAndLine, type LoadedTool, readTools, type ToolSet } from './tools.js'
import type { YamlFile } from './yaml.js'

/** A tool that another file's tool of the same name replaced. */
export interface Override {
  /** Of the tool. */
  name: string
  /** `file:line` of the definition that counts. */
  by: string
  /** `file:line` of the one that does not. */
  replaced: string
}

/** What one load of an agent knows while it follows imports. */
interface ImportState {
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
      addTool(tools, imported, state)
  }
  for (const own of readTools(items, { file: importer.file, path: base, findings: state.findings }))
    addTool(tools, own, state)
  return tools
}

/** Adds a tool; says so where it takes the name of one that another file has. */
function addTool(
  tools: Map<string, LoadedTool>,
  loaded: LoadedTool,
  { overrides, findings }: ImportState,
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
    const by = fileAndLine(loaded.file, loaded.path)
    const replaced = fileAndLine(earlier.file, earlier.path)
    const isKnown = overrides.some(
      (known) => known.name === name && known.by === by && known.replaced === replaced,
    )
    if (!isKnown) overrides.push({ name, by, replaced }) // two files may meet along several ways
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

async function importEntry(
  entry: unknown,
  path: ValuePath,
  importer: Importer,
  state: ImportState,
): Promise<Iterable<LoadedTool>> {
  const { file, chain, roots } = importer
  const { findings, workplace } = state
  const spot = { file, path, findings }
  const written = readEntry(entry, spot)
  if (written === undefined) return []
  const resolved = resolveImport(written.atip, file.path, workplace.home, roots)
  if (!resolved.ok) {
    const { message, hint, root } = resolved
    const allowed = root === undefined ? {} : { allowedBy: { option: 'importRoots', value: root } as const }
    findings.error({ ...file.locate(path), ...allowed }, sentence(path, message), hint)
    return []
  }
  if (chain.includes(resolved.path)) {
    const circle = [...chain.slice(chain.indexOf(resolved.path)), resolved.path]
    const shown = circle.map((step) => displayName(workplace, step)).join(' → ')
    wrong(spot, `the imports go in a circle: ${shown}`, 'Remove one of them.')
    return []
  }
  const atip = typeof entry === 'string' ? undefined : written
  const key = JSON.stringify([resolved.path, atip])
  const inner = { file, chain: [...chain, resolved.path], roots: resolved.roots }
  const tools = state.loaded.get(key) ?? (await loadToolFile(resolved.path, atip, inner, spot, state))
  if (tools === undefined) return []
  state.loaded.set(key, tools)
  return tools.values()
}

const ATIP_KEYS = [...Object.keys(atipImportSchema.shape), ...Object.keys(effectsSchema.shape)]

/** Reads one element of `imports:`; says what is wrong with it and returns undefined if it is no way to a file. */
function readEntry(entry: unknown, spot: Spot): AtipImport | undefined {
  if (isMap(entry) && !('atip' in entry)) {
    const message = 'must be a path, or { atip: <file> } for a description in ATIP'
    wrong(spot, message, 'As in: - ./tools/files.yaml')
    return undefined
  }
  const { value, problems } = fitShape(importSchema, entry, ATIP_KEYS)
  report(problems, spot)
  return typeof value === 'string' ? { atip: value } : value
}

/**
 * @param importer - The importing file, with the chain that already ends in this one.
 * @param entry - Where the import is written.
 * @returns undefined if there is nothing to read, which is the importer's mistake.
 */
async function loadToolFile(
  path: string,
  atip: AtipImport | undefined,
  importer: Importer,
  entry: Spot,
  state: ImportState,
): Promise<ToolSet | undefined> {
  const { exists, file } = readYaml(path, state.workplace, state.findings, ({ reason, message }, name) =>
    wrong(entry, `${name} ${message}`, reason === 'directory' ? filesIn(path) : undefined),
  )
  if (!exists) return void wrong(entry, `${path} vanished while it was read`)
  if (file === undefined) return new Map()
  if (file.value === null)
    return void wrong(entry, `${file.name} is empty`, 'A file to import holds a list "tools:".')
  if (isAtip(file)) return byName(await readAtipTools(file, atip, entry))
  if (atip !== undefined)
    return void wrong(entry, `${file.name} is not an ATIP file: it has no "atip" member`)

  const { imports, tools, base } = readToolFile({ file, path: [], findings: state.findings })
  return collectTools(imports, tools, { ...importer, file }, state, base)
}

/** The hint for a directory that somebody imported: what in it could be. */
function filesIn(directory: string): string {
  const names = readdirSync(directory).filter((name) => /\.(ya?ml|json)$/.test(name))
  return `Import files, one by one${names.length === 0 ? '' : `. In it: ${names.sort().slice(0, 10).join(', ')}`}.`
}

interface ToolFile {
  imports: readonly unknown[]
  tools: readonly unknown[]
  /** Where the tools stand. */
  base: ValuePath
}

/** What an imported file holds; where its form is wrong, whatever of it can be looked at all the same. */
function readToolFile(spot: Spot): ToolFile {
  const { value: written } = spot.file
  if (Array.isArray(written)) {
    wrong(spot, 'A file to import is a map, not a list.', 'Write "tools:" above the list.')
    return { imports: [], tools: written, base: [] }
  }
  const { value, problems } = fitShape(toolFileSchema, written, TOOL_FILE_KEYS)
  report(problems, spot)
  const { imports, tools } = value ?? withoutFaults(toolFileSchema, written, problems) ?? {}
  if (value !== undefined && value.tools === undefined && value.imports === undefined)
    wrong(spot, 'An imported file must contain a list "tools:".')
  return { imports: imports ?? [], tools: tools ?? [], base: ['tools'] }
}
