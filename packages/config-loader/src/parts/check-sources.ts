import { isAbsolute, join, normalize } from 'node:path'
import type { ContextSource, FileSource } from '@delta/context'
import { readText } from '../files/read-text.js'
import { displayName, isInside, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import type { LoadedContext } from './context.js'

/**
 * Finds recipes that cannot work: a file of the agent's own that must be there and is not, and a prompt nobody sends.
 *
 * @param prompt - The agent's prompt file, relative to its directory.
 */
export function checkSources(
  context: LoadedContext,
  prompt: string | undefined,
  workplace: Workplace,
  findings: Findings,
): void {
  const { home } = workplace
  const sources = [...context.sources.entries()].flatMap(([index, source]) =>
    source ? [{ index, source }] : [],
  )
  const computed = sources
    .filter(({ source }) => source.type === 'computed_file')
    .map(({ source }) => ownFile(source, home))

  for (const { index, source } of sources) {
    const path = ownFile(source, home)
    if (path === undefined || !isNeeded(source) || computed.includes(path)) continue
    checkReadable(path, index, context, workplace, findings)
  }
  const isSent = (name: string) => sources.some(({ source }) => ownFile(source, home) === join(home, name))
  if (context.manifest !== undefined && prompt !== undefined && !isSent(prompt) && computed.length === 0) {
    const hint = `Add a source: { type: file, path: '\${AGENT_HOME}/${prompt}' }`
    const place = context.file.locate(['sources'], { key: true })
    findings.warn(place, `No source reads ${prompt}; the model will not see it.`, hint)
  }
}

function checkReadable(
  path: string,
  index: number,
  { file }: LoadedContext,
  workplace: Workplace,
  findings: Findings,
): void {
  const read = readText(path)
  if (read.ok || read.reason === 'too-large') return // the context takes larger files than a configuration may be
  const hint =
    read.reason === 'missing' ? 'Create the file, or say that it may be missing: on_missing: skip' : undefined
  findings.error(
    file.locate(['sources', index, 'path']),
    `${displayName(workplace, path)} ${read.message}.`,
    hint,
  )
}

function isNeeded(source: ContextSource): source is FileSource {
  return source.type === 'file' && source.onMissing === 'error' && source.condition === undefined
}

/** The file inside of the agent's directory that a source reads or writes, if it is one. */
function ownFile(source: ContextSource, home: string): string | undefined {
  if (source.type === 'journal' || source.type === 'text') return undefined
  const written = source.type === 'file' ? source.path : source.outputPath
  const path = written.replace(/^\$\{AGENT_HOME\}/, () => home)
  if (path.startsWith('${')) return undefined
  if (!isAbsolute(path)) return source.type === 'file' ? join(home, path) : undefined
  return isInside(normalize(path), home) ? normalize(path) : undefined
}
