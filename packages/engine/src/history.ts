import type { Calibration } from '@delta/context'
import { isKnownEvent, type StoredEvent, streamJournal, type Thought } from '@delta/journal'
import { secretToken } from './human/secrets.js'

/** What an engine needs from the journal before its first cycle, beyond the run's summary. */
export interface History {
  /** The events this engine began with: its `ENGINE_START` and those after it. */
  begun: StoredEvent[]
  usedActionIds: Set<string>
  /** Stand for the sensitive answers of all questions so far, of those that were erased too. */
  secretTokens: Set<string>
  userMessages: string[]
  /** What the provider last counted, and for how many bytes. */
  lastCount: { calibration?: Calibration }
  /** The record of the last command that has a result, relative to the run's directory. */
  lastExecution?: string
}

/** Reads the journal once, in bounded memory except for what is returned. */
export async function readHistory(run: { paths: { journal: string } }): Promise<History> {
  const history: History = {
    begun: [],
    usedActionIds: new Set(),
    secretTokens: new Set(),
    userMessages: [],
    lastCount: {},
  }
  for await (const event of streamJournal(run.paths.journal)) {
    if (event.type === 'ENGINE_START') history.begun = []
    history.begun.push(event)
    if (!isKnownEvent(event)) continue
    if (event.type === 'USER_MESSAGE') history.userMessages.push(event.content)
    if (event.type === 'THOUGHT') addThought(history, event)
    if (event.type === 'HUMAN_INPUT_REQUEST' && event.sensitive && event.action_id !== undefined)
      history.secretTokens.add(secretToken(event.action_id))
    if (event.type === 'ACTION_RESULT' && event.execution_ref) history.lastExecution = event.execution_ref
  }
  return history
}

function addThought(history: History, { tool_calls, usage, request_bytes: bytes }: Thought): void {
  for (const call of tool_calls) history.usedActionIds.add(call.action_id)
  const tokens = usage?.prompt_tokens
  if (tokens !== undefined && bytes !== undefined) history.lastCount.calibration = { tokens, bytes }
}
