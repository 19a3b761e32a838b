import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile, syncName } from '@delta/durable'
import { EngineError } from './errors.js'
import { interrupted, type Outcome, type Question } from './outcome.js'
import type { RunState } from './run-state.js'

/**
 * The answer to a journaled question: `given`, otherwise the person's at the terminal. Without either, the question is written
 * to `interaction/`, and the outcome ends this engine's part.
 */
export async function answerTo(
  state: RunState,
  question: Question,
  given: string | undefined,
): Promise<string | Outcome> {
  const answer = given ?? (await askPerson(state, question))
  if (answer !== undefined) return answer
  if (state.signal.aborted) return interrupted(state.signal)
  writeQuestion(state.run.paths.interaction, question)
  const reasonCode = question.command === undefined ? 'question' : 'approval'
  return { status: 'WAITING_FOR_INPUT', reasonCode, question }
}

/** The answer from the terminal; undefined without a person, at the end of input, or when the run is being stopped. */
async function askPerson(state: RunState, question: Question): Promise<string | undefined> {
  if (!state.ask || state.signal.aborted) return undefined
  state.run.journal.sync()
  const answered = new AbortController()
  const nothing = () => undefined
  // listens before `ask` is called, which may stop the run itself
  const stopped = once(state.signal, 'abort', { signal: answered.signal }).then(nothing, nothing)
  try {
    return await Promise.race([state.ask(question), stopped])
  } finally {
    answered.abort()
  }
}

/** Writes a question for a person or a program: `request.json`, and an empty `response.txt` to fill in. */
function writeQuestion(directory: string, question: Question): void {
  if (isAskedIn(directory, question)) return
  if (isLink(directory)) rmSync(directory) // a tool made it to redirect these files
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const request = {
    request_id: question.requestId,
    timestamp: new Date().toISOString(),
    prompt: question.prompt,
    input_type: question.inputType,
    sensitive: question.sensitive,
    command: question.command, // this and the following fields only for an approval
    started: question.started,
    tool_name: question.tool,
    reasons: question.reasons,
    effects: question.effects,
  }
  replaceFile(join(directory, 'response.txt'), '')
  replaceFile(join(directory, 'request.json'), `${JSON.stringify(request, null, 2)}\n`)
  syncName(directory)
}

/**
 * The answer in `response.txt`, without one final newline. Undefined when the file is missing, blank, or belongs to another
 * question, which a crash can leave behind.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_ANSWER`: it is not a regular file, longer than 1 MiB, or not UTF-8 text.
 */
export function readResponse(directory: string, question: Question): string | undefined {
  if (!isAskedIn(directory, question)) return undefined
  const read = readText(join(directory, 'response.txt'))
  if (typeof read === 'object') throw noAnswer(read.problem)
  const text = read?.replace(/^\uFEFF/, '').replace(/\r?\n$/, '')
  return text?.trim() === '' ? undefined : text
}

/** Bytes of a text that is written for a run. A longer one is no text for a model, and a tool may have put it there. */
export const LONGEST_TEXT = 2 ** 20

/**
 * Reads what a person or a program wrote for the run; undefined for a missing file, and otherwise why it is not read, as a sentence.
 * Bytes that are not UTF-8 would reach the model as replacement characters.
 *
 * @throws The system's error.
 */
export function readText(path: string): string | undefined | { problem: string } {
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (what === undefined) return undefined
  // a link may point to any file, and reading a pipe would block
  if (!what.isFile()) return { problem: `${path} is not a regular file.` }
  const bytes = readWithoutLink(path)
  if (bytes === undefined) return { problem: `${path} is longer than 1 MiB.` }
  if (!isUtf8(bytes) || bytes.includes(0)) return { problem: `${path} is not UTF-8 text.` } // a power cut leaves NULs
  return bytes.toString('utf8')
}

/** Undefined for a file that is too long. */
function readWithoutLink(path: string): Buffer | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return fstatSync(file).size > LONGEST_TEXT ? undefined : readFileSync(file)
  } finally {
    closeSync(file)
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

function noAnswer(why: string): EngineError {
  return new EngineError(
    'ERR_ENGINE_NO_ANSWER',
    `${why}\nWrite the answer into a file of that name, or give it as a message.`,
  )
}

/** Removes question and answer. Called once the answer is in the journal. */
export function clearInteraction(directory: string): void {
  rmSync(directory, { recursive: true, force: true })
}

function isAskedIn(directory: string, question: Question): boolean {
  if (isLink(directory)) return false
  const text = readIfThere(join(directory, 'request.json'))?.toString()
  if (text === undefined) return false
  try {
    return (JSON.parse(text) as { request_id?: unknown }).request_id === question.requestId
  } catch {
    return false // an edit broke the file; the question is written again
  }
}
