import { statSync } from 'node:fs'
import { isJournalError, readJournal } from '@delta/journal'
import {
  type AnswerWatch,
  addSpending,
  addUp,
  journalPath,
  ownSpendingIn,
  watchAnswers,
} from '@delta/journal/internal'
import { isKnownEvent, type JournalEvent, type RunSpending, runEventSchema } from '@delta/journal/runs'
import { type TreeLine, treePath, treeReader, Uncountable } from './tree.js'

/** What runs have spent together. */
export interface Spent {
  runs: number
  /** Counted by the provider, or estimated where it did not count. */
  tokens: number
  /** US dollars, of the requests that have a price. */
  cost: number
  /** Why that is not all of it. */
  unknown: 'unreported' | 'unpriced' | undefined
}

/**
 * What the runs of a tree have spent, as their journals say it. Each file is read on from where it was read last.
 *
 * Nothing is guessed: reading throws `Uncountable` if a run is not listed, or a file cannot be read or was cut.
 */
export interface Books {
  /** Reads a run: its journal or, once its directory is gone, what it said when it ended. */
  read(directory: string): Promise<void>
  /** Reads the runs whose limits hold for a run, and all below them. */
  readTree(rootRun: string, about: { limited: readonly string[]; run: string }): Promise<void>
  /** `config` of the newest start of a run that was read. */
  configOf(directory: string): unknown
  /** What a run that was read has spent with all runs below it, and what these have spent. */
  spentBy(directory: string): { all: Spent; below: Spent }
}

export function openBooks(): Books {
  const books = new Map<string, Book>()
  /** What each run has spent without those below it. */
  const spending = new Map<string, RunSpending>()
  let tree: ReturnType<typeof treeReader> | undefined
  /** The last line about each run. */
  const listed = new Map<string, TreeLine>()
  /** The runs that each run has called, or below it: lines say it and, where a workspace was moved since, results of calls. */
  const calls = new Map<string, Set<string>>()
  /** Those of the results, and whether their caller was below another run then: that says in which tree they are listed. */
  const named = new Map<string, { caller: string; isBelow: boolean }>()

  async function read(directory: string): Promise<void> {
    const path = journalPath(directory)
    const book = books.get(directory) ?? emptyBook()
    const { events, endOffset } = await readOn(path, book.offset)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return readEnd(directory)
    if (size < book.offset) throw new Uncountable(`${path} is shorter than before.`)
    for (const event of events) {
      if (event.seq <= book.lastSeq) continue // a last line without its newline is read once more
      book.lastSeq = event.seq
      if (isKnownEvent(event)) enter(event, { directory, book })
    }
    book.offset = endOffset
    books.set(directory, book)
    spending.set(directory, withLostAnswers(book, directory))
  }

  function enter(event: JournalEvent, { directory, book }: { directory: string; book: Book }): void {
    book.answers.add(event)
    if (event.inherited) return
    book.sums.add(event, null)
    if (event.type === 'ENGINE_END') book.isEnded = true
    if (event.type === 'ENGINE_START') {
      book.isEnded = false
      book.config = event.config
      book.isBelow = event.parent_run !== undefined
    }
    if (event.type !== 'ACTION_RESULT') return
    for (const child of event.child_runs ?? []) {
      named.set(child.directory, { caller: directory, isBelow: book.isBelow })
      addCall(directory, child.directory)
    }
  }

  function addCall(caller: string, called: string): void {
    calls.set(caller, (calls.get(caller) ?? new Set()).add(called))
  }

  function readEnd(directory: string): void {
    const last = listed.get(directory)
    const own = last?.type === 'END' ? ownSpendingIn(last.totals) : undefined
    if (own === undefined) throw new Uncountable(`${directory} is gone, and did not say what it spent.`)
    spending.set(directory, own)
  }

  /** @returns Whether there were new lines. */
  function readLines(rootRun: string): boolean {
    tree ??= treeReader(treePath(rootRun))
    const lines = tree.readOn()
    for (const line of lines) {
      listed.set(line.directory, line)
      addCall(rootRun, line.directory) // by whatever name a caller knows it
      if (line.type === 'RUN') addCall(line.caller.directory, line.directory)
    }
    return lines.length > 0
  }

  async function readTree(
    rootRun: string,
    { limited, run }: { limited: readonly string[]; run: string },
  ): Promise<void> {
    let runs: ReadonlySet<string>
    readLines(rootRun)
    do {
      runs = withThoseBelow(limited)
      for (const directory of runs) await read(directory)
      // a run is listed before any journal names it
    } while (readLines(rootRun) || withThoseBelow(limited).size > runs.size)
    const isCounted = limited.every((directory) => withThoseBelow([directory]).has(run))
    const unlisted = isCounted ? missingIn(rootRun) : run
    if (unlisted !== undefined) throw new Uncountable(`${treePath(rootRun)} does not list ${unlisted}.`)
  }

  /** A run that was continued by hand has a tree of its own from then on. */
  function missingIn(rootRun: string): string | undefined {
    const ofThisTree = [...named].filter(([, { caller, isBelow }]) => isBelow === (caller !== rootRun))
    return ofThisTree.map(([directory]) => directory).find((directory) => !listed.has(directory))
  }

  function withThoseBelow(directories: readonly string[]): Set<string> {
    const found = new Set(directories)
    for (const directory of found) // also those that are found on the way
      for (const called of calls.get(directory) ?? []) found.add(called)
    return found
  }

  function spentBy(directory: string): { all: Spent; below: Spent } {
    const spentIn = (runs: string[]) => sum(runs.flatMap((each) => spending.get(each) ?? []))
    const runs = [...withThoseBelow([directory])]
    return { all: spentIn(runs), below: spentIn(runs.filter((each) => each !== directory)) }
  }

  return { read, readTree, configOf: (directory) => books.get(directory)?.config, spentBy }
}

