import { type BuiltContext, type CacheBreak, findCacheBreak } from '@delta/context'
import type { NextRequest } from '@delta/engine'
import { isKnownEvent, readRequest, streamJournal } from '@delta/journal'
import { readBlocks } from './context-of-step.js'

/** In a long run, the last requests are enough. */
const MOST_REQUESTS = 10

export interface ExplainedBreak extends CacheBreak {
  /** The cycle whose request could not be answered from the cache. */
  iteration: number
}

type Sent = Pick<BuiltContext, 'messages' | 'blocks'> & { iteration: number }

/** Where each of the last requests of a run, and the next one, stops being an extension of the one before. */
export async function findCacheBreaks(
  run: { directory: string; journalPath: string },
  next: NextRequest,
): Promise<ExplainedBreak[]> {
  const requests = [...(await lastRequests(run)), { ...next.context, iteration: next.iteration }]
  return requests.flatMap((after, index) => {
    const before = requests[index - 1]
    const found = before && findCacheBreak(before, after)
    return found ? [{ iteration: after.iteration, ...found }] : []
  })
}

async function lastRequests(run: { directory: string; journalPath: string }): Promise<Sent[]> {
  const thoughts: { iteration: number; ref: string }[] = []
  for await (const event of streamJournal(run.journalPath)) {
    if (!isKnownEvent(event) || event.type !== 'THOUGHT' || event.llm_invocation_ref === undefined) continue
    thoughts.push({ iteration: event.iteration, ref: event.llm_invocation_ref })
    if (thoughts.length > MOST_REQUESTS) thoughts.shift()
  }
  const sent = await Promise.all(thoughts.map((thought) => readSent(run.directory, thought)))
  return sent.flatMap((request) => request ?? [])
}

/** Undefined if there is no such record: a run of an old layout. */
async function readSent(
  directory: string,
  { iteration, ref }: { iteration: number; ref: string },
): Promise<Sent | undefined> {
  const blocks = await readBlocks(directory, ref)
  if (blocks.length === 0) return undefined
  const { messages } = JSON.parse(await readRequest(directory, iteration)) as Pick<Sent, 'messages'>
  return { iteration, messages, blocks }
}
