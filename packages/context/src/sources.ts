import { closeSync, existsSync, fstatSync, readFileSync } from 'node:fs'
import { openAtOnce } from '@delta/durable'
import { limitedMatcher } from '@delta/executor/internal'
import { readJournal } from '@delta/journal'
import { runEventSchema, type StoredEvent } from '@delta/journal/runs'
import type { CommandOptions } from './command.js'
import {
  type Conversation,
  groupsOf,
  keepLastIterations,
  type MessageGroup,
  sizeMessage,
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
  sourceName,
} from './manifest.js'
import { type ContextVariables, fillText, resolvePath, whereItLeads } from './variables.js'

/** Options of a source's reading. */
export interface ReadOptions extends CommandOptions {
  /** Path of the run's journal, or its events. The engine passes the result of `followEvents`. */
  journalPath: string | readonly StoredEvent[] | Conversation
  /** Number of the next iteration, from 1. */
  iteration: number
  /** All messages of users in this run, for `task_contains`. */
  task: string
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
  warning?: string
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
  if (source.condition !== undefined && !holds(source.condition, options))
    return { source, groups: [], note: `left out: ${source.condition.when} does not hold` }
  if (source.type === 'journal') return { source, groups: await readGroups(source, options) }

  const { text, note, warning } = await readSource(source, options)
  if (text === undefined)
    return { source, groups: [], note: `left out: ${note}`, ...(warning && { warning }) }
  const written = source.header ?? manifest.header ?? true
  const title = written === true ? '# Context Block: ${id}' : written
  const header = title === false ? '' : `${title.replaceAll('${id}', () => sourceName(source))}\n\n`
  const message = sizeMessage({ role: source.role ?? 'system', content: header + text })
  return { source, header, groups: [{ kind: 'system', messages: [message] }], ...(note && { note }) }
}

function holds(condition: Condition, { variables, env, iteration, task }: ReadOptions): boolean {
  switch (condition.when) {
    case 'task_contains':
      return matches(condition.pattern, task)
    case 'file_exists':
      return existsSync(resolvePath(condition.path, variables, 'CWD'))
    case 'env_set':
      return (env[condition.name] ?? '') !== ''
    case 'iteration_at_least':
      return iteration >= condition.count
    default:
      return condition satisfies never
  }
}

function matches(pattern: string, text: string): boolean {
  const matched = limitedMatcher()(new RegExp(pattern, 'i'), text)
  if (typeof matched === 'boolean') return matched
  const message = `context.yaml: the pattern ${pattern} took longer than 1000 ms to search ${text.length} characters.`
  throw new ContextError('ERR_CONTEXT_SOURCE', `${message}\nWrite one repetition: [ab]+ for (a+|b+)+.`)
}

async function readGroups({ maxIterations, dropped }: JournalSource, { journalPath }: ReadOptions) {
  const groups = await allGroups(journalPath)
  return maxIterations === undefined ? groups : keepLastIterations(groups, maxIterations, dropped)
}

async function allGroups(journal: ReadOptions['journalPath']): Promise<MessageGroup[]> {
  if (typeof journal === 'string')
    return groupsOf((await readJournal(journal, { schema: runEventSchema })).events)
  return 'groups' in journal ? journal.groups() : groupsOf(journal)
}

/** A source's text with a note, or the reason why there is none, with a warning. */
interface SourceText {
  text?: string
  note?: string | undefined
  warning?: string
}

async function readSource(
  source: Exclude<ContextSource, JournalSource>,
  options: ReadOptions,
): Promise<SourceText> {
  const { variables } = options
  if (source.type === 'text') return { text: fillText(source.text, variables) }
  if (source.type === 'file')
    return readFileOf(source, resolvePath(source.path, variables, 'AGENT_HOME'), variables)

  const path = resolvePath(source.outputPath, variables, 'CWD')
  const { note, failure } = await makeOutput(source, path, options)
  if (failure === undefined) return { note, ...readFileOf(source, path, variables) }
  const name = sourceName(source)
  const warning = `context.yaml: the source "${name}": ${failure}`
  if (source.onMissing === 'skip') return { note: 'its generator failed', warning }
  const message = `${warning}\nTo go on without it: on_missing: skip`
  throw new ContextError('ERR_CONTEXT_GENERATOR', message, name)
}

function readFileOf(
  source: FileSource | ComputedFileSource,
  path: string,
  variables: ContextVariables,
): SourceText {
  const read = readText(path, variables)
  if (typeof read === 'string') return { text: read }
  if (read.isMissing && source.onMissing === 'skip') return { note: 'missing' }

  const name = sourceName(source)
  const warning = `context.yaml: the source "${name}": ${path} ${read.message}.`
  if (source.onMissing === 'skip') return { note: 'unusable', warning }
  const hint = source.type === 'file' ? read.hint : 'Fix its generator, or go on without it: on_missing: skip'
  throw new ContextError('ERR_CONTEXT_SOURCE', `${warning}\n${hint}`, name)
}

/** About four times a context window of a million tokens. */
const LARGEST_MEGABYTES = 16

/** Why a file cannot be read, and what to do. */
interface Refusal {
  message: string
  hint: string
  isMissing?: true
}

/** Reads a file for a model: UTF-8 text of at most 16 MB, without its byte order mark. */
function readText(path: string, variables: ContextVariables): string | Refusal {
  try {
    const file = openAtOnce(path)
    try {
      return readOpen(file, path, variables)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const create = 'Create the file, or say that it may be missing: on_missing: skip'
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { isMissing: true, message: 'does not exist', hint: create }
    if (code === 'EISDIR') return { message: 'is a directory, not a file', hint: 'Name a file in it.' }
    return {
      message: `cannot be read: ${message}`,
      hint: 'Change its permissions, or name another file.',
    }
  }
}

function readOpen(file: number, path: string, variables: ContextVariables): string | Refusal {
  const status = fstatSync(file, { bigint: true })
  const target = whereItLeads(path, variables, status)
  if (target !== undefined)
    return {
      message: `is a link that leads out of the workspace, to ${target}`,
      hint: 'A tool may have made it. Copy the file into the workspace, or name it by its own path.',
    }
  const hint = 'Name a text file, or extract what the model needs with a computed_file.'
  if (status.size > LARGEST_MEGABYTES * 1024 * 1024)
    return { message: `is larger than ${LARGEST_MEGABYTES} MB`, hint }
  const bytes = readFileSync(file)
  if (bytes.includes(0)) return { message: 'is not a text: it contains NUL bytes', hint }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { message: 'is not UTF-8 text', hint }
  }
}