/** What was read of a journal. */
interface Book {
  offset: number
  lastSeq: number
  sums: ReturnType<typeof addUp>
  answers: AnswerWatch
  /** True if nothing follows the end of its last engine, which has named each answer. */
  isEnded: boolean
  /** The configuration of its newest start. */
  config: unknown
  /** True if a command of another run made that start. */
  isBelow: boolean
}

function emptyBook(): Book {
  const [sums, answers] = [addUp(), watchAnswers()]
  return { offset: 0, lastSeq: 0, sums, answers, isEnded: false, config: undefined, isBelow: false }
}

/**
 * What a run has spent, with the answers that came and that its journal does not name: its engine was killed, or has not come to it
 * yet. They are looked for each time, so one that is named later counts once.
 */
function withLostAnswers({ sums, answers, isEnded }: Book, directory: string): RunSpending {
  const { own } = sums.totals()
  const lost = isEnded ? [] : lostIn(directory, answers)
  if (lost.length === 0) return own
  const others = addUp()
  for (const answer of lost) others.add({ ...answer, seq: 0, timestamp: '' }, null)
  return { runs: own.runs, ...addSpending([own, others.totals().own]) }
}

function lostIn(directory: string, answers: AnswerWatch) {
  try {
    return answers.lostIn(directory)
  } catch (cause) {
    throw isJournalError(cause) ? new Uncountable(cause.message, { cause }) : cause
  }
}

async function readOn(path: string, fromOffset: number) {
  try {
    return await readJournal(path, { schema: runEventSchema, fromOffset })
  } catch (cause) {
    throw isJournalError(cause) ? new Uncountable(cause.message, { cause }) : cause
  }
}

function sum(all: readonly RunSpending[]): Spent {
  const total = (of: (each: RunSpending) => number) => all.reduce((before, each) => before + of(each), 0)
  const open = all.filter(({ requests, priced }) => requests > 0 && priced < 1)
  const unknown = open.some(({ unreported }) => unreported > 0) ? 'unreported' : 'unpriced'
  return {
    runs: all.length,
    tokens: total(({ tokens, estimated }) => Object.values(tokens).reduce((a, b) => a + b, estimated)),
    cost: total(({ cost }) => cost ?? 0),
    unknown: open.length > 0 ? unknown : undefined,
  }
}
