import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { createRecordFile, type RecordFile } from '../files/record-file.js'
import { runPaths } from '../run-paths.js'
import { openParts, type Parts, type PartsOptions } from './parts.js'
import { takeRequest } from './request-parts.js'

/** A record that is on disk and waits for its response. */
export interface InvocationRecord {
  /** The record's path relative to the run directory; goes into `THOUGHT.llm_invocation_ref`. */
  ref: string
  /** The request as it was recorded, and as `readRequest` gives it back. */
  body: Buffer
  /** Adds what came back (response, usage, duration …) to the record. */
  complete(response: object): void
}

/** See `recordInvocation`. */
interface Invocation {
  /** From 1; it becomes a part of the record's name. */
  iteration: number
  request: object
  blocks?: readonly object[] | undefined
  texts?: readonly string[] | undefined
}

/** What a run sends to its model, written to `io/` before it is sent; see `recordInvocation`. */
export interface RequestLog {
  /** Writes the record of a request, before it is sent. */
  record(invocation: Invocation): InvocationRecord
  /** Makes all records with a response survive a power cut. The journal's `sync` does it first. */
  sync(): void
  /** Closes the files; the run does it with its own `close`. */
  close(): void
}

export interface RequestLogOptions extends PartsOptions {
  directory: string
  /** Called before a record is written; throws when this writer has lost the right to write. */
  fence: () => void
}

const WHOLE_REQUESTS = 10
/** What stands behind the last field of a record. */
const ENDING = '}\n'

/** The records of what a run sent to its model. Opens its files when the first request is recorded. */
export function openRequestLog(options: RequestLogOptions): RequestLog {
  const { directory, fence } = options
  const paths = runPaths(directory)
  let parts: Parts | undefined
  let records = 0
  /** The record that waits for its response, or was the last to get one. */
  let current: RecordFile | undefined
  const unsynced = new Set<RecordFile>()
  /** Of the directory of the records: opening it costs as much as syncing it. */
  let names: number | undefined

  function open(): Parts {
    mkdirSync(paths.invocations, { recursive: true, mode: 0o700 })
    records = readdirSync(paths.invocations).length
    return openParts(paths.parts, options)
  }

  function record({ iteration, request, blocks, texts }: Invocation): InvocationRecord {
    fence()
    parts ??= open()
    const taken = takeRequest(parts, request, texts)
    records += 1
    const timestamp = new Date().toISOString()
    const fields = JSON.stringify({ iteration, timestamp, sha256: taken.sha256, parts: taken.parts, blocks })
    const whole =
      records <= WHOLE_REQUESTS
        ? `,"request":${taken.body.toString()}`
        : `,"request_command":${JSON.stringify(commandFor(directory, iteration))}`
    const text = `${fields.slice(0, -1)}${whole}${ENDING}`
    const end = Buffer.byteLength(text) - ENDING.length
    const file = createRecordFile(paths.invocations, String(iteration), text)
    if (current && !unsynced.has(current)) current.close()
    current = file
    return {
      ref: `io/invocations/${basename(file.path)}`,
      body: taken.body,
      complete: (response) => complete(file, end, response),
    }
  }

  /** In the record's place: until a THOUGHT names it, a torn one is that of a request that was never answered. */
  function complete(file: RecordFile, end: number, response: object): void {
    fence()
    const fields = JSON.stringify(response).slice(1, -1)
    file.write(fields === '' ? ENDING : `,${fields}${ENDING}`, end)
    if (options.sync) unsynced.add(file)
    else if (file !== current) file.close()
  }

  /** A record without its response is named by no event yet, and so are the parts it added. */
  function sync(): void {
    if (unsynced.size === 0) return
    parts?.sync()
    for (const file of unsynced) {
      file.sync()
      if (file !== current) file.close()
    }
    names ??= openSync(paths.invocations, 'r')
    fsyncSync(names)
    unsynced.clear()
  }

  function close(): void {
    for (const file of unsynced) file.close()
    current?.close()
    if (names !== undefined) closeSync(names)
    names = undefined
    parts?.close() // last: it syncs, which can fail
  }

  return { record, sync, close }
}

/** Prints the request. For people: the record alone does not hold it. */
function commandFor(directory: string, iteration: number): string {
  const runs = dirname(directory)
  const place = basename(runs) === '.delta' ? ['-w', dirname(runs)] : ['--runs-dir', runs]
  const words = ['delta', 'show', basename(directory), '--request', String(iteration), ...place]
  return words.map(quoted).join(' ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
