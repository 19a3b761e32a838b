import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { fitShape, quoteForPerson, type ValuePath } from '@delta/executor/internal'
import { importSchema, toolFileSchema } from './agent-schema.js'
import { type AtipImport, isAtip, readAtipTools } from './atip-import.js'
import { displayName, isInside, readText, readYaml, realPath, tildeHint, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { report, type Spot, sentence, withoutFaults, wrong } from './shape.js'
import { byName, fileAndLine, type LoadedTool, readTools, type ToolSet } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

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

/** Reads one element of `imports:`; says what is wrong with it and returns undefined if it is no way to a file. */
function readEntry(entry: unknown, spot: Spot): AtipImport | undefined {
  if (isMap(entry) && !('atip' in entry)) {
    const message = 'must be a path, or { atip: <file> } for a description in ATIP'
    wrong(spot, message, 'As in: - ./tools/files.yaml')
    return undefined
  }
  const { value, problems } = fitShape(importSchema, entry)
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
  const { exists, file } = readYaml(path, state.workplace, state.findings, ({ message }, name) =>
    wrong(entry, `${name} ${message}`),
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
    wrong(spot, 'A file to import is a mapping, not a list.', 'Write "tools:" above the list.')
    return { imports: [], tools: written, base: [] }
  }
  const { value, problems } = fitShape(toolFileSchema, written)
  report(problems, spot)
  const { imports, tools } = value ?? withoutFaults(toolFileSchema, written, problems) ?? {}
  if (value !== undefined && value.tools === undefined && value.imports === undefined)
    wrong(spot, 'An imported file must contain a list "tools:".')
  return { imports: imports ?? [], tools: tools ?? [], base: ['tools'] }
}

/** Directories from which files may be imported: absolute, symbolic links resolved. */
type Roots = readonly string[]

type ResolvedImport =
  /** `roots`: what the imported file may import from in turn. `root`: the directory that would have to be one. */
  { ok: true; path: string; roots: Roots } | { ok: false; message: string; hint?: string; root?: string }

/**
 * The directories from which an agent may import: its own, and what the person who runs it allows with
 * `--import-root` or `DELTA_IMPORT_ROOTS` (absolute paths, separated as in PATH).
 */
export function importRootsOf(
  home: string,
  {
    importRoots = [],
    environment,
  }: { importRoots?: readonly string[] | undefined; environment: NodeJS.ProcessEnv },
  findings: Findings,
): string[] {
  const named = (environment.DELTA_IMPORT_ROOTS ?? '').split(delimiter).filter((root) => root !== '')
  for (const root of named) {
    if (!isAbsolute(root))
      findings.error({ file: 'DELTA_IMPORT_ROOTS' }, `"${root}" is not an absolute path.`, tildeHint(root))
  }
  const roots = [home]
  for (const root of [...importRoots, ...named.filter(isAbsolute)]) {
    const path = realPath(resolve(root))
    if (path === undefined) findings.warn({ file: root }, 'The import root does not exist.', tildeHint(root))
    else roots.push(path)
  }
  return roots
}

const PACKAGE = /^npm:((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)\/(.+)$/i // no name begins with a dot: none leads upwards

/**
 * Finds the file an `imports:` entry means.
 *
 * A path is relative to the importing file, and what it leads to, symbolic links resolved, must lie inside one
 * of the roots. `npm:<package>/<file>` is looked for in the `node_modules` of the agent's directory and of those
 * around it, as Node does, and must lie inside the package.
 */
function resolveImport(entry: string, importer: string, home: string, roots: Roots): ResolvedImport {
  if (entry.startsWith('npm:')) return resolvePackage(entry, home, roots)
  if (/^[a-z][a-z0-9+.-]+:/i.test(entry)) {
    const hint = 'Save it beside the agent and import that file, so that what runs is what you have read.'
    return { ok: false, message: `"${entry}" is not a file; nothing is fetched from elsewhere`, hint }
  }
  const path = realPath(resolve(dirname(importer), entry))
  if (path === undefined) return missing(entry, dirname(importer))
  if (roots.some((root) => isInside(path, root))) return { ok: true, path, roots }
  return {
    ok: false,
    message: `"${entry}" leads to ${path}, outside of the agent's directory`,
    hint: 'If you trust what is there, make its directory an import root (DELTA_IMPORT_ROOTS, or for this run alone).',
    root: dirname(path),
  }
}

function resolvePackage(entry: string, home: string, roots: Roots): ResolvedImport {
  const [, name, file] = PACKAGE.exec(entry) ?? []
  if (name === undefined || file === undefined) {
    const hint = 'As in npm:@acme/tools/files.yaml; the version is the one that is installed.'
    return { ok: false, message: `"${entry}" is not of the form npm:<package>/<file>`, hint }
  }
  const directory = findPackage(name, home)
  if (directory === undefined) {
    const hint = `Install it there: cd ${quoteForPerson([home])} && npm install ${name}`
    return { ok: false, message: `the package "${name}" is not installed`, hint }
  }
  const path = realPath(join(directory, file))
  if (path === undefined) {
    const hint = `What it has lies in ${directory}.`
    return { ok: false, message: `the package "${name}" has no file "${file}"`, hint }
  }
  if (!isInside(path, directory))
    return { ok: false, message: `"${entry}" leads out of the package, to ${path}` }
  return { ok: true, path, roots: [...roots, directory] }
}

function findPackage(name: string, home: string): string | undefined {
  for (let directory = home; ; directory = dirname(directory)) {
    const found = realPath(join(directory, 'node_modules', name))
    if (found !== undefined) return found
    if (directory === dirname(directory)) return undefined
  }
}

function missing(entry: string, directory: string): ResolvedImport {
  const read = readText(resolve(directory, entry))
  if (!read.ok && read.reason !== 'missing') return { ok: false, message: `"${entry}" ${read.message}` }
  const message = `"${entry}" does not exist in ${directory}`
  const hint = tildeHint(entry) ?? 'A path is relative to the file that imports it.'
  return { ok: false, message, hint }
}
