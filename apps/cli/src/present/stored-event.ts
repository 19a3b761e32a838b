import type { EngineEvent } from '@delta/engine'
import { isKnownEvent, type JournalEvent } from '@delta/journal'

/** The journal's event that the engine tells of; undefined for everything else, and for one of a newer engine. */
export function storedEvent(event: EngineEvent): JournalEvent | undefined {
  return event.kind === 'journal' && isKnownEvent(event.event) ? event.event : undefined
}
