import * as z from 'zod/mini'
import { type AnyEvent, type EventSchema, type NewEventOf, type Position, problemOf } from './event.js'

const text = z.string()
const wholeNumber = z.int()
const optionalText = z.optional(z.string())
const optionalIteration = z.optional(z.int())

/** What any event may have. `inherited`: copied from the run of which this one is a fork. `replayed`: answered from a record. */
function event<Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) {
  return z.object({
    seq: z.int(),
    timestamp: z.string(),
    inherited: z.optional(z.boolean()),
    replayed: z.optional(z.boolean()),
    type: z.literal(type),
    ...fields,
  })
}

/** The sums of a run. */
const usage = z.object({
  prompt_tokens: z.optional(z.number()),
  completion_tokens: z.optional(z.number()),
  total_tokens: z.optional(z.number()),
})

/** Disjoint buckets, which add up to what is billed; `cache_write_1h` is a part of `cache_write`. */
const tokens = z.looseObject({
  input: z.number(),
  cache_read: z.number(),
  cache_write: z.number(),
  cache_write_1h: z.optional(z.number()),
  output: z.number(),
  reasoning: z.number(),
  adjusted: z.optional(z.array(text)),
})

/** US dollars for a million tokens of each bucket. */
const price = z.looseObject({
  input: z.number(),
  cache_read: z.optional(z.number()),
  cache_write: z.optional(z.number()),
  cache_write_1h: z.optional(z.number()),
  output: z.number(),
  reasoning: z.optional(z.number()),
  /** The date of the table that gave them; absent for rates of the person's own. */
  date: z.optional(text),
})

/** What a response cost, used (`THOUGHT`) or not (`ERROR`). Null: not counted, or not known. */
const paid = {
  /** As the provider counted, in its own words. */
  usage: z.optional(z.nullable(z.looseObject({}))),
  tokens: z.optional(z.nullable(tokens)),
  /** The one that answered. */
  model: z.optional(z.nullable(text)),
  provider: z.optional(z.nullable(text)),
  price: z.optional(z.nullable(price)),
  waited_ms: z.optional(z.number()),
}

/** A piece of a message: text, or an image or file in `io/blobs/`. */
const part = z.union([
  z.object({
    type: z.literal('text'),
    text,
    prompt_cache: z.optional(z.union([z.boolean(), text])),
  }),
  z.object({
    type: z.enum(['image', 'file']),
    /** The SHA-256 of its bytes, which is its name in `io/blobs/`. */
    blob: text,
    media_type: text,
    bytes: wholeNumber,
    width: z.optional(wholeNumber),
    height: z.optional(wholeNumber),
    name: optionalText,
    prompt_cache: z.optional(z.union([z.boolean(), text])),
  }),
])

const content = z.union([text, z.array(part)])

/** What a run and its sub-agents have cost. */
const totals = z.looseObject({})

const sourceOfReplay = z.enum(['recorded', 'live'])

/** What was put around a command, whose `argv` is the inner one. */
const sandboxed = z.looseObject({ with: text, argv: z.array(text) })

const toolCall = z.object({ id: text, action_id: text, name: text, arguments: text })

const status = z.enum(['RUNNING', 'WAITING_FOR_INPUT', 'COMPLETED', 'FAILED', 'INTERRUPTED'])

