import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize, resolve } from 'node:path'
import { type ContextManifest, type ContextSource, safeParseManifest } from '@delta/context'
import { isInside } from '@delta/executor/internal'
import { showValue } from '@delta/settings'
import { displayName, readText, readYaml, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { report, type Spot } from './report.js'
import { type SetValue, setIn } from './set.js'
import type { YamlFile } from './yaml.js'

export const CONTEXT_FILE = 'context.yaml'

export interface LoadedContext {
  /** Absent if something is wrong with it, which was reported. */
  manifest?: ContextManifest
  /** The sources in their order; undefined where one is wrong. */
  sources: readonly (ContextSource | undefined)[]
  file: YamlFile
}

/**
 * Reads the agent's `context.yaml`, which must exist.
 *
 * @param promptFile - The prompt file that the message about a missing file proposes, relative to the agent's directory.
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
    findings.error(other.place, `context: must be the path of a file, got ${showValue(name)}.`)
  if (typeof name !== 'string') return undefined
  const path = resolve(workplace.home, name)
  const { exists, file: read } = readYaml(path, workplace, findings)
  if (!exists && other !== undefined) {
    findings.error(other.place, `${path} does not exist.`, "The path is relative to the agent's directory.")
    return undefined
  }
  if (!exists) {
    // a context.yml in its place was reported
    if (!existsSync(path.replace(/yaml$/, 'yml')))
      findings.error(
        { file: '', code: 'ERR_CONFIG_CONTEXT_MISSING' },
        missingContextMessage(workplace.home, promptFile),
      )
    return undefined
  }
  if (read === undefined) return undefined
  const inner = sets.filter(({ path }) => path.length > 0)
  setIn(read, [], inner, findings)
  const file = other === undefined ? read : { ...read, setBy: () => other.place }
  return checkManifest({ file, path: [], findings })
}

/** Checks the value of a file as a recipe, at a place of what is reported. */
function checkManifest(spot: Spot): LoadedContext {
  const { file, findings } = spot
  const parsed = safeParseManifest(file.value)
  report(parsed.warnings, spot, findings.unknownKey)
  if (parsed.ok) return { manifest: parsed.manifest, sources: parsed.manifest.sources, file }
  report(parsed.problems, spot)
  return { sources: parsed.sources, file }
}

/**
 * Reports a recipe that cannot work: a file of the agent that must exist and does not, or a prompt that no source sends.
 *
 * @param prompt - The agent's prompt file, relative to its directory.
 */
export function checkSources(
  { sources, manifest, file }: LoadedContext,
  prompt: string | undefined,
  workplace: Workplace,
  findings: Findings,
): void {
  const { home } = workplace
  const promptPath = prompt && join(home, prompt)
  const paths = sources.map((source) => source && ownFile(source, home))
  const computed = paths.filter((_, index) => sources[index]?.type === 'computed_file')
  for (const [index, source] of sources.entries()) {
    const path = paths[index]
    if (!source || path === undefined || !isNeeded(source) || computed.includes(path)) continue
    if (path === promptPath) continue // it was read, or given as a value
    const read = readText(path)
    if (read.ok || read.reason === 'too-large') continue // context sources may be larger than a configuration
    if (read.reason === 'not-text' && source.type === 'file' && source.as) continue // an image, or a PDF
    const hint =
      read.reason === 'missing'
        ? 'Create the file, or say that it may be missing: on_missing: skip'
        : undefined
    const place = file.locate(['sources', index, 'path'])
    findings.error(place, `${displayName(workplace, path)} ${read.message}.`, hint)
  }
  if (!manifest || promptPath === undefined || paths.includes(promptPath) || computed.length > 0) return
  const hint = `Add a source: { type: file, path: '\${AGENT_HOME}/${prompt}' }`
  const place = file.locate(['sources'], { key: true })
  findings.warn(place, `No source reads ${prompt}; the model will not see it.`, hint)
}

function isNeeded(source: ContextSource): boolean {
  return source.type === 'file' && source.onMissing === 'error' && source.condition === undefined
}

/** The file that a source reads or writes, if it lies inside the agent's directory. */
function ownFile(source: ContextSource, home: string): string | undefined {
  if (source.type !== 'file' && source.type !== 'computed_file') return undefined
  if (source.type === 'file' && source.walk) return undefined // of the workspace
  const written = source.type === 'file' ? source.path : source.outputPath
  const path = written.replace(/^\$\{AGENT_HOME\}/, () => home)
  if (path.startsWith('${')) return undefined
  // an agent without a directory has no files but the prompt that was given
  if (home === '/') return written.startsWith('${AGENT_HOME}') ? normalize(path) : undefined
  if (!isAbsolute(path)) return source.type === 'file' ? join(home, path) : undefined
  return isInside(normalize(path), home) ? normalize(path) : undefined
}

/**
 * The message about a missing context.yaml: why it is needed, and one to paste.
 *
 * @param promptFile - The agent's prompt file, relative to its directory, so that the pasted file works at once.
 */
function missingContextMessage(directory: string, promptFile: string): string {
  const onMissing = existsSync(join(directory, promptFile)) ? '' : '\n    on_missing: skip'
  return `context.yaml not found in ${directory}

Delta Engine requires an explicit context.yaml file to define how
the agent's attention window is constructed.

Quick fix - Create context.yaml with default content:

sources:
  - type: file
    id: system_prompt
    path: '\${AGENT_HOME}/${promptFile.replaceAll("'", "''")}'${onMissing}
  - type: file
    id: workspace_guide
    path: '\${CWD}/DELTA.md'
    on_missing: skip
  - type: journal
    id: conversation_history

For more information, see:
https://github.com/delta-engine/delta/blob/main/packages/context/README.md`
}
