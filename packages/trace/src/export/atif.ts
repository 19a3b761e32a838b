import { join } from 'node:path'
import type { ContentPart, ErrorEvent } from '@delta/journal/runs'
import type { CountedTokens } from '../prices.js'
import { inputTokens } from '../shares.js'
import type { Said, Step, StepCall } from '../steps.js'
import type { Trace } from '../trace.js'
import type { ChildRun, TracedRun } from '../traced-run.js'
import { argumentsOf } from './as-chat.js'
import { type Beginning, beginningOf } from './beginning.js'
import { type ExportOptions, objectWithList, placeholderOf, timeIn, writerFor } from './document.js'

/**
 * A run in the Agent Trajectory Interchange Format, version 1.7: one JSON object. A message of the user or the engine is a step of
 * its own, and so is each answer of the model, with its calls and their results.
 */
export async function* toAtif(trace: Trace, options: ExportOptions): AsyncGenerator<string> {
  const { run } = trace
  const beginning = await beginningOf(trace)
  let count = 0
  async function* numbered() {
    for await (const step of stepsIn(trace, beginning, options)) yield { step_id: ++count, ...step }
  }
  yield* objectWithList(writerFor(run, options), {
    before: headOf(run, beginning, options),
    name: 'steps',
    elements: numbered(),
    after: () => endOf(run, beginning, count),
  })
  yield '\n'
}

function headOf(run: TracedRun, { start, tools }: Beginning, { root = run }: ExportOptions): object {
  return {
    schema_version: 'ATIF-v1.7',
    session_id: root.runId,
    trajectory_id: run.runId,
    agent: {
      name: run.metadata.agent_name ?? 'unknown',
      version: start?.engine?.version ?? 'unknown',
      ...(run.model !== null && { model_name: run.model }),
      ...(tools.length > 0 && { tool_definitions: tools }),
    },
  }
}

function endOf({ totals, metadata }: TracedRun, { start }: Beginning, total_steps: number): object {
  const { tokens, cost, unreported } = totals.own
  const { work_dir, parent_run, status, reason_code } = metadata
  const { run_id, iteration } = start?.parent ?? {}
  const facts = { work_dir, parent_run, parent: run_id && { run_id, iteration }, status, reason_code }
  return {
    final_metrics: {
      total_prompt_tokens: inputTokens(tokens),
      total_completion_tokens: tokens.output + tokens.reasoning,
      total_cached_tokens: tokens.cache_read,
      ...(cost !== null && { total_cost_usd: cost }),
      total_steps,
      ...(unreported > 0 && { extra: { unreported } }),
    },
    extra: Object.fromEntries(Object.entries(facts).filter(([, value]) => value != null)),
  }
}

async function* stepsIn(trace: Trace, { system }: Beginning, options: ExportOptions): AsyncGenerator<object> {
  for (const { at, text } of system) yield { ...stamp(at), source: 'system', message: text }
  for await (const step of trace.steps()) {
    for (const said of step.said) yield messageStep(said, trace.run)
    if (step.thought) yield agentStep(step, step.thought, { ...options, run: trace.run })
  }
}

function messageStep({ at, role, text, parts, inherited }: Said, run: TracedRun): object {
  const message = parts ? contentOf(parts, run) : text
  return { ...stamp(at), source: role, message, ...copied(inherited) }
}

function agentStep(
  step: Step,
  { at, content, reasoning }: NonNullable<Step['thought']>,
  options: ExportOptions & { run: TracedRun },
): object {
  const { calls, request, inherited, replayed, errors } = step
  const results = calls.filter(({ status }) => status !== undefined)
  return {
    ...stamp(at),
    source: 'agent',
    ...(request && { model_name: request.model }),
    message: content,
    ...(reasoning !== undefined && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
    ...(results.length > 0 && { observation: { results: results.map((call) => resultOf(call, options)) } }),
    ...metricsOf(step),
    ...(!inherited && !replayed && { llm_call_count: attemptsIn(errors) }),
    ...copied(inherited),
  }
}

/** How often the model was asked in an iteration that it answered. */
function attemptsIn(errors: readonly ErrorEvent[]): number {
  const failed = errors.filter(({ tokens, error_details: details }) => {
    return tokens !== undefined || typeof (Object(details) as { attempt?: unknown }).attempt === 'number'
  })
  return failed.length + 1
}

function callOf({ actionId, name, argumentsText }: StepCall): object {
  return { tool_call_id: actionId, function_name: name, arguments: argumentsOf(argumentsText) }
}

/** The result as the model read it. What the format has no field for is in `extra`. */
function resultOf(call: StepCall, { run, subAgents = false }: ExportOptions & { run: TracedRun }): object {
  const { actionId, status, exitCode, observation, override, parts, children } = call
  const beside = subAgents ? children.filter(({ isGone, isInherited }) => !isGone && !isInherited) : []
  const others = children.filter((child) => !beside.includes(child))
  return {
    source_call_id: actionId,
    content: override ?? (parts ? contentOf(parts, run) : observation),
    ...(beside.length > 0 && {
      subagent_trajectory_ref: beside.map(({ runId }) => ({ trajectory_path: `${runId}.json` })),
    }),
    extra: {
      status,
      ...(exitCode !== null && { exit_code: exitCode }),
      ...(others.length > 0 && { child_runs: others.map(childOf) }),
    },
  }
}

function childOf({ runId, directory, status, reasonCode }: ChildRun): object {
  return { run_id: runId, directory, status, reason_code: reasonCode }
}

/** Counts all `llm_call_count` answers: they were paid for, used or not. */
function metricsOf({ request, unused }: Step): { metrics?: object } {
  const paid = [...unused, ...(request?.isPaid ? [request] : [])]
  const counted = paid.flatMap(({ tokens }) => tokens ?? [])
  if (counted.length === 0) return {}
  const sumOf = (count: (tokens: CountedTokens) => number) => sum(counted.map(count))
  const costs = paid.flatMap(({ tokens, cost }) => (tokens ? (cost ?? []) : []))
  const isLong = counted.some(({ cache_write_1h }) => cache_write_1h !== undefined)
  return {
    metrics: {
      prompt_tokens: sumOf(inputTokens),
      completion_tokens: sumOf(({ output, reasoning }) => output + reasoning),
      cached_tokens: sumOf(({ cache_read }) => cache_read),
      ...(costs.length > 0 && { cost_usd: sum(costs) }),
      extra: {
        cache_write: sumOf(({ cache_write }) => cache_write),
        ...(isLong && { cache_write_1h: sumOf(({ cache_write_1h = 0 }) => cache_write_1h) }),
        reasoning: sumOf(({ reasoning }) => reasoning),
      },
    },
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}

/** The images that the format knows. */
const IMAGES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

function contentOf(parts: readonly ContentPart[], { directory }: TracedRun): object[] {
  return parts.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text }
    if (!IMAGES.has(part.media_type)) return { type: 'text', text: placeholderOf(part) }
    const { path = join(directory, 'io', 'blobs', part.blob) } = part as { path?: string } // an imported one has it
    return { type: 'image', source: { media_type: part.media_type, path } }
  })
}

function stamp(at: Date): { timestamp?: string } {
  const time = timeIn(at)
  return time ? { timestamp: time.toISOString() } : {}
}

function copied(isInherited: boolean): { is_copied_context?: true } {
  return isInherited ? { is_copied_context: true } : {}
}
