import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { damageIn, nothingToRepair, type RepairResult, repairJournal } from '../append/repair.js'
import { NO_BEGINNING, verifyJournal } from '../append/verify.js'
import { isJournalError } from '../errors.js'
import { asRepairError } from '../files/write-error.js'
import { takeLease, type Waiting } from '../lease/lease.js'
import { journalPath, runPaths } from '../run-paths.js'
import { notFound } from './read-run.js'

/**
 * Repairs the journal of a run, as its only writer.
 *
 * @param options.force - End a live owner on this machine first.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody writes it. `ERR_RUN_NOT_FOUND`; besides, as `repairJournal`.
 */
export async function repairRun(
  runDirectory: string,
  options: { force?: boolean | undefined } & Waiting = {},
): Promise<RepairResult> {
  const { force = false, ...waiting } = options
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const path = journalPath(directory)
  try {
    const lease = await takeLease(runPaths(directory).lease, { force, ...waiting })
    try {
      return withProblem(repairJournal(path))
    } finally {
      lease.release()
    }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') throw error
    if (damageIn(path).length > 0) throw asRepairError(error)
    return withProblem(nothingToRepair(path)) // which takes no disk that can be written
  }
}

/** What repairing cannot mend: a journal without its beginning. */
function withProblem(result: RepairResult): RepairResult {
  const { findings } = verifyJournal(result.path, { ofRun: true })
  const problem = findings.find(({ kind }) => kind === 'beginning')?.message
  if (problem === undefined) return result
  return { ...result, problem, text: `${result.text}\n${problem}\n${NO_BEGINNING}` }
}
