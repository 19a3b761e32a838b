import { dirname, resolve } from 'node:path'
import { type ValuePath, valueAt } from '@delta/executor'
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

/** Of a command that was chosen and is not there: which one it is; of everything else: where in the file the member stands. */
function whereIn(
  error: Error,
  value: unknown,
  commands: readonly string[] = [],
): { index: number; path: ValuePath } {
  const { path = [], value: chosen } = error as { path?: readonly unknown[]; value?: unknown }
  const names = path.map(String)
  if (names.join() === 'commands' && typeof chosen === 'string')
    return { index: commands.indexOf(chosen), path: [] }
  let at = value
  const steps = names.map((name) => {
    const step = Array.isArray(at) ? Number(name) : name
    at = valueAt(at, [step])
    return step
  })
  return { index: -1, path: steps }
}