/** How each known event is written, by `type`. Fields beyond these are kept, never an error. */
export const eventSchemas = {
  ENGINE_START: event('ENGINE_START', {
    run_id: text,
    agent_name: optionalText,
    /** Null: the agent was defined in a program, and is in `configuration/`. */
    agent_home: z.optional(z.nullable(text)),
    /** By tool, what `${TOOL_HOME}` stands for in those that lie outside of `agent_home`. */
    tool_homes: z.optional(z.record(text, text)),
    work_dir: optionalText,
    workspace_id: z.optional(z.nullable(text)),
    task: optionalText,
    max_iterations: z.optional(z.nullable(z.number())),
    config: z.optional(z.unknown()),
    engine: z.optional(
      z.object({
        version: optionalText,
        node: optionalText,
        pid: z.optional(wholeNumber),
        hostname: optionalText,
        epoch: z.optional(wholeNumber),
      }),
    ),
    resumed: z.optional(z.boolean()),
    retry: z.optional(z.boolean()),
    /** The run of which this one is a fork, and where it was cut. */
    parent: z.optional(
      z.looseObject({
        run_id: text,
        directory: text,
        iteration: wholeNumber,
        seq: wholeNumber,
        sha256: text,
        snapshot_id: z.optional(z.nullable(text)),
        left_out: z.optional(z.array(text)),
      }),
    ),
    /** Old path and new one: the first is replaced in what the model is sent of inherited events. */
    paths: z.optional(z.array(z.tuple([text, text]))),
    /** What is taken from the record, and what is not. */
    replay: z.optional(z.object({ model: sourceOfReplay, tools: sourceOfReplay })),
    imported: z.optional(z.object({ format: text, sha256: text })),
    agent_package: z.optional(z.object({ name: text, version: text })),
    sandbox: z.optional(z.looseObject({ with: text, version: optionalText, image_digest: optionalText })),
    changed_files: z.optional(z.array(text)),
    overrides: z.optional(z.array(text)),
    parent_run: optionalText,
    allowed: z.optional(
      z.object({
        import_roots: z.optional(z.array(text)),
        workspace_env_digest: optionalText,
        runs_dir: optionalText,
      }),
    ),
  }),
  USER_MESSAGE: event('USER_MESSAGE', {
    iteration: optionalIteration,
    content,
    /** Present when the message was said to a running run. */
    inbox_id: optionalText,
  }),
  THOUGHT: event('THOUGHT', {
    iteration: wholeNumber,
    content: text,
    tool_calls: z.array(toolCall),
    llm_invocation_ref: optionalText,
    request_bytes: z.optional(wholeNumber),
    finish_reason: optionalText,
    ...paid,
    message: z.optional(z.unknown()),
  }),
  ACTION_REQUEST: event('ACTION_REQUEST', {
    iteration: wholeNumber,
    action_id: text,
    attempt: wholeNumber,
    tool_name: text,
    tool_args: z.optional(z.unknown()),
    resolved_command: z.optional(z.nullable(text)),
    argv: z.optional(z.nullable(z.array(text))),
    stdin_sha256: z.optional(z.nullable(text)),
    sandbox: z.optional(sandboxed),
    execution_ref: z.optional(z.nullable(text)),
  }),
  ACTION_RESULT: event('ACTION_RESULT', {
    iteration: wholeNumber,
    action_id: text,
    tool_name: text,
    status: z.enum(['SUCCESS', 'FAILED', 'ERROR', 'TIMEOUT', 'BLOCKED', 'INTERRUPTED']),
    exit_code: z.optional(z.nullable(wholeNumber)),
    signal: z.optional(z.nullable(text)),
    observation_content: text,
    /** What the model reads in place of the text alone. */
    parts: z.optional(z.array(part)),
    /** The runs that the call started. */
    child_runs: z.optional(
      z.array(
        z.looseObject({
          run_id: text,
          directory: text,
          status: z.optional(z.nullable(text)),
          reason_code: z.optional(z.nullable(text)),
          totals: z.optional(z.nullable(totals)),
        }),
      ),
    ),
    execution_ref: z.optional(z.nullable(text)),
    duration_ms: z.optional(z.nullable(z.number())),
  }),
  HUMAN_INPUT_REQUEST: event('HUMAN_INPUT_REQUEST', {
    iteration: optionalIteration,
    request_id: optionalText,
    action_id: optionalText,
    prompt: text,
    input_type: optionalText,
    sensitive: z.optional(z.boolean()),
    argv: z.optional(z.array(text)),
    stdin_sha256: z.optional(z.nullable(text)),
    cwd: optionalText,
    env: z.optional(z.record(text, text)),
    pass_env: z.optional(z.array(text)),
    sandbox: z.optional(sandboxed),
    effects: z.optional(z.unknown()),
    reasons: z.optional(z.array(text)),
  }),
  HUMAN_INPUT_RECEIVED: event('HUMAN_INPUT_RECEIVED', {
    iteration: optionalIteration,
    request_id: optionalText,
    action_id: optionalText,
    response: text,
    remember: optionalText,
  }),
  SYSTEM_MESSAGE: event('SYSTEM_MESSAGE', {
    iteration: optionalIteration,
    level: z.enum(['INFO', 'WARN', 'ERROR']),
    content: text,
  }),
  HOOK_EXECUTION_AUDIT: event('HOOK_EXECUTION_AUDIT', {
    iteration: optionalIteration,
    action_id: optionalText,
    hook_name: text,
    status: text,
    io_path_ref: z.optional(z.nullable(text)),
    duration_ms: z.optional(z.number()),
    error_message: optionalText,
    observation_override: optionalText,
  }),
  ERROR: event('ERROR', {
    iteration: optionalIteration,
    error_message: text,
    error_details: z.optional(z.unknown()),
    recoverable: z.optional(z.boolean()),
    request_bytes: z.optional(wholeNumber),
    ...paid,
  }),
  SNAPSHOT: event('SNAPSHOT', {
    iteration: wholeNumber,
    /** Null: the workspace was not captured; `reason` and `message` say why. */
    snapshot_id: z.nullable(text),
    files_id: z.optional(z.nullable(text)),
    duration_ms: z.optional(z.number()),
    waited_ms: z.optional(z.number()),
    changed: z.optional(wholeNumber),
    bytes: z.optional(wholeNumber),
    /** A hundred of the paths that are not in it; those that a fork would miss come first. */
    omitted: z.optional(z.array(z.unknown())),
    omitted_count: z.optional(wholeNumber),
    reason: optionalText,
    message: optionalText,
  }),
  ENGINE_END: event('ENGINE_END', {
    run_id: optionalText,
    status,
    final_iteration: z.optional(wholeNumber),
    usage: z.optional(z.nullable(usage)),
    totals: z.optional(totals),
    reason: z.optional(z.nullable(text)),
    reason_code: z.optional(z.nullable(text)),
    warnings: z.optional(z.array(text)),
    /** SHA-256 of all lines before this one, newlines included, in hexadecimal. */
    sha256: optionalText,
  }),
} as const

