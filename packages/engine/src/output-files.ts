import { closeSync, constants, fstatSync, ftruncateSync, openSync, renameSync } from 'node:fs'
import { outputPaths, removeInlined, type ToolResult } from '@delta/executor'
import { readIfThere } from './read-if-there.js'

/** Where the output of one command goes: `<prefix>.stdout` and `<prefix>.stderr`, open and empty. */
export interface OutputFiles {
  /** Undefined when they cannot be opened: whoever starts the command then tries, and says why. */
  readonly descriptors: readonly [stdout: number, stderr: number] | undefined
  /** To be called once the result is on disk: files whose whole output it holds are no longer needed. */
  settle(result: ToolResult): void
  /** Closes what was not settled; the files stay for the next engine. */
  close(): void
}

/** The output files of a run's commands. */
export interface OutputFilesOfRun {
  open(prefix: string): OutputFiles
  /** Removes what is kept for the next command. */
  close(): void
}

interface Pair {
  prefix: string
  descriptors: readonly [stdout: number, stderr: number]
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDWR } = constants

/**
 * Makes output files, and reuses them for the next command where nobody else can hold them open: some file systems are slow
 * to create and remove two files with each command, see docs/decisions/0087.
 */
export function outputFiles(): OutputFilesOfRun {
  let spare: Pair | undefined

  function open(prefix: string): OutputFiles {
    let pair = takeSpare(prefix) ?? create(prefix)
    return {
      descriptors: pair?.descriptors,
      settle(result) {
        const isReusable = result.startedNothing && isInline(result) && spare === undefined
        if (!isReusable) return removeQuietly(prefix, result)
        spare = pair
        pair = undefined
      },
      close: () => closePair(pair),
    }
  }

  /** Emptied before it is renamed: after a crash, the next engine looks under the new name for what the command printed. */
  function takeSpare(prefix: string): Pair | undefined {
    const kept = spare
    spare = undefined
    if (kept === undefined) return undefined
    let pair: Pair | undefined
    try {
      pair = {
        prefix,
        descriptors: inPair(pathsOf(kept.prefix), (path, i) => reopen(path, kept.descriptors[i])),
      }
      for (const descriptor of pair.descriptors) ftruncateSync(descriptor, 0)
      rename(kept.prefix, prefix)
      return pair
    } catch {
      closePair(pair) // a command has removed them, or the disk has failed: new ones are tried, and say so
      removeQuietly(kept.prefix, NOTHING_KEPT)
      return undefined
    } finally {
      closePair(kept)
    }
  }

  function close(): void {
    const kept = spare
    spare = undefined
    closePair(kept)
    if (kept) removeQuietly(kept.prefix, NOTHING_KEPT)
  }

  return { open, close }
}

/**
 * Opens the file anew: the old descriptor carries what the last command set on it, such as no `O_APPEND`. Only where the
 * file is the one that was left and has no further name, since that would be somebody's copy.
 */
function reopen(path: string, descriptor: number): number {
  const reopened = openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK)
  const { ino, nlink } = fstatSync(reopened)
  if (nlink === 1 && ino === fstatSync(descriptor).ino) return reopened
  closeSync(reopened)
  throw new Error('The file was replaced, or has a further name.')
}

function rename(from: string, to: string): void {
  const [stdout, stderr] = pathsOf(to)
  const [keptStdout, keptStderr] = pathsOf(from)
  renameSync(keptStdout, stdout)
  renameSync(keptStderr, stderr)
}

const NOTHING_KEPT = { stdout: { bytes: 0 }, stderr: { bytes: 0 } }

function removeQuietly(prefix: string, result: Parameters<typeof removeInlined>[1]): void {
  try {
    removeInlined(prefix, result)
  } catch {
    // the run has its result; two leftover files do not change it
  }
}

/** Output that does not fit into a record lies beside it. */
export function outputPrefixOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, '')
}

/** Removes the files that a killed engine kept for its next command; they lie beside the record of one of its last. */
export function removeLeftOutput(recordPath: string): void {
  try {
    removeInlined(outputPrefixOf(recordPath), JSON.parse(readIfThere(recordPath) ?? ''))
  } catch {
    // the record is missing or unreadable, so it may not hold what the files do: they stay
  }
}

function isInline({ stdout, stderr }: ToolResult): boolean {
  return stdout.path === undefined && stderr.path === undefined
}

function create(prefix: string): Pair | undefined {
  const flags = O_RDWR | O_APPEND | O_CREAT // Deno refuses O_TRUNC with O_APPEND
  let pair: Pair | undefined
  try {
    pair = { prefix, descriptors: inPair(pathsOf(prefix), (path) => openSync(path, flags, 0o600)) }
    for (const descriptor of pair.descriptors) ftruncateSync(descriptor, 0)
    return pair
  } catch {
    closePair(pair)
    return undefined
  }
}

/** Opens both or none. */
function inPair(
  [stdoutPath, stderrPath]: readonly [string, string],
  open: (path: string, index: 0 | 1) => number,
): [stdout: number, stderr: number] {
  const stdout = open(stdoutPath, 0)
  try {
    return [stdout, open(stderrPath, 1)]
  } catch (error) {
    closeSync(stdout)
    throw error
  }
}

function pathsOf(prefix: string): [stdout: string, stderr: string] {
  const { stdoutPath, stderrPath } = outputPaths(prefix)
  return [stdoutPath, stderrPath]
}

function closePair(pair: Pair | undefined): void {
  for (const descriptor of pair?.descriptors ?? []) closeSync(descriptor)
}
