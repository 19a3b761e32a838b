export { isJournalError, JournalError, type JournalErrorCode, type WayOut } from './errors.js'
export type { AnyEvent, EventSchema, NewEventOf, Position, RawLine, Stored } from './event.js'
export { type Journal, type JournalOptions, openJournal } from './journal.js'
export {
  type JournalContents,
  type JournalEnding,
  parseJournal,
  type ReadOptions,
  readJournal,
  streamJournal,
} from './read.js'
export { type RepairedTail, type RepairResult, repairJournal } from './repair.js'
export { type JournalTail, readTail, type TailOptions } from './tail.js'
export { type Finding, type JournalReport, verifyJournal } from './verify.js'
