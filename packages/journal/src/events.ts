import * as z from 'zod/mini'
import type { AnyEvent, EventSchema, NewEventOf, Position } from './event.js'
import {
  eventSchemas,
  isKnownType,
  OLD_TYPES,
  type part,
  type status,
  todaySchema,
  type toolCall,
} from './event-schemas.js'
import { upcast } from './old-formats.js'

type Schemas = typeof eventSchemas

/** A tool call as a THOUGHT carries it; `arguments` is the raw string the model sent. */
export type ToolCallRecord = z.infer<typeof toolCall>
/** A piece of a message: text, or an image or a file whose bytes lie in `io/blobs/<blob>`. */
export type ContentPart = z.infer<typeof part>
/** How a run stands. No event of today says `RUNNING`: whether a run goes on, its lease tells. */
export type RunStatus = z.infer<typeof status>

/** An engine process took the run; each one that does appends its own. */
export type EngineStart = z.infer<Schemas['ENGINE_START']>
/** What the user said: the task first, further instructions later. */
export type UserMessage = z.infer<Schemas['USER_MESSAGE']>
/** What the model answered. Without calls it is the answer to the user. */
export type Thought = z.infer<Schemas['THOUGHT']>
/** A command may have been started, or was refused: then `argv` is null. */
export type ActionRequest = z.infer<Schemas['ACTION_REQUEST']>
/** What became of a call; there is exactly one for each call of a `Thought`. */
export type ActionResult = z.infer<Schemas['ACTION_RESULT']>
/** A person is asked: for an answer, or whether exactly this `argv` may run. */
export type HumanInputRequest = z.infer<Schemas['HUMAN_INPUT_REQUEST']>
/** The person answered. In place of a sensitive answer stands a token. */
export type HumanInputReceived = z.infer<Schemas['HUMAN_INPUT_RECEIVED']>
/** What the engine says to the model; part of the agent's memory. */
export type SystemMessage = z.infer<Schemas['SYSTEM_MESSAGE']>
/** A hook ran, or was `SKIPPED`. With `observation_override` the model reads that in place of the result, which stays. */
export type HookExecutionAudit = z.infer<Schemas['HOOK_EXECUTION_AUDIT']>
/** Something failed; `recoverable` when it is tried again. A run that ends `FAILED` has exactly one that is not. */
export type ErrorEvent = z.infer<Schemas['ERROR']>
/** The workspace after an iteration was captured, or was not. */
export type SnapshotEvent = z.infer<Schemas['SNAPSHOT']>
/** An engine process let the run go, and how the run stands then. */
export type EngineEnd = z.infer<Schemas['ENGINE_END']>

/** Every event this version knows, told apart by `type`. */
export type JournalEvent = z.infer<Schemas[keyof Schemas]>

/** An event of a type this version does not know: kept and handed on as it stands. */
export type UnknownEvent = AnyEvent & Position

/** What a run's journal holds. */
export type StoredEvent = JournalEvent | UnknownEvent

/** An event of a run, as `append` takes it. */
export type NewEvent = NewEventOf<JournalEvent>

/** True for an event of a type this version knows; `event.type` then tells which. */
export function isKnownEvent(event: StoredEvent): event is JournalEvent {
  const { type } = Object(event) as Partial<StoredEvent>
  return typeof type === 'string' && isKnownType(type)
}

/**
 * What the journal of a run holds: pass it to `openJournal`, `readJournal` and the others. Events of unknown types, and
 * further fields, are let through; lines of earlier formats are understood as events of today.
 */
export const runEventSchema: EventSchema<StoredEvent> = { ...todaySchema, upcast }

/**
 * The JSON Schema (draft 2020-12) of one line of a run's journal.
 *
 * Further fields are allowed everywhere, and so are events of other types, as
 * long as they have `seq`, `timestamp` and `type`.
 */
export function journalJsonSchema(): Record<string, unknown> {
  const known = Object.values(eventSchemas).map((schema) => z.toJSONSchema(schema, { io: 'input' }))
  const other = {
    type: 'object',
    properties: {
      seq: { type: 'integer', minimum: 1 },
      timestamp: { type: 'string' },
      type: { type: 'string', not: { enum: [...Object.keys(eventSchemas), ...OLD_TYPES] } },
    },
    required: ['seq', 'timestamp', 'type'],
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A line of journal.jsonl',
    anyOf: [...known.map(({ $schema: _, ...schema }) => schema), other],
  }
}
