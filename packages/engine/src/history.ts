import type { Calibration } from '@delta/context'
import {
  type ActionResult,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
  streamJournal,
  type Thought,
} from '@delta/journal'
import { textOf } from '@delta/model'
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
  /** The last iteration in which a command got a result, and the records of its commands, relative to the run's directory. */
  lastExecutions: { iteration: number; refs: string[] }
}

/** Reads the journal once, in bounded memory except for what is returned. */
export async function readHistory(run: { paths: { journal: string } }): Promise<History> {
  const history: History = {
    begun: [],
    usedActionIds: new Set(),
    secretTokens: new Set(),
    userMessages: [],
    lastCount: {},
    lastExecutions: { iteration: 0, refs: [] },
  }
  for await (const event of streamJournal(run.paths.journal)) {
    if (event.type === 'ENGINE_START') history.begun = []
    history.begun.push(event)
    if (isKnownEvent(event)) add(history, event)
  }
  return history
}

function add(history: History, event: JournalEvent): void {
  switch (event.type) {
    case 'USER_MESSAGE':
      history.userMessages.push(textOf(event.content))
      break
    case 'THOUGHT':
      addThought(history, event)
      break
    case 'HUMAN_INPUT_REQUEST':
      if (event.sensitive && event.action_id !== undefined)
        history.secretTokens.add(secretToken(event.action_id))
      break
    case 'ACTION_RESULT':
      addResult(history, event)
  }
}

function addThought(history: History, { tool_calls, usage, request_bytes: bytes }: Thought): void {
  for (const call of tool_calls) history.usedActionIds.add(call.action_id)
  const tokens = usage?.prompt_tokens
  if (tokens !== undefined && bytes !== undefined) history.lastCount.calibration = { tokens, bytes }
}

function addResult(history: History, { iteration, execution_ref: ref }: ActionResult): void {
  if (!ref) return
  if (iteration !== history.lastExecutions.iteration) history.lastExecutions = { iteration, refs: [] }
  history.lastExecutions.refs.push(ref)
}
