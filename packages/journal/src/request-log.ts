import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openParts, type Parts, type PartsOptions } from './parts.js'
import { recordName } from './record-name.js'
import { replaceFile, writeNew } from './replace.js'
import { requestParts } from './request-parts.js'
import { runPaths } from './run-paths.js'
import { asWriteError } from './write.js'

/** A record that is on disk and waits for its response. */
export interface InvocationRecord {
  /** The record's path relative to the run directory; goes into `THOUGHT.llm_invocation_ref`. */
  ref: string
  /** The request as it was recorded, and as `readRequest` gives it back. */
  body: string
  /** Adds what came back (response, usage, duration …) to the record. */
  complete(response: object): void
}

export interface RequestLog {
  record(invocation: { iteration: number; request: object; blocks?: object[] }): InvocationRecord
  sync(): void
  close(): void
}

export interface RequestLogOptions extends PartsOptions {
  directory: string
  syncLater: (path: string) => void
}

const WHOLE_REQUESTS = 10

/** The records of what a run sent to its model. Opens its files when the first request is recorded. */
export function openRequestLog(options: RequestLogOptions): RequestLog {
  const { directory, fence, syncLater } = options
  const paths = runPaths(directory)
  let parts: Parts | undefined
  let requests: ReturnType<typeof requestParts> | undefined
  let records = 0

  function open() {
    mkdirSync(paths.invocations, { recursive: true, mode: 0o700 })
    records = readdirSync(paths.invocations).length
    parts = openParts(paths.parts, options)
    return requestParts(parts)
  }

  function record({ iteration, request, blocks }: Parameters<RequestLog['record']>[0]): InvocationRecord {
    fence()
    requests ??= open()
    const { body, sha256, parts } = requests.take(request)
    records += 1
    const content = {
      iteration,
      timestamp: new Date().toISOString(),
      sha256,
      parts,
      ...(blocks && { blocks }),
      ...(records <= WHOLE_REQUESTS && { request: JSON.parse(body) as unknown }),
    }
    const { name, path } = writeRecord(paths.invocations, iteration, content)
    return {
      ref: `io/invocations/${name}`,
      body,
      complete: (response) => complete(path, { ...content, ...response }),
    }
  }

  function complete(path: string, content: object): void {
    fence()
    replaceFile(path, toText(content), { durable: false })
    syncLater(path)
    syncLater(paths.invocations)
  }

  return { record, sync: () => parts?.sync(), close: () => parts?.close() }
}

/** A clock set back may repeat a name of an earlier process; the next millisecond is free. */
function writeRecord(directory: string, iteration: number, content: object): { name: string; path: string } {
  for (;;) {
    const name = `${recordName(new Date(), String(iteration))}.json`
    const path = join(directory, name)
    if (existsSync(path)) continue
    try {
      writeNew(path, toText(content), { mode: 0o600, durable: false })
    } catch (error) {
      throw asWriteError(error, path)
    }
    return { name, path }
  }
}

function toText(content: object): string {
  return `${JSON.stringify(content)}\n`
}
