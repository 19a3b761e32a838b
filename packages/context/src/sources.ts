import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { mediaOf, patternBudget } from '@delta/executor/internal'
import { readJournal } from '@delta/journal'
import { runEventSchema, type StoredEvent } from '@delta/journal/runs'
import type { Content, ContentPart } from '@delta/model'
import type { CommandOptions } from './command.js'
import {
  type Conversation,
  groupsOf,
  keepLastIterations,
  type MessageGroup,
  startOf,
} from './conversation.js'
import { ContextError } from './errors.js'
import { makeOutput } from './generator.js'
import {
  type ComputedFileSource,
  type Condition,
  type ContextManifest,
  type ContextSource,
  type FileSource,
  type JournalSource,
  type SkillsSource,
  sourceName,
} from './manifest.js'
import { LARGEST_MEDIA, LARGEST_TEXT, type Refusal, readBytes, textIn } from './read-file.js'
import { sizeMessage } from './size.js'
import { findSkills } from './skills.js'
import { fillText, resolvePath } from './variables.js'
import { readUpwards } from './walk.js'

/** What stood in a request of another run, in place of what the world would give now. Nothing of the world is read or run. */
export interface RecordedSources {
  /** Where the agent's own files are; `${AGENT_HOME}` in a text stands for where they were. */
  agentHome: string | undefined
  /** False: the source was left out. Undefined: it is not in the record. */
  wasThere(sourceId: string): boolean | undefined
  /** What the source was, without its header; undefined if it was left out. Throws for one that is not in the record. */
  textOf(sourceId: string): string | undefined
}

/** Options of a source's reading. */
export interface ReadOptions extends CommandOptions {
  /** Path of the run's journal, or its events. The engine passes the result of `followEvents`. */
  journalPath: string | readonly StoredEvent[] | Conversation
  /** Number of the next iteration, from 1. */
  iteration: number
  /** All messages of users in this run, for `task_contains`. */
  task: string
  /** Keeps the bytes of an image or a file, and returns their SHA-256, under which a message names them. */
  writeBlob?: ((bytes: Uint8Array) => string) | undefined
  /** For a replay: gives all sources but texts, the agent's own files, and the journal. */
  recorded?: RecordedSources | undefined
}

/** The content of one source, before or after it is fitted into the budget. */
export interface Part {
  source: ContextSource
  /** A text is one group, a journal has many, a source that was left out has none. */
  groups: readonly MessageGroup[]
  /** The header of a text with the blank line below it. */
  header?: string
  /** Why it was left out, what was cut, or where it came from. */
  note?: string
  warnings?: readonly string[]
}

/**
 * Reads one source: its text, its conversation, or the reason why there is none.
 *
 * @throws {ContextError} `ERR_CONTEXT_SOURCE`, `ERR_CONTEXT_GENERATOR`, `ERR_CONTEXT_ABORTED`.
 */
export async function readPart(
  source: ContextSource,
  manifest: ContextManifest,
  options: ReadOptions,
): Promise<Part> {
  if (source.condition !== undefined && !holds(source.condition, source, options))
    return { source, groups: [], note: `left out: ${source.condition.when} does not hold` }
  if (source.type === 'journal') return { source, groups: await readGroups(source, options) }

  const { text, media, note, warnings = [] } = await readSource(source, manifest, options)
  if (text === undefined) return { source, groups: [], note: `left out: ${note}`, warnings }
  const written = source.header ?? manifest.header ?? true
  const title = written === true ? '# Context Block: ${id}' : written
  const header = title === false ? '' : `${title.replaceAll('${id}', () => sourceName(source))}\n\n`
  const role = source.role ?? (media ? 'user' : 'system')
  const message = sizeMessage({ role, content: media ? withHeader(header, media) : header + text })
  return {
    source,
    header,
    groups: [{ kind: 'system', messages: [message] }],
    warnings,
    ...(note && { note }),
  }
}

