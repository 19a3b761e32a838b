import type { EngineEvent } from '@delta/engine'
import { isKnownEvent, type JournalEvent } from '@delta/journal'

/** The journal event in an engine event; undefined for any other, and for an unknown type from a newer engine. */
export function storedEvent(event: EngineEvent): JournalEvent | undefined {
  return event.kind === 'journal' && isKnownEvent(event.event) ? event.event : undefined
}
