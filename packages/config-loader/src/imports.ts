import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { isInside } from '@delta/executor/internal'
import { KEY_NAMES } from '@delta/model/vendors'
import { fitShape, type ValuePath } from '@delta/settings'
import { IMPORT_A_SERVER, importSchema, toolFileSchema } from './agent-schema.js'
import { type AtipImport, isAtip, readAtipTools } from './atip-import.js'
import { displayName, readText, readYaml, realPath, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { report, type Spot, sentence, withoutFaults, wrong } from './report.js'
import { byName, fileAndLine, type LoadedTool, readTools, type ToolSet } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

/** A tool that another file's tool of the same name replaced. */
export interface Override {
  /** The tool's name. */
  name: string
  /** `file:line` of the definition that counts. */
  by: string
  /** `file:line` of the definition that does not count. */
  replaced: string
}

/** What one load of an agent knows while it follows imports. */
interface ImportState {
  workplace: Workplace
  findings: Findings
  overrides: Override[]
  /** Every file once, however many import it, by resolved path and the settings of its import. */
  loaded: Map<string, ToolSet>
  /** What decides what is imported: each file, and for a package its directory, or the directory that holds a link to it. */
  imported: Set<string>
  /** Directories of packages. */
  packages: Set<string>
}

interface Importer {
  file: YamlFile
  /** Resolved paths from the main file down to this one. */
  chain: readonly string[]
  /** Directories from which the file may import: absolute, symbolic links resolved. */
  roots: readonly string[]
}

/** All tools of an agent, and where they come from. */
export interface CollectedTools {
  tools: ToolSet
  overrides: Override[]
  /** What decides what is imported: see `ImportState`. */
  imported: string[]
  /** Directories of packages: what lies there is somebody else's. */
  packages: string[]
}

/** The lists of a file, as far as they could be read. */
export interface ToolLists {
  imports?: readonly unknown[] | null | undefined
  tools?: readonly unknown[] | null | undefined
}

/**
 * The tools of a file and of everything it imports: imports in their order, then the file's own. The last of one name counts.
 *
 * A file that is imported twice is read once. A circle of imports is reported with its whole chain.
 *
 * @param base - Where the list of the file's own tools stands.
 */
export async function collectTools(
  lists: ToolLists,
  file: YamlFile,
  base: ValuePath,
  { workplace, options, findings }: { workplace: Workplace; options: RootOptions; findings: Findings },
): Promise<CollectedTools> {
  const roots = importRootsOf(workplace.home, options, findings)
  const state: ImportState = {
    ...{ workplace, findings, overrides: [] },
    ...{ loaded: new Map(), imported: new Set(), packages: new Set() },
  }
  const tools = await toolsOf(lists, { file, chain: [file.path], roots }, state, base)
  const once = new Map(state.overrides.map((override) => [JSON.stringify(override), override])) // files may meet several times
  const { imported, packages } = state
  return { tools, overrides: [...once.values()], imported: [...imported], packages: [...packages] }
}

async function toolsOf(
  { imports, tools: own }: ToolLists,
  importer: Importer,
  state: ImportState,
  base: ValuePath = ['tools'],
): Promise<ToolSet> {
  const tools = new Map<string, LoadedTool>()
  for (const [index, entry] of (imports ?? []).entries()) {
    for (const imported of await importEntry(entry, ['imports', index], importer, state))
      addTool(tools, imported, state)
  }
  for (const tool of readTools(own ?? [], { file: importer.file, path: base, findings: state.findings }))
    addTool(tools, tool, state)
  return tools
}

/** Adds a tool, and notes whose definition it replaces. */
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
      `"${name}" would be two commands: one of this file and one of ${earlier.file.name}.`,
      'Give one import a "prefix:", or choose its "commands:".',
    )
  } else if (earlier !== undefined && earlier.file !== loaded.file) {
    const by = fileAndLine(loaded.file, loaded.path)
    overrides.push({ name, by, replaced: fileAndLine(earlier.file, earlier.path) })
  }
  tools.set(name, loaded)
}

/** An author's tool may replace a program's. Two programs with a command of one name meet by accident. */
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
  const resolved = await resolveImport(written.atip, file.path, workplace.home, roots)
  if (!resolved.ok) {
    const { message, hint, root } = resolved
    const allowed = root === undefined ? {} : { allowedBy: { option: 'importRoots', value: root } as const }
    findings.error({ ...file.locate(path), ...allowed }, sentence(path, message), hint)
    return []
  }
  if (chain.includes(resolved.path)) {
    const circle = [...chain.slice(chain.indexOf(resolved.path)), resolved.path]
    const shown = circle.map((path) => displayName(workplace, path)).join(' → ')
    wrong(spot, `the imports go in a circle: ${shown}`, 'Remove one of them.')
    return []
  }
  for (const path of [resolved.path, ...resolved.places]) state.imported.add(path)
  if (resolved.package !== undefined) state.packages.add(resolved.package)
  const atip = typeof entry === 'string' ? undefined : written
  const key = JSON.stringify([resolved.path, atip])
  const inner = { file, chain: [...chain, resolved.path], roots: resolved.roots }
  const tools = state.loaded.get(key) ?? (await loadToolFile(resolved.path, atip, inner, spot, state))
  if (tools === undefined) return []
  state.loaded.set(key, tools)
  return tools.values()
}

