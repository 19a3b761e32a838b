import { createHash } from 'node:crypto'
import { type RecordedParts, recordedParts } from '../recorded-parts.js'
import type { SentRequest } from '../sent-request.js'
import { inputTokens } from '../shares.js'
import type { Step, StepCall } from '../steps.js'
import type { Trace } from '../trace.js'
import type { TracedRun } from '../traced-run.js'
import { argumentsOf, type ChatMessage, chatOf, textOf } from './as-chat.js'
import { beginningOf } from './beginning.js'
import { type ExportOptions, objectWithList, timeIn, type Write, writerFor } from './document.js'
import { withSubAgents } from './sub-agents.js'

/** The version of the conventions for generative AI that the names of attributes are from. */
const SEMCONV = '1.41.0'

/** Runs as spans: an `ExportTraceServiceRequest` of OpenTelemetry in JSON. Each run is a resource. */
export async function* toOtlp(trace: Trace, options: ExportOptions): AsyncGenerator<string> {
  const { root = trace.run, content = false, subAgents = false } = options
  yield '{"resourceSpans":['
  let separator = '\n'
  for await (const { trace: each, caller } of subAgents
    ? withSubAgents(trace)
    : [{ trace, caller: undefined }]) {
    const { start } = await beginningOf(each)
    const { version = 'unknown' } = start?.engine ?? {}
    const resource = { 'service.name': 'delta', 'service.version': version, 'delta.semconv': SEMCONV }
    const write = writerFor(each.run, { ...options, root })
    yield `${separator}{"resource":${write({ attributes: attributesOf(resource) })},"scopeSpans":[`
    yield* objectWithList(write, {
      before: { scope: { name: 'delta', version } },
      name: 'spans',
      elements: spansOf(each, {
        traceId: hashOf(root.runId, 16),
        caller: caller && callSpan(caller.run, caller.actionId),
        texts: content ? write : undefined,
      }),
      after: () => ({}),
    })
    yield ']}'
    separator = ',\n'
  }
  yield '\n]}\n'
}

interface Within {
  traceId: string
  /** The span of the call that started the run. */
  caller: string | undefined
  /** Writes what was said. Undefined: it is left out. */
  texts: Write | undefined
}

/** How what was said is read and written. */
interface Texts {
  write: Write
  parts: RecordedParts
}

const INTERNAL = 1
const CLIENT = 3
const OK = { code: 1 }

async function* spansOf(trace: Trace, { traceId, caller, texts }: Within): AsyncGenerator<object> {
  const { run } = trace
  const runSpan = spanId(run, 1)
  const parts = recordedParts(run.directory)
  yield { traceId, spanId: runSpan, ...(caller && { parentSpanId: caller }), ...aboutRun(run) }
  for await (const step of trace.steps()) {
    if (step.inherited) continue
    const within = { traceId, parentSpanId: runSpan }
    if (step.thought)
      yield {
        ...within,
        spanId: spanId(run, step.thought.seq),
        ...(await aboutThought(step, run, texts && { write: texts, parts })),
      }
    for (const call of step.calls)
      yield { ...within, spanId: callSpan(run, call.actionId), ...aboutCall(call, step, texts) }
  }
}

function aboutRun({ runId, metadata, model }: TracedRun): object {
  const { agent_name, created_at, updated_at, status, reason_code } = metadata
  const isBad = status === 'FAILED' || status === 'INTERRUPTED'
  return {
    name: `invoke_agent ${agent_name ?? ''}`.trimEnd(),
    kind: INTERNAL,
    ...times(created_at ?? 0, updated_at ?? 0),
    attributes: attributesOf({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent_name,
      'gen_ai.conversation.id': runId,
      'gen_ai.request.model': model,
      'error.type': isBad ? (reason_code ?? status) : undefined,
    }),
    ...(isBad && { status: failed(reason_code ?? status) }),
    ...(status === 'COMPLETED' && { status: OK }),
  }
}

async function aboutThought(step: Step, run: TracedRun, said: Texts | undefined): Promise<object> {
  const { request, thought, modelMs = 0, at } = step
  const end = thought?.at ?? at
  const texts = said && { ...(await inputOf(request, said)), ...outputOf(step, said) }
  return {
    name: `chat ${request?.model ?? ''}`.trimEnd(),
    kind: CLIENT,
    ...times(request?.at ?? end.getTime() - modelMs, end),
    attributes: attributesOf({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': PROVIDERS[request?.provider ?? ''] ?? request?.provider,
      'gen_ai.request.model': run.model,
      'gen_ai.response.model': request?.model,
      'gen_ai.response.finish_reasons': request?.finishReason && [request.finishReason],
      'gen_ai.conversation.id': run.runId,
      ...(request && usageOf(request)),
      ...texts,
    }),
  }
}