type Schemas = typeof eventSchemas

/** A tool call as a THOUGHT carries it; `arguments` is the raw string the model sent. */
export type ToolCallRecord = z.infer<typeof toolCall>
/** A piece of a message: text, or an image or a file whose bytes lie in `io/blobs/<blob>`. */
export type ContentPart = z.infer<typeof part>
/** The status of a run. No event of today says `RUNNING`: the lease shows whether a run goes on. */
export type RunStatus = z.infer<typeof status>

/** An engine process took the run; each one that does appends its own. */
export type EngineStart = z.infer<Schemas['ENGINE_START']>
/** What the user said: the task first, further instructions later. */
export type UserMessageEvent = z.infer<Schemas['USER_MESSAGE']>
/** What the model answered. Without calls it is the answer to the user. */
export type Thought = z.infer<Schemas['THOUGHT']>
/** A command may have been started, or was refused: then `argv` is null. */
export type ActionRequest = z.infer<Schemas['ACTION_REQUEST']>
/** What became of a call; there is exactly one for each call of a `Thought`. */
export type ActionResult = z.infer<Schemas['ACTION_RESULT']>
/** A person is asked: for an answer, or whether exactly this `argv` may run, with this stdin, `cwd` and `env`. */
export type HumanInputRequest = z.infer<Schemas['HUMAN_INPUT_REQUEST']>
/** The person answered. In place of a sensitive answer stands a token. */
export type HumanInputReceived = z.infer<Schemas['HUMAN_INPUT_RECEIVED']>
/** What the engine says to the model; part of the agent's memory. */
export type SystemMessageEvent = z.infer<Schemas['SYSTEM_MESSAGE']>
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

type KnownType = keyof typeof eventSchemas

function isKnownType(type: string): type is KnownType {
  return Object.hasOwn(eventSchemas, type)
}

/** v1.1's names for ENGINE_START and ENGINE_END: known, and not to be passed on under these names. */
const OLD_TYPES: readonly string[] = ['RUN_START', 'RUN_END']

/** Accepts the events that this version writes, and events of unknown types. */
export const todaySchema: EventSchema<never> = {
  '~standard': {
    version: 1,
    vendor: 'delta',
    validate: (value) => {
      const message = problemIn(value as AnyEvent)
      return message === undefined ? {} : { issues: [{ message }] }
    },
  },
}

export function isToday(value: unknown): boolean {
  return problemOf(value, todaySchema) === undefined
}

function problemIn(event: AnyEvent): string | undefined {
  const { type } = event
  if (OLD_TYPES.includes(type)) return 'it is not valid'
  const issue = isKnownType(type) ? eventSchemas[type].safeParse(event).error?.issues[0] : undefined
  return issue && describe(issue)
}

function describe(issue: z.core.$ZodIssue): string {
  const field = `"${issue.path.join('.')}"`
  if (issue.code === 'invalid_type') return `${field} is not a valid ${issue.expected}`
  if (issue.code === 'invalid_union') return `${field} is not a valid ${kindsIn(issue).join(' or ')}`
  if (issue.code === 'invalid_value') return `${field} is not one of ${issue.values.join(', ')}`
  return `${field} is not valid`
}

/** What a union may be: `string`, `array`. */
function kindsIn({ errors }: z.core.$ZodIssueInvalidUnion): string[] {
  return errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [first.expected] : []))
}

/** True for an event of a type this version knows; `event.type` then tells which. */
export function isKnownEvent(event: StoredEvent): event is JournalEvent {
  const { type } = Object(event) as Partial<StoredEvent>
  return typeof type === 'string' && isKnownType(type)
}

/** True for an event that was copied from the run of which this one is a fork. */
export function isInherited(event: object): boolean {
  return (event as { inherited?: unknown }).inherited === true
}

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
