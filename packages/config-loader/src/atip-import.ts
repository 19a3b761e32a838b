import type { z } from 'zod/mini'
import type { atipImportSchema } from './agent-schema.js'
import type { Findings } from './findings.js'
import { type LoadedTool, readTools } from './tools.js'
import type { YamlFile } from './yaml-file.js'

/** What an import says about an ATIP file besides its path. */
export type AtipImport = z.infer<typeof atipImportSchema>

/** ATIP files are told from ours by this member. */
export function isAtip({ value }: YamlFile): boolean {
  return typeof value === 'object' && value !== null && 'atip' in value
}

/** The commands that a program told about itself, as tools. The program is not run for it. */
export async function readAtipTools(
  file: YamlFile,
  entry: AtipImport | undefined,
  findings: Findings,
): Promise<LoadedTool[]> {
  const { atipToTools, isAtipError } = await import('@delta/atip') // most agents do without
  const { commands, prefix, trust } = entry ?? {}
  try {
    const tools = atipToTools(file.value as Parameters<typeof atipToTools>[0], {
      ...(commands && { commands }),
      ...(prefix && { prefix }),
      ...(trust && { trust }),
    })
    return readTools(tools, file, [], findings)
  } catch (error) {
    if (!isAtipError(error)) throw error
    findings.error({ file: file.name }, error.message)
    return []
  }
}
