import { mkdirSync, type Stats, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { replaceFile } from '@delta/durable'
import { emptyRunError } from '@delta/journal/internal'
import { EXPORT_FORMATS, type ExportFormat, exportRun, type Trace } from '@delta/trace'
import { withSubAgents } from '@delta/trace/internal'
import { explainSystemError } from '@delta/workspace/internal'
import { describeError } from '../errors.js'
import { promiseOf } from '../export-promise.js'
import type { ShownRunFlags } from '../find-shown-run.js'
import { namedRuns } from '../named-runs.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, print, say } from '../text.js'
import { UsageError } from '../usage.js'

interface ExportFlags extends ShownRunFlags {
  format?: ExportFormat
  output?: string
  redact?: boolean
  subAgents?: boolean
  content?: boolean
}

/** `delta export`: runs in a format of other programs. Only reads the runs. */
export async function execute(flags: ExportFlags, terminal: Terminal, named: string[]): Promise<number> {
  const format = formatOf(flags)
  const found = await namedRuns(named, flags, terminal)
  const traces = found.filter(({ run }) => run.status !== 'EMPTY' || run.problem !== undefined)
  if (traces.length === 0) throw emptyRunError(found[0]?.run.directory ?? '')
  const documents = await documentsOf(traces, flags)
  const target = targetOf(documents, { ...flags, format }, terminal)
  if (typeof target === 'object' && 'directory' in target) refuseOneName(documents)
  const count = await write(documents, { ...flags, format, target }, terminal)
  return conclude(documents, { ...flags, count }, terminal)
}

function formatOf({ format: known, content = false }: ExportFlags): ExportFormat {
  if (known === undefined) throw new UsageError(`--format: choose one of ${EXPORT_FORMATS.join(', ')}.`)
  if (content && known !== 'otlp')
    throw new UsageError(`--content is for --format otlp. ${known} always holds what was said.`)
  return known
}

/** A run, and the named run that it is a sub-agent of, or is itself. */
interface Document {
  trace: Trace
  root: Trace
}

/** In `otlp` sub-agents are spans of the document of their caller. */
async function documentsOf(
  traces: readonly Trace[],
  { format, subAgents = false }: ExportFlags,
): Promise<Document[]> {
  if (!subAgents || format === 'otlp') return traces.map((trace) => ({ trace, root: trace }))
  const documents = new Map<string, Document>()
  for (const root of traces)
    for await (const { trace } of withSubAgents(root)) documents.set(trace.run.directory, { trace, root })
  return [...documents.values()]
}

/** Where documents go: each into a file of its own in a directory, all into one file, or to stdout. */
type Target = { directory: string } | { file: string } | 'stdout'

/** A file of `sft` holds any number of runs; any other, one. */
function targetOf(
  documents: readonly Document[],
  { output, format, subAgents = false }: ExportFlags & { format: ExportFormat },
  { cwd }: Terminal,
): Target {
  const path = output === undefined ? undefined : resolve(cwd, output)
  const isThere = path !== undefined && kindOf(path)?.isDirectory() === true
  const isOne = (documents.length === 1 && !(subAgents && format === 'atif')) || format === 'sft'
  if (path !== undefined && (isThere || output?.endsWith('/') || !isOne)) return { directory: path }
  if (!isOne && documents.length > 1)
    throw new UsageError(`${counted(documents.length, 'run')}: give -o DIR, or name one run.`)
  return path === undefined ? 'stdout' : { file: path }
}

const EXTENSIONS: Readonly<Record<ExportFormat, string>> = {
  atif: 'json',
  otlp: 'json',
  hf: 'jsonl',
  sft: 'jsonl',
}

/**
 * Each file is named after its run, and runs of several workspaces may have one id.
 *
 * @throws {UsageError}
 */
function refuseOneName(documents: readonly Document[]): void {
  const directories = new Map<string, string>()
  for (const { run } of documents.map(({ trace }) => trace)) {
    const other = directories.get(run.runId)
    if (other !== undefined)
      throw new UsageError(
        `Two runs have the id ${run.runId}, and would be one file: ${other} and ${run.directory}. Export them into two directories.`,
      )
    directories.set(run.runId, run.directory)
  }
}

/** @returns How many documents were written: none for a run that the format does not take. */
async function write(
  documents: readonly Document[],
  { format, target, ...flags }: ExportFlags & { format: ExportFormat; target: Target },
  terminal: Terminal,
): Promise<number> {
  const texts: Buffer[] = [] // a string has at most half a gigabyte
  let count = 0
  for (const { trace, root } of documents) {
    const { HOME: home } = terminal.env
    const text: Buffer[] = []
    for await (const piece of exportRun(trace, format, { ...flags, root: root.run, home })) {
      if (target === 'stdout') print(terminal, piece)
      text.push(Buffer.from(target === 'stdout' ? '' : piece))
    }
    if (text.length === 0) continue
    count += 1
    if (target !== 'stdout' && 'directory' in target)
      replace(join(target.directory, `${trace.run.runId}.${EXTENSIONS[format]}`), text, target.directory)
    else texts.push(...text)
  }
  if (target !== 'stdout' && 'file' in target && count > 0) replace(target.file, texts)
  return count
}

/** @throws {UsageError} It cannot be written; or it is a device or a pipe, which is not to be replaced. */
function replace(path: string, text: readonly Buffer[], directory?: string): void {
  if (kindOf(path)?.isFile() === false)
    throw new UsageError(`-o ${path}: it is not a regular file. Leave out -o to print to stdout.`)
  try {
    if (directory !== undefined) mkdirSync(directory, { recursive: true })
    replaceFile(path, Buffer.concat(text))
  } catch (cause) {
    throw cannotWrite(directory ?? path, cause)
  }
}

/** Undefined if nothing is there. */
function kindOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    throw cannotWrite(path, cause)
  }
}

function cannotWrite(path: string, cause: unknown): unknown {
  const reason = explainSystemError(cause)
  return reason === undefined ? cause : new UsageError(`-o ${path}: ${reason}`, { cause })
}

/** Says what is damaged, what was left out, and what an export does not promise. */
function conclude(
  documents: readonly Document[],
  { count, redact = false }: { count: number; redact?: boolean | undefined },
  terminal: Terminal,
): number {
  const problems = documents.flatMap(({ trace }) => trace.run.problem ?? [])
  for (const problem of problems) say(terminal, describeError(problem))
  const left = documents.length - count
  if (left > 0)
    say(
      terminal,
      `${left} of ${counted(documents.length, 'run')} left out: sft takes runs that ended answered, whose last request is recorded.`,
    )
  if (count > 0) say(terminal, promiseOf({ redact }))
  return problems.length > 0 || count === 0 ? EXIT.failed : EXIT.completed
}
