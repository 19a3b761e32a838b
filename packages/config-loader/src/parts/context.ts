import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ContextManifest, type ContextSource, parseManifest } from '@delta/context'
import { readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import { reportForeign } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'
import { missingContextMessage } from './context-file.js'

export const CONTEXT_FILE = 'context.yaml'

export interface LoadedContext {
  /** Undefined if something is wrong with it, which was reported. */
  manifest?: ContextManifest
  /** The sources as they stand in the file; undefined where one is wrong. */
  sources: readonly (ContextSource | undefined)[]
  file: YamlFile
}

/**
 * Reads the agent's `context.yaml`, which must be there.
 *
 * @param promptFile - What the message about a missing file proposes to send, relative to the agent's directory.
 */
export function readContext(
  workplace: Workplace,
  promptFile: string,
  findings: Findings,
): LoadedContext | undefined {
  const path = join(workplace.home, CONTEXT_FILE)
  const { exists, file } = readYaml(path, workplace, findings)
  if (!exists) {
    // a context.yml in its place was reported, and needs no second advice
    if (!existsSync(path.replace(/yaml$/, 'yml')))
      findings.error({ file: '' }, missingContextMessage(workplace.home, promptFile))
    return undefined
  }
  if (file === undefined) return undefined
  if (file.value === null || Array.isArray(file.value)) {
    const hint = file.value === null ? 'delta init writes an example.' : 'Write "sources:" above the list.'
    findings.error(file.locate([]), 'A recipe is a map with a list "sources:".', hint)
    return undefined
  }

  const parsed = parseManifest(file.value)
  reportForeign(parsed.warnings, file, [], findings.unknownKey)
  if (parsed.ok) return { manifest: parsed.manifest, sources: parsed.manifest.sources, file }
  reportForeign(parsed.problems, file, [], findings.error)
  return { sources: parsed.sources, file }
}
