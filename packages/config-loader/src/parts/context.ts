import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ContextManifest, type ContextSource, parseManifest } from '@delta/context'
import { readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import { reportForeign } from '../shape/report.js'
import { type SetValue, setIn } from '../shape/set.js'
import { show } from '../shape/shape-problem.js'
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
 * @param sets - What was set in it; a set without a path names another file, relative to the agent's directory.
 */
export function readContext(
  workplace: Workplace,
  promptFile: string,
  sets: readonly SetValue[],
  findings: Findings,
): LoadedContext | undefined {
  const other = sets.findLast(({ path, written }) => path.length === 0 && written !== '')
  const { value: name = CONTEXT_FILE } = other ?? {}
  if (other !== undefined && typeof name !== 'string')
    findings.error(other.place, `context: must be the path of a file, not ${show(name)}.`)
  if (typeof name !== 'string') return undefined
  const path = resolve(workplace.home, name)
  const { exists, file: read } = readYaml(path, workplace, findings)
  if (!exists && other !== undefined) {
    findings.error(other.place, `${path} does not exist.`, "The path is relative to the agent's directory.")
    return undefined
  }
  if (!exists) {
    // a context.yml in its place was reported, and needs no second advice
    if (!existsSync(path.replace(/yaml$/, 'yml')))
      findings.error({ file: '' }, missingContextMessage(workplace.home, promptFile))
    return undefined
  }
  if (read === undefined) return undefined
  const inner = sets.filter(({ path }) => path.length > 0)
  const { value, file: edited } = setIn(read.value, read, [], inner, findings)
  const file = { ...edited, value, ...(other && { setBy: () => other.place }) }
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
