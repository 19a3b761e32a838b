import type { Calibration } from '@delta/context'
import { isKnownEvent, type StoredEvent, streamJournal, type Thought } from '@delta/journal'

/** What an engine has to know of a journal before its first cycle, and the summary of the run does not tell. */
export interface History {
  /** The events with which this engine began: its `ENGINE_START` and what followed. */
  begun: StoredEvent[]
  usedActionIds: Set<string>
  userMessages: string[]
  /** What the provider last counted, and for how many bytes. */
  lastCount: { calibration?: Calibration }
  /** The records of the last commands that have results, those of one iteration, relative to the run's directory. */
  lastExecutions: string[]
}

/** Reads the journal once, in bounded memory but for what is returned. */
export async function readHistory(run: { paths: { journal: string } }): Promise<History> {
  const history: History = {
    begun: [],
    usedActionIds: new Set(),
    userMessages: [],
    lastCount: {},
    lastExecutions: [],
  }
  let lastIteration = 0
  for await (const event of streamJournal(run.paths.journal)) {
    if (event.type === 'ENGINE_START') history.begun = []
    history.begun.push(event)
    if (!isKnownEvent(event)) continue
    if (event.type === 'USER_MESSAGE') history.userMessages.push(event.content)
    if (event.type === 'THOUGHT') addThought(history, event)
    if (event.type === 'ACTION_RESULT' && event.execution_ref) {
      if (event.iteration !== lastIteration) history.lastExecutions = []
      history.lastExecutions.push(event.execution_ref)
      lastIteration = event.iteration
    }
  }
  return history
}

function addThought(history: History, { tool_calls, usage, request_bytes: bytes }: Thought): void {
  for (const call of tool_calls) history.usedActionIds.add(call.action_id)
  const tokens = usage?.prompt_tokens
  if (tokens !== undefined && bytes !== undefined) history.lastCount.calibration = { tokens, bytes }
}
