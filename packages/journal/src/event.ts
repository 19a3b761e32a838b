import type * as z from 'zod/mini'
import { eventSchemas, type status, type toolCall } from './event-schemas.js'

type Schemas = typeof eventSchemas

/** A tool call as a THOUGHT carries it; `arguments` is the raw string the model sent. */
export type ToolCallRecord = z.infer<typeof toolCall>
export type RunStatus = z.infer<typeof status>

export type EngineStart = z.infer<Schemas['ENGINE_START']>
export type UserMessage = z.infer<Schemas['USER_MESSAGE']>
export type Thought = z.infer<Schemas['THOUGHT']>
export type ActionRequest = z.infer<Schemas['ACTION_REQUEST']>
export type ActionResult = z.infer<Schemas['ACTION_RESULT']>
export type HumanInputRequest = z.infer<Schemas['HUMAN_INPUT_REQUEST']>
export type HumanInputReceived = z.infer<Schemas['HUMAN_INPUT_RECEIVED']>
export type SystemMessage = z.infer<Schemas['SYSTEM_MESSAGE']>
export type HookExecutionAudit = z.infer<Schemas['HOOK_EXECUTION_AUDIT']>
export type ErrorEvent = z.infer<Schemas['ERROR']>
export type EngineEnd = z.infer<Schemas['ENGINE_END']>

/** Every event this version knows, told apart by `type`. */
export type JournalEvent = z.infer<Schemas[keyof Schemas]>

/** An event of a type this version does not know: kept and handed on as it stands. */
export interface UnknownEvent {
  seq: number
  timestamp: string
  type: string
  [field: string]: unknown
}

/** What a reader returns: one line of the file. */
export type StoredEvent = JournalEvent | UnknownEvent

/** What `append` takes: an event without the fields the journal stamps. */
export type NewEventOf<Event> = Event extends unknown ? Omit<Event, 'seq' | 'timestamp'> : never
export type NewEvent = NewEventOf<JournalEvent>

/** True for an event of a type this version knows; `event.type` then tells which. */
export function isKnownEvent(event: StoredEvent): event is JournalEvent {
  return Object.hasOwn(eventSchemas, event.type)
}
