/** What the journal writes into every event: its number and its time. */
export interface Position {
  /** 1, 2, 3 … within the journal. */
  seq: number
  /** ISO 8601, UTC. */
  timestamp: string
}

/** An event of any kind. */
export interface AnyEvent {
  type: string
  [field: string]: unknown
}

/** An event as a reader returns it: one line of the file. */
export type Stored<Event> = Event & Position

/** What `append` takes: an event without the fields that the journal stamps. */
export type NewEventOf<Event> = Event extends unknown ? Omit<Event, keyof Position> : never

/** A line as it was parsed: an object with a `type`, in whatever format. */
export type RawLine = Record<string, unknown> & { type: string }

/**
 * What the events of a journal look like: any schema that implements Standard Schema (https://standardschema.dev), as those
 * of zod, valibot and arktype do. It sees an event with its `seq` and `timestamp`. The event itself is written and handed on,
 * not the schema's output.
 */
export interface EventSchema<Event> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult | Promise<SchemaResult>
    readonly types?: { readonly input: Event; readonly output: unknown } | undefined
  }
  /**
   * Understands the lines of earlier formats as events of today. Called with all lines of a journal in which one is not an
   * event; returns one value for each line.
   */
  readonly upcast?: (lines: RawLine[], path: string) => unknown[]
}

interface SchemaResult {
  readonly value?: unknown
  readonly issues?: readonly SchemaIssue[] | undefined
}

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isRawLine(value: unknown): value is RawLine {
  return isObject(value) && typeof value.type === 'string'
}

/** Why a parsed line is not an event, in words; undefined when it is one. */
export function problemOf(value: unknown, schema: EventSchema<unknown> | undefined): string | undefined {
  if (value === undefined) return 'it is not JSON'
  if (!isObject(value)) return 'it is not a JSON object'
  const { type, seq, timestamp } = value
  if (typeof type !== 'string') return 'it has no "type"'
  if (!Number.isSafeInteger(seq) || Number(seq) < 1) return `${type}: "seq" is not a positive whole number`
  if (typeof timestamp !== 'string') return `${type}: "timestamp" is not a string`
  const issue = schema && firstIssue(value, schema)
  return issue && `${type}: ${describe(issue)}`
}

function firstIssue(value: unknown, schema: EventSchema<unknown>): SchemaIssue | undefined {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise)
    throw new TypeError(
      'The schema of a journal must be synchronous: its events are checked before they are written.',
    )
  return result.issues?.[0]
}

function describe({ message, path = [] }: SchemaIssue): string {
  if (path.length === 0) return message
  const keys = path.map((key) => String(typeof key === 'object' ? key.key : key))
  return `"${keys.join('.')}": ${message}`
}
