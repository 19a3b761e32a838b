import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { findHistoryProblem } from './history.js'

/**
 * Reads an exported run as strictly as the programs that it is for.
 *
 * `atif` by the rules of RFC 0001 of Harbor, version 1.7 (https://github.com/harbor-framework/harbor, rfcs/0001-trajectory-format.md):
 * its fields and no others. `otlp` by the generated code of opentelemetry-proto. `hf` by the page of the Hub on session traces. `sft`
 * as a server that checks conversations.
 *
 * @returns What is wrong first; undefined if nothing is.
 */
export async function findExportProblem(
  format: 'atif' | 'otlp' | 'hf' | 'sft',
  text: string,
): Promise<string | undefined> {
  try {
    await JUDGES[format](text)
    return undefined
  } catch (error) {
    return error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message
  }
}

const JUDGES = { atif: judgeAtif, otlp: judgeOtlp, hf: judgeHf, sft: judgeSft }

const extra = z.record(z.string(), z.unknown()).optional()
/** RFC 8259 lets a text hold half of a surrogate pair, and Python's encoders refuse it. */
const text = z.string().refine((value) => !/\p{Surrogate}/u.test(value), 'half of a surrogate pair')
const image = z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const content = z.union([
  text,
  z.array(
    z.union([
      z.strictObject({ type: z.literal('text'), text }),
      z.strictObject({
        type: z.literal('image'),
        source: z.strictObject({ media_type: image, path: text }),
      }),
    ]),
  ),
])

const metrics = z.strictObject({
  prompt_tokens: z.int().optional(),
  completion_tokens: z.int().optional(),
  cached_tokens: z.int().optional(),
  cost_usd: z.number().optional(),
  prompt_token_ids: z.array(z.int()).optional(),
  completion_token_ids: z.array(z.int()).optional(),
  logprobs: z.array(z.number()).optional(),
  extra,
})

const reference = z
  .strictObject({
    trajectory_id: text.optional(),
    trajectory_path: text.optional(),
    session_id: text.optional(),
    extra,
  })
  .refine(
    ({ trajectory_id, trajectory_path }) => (trajectory_id ?? trajectory_path) !== undefined,
    'a reference needs trajectory_id or trajectory_path',
  )

const observation = z.strictObject({
  results: z.array(
    z.strictObject({
      source_call_id: text.optional(),
      content: content.optional(),
      subagent_trajectory_ref: z.array(reference).optional(),
      extra,
    }),
  ),
})

const ofAnyStep = {
  step_id: z.int(),
  timestamp: z.iso.datetime().optional(),
  message: content,
  is_copied_context: z.boolean().optional(),
  extra,
}

const step = z.discriminatedUnion('source', [
  z.strictObject({ ...ofAnyStep, source: z.literal('user') }),
  z.strictObject({ ...ofAnyStep, source: z.literal('system'), observation: observation.optional() }),
  z.strictObject({
    ...ofAnyStep,
    source: z.literal('agent'),
    model_name: text.optional(),
    reasoning_effort: z.union([text, z.number()]).optional(),
    reasoning_content: text.optional(),
    tool_calls: z
      .array(
        z.strictObject({
          tool_call_id: text,
          function_name: text,
          arguments: z.record(z.string(), z.unknown()),
          extra,
        }),
      )
      .optional(),
    observation: observation.optional(),
    metrics: metrics.optional(),
    llm_call_count: z.int().min(0).optional(),
  }),
])

const trajectory = z.strictObject({
  schema_version: z.literal('ATIF-v1.7'),
  session_id: text.optional(),
  trajectory_id: text.optional(),
  agent: z.strictObject({
    name: text,
    version: text,
    model_name: text.optional(),
    tool_definitions: z.array(z.record(z.string(), z.unknown())).optional(),
    extra,
  }),
  steps: z.array(step).min(1),
  notes: text.optional(),
  final_metrics: z
    .strictObject({
      total_prompt_tokens: z.int().optional(),
      total_completion_tokens: z.int().optional(),
      total_cached_tokens: z.int().optional(),
      total_cost_usd: z.number().optional(),
      total_steps: z.int().min(0).optional(),
      extra,
    })
    .optional(),
  continued_trajectory_ref: text.optional(),
  extra,
})

function judgeAtif(document: string): void {
  const { steps, final_metrics } = trajectory.parse(JSON.parse(document))
  for (const [index, { step_id }] of steps.entries())
    check(step_id === index + 1, `step ${index + 1} has step_id ${step_id}`)
  for (const step of steps) {
    if (step.source !== 'agent') continue
    const calls = (step.tool_calls ?? []).map(({ tool_call_id }) => tool_call_id)
    const results = (step.observation?.results ?? []).map(({ source_call_id }) => source_call_id)
    check(new Set(calls).size === calls.length, `step ${step.step_id} has two calls of one id`)
    for (const id of results)
      check(id === undefined || calls.includes(id), `step ${step.step_id} has a result of no call: ${id}`)
    check(!step.is_copied_context || !step.metrics, `step ${step.step_id} is copied and has metrics`)
  }
  const total = final_metrics?.total_steps
  check(total === undefined || total === steps.length, `total_steps is ${total}`)
}

