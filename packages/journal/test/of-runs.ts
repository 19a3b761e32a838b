/** What all entries of the package export, the readers and writers of journals for the events of runs. */
import * as journal from '../src/index.js'
import { type StoredEvent, runEventSchema as schema } from '../src/runs.js'

export { isJournalError } from '../src/index.js'
export * from '../src/internal.js'
export * from '../src/runs.js'

type Options<Key extends 'openJournal' | 'readJournal'> = Omit<
  NonNullable<Parameters<(typeof journal)[Key]>[1]>,
  'schema' | 'onEvent'
> & { onEvent?: (event: StoredEvent) => void }

export const openJournal = (path: string, options: Options<'openJournal'> = {}) =>
  journal.openJournal<StoredEvent>(path, { ...options, schema })
export const readJournal = (path: string, options: Options<'readJournal'> = {}) =>
  journal.readJournal(path, { ...options, schema })
export const streamJournal = (path: string) => journal.streamJournal(path, { schema })
export const readTail = (path: string, wanted: journal.TailOptions) =>
  journal.readTail(path, { ...wanted, schema })
export const verifyJournal = (path: string) => journal.verifyJournal(path, { schema })
export const repairJournal = (path: string) => journal.repairJournal(path, { schema })
