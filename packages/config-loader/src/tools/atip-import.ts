import { dirname, resolve } from 'node:path'
import { nearestNames } from '@delta/executor'
import type { z } from 'zod/mini'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import type { atipImportSchema } from '../schemas/agent-schema.js'
import { sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { type LoadedTool, readTools } from './tools.js'

/** What an import says about an ATIP file besides its path. */
export type AtipImport = z.infer<typeof atipImportSchema>

/** Where an import is written. */
interface Importer {
  file: YamlFile
  path: ValuePath
}

/** ATIP files are told from ours by this member. */
export function isAtip({ value }: YamlFile): boolean {
  return isMap(value) && 'atip' in value
}

/**
 * The commands that a program told about itself, as tools. The program is not run for it.
 *
 * @param importer - Where the import is written: there stands a command that the program does not have.
 */
export async function readAtipTools(
  file: YamlFile,
  entry: AtipImport | undefined,
  importer: Importer,
  findings: Findings,
): Promise<LoadedTool[]> {
  const { atipToTools, isAtipError, versionNotice } = await import('@delta/atip') // most agents do without
  const { commands, prefix, trust } = entry ?? {}
  const convert = (chosen: readonly string[] | undefined) => {
    try {
      return atipToTools(withFoundBinary(file) as Parameters<typeof atipToTools>[0], {
        ...(chosen && { commands: chosen }),
        ...(prefix && { prefix }),
        ...(trust && { trust }),
      })
    } catch (error) {
      if (isAtipError(error)) return error
      throw error
    }
  }

  const found = convert(commands)
  if (!Array.isArray(found)) {
    if (!isAboutChoice(found)) findings.error(file.locate(placeIn(file.value, found)), found.message)
    for (const [index, command] of (commands ?? []).entries()) {
      const unknown = convert([command])
      if (Array.isArray(unknown) || !isAboutChoice(unknown)) continue
      const path = [...importer.path, 'commands', index]
      findings.error(importer.file.locate(path), sentence(path, unknown.message))
    }
    return []
  }
  const names = found.map(({ name }) => name)
  if (entry?.effects) checkNames(Object.keys(entry.effects), names, importer, findings)
  const ownEffects = (name: string) => ownEffectsOf(name, entry?.effects ?? {}, importer)
  const items = found.map((item) => withOwnEffects(item, ownEffects(item.name).effects))
  const read = readTools(items, file, [], { ...findings, unknownKey: () => undefined }) // of newer programs
  const tools = read.map((loaded) => ({ ...loaded, effectsFrom: ownEffects(loaded.tool.expanded.name).from }))
  const notice = versionNotice(file.value as Parameters<typeof versionNotice>[0])
  if (notice !== undefined) findings.warn(file.locate(['atip']), notice)
  if (tools.length === 0) warnOfNone(commands, file, importer, findings)
  return tools
}

/** Effects that the importer says of a tool, those of its name before those of `*`, and where each is written. */
function ownEffectsOf(name: string, said: NonNullable<AtipImport['effects']>, importer: Importer) {
  const paths: Record<string, ValuePath> = {}
  for (const of of ['*', name])
    for (const key of Object.keys(said[of] ?? {})) paths[key] = [...importer.path, 'effects', of, key]
  return { effects: { ...said['*'], ...said[name] }, from: { file: importer.file, paths } }
}

/** The importer's word counts like that of a tool's author, also in what may run twice. */
function withOwnEffects<Item extends { effects?: object }>(
  item: Item,
  own: { idempotent?: boolean | undefined },
) {
  if (Object.keys(own).length === 0) return item
  const effects = { ...item.effects, ...own }
  return own.idempotent === true ? { ...item, effects, on_interrupt: 'rerun' } : { ...item, effects }
}

function checkNames(
  said: readonly string[],
  tools: readonly string[],
  importer: Importer,
  findings: Findings,
): void {
  for (const name of said) {
    if (name === '*' || tools.includes(name)) continue
    const path = [...importer.path, 'effects', name]
    const [nearest] = nearestNames(name, tools)
    const hint =
      nearest === undefined ? `There are: ${tools.join(', ')}, and * for all.` : `Did you mean "${nearest}"?`
    const message = sentence([...importer.path, 'effects'], `no tool of this import is called "${name}"`)
    findings.error(importer.file.locate(path, { key: true }), message, hint)
  }
}

/** An import without effect is no mistake of the form, and hardly meant. */
function warnOfNone(
  commands: readonly string[] | undefined,
  file: YamlFile,
  importer: Importer,
  findings: Findings,
): void {
  if (commands?.length === 0) {
    const path = [...importer.path, 'commands']
    const message = sentence(path, 'is empty: nothing is imported')
    findings.warn(importer.file.locate(path), message, 'Leave it out for all commands.')
  } else {
    const message = sentence(importer.path, `${file.name} has no commands: nothing is imported`)
    findings.warn(importer.file.locate(importer.path), message)
  }
}

/** The description as it stands; a program it names by a path (`bin/notes`) is found from the file, not from the workspace. */
function withFoundBinary({ value, path }: YamlFile): unknown {
  if (!isMap(value)) return value
  const { binary } = value
  const isBeside = typeof binary === 'string' && binary.includes('/')
  return isBeside ? { ...value, binary: resolve(dirname(path), binary) } : value
}

/** True for a command that was chosen and is not there; everything else is wrong in the file itself. */
function isAboutChoice(error: Error): boolean {
  return (
    'path' in error &&
    String(error.path) === 'commands' &&
    'value' in error &&
    typeof error.value === 'string'
  )
}

/** Where in the file the member is that the error is about. */
function placeIn(value: unknown, error: Error): ValuePath {
  const path = 'path' in error && Array.isArray(error.path) ? error.path.map(String) : []
  let at: unknown = value
  return path.map((step) => {
    const key = Array.isArray(at) ? Number(step) : step
    at = (at as Record<string, unknown> | null | undefined)?.[step]
    return key
  })
}
