import { isKnownEvent, type JournalEvent, streamJournal } from '@delta/journal'
import type { ActiveRun } from '../active-run.js'

type EventOf<Type extends JournalEvent['type']> = Extract<JournalEvent, { type: Type }>

/** The last event of a type that belongs to a call; reads the whole journal, so only for settling. */
export async function lastEventOf<Type extends 'ACTION_REQUEST' | 'ACTION_RESULT' | 'HUMAN_INPUT_RECEIVED'>(
  run: ActiveRun,
  type: Type,
  actionId: string,
): Promise<EventOf<Type> | undefined> {
  let last: EventOf<Type> | undefined
  for await (const event of streamJournal(run.run.paths.journal)) {
    if (isKnownEvent(event) && isOfCall(event, type, actionId)) last = event
  }
  return last
}

function isOfCall<Type extends JournalEvent['type']>(
  event: JournalEvent,
  type: Type,
  actionId: string,
): event is EventOf<Type> {
  return event.type === type && 'action_id' in event && event.action_id === actionId
}
