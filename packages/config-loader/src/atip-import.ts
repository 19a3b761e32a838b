import { dirname, resolve } from 'node:path'
import { type ValuePath, valueAt } from '@delta/settings'
import type { z } from 'zod/mini'
import type { atipImportSchema } from './agent-schema.js'
import { inside, report, reportUnknownName, type Spot, sentence, wrong } from './report.js'
import { type LoadedTool, readTools } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

/** What an import says about an ATIP file besides its path. */
export type AtipImport = z.infer<typeof atipImportSchema>

/** This member distinguishes an ATIP file from a file of ours. */
export function isAtip({ value }: YamlFile): boolean {
  return isMap(value) && 'atip' in value
}

/**
 * The commands that a program described in an ATIP file, as tools. Does not run the program.
 *
 * @param importer - Where the import is written. What it says about commands that the program does not have is reported there.
 */
export async function readAtipTools(
  file: YamlFile,
  entry: AtipImport | undefined,
  importer: Spot,
): Promise<LoadedTool[]> {
  const { atipToTools, isAtipError, versionNotice } = await import('@delta/atip') // most agents do not need it
  const { commands, prefix, trust, effects = {} } = entry ?? {}
  const { findings } = importer
  let found: ReturnType<typeof atipToTools>
  try {
    found = atipToTools(withFoundBinary(file) as Parameters<typeof atipToTools>[0], {
      ...(commands && { commands }),
      ...(prefix && { prefix }),
      ...(trust && { trust }),
    })
  } catch (error) {
    if (!isAtipError(error)) throw error
    const { index, path } = whereIn(error, file.value, commands)
    if (index >= 0) wrong(inside(importer, 'commands', index), error.message)
    else findings.error(file.locate(path), error.message)
    return []
  }
  const known = found.map(({ name }) => name)
  for (const name of Object.keys(effects)) {
    if (name === '*' || known.includes(name)) continue
    const spot = inside(importer, 'effects', name)
    const message = sentence(spot.path.slice(0, -1), `no tool of this import is called "${name}"`)
    reportUnknownName(spot, message, { known, otherwise: `There are: ${known.join(', ')}, and * for all.` })
  }
  const ownEffects = (name: string) => ({ ...effects['*'], ...effects[name] })
  const items = found.map((item) => withOwnEffects(item, ownEffects(item.name)))
  const quiet = { ...findings, unknownKey: () => undefined } // of newer programs
  const tools = readTools(items, { file, path: [], findings: quiet }).map((loaded) => {
    const own = ownEffects(loaded.tool.expanded.name)
    return { ...loaded, hasImportedEffects: Object.keys(own).length > 0 }
  })
  const notice = versionNotice(file.value as Parameters<typeof versionNotice>[0])
  if (notice !== undefined) findings.warn(file.locate(['atip']), notice)
  if (tools.length === 0)
    report([{ path: '', message: `nothing is imported from ${file.name}` }], importer, findings.warn)
  return tools
}

/** What the importer says counts as if a tool's author said it, also about what may run twice. */
function withOwnEffects<Item extends { effects?: object }>(
  item: Item,
  own: { idempotent?: boolean | undefined },
) {
  if (Object.keys(own).length === 0) return item
  const effects = { ...item.effects, ...own }
  return own.idempotent === true ? { ...item, effects, on_interrupt: 'rerun' } : { ...item, effects }
}

/** The description. A program that it names by a path (`bin/notes`) is found from the file, not from the workspace. */
function withFoundBinary({ value, path }: YamlFile): unknown {
  if (!isMap(value)) return value
  const { binary } = value
  const isBeside = typeof binary === 'string' && binary.includes('/')
  return isBeside ? { ...value, binary: resolve(dirname(path), binary) } : value
}

/** Where an error of the description stands: the index of a chosen command that does not exist, or a path in the file. */
function whereIn(
  error: Error,
  value: unknown,
  commands: readonly string[] = [],
): { index: number; path: ValuePath } {
  const { path = [], value: chosen } = error as { path?: readonly unknown[]; value?: unknown }
  if (path.join() === 'commands' && typeof chosen === 'string')
    return { index: commands.indexOf(chosen), path: [] }
  const found: (string | number)[] = []
  for (const name of path.map(String)) found.push(Array.isArray(valueAt(value, found)) ? Number(name) : name)
  return { index: -1, path: found }
}
