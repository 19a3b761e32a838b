import { isKnownEvent, type Run, type StoredEvent, streamJournal } from '@delta/journal'

/** What an engine has to know of a journal before its first cycle, and the summary of the run does not tell. */
export interface History {
  /** The events with which this engine began: its `ENGINE_START` and what followed. */
  begun: StoredEvent[]
  usedActionIds: Set<string>
  userMessages: string[]
}

/** Reads the journal once, in bounded memory but for what is returned. */
export async function readHistory(run: Run): Promise<History> {
  const history: History = { begun: [], usedActionIds: new Set(), userMessages: [] }
  for await (const event of streamJournal(run.paths.journal)) {
    if (event.type === 'ENGINE_START') history.begun = []
    history.begun.push(event)
    if (!isKnownEvent(event)) continue
    if (event.type === 'USER_MESSAGE') history.userMessages.push(event.content)
    if (event.type === 'THOUGHT')
      for (const call of event.tool_calls) history.usedActionIds.add(call.action_id)
  }
  return history
}
