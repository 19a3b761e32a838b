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

const { O_APPEND, O_CREAT, O_RDWR, O_TRUNC } = constants

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
        if (!isReusable) return removeInlined(prefix, result)
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
    try {
      for (const descriptor of kept.descriptors) empty(descriptor)
      rename(kept.prefix, prefix)
      return { prefix, descriptors: kept.descriptors }
    } catch {
      closePair(kept) // a command has removed them, or the disk has failed: new ones are tried, and say so
      return undefined
    }
  }

  function close(): void {
    const kept = spare
    spare = undefined
    closePair(kept)
    if (kept) removeKept(kept.prefix)
  }

  return { open, close }
}

function empty(descriptor: number): void {
  if (fstatSync(descriptor).nlink === 0) throw new Error('The file was removed or replaced.')
  ftruncateSync(descriptor, 0)
}

function rename(from: string, to: string): void {
  const [stdout, stderr] = pathsOf(to)
  const [keptStdout, keptStderr] = pathsOf(from)
  renameSync(keptStdout, stdout)
  renameSync(keptStderr, stderr)
}

function removeKept(prefix: string): void {
  try {
    removeInlined(prefix, { stdout: { bytes: 0 }, stderr: { bytes: 0 } })
  } catch {
    // the run has its outcome; two leftover files do not change it
  }
}

/** Output that does not fit into a record lies beside it. */
export function outputPrefixOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, '')
}

/** Removes the files that a killed engine kept for its next command; they lie beside the record of its last one. */
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
  const opened: number[] = []
  try {
    for (const path of pathsOf(prefix))
      opened.push(openSync(path, O_RDWR | O_APPEND | O_CREAT | O_TRUNC, 0o600))
    return { prefix, descriptors: opened as [number, number] }
  } catch {
    for (const descriptor of opened) closeSync(descriptor)
    return undefined
  }
}

function pathsOf(prefix: string): [stdout: string, stderr: string] {
  const { stdoutPath, stderrPath } = outputPaths(prefix)
  return [stdoutPath, stderrPath]
}

function closePair(pair: Pair | undefined): void {
  for (const descriptor of pair?.descriptors ?? []) closeSync(descriptor)
}
