import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { JournalError } from './errors.js'
import { partsOf, readParts } from './parts.js'
import { recordName } from './record-name.js'
import { replaceFile, writeNew } from './replace.js'
import type { Run } from './run.js'
import { runPaths } from './run-paths.js'

/** A record that is on disk and waits for its response. */
export interface InvocationRecord {
  /** The record's path relative to the run directory; goes into `THOUGHT.llm_invocation_ref`. */
  ref: string
  /** The request exactly as it was recorded: what to send. */
  body: string
  /** Adds the response, its usage, timing and whatever else the object names to the record. */
  complete(response: object): void
}

const WHOLE_REQUESTS = 10

const recordSchema = z.object({
  iteration: z.int(),
  sha256: z.string(),
  parameters: z.int(),
  messages: z.nullable(z.array(z.tuple([z.int(), z.int()]))),
})

/**
 * Records what is about to be sent to a model, before it is sent.
 *
 * Messages and parameters that were sent before are not written again: the record
 * names lines of `io/parts.jsonl`. The first ten records of a run hold the request
 * whole besides.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`.
 */
export function recordInvocation(
  run: Run,
  { iteration, request, blocks }: { iteration: number; request: object; blocks?: object[] },
): InvocationRecord {
  run.fence()
  const body = JSON.stringify(request)
  const parts = partsOf(run)
  const stored = parts.store(JSON.parse(body))
  parts.records += 1
  const record = {
    iteration,
    time: new Date().toISOString(),
    sha256: createHash('sha256').update(body).digest('hex'),
    ...stored,
    ...(blocks && { blocks }),
    ...(parts.records <= WHOLE_REQUESTS && { request }),
  }
  mkdirSync(run.paths.invocations, { recursive: true, mode: 0o700 })
  const name = `${recordName(new Date(), String(iteration))}.json`
  const path = join(run.paths.invocations, name)
  writeNew(path, `${JSON.stringify(record)}\n`, { mode: 0o600, durable: false })

  function complete(response: object): void {
    run.fence()
    replaceFile(path, `${JSON.stringify({ ...record, ...response })}\n`, { durable: false })
    run.syncLater(path)
    run.syncLater(run.paths.invocations)
  }

  return { ref: `io/invocations/${name}`, body, complete }
}

/**
 * The body of the last request of an iteration, byte for byte as it was sent.
 *
 * @throws {JournalError} `ERR_REQUEST_NOT_FOUND`: the iteration has no record.
 *   `ERR_REQUEST_CORRUPT`: the parts no longer add up to what was sent.
 */
export async function readRequest(runDirectory: string, iteration: number): Promise<string> {
  const paths = runPaths(runDirectory)
  const path = await findRecord(paths.invocations, iteration)
  const record = recordSchema.safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (!record.success) throw corruptRequest(path, 'the record lacks what is needed to rebuild it')
  const body = await readParts(paths.parts, record.data)
  if (createHash('sha256').update(body).digest('hex') === record.data.sha256) return body
  throw corruptRequest(path, 'its SHA-256 is another one')
}

async function findRecord(directory: string, iteration: number): Promise<string> {
  const names = (await readdir(directory)).filter((name) => name.endsWith(`_${iteration}.json`)).sort()
  const last = names.at(-1)
  if (last !== undefined) return join(directory, last)
  throw new JournalError(
    'ERR_REQUEST_NOT_FOUND',
    `${directory}: There is no request of iteration ${iteration}. The names end in the iterations there are.`,
    { path: directory },
  )
}

function corruptRequest(path: string, problem: string): JournalError {
  return new JournalError(
    'ERR_REQUEST_CORRUPT',
    `${path}: The request cannot be given back as it was sent: ${problem}.\n` +
      'Somebody changed the record or parts.jsonl; the journal itself is not affected.',
    { path },
  )
}