/** Where the conventions have another name for a provider than prices have. */
const PROVIDERS: Readonly<Record<string, string>> = {
  aws: 'aws.bedrock',
  azure: 'azure.ai.openai',
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  'x-ai': 'x_ai',
}

function usageOf({ tokens, cost, isPaid }: SentRequest): Record<string, unknown> {
  if (!isPaid || tokens === null) return {}
  const { cache_read, cache_write, output, reasoning } = tokens
  return {
    'gen_ai.usage.input_tokens': inputTokens(tokens),
    'gen_ai.usage.output_tokens': output + reasoning,
    'gen_ai.usage.cache_read.input_tokens': cache_read,
    'gen_ai.usage.cache_write.input_tokens': cache_write,
    'gen_ai.usage.cache_creation.input_tokens': cache_write,
    'delta.cost_usd': cost === null ? undefined : { doubleValue: cost }, // a number alone becomes an integer
  }
}

function aboutCall(call: StepCall, { thought, at }: Step, write: Write | undefined): object {
  const { actionId, name, status, exitCode, argumentsText, observation, override } = call
  const begun = call.startedAt ?? call.endedAt ?? thought?.at ?? at
  const texts = write && {
    'gen_ai.tool.call.arguments': argumentsText,
    'gen_ai.tool.call.result': status && (override ?? observation),
  }
  return {
    name: `execute_tool ${name}`,
    kind: INTERNAL,
    ...times(begun, call.endedAt ?? begun),
    attributes: attributesOf({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': actionId,
      'delta.exit_code': exitCode,
      'error.type': status === 'SUCCESS' ? undefined : (status ?? 'no result'),
      ...texts,
    }),
    ...(status !== 'SUCCESS' && { status: failed(status ?? 'no result') }),
  }
}

function failed(message: string): object {
  return { code: 2, message }
}

async function inputOf(
  request: SentRequest | undefined,
  { write, parts }: Texts,
): Promise<Record<string, unknown>> {
  const chat = await chatOf(request, parts)
  return chat === undefined ? {} : { 'gen_ai.input.messages': write(chat.messages.map(messageOf)) }
}

/** A message as the conventions spell it: parts of text, calls and results. */
function messageOf(message: ChatMessage): object {
  const { role, reasoning_content, tool_calls = [], tool_call_id } = message
  const text = textOf(message)
  if (role === 'tool')
    return { role, parts: [{ type: 'tool_call_response', id: tool_call_id, response: text }] }
  const calls = tool_calls.map(({ id, function: { name, arguments: written } }) =>
    partOfCall(id, name, written),
  )
  return { role, parts: [...spoken(reasoning_content, text), ...calls] }
}

function outputOf({ thought, calls, request }: Step, { write }: Texts): Record<string, unknown> {
  if (thought === undefined) return {}
  const called = calls.map(({ actionId, name, argumentsText }) => partOfCall(actionId, name, argumentsText))
  const parts = [...spoken(thought.reasoning, thought.content), ...called]
  const answer = { role: 'assistant', parts, finish_reason: request?.finishReason }
  return { 'gen_ai.output.messages': write([answer]) }
}

function spoken(reasoning: string | undefined, text: string): object[] {
  return [
    ...(reasoning ? [{ type: 'reasoning', content: reasoning }] : []),
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
  ]
}

function partOfCall(id: string, name: string, written: unknown): object {
  return { type: 'tool_call', id, name, arguments: argumentsOf(written) }
}

/** Spans of a run are named by the number of their event, which never changes; those of calls by the call. */
function spanId({ runId }: TracedRun, seq: number): string {
  return hashOf(`${runId} ${seq}`, 8)
}

function callSpan({ runId }: TracedRun, actionId: string): string {
  return hashOf(`${runId} ${actionId}`, 8)
}

function hashOf(text: string, bytes: number): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * bytes)
}

/** A time that is not known is the other one. Where a clock was set back, a span has no length. */
function times(start: Date | string | number, end: Date | string | number): object {
  const [from, to] = [timeIn(start)?.getTime(), timeIn(end)?.getTime()]
  const last = to ?? from ?? 0
  return { startTimeUnixNano: nanoseconds(Math.min(from ?? last, last)), endTimeUnixNano: nanoseconds(last) }
}

/** As a string: it has 64 bits. */
function nanoseconds(milliseconds: number): string {
  return milliseconds === 0 ? '0' : `${milliseconds}000000`
}

function attributesOf(values: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: anyValue(value) }],
  )
}

function anyValue(value: unknown): object {
  if (typeof value === 'number') return { intValue: String(value) }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
  return typeof value === 'object' && value !== null ? value : { stringValue: String(value) }
}
