import { basename, dirname } from 'node:path'
import { quoteForPerson } from '@delta/executor/internal'
import { workDirectoryOf } from '@delta/journal/internal'

/** A workspace, and where its runs are kept. */
export interface Place {
  workDirectory: string
  /** Undefined: in its `.delta`. */
  runsDirectory: string | undefined
  /** Set where a person named the runs directory only to look at it: all runs in it are meant. */
  ofAnyWorkspace?: true
}

/** Where a run is, told by its directory. */
export function placeOfRun(runDirectory: string): Place {
  const above = dirname(runDirectory)
  const runs = basename(above) === 'runs' ? dirname(above) : above // as v1.1 kept them
  const isInside = basename(runs) === '.delta'
  return {
    workDirectory: workDirectoryOf(runDirectory) ?? dirname(above),
    runsDirectory: isInside ? undefined : above,
  }
}

/** A workspace as messages name it. */
export function placeInWords({ workDirectory, runsDirectory, ofAnyWorkspace }: Place): string {
  if (runsDirectory === undefined) return workDirectory
  return ofAnyWorkspace ? runsDirectory : `${workDirectory} (its runs are kept in ${runsDirectory})`
}

/** A command line about a place, ready to be pasted. */
export function commandAt(place: Place, ...words: string[]): string {
  return quoteForPerson(['delta', ...words, ...placeArguments(place)])
}

/** The command line that takes a run up again, ready to be pasted. */
export function commandToContinue(place: Place, runId: string): string {
  return quoteForPerson(['delta', 'continue', ...placeArguments(place), '--run-id', runId])
}

/** How a command is told of a place; without the second, only a state directory that remembers it would find the runs. */
function placeArguments({ workDirectory, runsDirectory }: Place): string[] {
  return ['-w', workDirectory, ...(runsDirectory === undefined ? [] : ['--runs-dir', runsDirectory])]
}