/** Reads one element of `imports:`. Reports what is wrong with it, and then returns undefined. */
function readEntry(entry: unknown, spot: Spot): AtipImport | undefined {
  if (isMap(entry) && 'mcp' in entry) {
    wrong(spot, 'an agent does not start MCP servers when it is loaded', IMPORT_A_SERVER)
    return undefined
  }
  if (isMap(entry) && !('atip' in entry)) {
    const message =
      'must be a path, or { atip: <file> } for a description in ATIP (Agent Tool Introspection Protocol)'
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
 * @returns undefined if the import leads to nothing that can be read.
 */
async function loadToolFile(
  path: string,
  atip: AtipImport | undefined,
  importer: Importer,
  entry: Spot,
  state: ImportState,
): Promise<ToolSet | undefined> {
  const { exists, file } = readYaml(path, state.workplace, state.findings, (name, message) =>
    wrong(entry, `${name} ${message}`),
  )
  if (!exists) return void wrong(entry, `${path} vanished while it was read`)
  if (file === undefined) return new Map()
  if (isAtip(file)) return byName(await readAtipTools(file, atip, entry))
  if (atip !== undefined)
    return void wrong(entry, `${file.name} is not an ATIP file: it has no "atip" member`)

  const spot = { file, path: [], findings: state.findings }
  const { value, problems } = fitShape(toolFileSchema, file.value)
  if (Array.isArray(file.value))
    wrong(spot, 'An imported file must be a mapping, not a list.', 'Write "tools:" above the list.')
  else report(problems, spot)
  if (value !== undefined && value.tools === undefined && value.imports === undefined)
    wrong(spot, 'An imported file must contain a list "tools:".')
  const lists = value ?? withoutFaults(toolFileSchema, file.value, problems) ?? {}
  const tools = await toolsOf(lists, { ...importer, file }, state)
  if (value?.mcp !== undefined) refuseKeys(tools, file, state.findings)
  return tools
}

/** A server is somebody else's program: only the agent itself gives it a model's key. */
function refuseKeys(tools: ToolSet, file: YamlFile, findings: Findings): void {
  for (const { tool, path, file: of } of tools.values()) {
    const name = tool.settings.passEnv.find((each) => of === file && KEY_NAMES.includes(each))
    const hint = 'If the server needs that key, write the tool again in agent.yaml, with pass_env.'
    if (name !== undefined)
      wrong(
        { file, path: [...path, 'pass_env'], findings },
        `${name} is not passed to a tool of an MCP server here`,
        hint,
      )
  }
}

type ResolvedImport =
  /**
   * `roots`: what the imported file may import from in turn. `places`: directories that decide, as the file does, what is imported.
   * `package`: the directory of its package. `root`: the directory that would have to be one.
   */
  | { ok: true; path: string; roots: readonly string[]; places: readonly string[]; package?: string }
  | { ok: false; message: string; hint?: string; root?: string }

interface RootOptions {
  importRoots?: readonly string[] | undefined
  env?: NodeJS.ProcessEnv | undefined
}

/** The agent's own directory, and those that the person who runs the agent allows. */
function importRootsOf(
  home: string,
  { importRoots = [], env = process.env }: RootOptions,
  findings: Findings,
): string[] {
  const named = (env.DELTA_IMPORT_ROOTS ?? '').split(delimiter).filter((root) => root !== '')
  for (const root of named) {
    if (!isAbsolute(root))
      findings.error({ file: 'DELTA_IMPORT_ROOTS' }, `"${root}" is not an absolute path.`)
  }
  const roots = [home]
  for (const root of [...importRoots, ...named.filter(isAbsolute)]) {
    const path = realPath(resolve(root))
    if (path === undefined) findings.warn({ file: root }, 'The import root does not exist.')
    else roots.push(path)
  }
  return roots
}

const PACKAGE = /^npm:((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)(?:@([^/]+))?\/(.+)$/i // no name begins with a dot, so none leads upwards

/**
 * Finds the file of an `imports:` entry.
 *
 * A path is relative to the importing file; its target, symbolic links resolved, must lie inside one of the roots.
 * `npm:<package>/<file>` is looked for in the `node_modules` of the agent's directory and of those around it, as Node
 * does, and must lie inside the package. `npm:<package>@<range>/<file>` also says which versions fit.
 */
async function resolveImport(
  entry: string,
  importer: string,
  home: string,
  roots: readonly string[],
): Promise<ResolvedImport> {
  if (entry.startsWith('npm:')) return resolvePackage(entry, home, roots)
  if (/^[a-z][a-z0-9+.-]+:/i.test(entry)) {
    const hint = 'Save it beside the agent and import that file.'
    return { ok: false, message: `"${entry}" is not a file; nothing is fetched from elsewhere`, hint }
  }
  const path = realPath(resolve(dirname(importer), entry))
  if (path === undefined) return missing(entry, dirname(importer))
  if (roots.some((root) => isInside(path, root))) return { ok: true, path, roots, places: [] }
  return {
    ok: false,
    message: `"${entry}" leads to ${path}, outside of the agent's directory`,
    hint: 'If you trust what is there, make its directory an import root (DELTA_IMPORT_ROOTS, or for this run alone).',
    root: dirname(path),
  }
}

/** A copy of `@delta/tools` comes with the command line, beside its code. Beside the library there is none. */
const SHIPPED = join(import.meta.dirname, 'packages')

async function resolvePackage(
  entry: string,
  home: string,
  roots: readonly string[],
): Promise<ResolvedImport> {
  const [, name, range, file] = PACKAGE.exec(entry) ?? []
  if (name === undefined || file === undefined)
    return { ok: false, message: `"${entry}" is not of the form npm:<package>/<file>` }
  const installed = findPackage(name, home)
  const link = installed ?? join(SHIPPED, name)
  const directory = realPath(link)
  if (directory === undefined) {
    const wanted = range === undefined ? name : typed(`${name}@${range}`)
    const hint = `Install it there: cd ${quoteForPerson([home])} && npm install ${wanted}`
    return { ok: false, message: `the package "${name}" is not installed`, hint }
  }
  const misfit = range !== undefined && (await misfitOf({ name, range, directory }, installed === undefined))
  if (misfit) return { ok: false, ...misfit }
  const path = realPath(join(directory, file))
  if (path === undefined) return { ok: false, message: `the package in ${directory} has no file "${file}"` }
  if (!isInside(path, directory))
    return { ok: false, message: `"${entry}" leads out of the package, to ${path}` }
  const places = link === directory ? [directory] : [directory, dirname(link)] // a link could lead elsewhere tomorrow
  return { ok: true, path, roots: [...roots, directory], places, package: directory }
}

/** Why the version of a package is not in the range that is wanted. */
async function misfitOf(
  { name, range, directory }: { name: string; range: string; directory: string },
  isShipped: boolean,
): Promise<{ message: string; hint?: string } | undefined> {
  const [{ default: validRange }, { default: satisfies }] = await Promise.all([
    import('semver/ranges/valid.js'), // most agents do not need it
    import('semver/functions/satisfies.js'),
  ])
  if (validRange(range) === null) return { message: `"${range}" is not a range of versions, as ^1.2 is` }
  const version = versionIn(directory)
  if (version === undefined) return { message: `the package in ${directory} does not say its version` }
  if (satisfies(version, range)) return undefined
  const wanted = `npm:${name}@${range}`
  const message = isShipped
    ? `${wanted} is wanted; this delta ships ${version}`
    : `${name} is ${version} here, and ${wanted} is wanted`
  return { message, hint: `Run npm install ${typed(`${name}@${range}`)}, or change the range.` }
}

/** A package with a range, as people type it in a shell: only blanks and operators need quotes. */
function typed(wanted: string): string {
  return /^[\w.@/^~+-]+$/.test(wanted) ? wanted : quoteForPerson([wanted])
}

function versionIn(directory: string): string | undefined {
  const read = readText(join(directory, 'package.json'))
  try {
    const { version } = Object(JSON.parse(read.ok ? read.text : '{}')) as { version?: unknown }
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined // it is not JSON
  }
}

function findPackage(name: string, home: string): string | undefined {
  for (let directory = home; ; directory = dirname(directory)) {
    const found = join(directory, 'node_modules', name)
    if (realPath(found) !== undefined) return found
    if (directory === dirname(directory)) return undefined
  }
}

function missing(entry: string, directory: string): ResolvedImport {
  const read = readText(resolve(directory, entry))
  if (!read.ok && read.reason !== 'missing') return { ok: false, message: `"${entry}" ${read.message}` }
  const hint = 'A path is relative to the file that imports it.'
  return { ok: false, message: `"${entry}" does not exist in ${directory}`, hint }
}
