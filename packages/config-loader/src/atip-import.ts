import { dirname, resolve } from 'node:path'
import type { ValuePath } from '@delta/executor'
import type { z } from 'zod/mini'
import type { atipImportSchema } from './agent-schema.js'
import { inside, report, reportUnknownName, type Spot, sentence, wrong } from './shape.js'
import { type LoadedTool, readTools } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

/** What an import says about an ATIP file besides its path. */
export type AtipImport = z.infer<typeof atipImportSchema>

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
  importer: Spot,
): Promise<LoadedTool[]> {
  const { atipToTools, isAtipError, versionNotice } = await import('@delta/atip') // most agents do without
  const { commands, prefix, trust, effects = {} } = entry ?? {}
  const { findings } = importer
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
      if (!Array.isArray(unknown) && isAboutChoice(unknown))
        wrong(inside(importer, 'commands', index), unknown.message)
    }
    return []
  }
  checkNames(
    Object.keys(effects),
    found.map(({ name }) => name),
    inside(importer, 'effects'),
  )
  const items = found.map((item) => withOwnEffects(item, { ...effects['*'], ...effects[item.name] }))
  const quiet = { ...findings, unknownKey: () => undefined } // of newer programs
  const tools = readTools(items, { file, path: [], findings: quiet })
  const notice = versionNotice(file.value as Parameters<typeof versionNotice>[0])
  if (notice !== undefined) findings.warn(file.locate(['atip']), notice)
  if (tools.length === 0)
    report([{ path: '', message: `nothing is imported from ${file.name}` }], importer, findings.warn)
  return tools
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

function checkNames(said: readonly string[], tools: readonly string[], spot: Spot): void {
  for (const name of said) {
    if (name === '*' || tools.includes(name)) continue
    const message = sentence(spot.path, `no tool of this import is called "${name}"`)
    const otherwise = `There are: ${tools.join(', ')}, and * for all.`
    reportUnknownName(inside(spot, name), message, { known: tools, otherwise })
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
