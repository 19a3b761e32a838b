import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '@delta/durable'
import { namesIn, removeFile } from '@delta/durable/internal'
import type { NewEventOf } from '@delta/journal'
import { isKnownEvent, type Run, type UserMessageEvent } from '@delta/journal/runs'
import { LONGEST_TEXT, readText } from './interaction.js'
import type { Outcome } from './outcome.js'
import { type RunState, record, warnAuthor } from './run-state.js'

/** What was said to a running run, and is not in its journal yet: `<run>/inbox/<id>`, one text a file. */
const inboxOf = (runDirectory: string) => join(runDirectory, 'inbox')

/** Ids sort by time. What has another name is not a message: the file beside one that is being written, for example. */
const ID = /^[\w-]{1,64}$/

/**
 * Says something to a run: its engine reads it before the next request, and before it would complete. If the run has ended by
 * then, the next `continueRun` takes it.
 *
 * @returns The path of the message, which is there until the run has taken it; or why nothing was said, as a sentence.
 */
export function sayToRun(runDirectory: string, text: string): { path: string } | { problem: string } {
  if (Buffer.byteLength(text) > LONGEST_TEXT) return { problem: 'The message is longer than 1 MiB.' }
  const directory = inboxOf(runDirectory)
  if (lstatSync(directory, { throwIfNoEntry: false }) === undefined)
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (!lstatSync(directory).isDirectory())
    return { problem: `${directory} is not a directory: a tool may have made it.` }
  const time = new Date().toISOString().replace(/[-:.Z]/g, '')
  const path = join(directory, `${time}_${randomBytes(3).toString('hex')}`)
  replaceFile(path, text)
  return { path }
}

/** A message that waits, and the event that it becomes. */
interface Waiting {
  path: string
  event: NewEventOf<UserMessageEvent>
}

/** How many messages are taken at a time; they are no longer together than one may be. The others are taken the next time. */
const MOST_MESSAGES = 100
/** How many entries that are no message are named at a time: a tool may write any number. */
const MOST_NOTES = 10

/** The messages that wait, the oldest first. What is no message stays where it is. */
function waitingIn(runDirectory: string, warn: (message: string) => void): Waiting[] {
  const directory = inboxOf(runDirectory)
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [] // a tool may have made a link
  const waiting: Waiting[] = []
  let [bytes, notes] = [0, 0]
  for (const id of namesIn(directory).sort()) {
    if (!ID.test(id)) continue
    const path = join(directory, id)
    const content = textAt(path)
    if (content === undefined) continue
    if (typeof content === 'object') {
      if (++notes <= MOST_NOTES) warn(`Not read as a message: ${content.problem}`)
      continue
    }
    bytes += Buffer.byteLength(content)
    if (waiting.length === MOST_MESSAGES || bytes > LONGEST_TEXT) break
    waiting.push({ path, event: { type: 'USER_MESSAGE', content, inbox_id: id } })
  }
  return waiting
}

/** A tool may have put anything there, and that ends no run. */
function textAt(path: string): ReturnType<typeof readText> {
  try {
    return readText(path)
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** True if something was said that the run has not read. */
export function hasUnread(runDirectory: string): boolean {
  return waitingIn(runDirectory, () => undefined).length > 0
}

/**
 * The messages that wait, as events to append, and what deletes their files once the events are on disk. One that is in the journal
 * already, because a kill came between the two, is only deleted.
 */
export async function unread(
  { directory, events }: Pick<Run, 'directory' | 'events'>,
  warn: (message: string) => void = () => undefined,
): Promise<{ messages: NewEventOf<UserMessageEvent>[]; remove: () => void }> {
  const waiting = waitingIn(directory, warn)
  const remove = () => {
    for (const { path } of waiting) removeFile(path)
  }
  if (waiting.length === 0) return { messages: [], remove }
  const taken = new Set((await events()).filter(isKnownEvent).map((event) => Object(event).inbox_id))
  const messages = waiting.map(({ event }) => event).filter(({ inbox_id }) => !taken.has(inbox_id))
  return { messages, remove }
}

/**
 * Takes what was said to the run since into its journal. A replay takes what was said there before the same iteration.
 *
 * @param iteration - The next one.
 * @returns True if there was something.
 */
export async function listen(state: RunState, iteration: number): Promise<boolean> {
  if (state.replay) {
    const said = state.replay.saidBefore(iteration)
    for (const { content, inbox_id } of said)
      record(state, { type: 'USER_MESSAGE', replayed: true, content, inbox_id })
    return said.length > 0
  }
  const { messages, remove } = await unread(state.run, (message) => warnAuthor(state, message))
  if (messages.length > 0) record(state, ...messages)
  state.run.journal.sync()
  remove()
  return messages.length > 0
}

/** True if the run would complete, and there is something to answer first. Without an iteration left, it waits for a continuation. */
export async function isSpokenTo(state: RunState, { status }: Outcome, next: number): Promise<boolean> {
  return status === 'COMPLETED' && next <= state.lastAllowedIteration && (await listen(state, next))
}