function withHeader(header: string, media: ContentPart): Content {
  return header === '' ? [media] : [{ type: 'text', text: header }, media]
}

function holds(
  condition: Condition,
  source: ContextSource,
  { variables, env, iteration, task, recorded }: ReadOptions,
): boolean {
  const held = () => recorded?.wasThere(sourceName(source))
  switch (condition.when) {
    case 'task_contains':
      return matches(condition.pattern, task)
    case 'file_exists':
      return held() ?? existsSync(resolvePath(condition.path, variables, 'CWD'))
    case 'env_set':
      return held() ?? (env[condition.name] ?? '') !== ''
    case 'iteration_at_least':
      return iteration >= condition.count
    default:
      return condition satisfies never
  }
}

function matches(pattern: string, text: string): boolean {
  const matched = patternBudget()()(new RegExp(pattern, 'i'), text)
  if (typeof matched === 'boolean') return matched
  const message = `context.yaml: the pattern ${pattern} took longer than 1000 ms to search ${text.length} characters.`
  throw new ContextError('ERR_CONTEXT_SOURCE', `${message}\nWrite one repetition: [ab]+ for (a+|b+)+.`)
}

async function readGroups({ maxIterations, ...how }: JournalSource, { journalPath }: ReadOptions) {
  const groups = await allGroups(journalPath)
  return maxIterations === undefined ? groups : keepLastIterations(groups, maxIterations, how)
}

async function allGroups(journal: ReadOptions['journalPath']): Promise<MessageGroup[]> {
  if (typeof journal === 'string')
    return groupsOf((await readJournal(journal, { schema: runEventSchema })).events)
  return 'groups' in journal ? journal.groups() : groupsOf(journal)
}

async function startedAt(journal: ReadOptions['journalPath']): Promise<string | undefined> {
  if (typeof journal === 'string')
    return startOf((await readJournal(journal, { schema: runEventSchema })).events)
  return 'groups' in journal ? journal.startedAt() : startOf(journal)
}

/** A source's text with a note, or the reason why there is none, and warnings. */
interface SourceText {
  text?: string
  /** The image or file that the source is, in place of its text. */
  media?: ContentPart
  note?: string | undefined
  warnings?: readonly string[]
}

async function readSource(
  source: Exclude<ContextSource, JournalSource>,
  manifest: ContextManifest,
  options: ReadOptions,
): Promise<SourceText> {
  const { variables, recorded } = options
  if (source.type === 'text') return { text: fillText(source.text, variables) }
  if (recorded && !isOfAgent(source)) {
    const text = recorded.textOf(sourceName(source))
    return text === undefined ? { note: 'as recorded' } : { text, note: 'as recorded' }
  }
  const place = `context.yaml, sources[${manifest.sources.indexOf(source)}]`
  if (source.type === 'skills') return readSkills(source, place, options)
  if (source.type === 'file' && source.walk) return readWalk(source, place, options)
  if (source.type === 'file') {
    const home = recorded ? recorded.agentHome : variables.AGENT_HOME
    const path = resolvePath(source.path, { ...variables, AGENT_HOME: home }, 'AGENT_HOME')
    return source.as === undefined
      ? readFileOf(source, path, options)
      : readMedia(source, path, place, options)
  }
  const path = resolvePath(source.outputPath, variables, 'CWD')
  const { note, failure } = await makeOutput(source, path, options)
  if (failure === undefined) return { note, ...readFileOf(source, path, options) }
  const name = sourceName(source)
  const warning = `context.yaml: the source "${name}": ${failure}`
  if (source.onMissing === 'skip') return { note: 'its generator failed', warnings: [warning] }
  const message = `${warning}\nTo go on without it: on_missing: skip`
  throw new ContextError('ERR_CONTEXT_GENERATOR', message, name)
}

/** By how its path is written: a workspace may lie in the agent's directory. */
function isOfAgent(source: ContextSource): boolean {
  return source.type === 'file' && !source.walk && !/^(\/|\$\{(CWD|RUN_DIR)\})/.test(source.path)
}

