import { displayName, readYaml, type Workplace } from '../files/workplace.js'
import { countOf, type Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import { sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { type AtipImport, isAtip, readAtipTools } from './atip-import.js'
import { filesIn, readEntry } from './import-entry.js'
import { type Roots, resolveImport } from './import-path.js'
import { readToolFile } from './tool-file.js'
import { addTool, byName, type Override, type ToolSet } from './tool-set.js'
import { type LoadedTool, type MadeTool, readTools } from './tools.js'

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
      addTool(tools, imported, state)
  }
  for (const own of ownTools(items, importer.file, base, state)) addTool(tools, own, state)
  return tools
}

/** Made by an earlier load of the same text, or now. What has to be said of a file is found anew each time. */
function ownTools(
  items: readonly unknown[],
  file: YamlFile,
  base: ValuePath,
  { workplace: { cache }, findings }: ImportState,
): LoadedTool[] {
  const made = cache?.madeOf(file.path) as MadeTool[] | undefined
  if (made !== undefined) return made.map((tool, index) => ({ ...tool, file, path: [...base, index] }))
  const before = countOf(findings)
  const tools = readTools(items, file, base, findings)
  if (countOf(findings) === before) {
    const own = tools.map(({ tool, rest }): MadeTool => ({ tool, rest }))
    cache?.add(file.path, own)
  }
  return tools
}

async function importEntry(
  entry: unknown,
  path: ValuePath,
  importer: Importer,
  state: ImportState,
): Promise<LoadedTool[]> {
  const { file, chain, roots } = importer
  const written = readEntry(entry, path, file, state.findings)
  if (written === undefined) return []

  const resolved = resolveImport(written.path, file.path, state.workplace.home, roots)
  if (!resolved.ok) {
    const { message, hint, root } = resolved
    const allowed = root === undefined ? {} : { allowedBy: { option: 'importRoots', value: root } as const }
    state.findings.error({ ...file.locate(path), ...allowed }, sentence(path, message), hint)
    return []
  }
  if (chain.includes(resolved.path)) {
    reportCircle(resolved.path, path, importer, state)
    return []
  }
  const key = `${resolved.path} ${JSON.stringify(written.atip ?? {})}`
  const inner = { file, chain: [...chain, resolved.path], roots: resolved.roots }
  const tools = state.loaded.get(key) ?? (await loadToolFile(resolved.path, written.atip, inner, path, state))
  if (tools === undefined) return []
  state.loaded.set(key, tools)
  return [...tools.values()]
}

function reportCircle(path: string, at: ValuePath, { file, chain }: Importer, state: ImportState): void {
  const circle = [...chain.slice(chain.indexOf(path)), path]
  const shown = circle.map((step) => displayName(state.workplace, step)).join(' → ')
  const message = sentence(at, `the imports go in a circle: ${shown}`)
  state.findings.error(file.locate(at), message, 'Remove one of them.')
}

/**
 * @param importer - The importing file, with the chain that already ends in this one.
 * @returns undefined if there is nothing to read, which is the importer's mistake.
 */
async function loadToolFile(
  path: string,
  atip: AtipImport | undefined,
  importer: Importer,
  at: ValuePath,
  state: ImportState,
): Promise<ToolSet | undefined> {
  const { findings, workplace } = state
  const wrong = (message: string, hint?: string): undefined =>
    void findings.error(importer.file.locate(at), sentence(at, message), hint)

  const { exists, file, guess } = readYaml(path, workplace, findings, ({ reason, message }, name) =>
    wrong(`${name} ${message}`, reason === 'directory' ? filesIn(path, importer.file) : undefined),
  )
  if (!exists) return wrong(`${path} vanished while it was read`)
  if (file === undefined) return followGuess(guess, importer, state)
  if (file.value === null) return wrong(`${file.name} is empty`, 'A file to import holds a list "tools:".')
  if (isAtip(file))
    return byName(await readAtipTools(file, atip, { file: importer.file, path: at }, findings))
  if (atip !== undefined) return wrong(`${file.name} is not an ATIP file: it has no "atip" member`)

  const { imports, tools, base } = readToolFile(file, findings)
  return collectTools(imports, tools, { ...importer, file }, state, base)
}

/**
 * What a file imports that is itself not valid YAML: what is wrong in those files is told at once, too. Nothing is said of
 * entries that lead nowhere, for they may not be what was written.
 */
export async function followGuess(
  guess: YamlFile | undefined,
  importer: Omit<Importer, 'file'>,
  state: ImportState,
): Promise<ToolSet> {
  const { imports } = (guess?.value ?? {}) as { imports?: unknown }
  if (guess === undefined || !Array.isArray(imports)) return new Map()
  for (const [index, entry] of imports.entries()) {
    if (typeof entry !== 'string') continue
    const { ok } = resolveImport(entry, guess.path, state.workplace.home, importer.roots)
    if (ok) await importEntry(entry, ['imports', index], { ...importer, file: guess }, state)
  }
  return new Map()
}
