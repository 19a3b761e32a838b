import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startedServers } from './scripted-server.js'
import { onRemoval, temporaryPaths } from './workspace.js'

/** Compares what scripted servers received with what the runs of a test recorded. */
export interface RecordCheck {
  /** Throws when no record gives back a received body, or no server received an answered request. For `afterEach`. */
  check(): void
  /** Leaves out the running test, whose records are incomplete for this reason. */
  skip(reason: string): void
}

/**
 * What the model saw is in the record: every body that a scripted server received is given back by a record of a run, byte
 * for byte, and every record with a response is that of a received body.
 *
 * Reads the run directories below all temporary workspaces, when `check` is called and before a workspace is removed.
 *
 * @param readBody - Rebuilds the body of the request that a file in `io/invocations/` records.
 */
export function checkRecords(readBody: (runDirectory: string, recordName: string) => string): RecordCheck {
  const recorded = new Set<string>()
  const received = new Set<string>()
  /** How many requests of a server were compared. Not by its address: a later one may get the same port. */
  const compared = new Map<unknown, number>()
  /** SHA-256 of the body by the path of an answered record. */
  const answered = new Map<string, string>()
  let isSkipped = false

  function collect(path: string): void {
    if (startedServers.size === 0) return
    for (const runDirectory of runDirectories(path)) {
      for (const name of readdirSync(join(runDirectory, 'io/invocations'))) {
        const recordPath = join(runDirectory, 'io/invocations', name)
        try {
          const { response, wire } = JSON.parse(readFileSync(recordPath, 'utf8')) as InvocationRecord
          const sha256 = hash('sha256', readBody(runDirectory, name))
          recorded.add(sha256)
          if (response !== undefined && isScripted(wire?.url)) answered.set(recordPath, sha256)
        } catch {
          // What cannot be read is no record, so the body it should give back will be missing.
        }
      }
    }
  }

  function check(): void {
    const fresh = [...startedServers.values()].flatMap((requests) => {
      const all = requests()
      const start = compared.get(requests)
      compared.set(requests, all.length)
      return all.slice(start)
    })
    for (const { body } of fresh) received.add(hash('sha256', body))
    for (const path of temporaryPaths) collect(path)
    const unrecorded = fresh
      .filter(({ body }) => !recorded.has(hash('sha256', body)))
      .map(({ number, path, body }) => `No record gives back request ${number} to ${path}:\n${body}`)
    const unreceived = [...answered]
      .filter(([, sha256]) => !received.has(sha256))
      .map(([path]) => `No server received the answered request of ${path}`)
    const problems = isSkipped ? [] : [...unrecorded, ...unreceived]
    answered.clear()
    isSkipped = false
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  function skip(): void {
    isSkipped = true
  }

  onRemoval(collect)
  return { check, skip }
}

interface InvocationRecord {
  response?: unknown
  wire?: { url?: string }
}

function isScripted(url = ''): boolean {
  return [...startedServers.keys()].some((baseUrl) => url.startsWith(new URL(baseUrl).origin))
}

/** The directories below a path that hold `io/invocations`. */
function runDirectories(path: string): string[] {
  return directoriesIn(path).flatMap((name) => {
    if (name === 'node_modules') return []
    if (name === 'io' && directoriesIn(join(path, name)).includes('invocations')) return [path]
    return runDirectories(join(path, name))
  })
}

/** None in a directory that is gone meanwhile, or that the test has closed. */
function directoriesIn(path: string): string[] {
  try {
    const entries = readdirSync(path, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  } catch {
    return []
  }
}
