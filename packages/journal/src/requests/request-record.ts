import * as z from 'zod/mini'
import { JournalError } from '../errors.js'

/** What a reader needs of `io/invocations/<name>.json`: which lines of `io/parts.jsonl` the request is made of. */
export const recordSchema = z.object({
  sha256: z.string(),
  parts: z.object({
    parameters: z.int(),
    messages: z.nullable(z.array(z.tuple([z.int(), z.int()]))),
  }),
})

export type RequestRecord = z.infer<typeof recordSchema>

/** @param problem - What is wrong with the file, as a sentence. */
export function corruptRequest(path: string, problem: string): JournalError {
  return new JournalError(
    'ERR_REQUEST_CORRUPT',
    `${path}: ${problem}\nSomebody changed these files, or the disk did. The run itself is not affected.`,
    { path },
  )
}