/** Ids are hexadecimal in JSON; the generated code takes base64. */
async function judgeOtlp(document: string): Promise<void> {
  const ids: string[] = []
  const parents: string[] = []
  const request = JSON.parse(document, (key, value) => {
    if (key === 'traceId') check(/^[0-9a-f]{32}$/.test(value), `traceId ${value}`)
    else if (key === 'spanId' || key === 'parentSpanId')
      check(/^[0-9a-f]{16}$/.test(value), `${key} ${value}`)
    else return value
    if (key !== 'traceId') (key === 'spanId' ? ids : parents).push(value)
    return Buffer.from(value, 'hex').toString('base64')
  })
  const { default: root } = await import('@opentelemetry/otlp-transformer/build/src/generated/root.js')
  const { ExportTraceServiceRequest: type } = (root as unknown as Generated).opentelemetry.proto.collector
    .trace.v1
  const bytes = type.encode(type.fromObject(request)).finish()
  const read = type.toObject(type.decode(bytes), { longs: String, bytes: String })
  check(isDeepStrictEqual(read, request), `opentelemetry-proto reads it as ${JSON.stringify(read)}`)
  check(new Set(ids).size === ids.length, 'two spans have one id')
  check(
    parents.every((id) => ids.includes(id)),
    'a span has a parent that is not there',
  )
  for (const { startTimeUnixNano: start, endTimeUnixNano: end, name } of spansIn(request))
    check(0n < BigInt(start) && BigInt(start) <= BigInt(end), `span ${name} lasts from ${start} to ${end}`)
}

/** What is used of the generated code, whose own declaration does not say what it holds. */
interface Generated {
  opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceRequest: Message } } } } }
}

interface Message {
  fromObject(value: object): object
  encode(message: object): { finish(): Uint8Array }
  decode(bytes: Uint8Array): object
  toObject(message: object, options: object): object
}

interface Spans {
  resourceSpans: {
    scopeSpans: { spans: { name: string; startTimeUnixNano: string; endTimeUnixNano: string }[] }[]
  }[]
}

function spansIn({ resourceSpans }: Spans) {
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
}

const session = z.looseObject({
  type: z.literal('session'),
  harness: text,
  id: text,
  name: text.optional(),
})
const envelope = z.strictObject({
  type: z.literal('message'),
  message: z.strictObject({
    role: z.enum(['user', 'assistant', 'system', 'tool']),
    content: text,
    reasoningContent: text.optional(),
    toolCalls: z
      .array(z.strictObject({ id: text, function: z.strictObject({ name: text, arguments: text }) }))
      .min(1)
      .optional(),
    toolCallId: text.optional(),
    timestamp: z.int().optional(),
    model: text.optional(),
  }),
})

/** A result is shown at the call that it answers. */
function judgeHf(document: string): void {
  check(document.endsWith('\n'), 'its last line has no end')
  const [first, ...others] = document
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
  session.parse(first)
  const open = new Set<string>()
  for (const { message } of others.map((line) => envelope.parse(line))) {
    for (const { id } of message.toolCalls ?? []) open.add(id)
    if (message.role !== 'tool') continue
    check(open.delete(String(message.toolCallId)), `a result of no call: ${message.toolCallId}`)
  }
}

const chat = z.strictObject({
  messages: z.array(z.looseObject({ role: z.string(), weight: z.literal(0).optional() })),
  tools: z.array(
    z.strictObject({
      type: z.literal('function'),
      function: z.looseObject({ name: text, parameters: z.looseObject({}).optional() }),
    }),
  ),
  metadata: z.strictObject({
    run_id: text,
    agent: text,
    model: text,
    reason_code: text,
    score: z.number().optional(),
  }),
})

/** Arguments are objects here, which a server wants as a string. */
function judgeSft(document: string): void {
  for (const line of document.trimEnd().split('\n')) {
    const { messages, tools } = chat.parse(
      JSON.parse(line, (key, value) => (key === 'arguments' ? JSON.stringify(value) : value)),
    )
    const problem = findHistoryProblem({ model: 'any', messages, ...(tools.length > 0 && { tools }) })
    check(problem === undefined, `${problem?.param}: ${problem?.message}`)
    const last = messages.at(-1)
    check(last?.role === 'assistant' && last.tool_calls === undefined, 'it does not end with an answer')
  }
}

function check(isRight: boolean, problem: string): void {
  if (!isRight) throw new Error(problem)
}
