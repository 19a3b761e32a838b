export { isJournalError, JournalError, type JournalErrorCode, type WayOut } from './errors.js'
export type { AnyEvent, EventSchema, NewEventOf, Position, RawLine, Stored } from './event.js'
export { type Journal, type JournalOptions, openJournal, type RepairedTail } from './journal.js'
export {
  type JournalContents,
  type JournalEnding,
  type JournalTail,
  type ReadOptions,
  readJournal,
  readTail,
  streamJournal,
  type TailOptions,
} from './read.js'
export {
  type Finding,
  type JournalReport,
  type RepairResult,
  repairJournal,
  verifyJournal,
} from './verify.js'
