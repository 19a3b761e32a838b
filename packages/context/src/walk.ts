import { existsSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { LARGEST_TEXT, type Refusal, readBytes, textIn } from './read-file.js'

/** What the files of a walk may hold together. */
const MOST_BYTES = 32_000
const CUT_HERE = '\n[cut here: the rest exceeds 32 kB]'

interface Walked {
  /** All files, the outermost first; undefined if there is none. */
  text: string | undefined
  /** For people: which files there are, and which of them this run wrote. */
  notes: string[]
  /** The files that cannot be sent. */
  refused: (Refusal & { path: string })[]
  isCut: boolean
}

/**
 * Reads the file of a name in each directory from the repository's top, which holds `.git`, down to the workspace; in the workspace
 * alone if there is no repository. A link may lead anywhere in the repository, and not out of it.
 *
 * @param name - Relative to each directory, such as `AGENTS.md`.
 * @param startedAt - When the run began. A file whose status changed later was written during the run: a tool cannot set that time.
 */
export function readUpwards(name: string, workspace: string, startedAt: string | undefined): Walked {
  const top = topOf(workspace)
  const walked: Walked = { text: undefined, notes: [], refused: [], isCut: false }
  const texts: string[] = []
  const written: string[] = []
  for (const directory of between(top, workspace)) {
    const path = join(directory, name)
    const read = readBytes(path, LARGEST_TEXT, { CWD: top, RUN_DIR: top })
    const text = 'bytes' in read ? textIn(read.bytes) : read
    if (typeof text !== 'string') {
      if (!text.isMissing) walked.refused.push({ ...text, path })
      continue
    }
    const shown = relative(top, path)
    texts.push(`## ${shown}\n\n${text.trimEnd()}\n`)
    if (startedAt !== undefined && wasWrittenSince(path, startedAt)) written.push(shown)
  }
  if (texts.length === 0) return walked
  const all = texts.join('\n')
  walked.isCut = Buffer.byteLength(all) > MOST_BYTES
  walked.text = walked.isCut ? headOf(all) + CUT_HERE : all
  if (texts.length > 1) walked.notes.push(`${texts.length} files`)
  if (written.length > 0) walked.notes.push(`${written.join(', ')} written during this run`)
  return walked
}

/** The nearest directory upwards that holds `.git`: a directory, or a file in a worktree. */
function topOf(workspace: string): string {
  for (let at = workspace; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (at === dirname(at)) return workspace
  }
}

/** The directories from the outer to the inner one, both included. */
function between(outer: string, inner: string): string[] {
  return inner === outer ? [outer] : [...between(outer, dirname(inner)), inner]
}

function wasWrittenSince(path: string, time: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0) >= Date.parse(time)
}

/** The first bytes, without a piece of a character at their end. */
function headOf(text: string): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, MOST_BYTES), { stream: true })
}
