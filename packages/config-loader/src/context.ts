import { join } from 'node:path'
import { type ContextManifest, type ContextSource, parseManifest } from '@delta/context'
import { missingContextMessage } from './context-file.js'
import type { Findings } from './findings.js'
import { readText } from './read-text.js'
import { reportForeign } from './report.js'
import { displayName, isInside, readYaml, type Workplace } from './workplace.js'
import type { YamlFile } from './yaml-file.js'

export const CONTEXT_FILE = 'context.yaml'

export interface LoadedContext {
  manifest: ContextManifest
  file: YamlFile
}

/**
 * Reads the agent's `context.yaml`, which must be there.
 *
 * @param promptFile - What the message about a missing file proposes to send, relative to the agent's directory.
 */
export async function readContext(
  workplace: Workplace,
  promptFile: string,
  findings: Findings,
): Promise<LoadedContext | undefined> {
  const path = join(workplace.home, CONTEXT_FILE)
  const { exists, file } = await readYaml(path, workplace, findings)
  if (!exists) {
    findings.error({ file: '' }, missingContextMessage(workplace.home, promptFile))
    return undefined
  }
  if (file === undefined) return undefined
  if (file.value === null) {
    findings.error(
      { file: file.name },
      'The file is empty.',
      'It needs sources: delta init writes an example.',
    )
    return undefined
  }
  if (Array.isArray(file.value)) {
    findings.error(
      file.locate([]),
      'This is a list, but a recipe is a map.',
      'Write "sources:" above the list.',
    )
    return undefined
  }

  const parsed = parseManifest(file.value)
  reportForeign(parsed.warnings, file, [], findings.unknownKey)
  if (parsed.ok) return { manifest: parsed.manifest, file }
  reportForeign(parsed.problems, file, [], findings.error)
  return undefined
}

/**
 * Finds recipes that cannot work: a file of the agent's own that must be there and is not, and a prompt nobody sends.
 */
export async function checkSources(
  { manifest, file }: LoadedContext,
  prompt: string | undefined,
  workplace: Workplace,
  findings: Findings,
): Promise<void> {
  let sendsPrompt = false
  for (const [index, source] of manifest.sources.entries()) {
    const path = ownFile(source, workplace.home)
    if (path === undefined) continue
    sendsPrompt ||= prompt !== undefined && path === join(workplace.home, prompt)
    if (
      source.type === 'file' &&
      source.onMissing === 'error' &&
      source.condition === undefined &&
      !isComputed(path, manifest, workplace.home)
    ) {
      const read = await readText(path)
      if (read.ok || read.reason === 'too-large') continue
      const hint =
        read.reason === 'missing'
          ? 'Create the file, or say that it may be missing: on_missing: skip'
          : undefined
      findings.error(
        file.locate(['sources', index, 'path']),
        `${displayName(workplace, path)} ${read.message}.`,
        hint,
      )
    }
  }
  if (
    prompt !== undefined &&
    !sendsPrompt &&
    !manifest.sources.some(({ type }) => type === 'computed_file')
  ) {
    const hint = `Add a source: { type: file, path: '\${AGENT_HOME}/${prompt}' }`
    findings.warn(
      file.locate(['sources'], { key: true }),
      `No source reads ${prompt}; the model will not see it.`,
      hint,
    )
  }
}

function ownFile(source: ContextSource, home: string): string | undefined {
  if (source.type === 'journal') return undefined
  const written = source.type === 'file' ? source.path : source.outputPath
  const relativeToHome = source.type === 'file' && !written.startsWith('${') && !written.startsWith('/')
  const path = relativeToHome ? join(home, written) : written.replace(/^\$\{AGENT_HOME\}/, home)
  const resolved = path.startsWith('/') ? join(path) : undefined
  return resolved !== undefined && isInside(resolved, home) ? resolved : undefined
}

function isComputed(path: string, manifest: ContextManifest, home: string): boolean {
  return manifest.sources.some((source) => source.type === 'computed_file' && ownFile(source, home) === path)
}