function readSkills(source: SkillsSource, place: string, { variables }: ReadOptions): SourceText {
  const directories = source.paths.map((path) => resolvePath(path, variables, 'AGENT_HOME'))
  const { lines, problems } = findSkills(directories, variables)
  const warnings = problems.map((problem) => `${place} (skills): ${problem}`)
  if (lines.length === 0) return { note: 'there are no skills', warnings }
  const note = lines.length === 1 ? '1 skill' : `${lines.length} skills`
  return { text: `${lines.join('\n')}\n`, note, warnings }
}

async function readWalk(source: FileSource, place: string, options: ReadOptions): Promise<SourceText> {
  const began = await startedAt(options.journalPath)
  const { text, notes, refused, isCut } = readUpwards(source.path, options.variables.CWD, began)
  const [first] = refused
  if (first && source.onMissing === 'error') return refuse(source, first.path, first)
  const warnings = refused.map(
    ({ path, message }) => `${place} (${sourceName(source)}): ${path} left out: it ${message}.`,
  )
  if (isCut)
    warnings.push(`${place} (${sourceName(source)}): cut after 32 kB. Shorten the files, or name fewer.`)
  if (text !== undefined) return { text, note: notes.join('; '), warnings }
  if (source.onMissing === 'skip') return { note: 'missing', warnings }
  const hint = 'Create one, or say that it may be missing: on_missing: skip'
  return refuse(source, source.path, { message: 'exists neither in the workspace nor above it', hint })
}

function readFileOf(
  source: FileSource | ComputedFileSource,
  path: string,
  { variables }: ReadOptions,
): SourceText {
  const read = readBytes(path, LARGEST_TEXT, variables)
  const text = 'bytes' in read ? textIn(read.bytes) : read
  return typeof text === 'string' ? { text } : refuse(source, path, text)
}

/** Reads an image or a file as a part of a message. */
function readMedia(
  source: FileSource,
  path: string,
  place: string,
  { variables, writeBlob = sha256 }: ReadOptions,
): SourceText {
  const read = readBytes(path, LARGEST_MEDIA, variables)
  if (!('bytes' in read)) return refuse(source, path, read)
  const { bytes } = read
  if (bytes.length === 0)
    return refuse(source, path, { message: 'is empty', hint: 'Name a file with something in it.' })
  const seen = mediaOf(bytes)
  if (source.as === 'image' && seen?.type !== 'image') {
    const warning = `${place}: ${source.path.replace(/^\$\{\w+\}\//, '')} is not an image (PNG, JPEG, GIF, WebP).`
    if (source.onMissing === 'skip') return { note: 'unusable', warnings: [warning] }
    const hint = 'Name an image, or send what it is: as: file for a PDF, no as for a text.'
    throw new ContextError('ERR_CONTEXT_SOURCE', `${warning}\n${hint}`, sourceName(source))
  }
  const type = source.as ?? 'file'
  const otherwise = typeof textIn(bytes) === 'string' ? 'text/plain' : 'application/octet-stream'
  const { mediaType: media_type = otherwise, width, height } = seen ?? {}
  const size = { bytes: bytes.length, ...(width && height && { width, height }) }
  return { text: '', media: { type, blob: writeBlob(bytes), media_type, ...size, name: basename(path) } }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function refuse(
  source: FileSource | ComputedFileSource,
  path: string,
  { isMissing, message, hint }: Refusal,
): SourceText {
  if (isMissing && source.onMissing === 'skip') return { note: 'missing' }
  const name = sourceName(source)
  const warning = `context.yaml: the source "${name}": ${path} ${message}.`
  if (source.onMissing === 'skip') return { note: 'unusable', warnings: [warning] }
  const advice = source.type === 'file' ? hint : 'Fix its generator, or go on without it: on_missing: skip'
  throw new ContextError('ERR_CONTEXT_SOURCE', `${warning}\n${advice}`, name)
}
