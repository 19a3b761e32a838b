import { createHash } from 'node:crypto'
import type { ActionResult, ContentPart, NewEvent, RunStatus, ToolCallRecord } from '@delta/journal/runs'
import { TraceError } from './errors.js'

/**
 * Reads a run that another program wrote, as the events of a journal. `ENGINE_START.run_id` is the trajectory's: give it that of the
 * run directory before you write.
 *
 * Messages, calls, results and their order are kept. A result without a call is a `SYSTEM_MESSAGE`. Costs in dollars are not: a
 * journal holds rates.
 *
 * @param text - The file.
 * @throws {TraceError} `ERR_TRACE_FORMAT`: it is not of this format; the message says where.
 */
export function importRun(text: string, format: 'atif'): NewEvent[] {
  const { agent, steps, id, extra } = trajectoryIn(text)
  const events: NewEvent[] = []
  let iteration = 0
  for (const step of steps) {
    if (step.source === 'agent') iteration += 1
    events.push(...eventsOf(step, iteration))
  }
  const task = steps.find(({ source }) => source === 'user')?.text
  const sha256 = createHash('sha256').update(text).digest('hex')
  return [
    {
      type: 'ENGINE_START',
      run_id: id,
      agent_name: agent.name,
      ...(task !== undefined && { task }),
      config: { ...(agent.model !== undefined && { llm: { model: agent.model } }) },
      imported: { format, sha256 },
    },
    ...events,
    { type: 'ENGINE_END', final_iteration: iteration, ...endOf(steps.at(-1), extra) },
  ]
}

/** As the file says it. Otherwise a run is completed if its last step is an answer without calls. */
function endOf(
  last: Step | undefined,
  { status, reason_code }: Fields,
): { status: RunStatus; reason_code: string | null } {
  const isAnswered = last?.source === 'agent' && last.calls.length === 0
  const known = ENDS.find((end) => end === status) ?? (isAnswered ? 'COMPLETED' : 'INTERRUPTED')
  const code = typeof reason_code === 'string' ? reason_code : undefined
  return { status: known, reason_code: code ?? (known === 'COMPLETED' ? 'answered' : null) }
}

const ENDS: readonly RunStatus[] = ['COMPLETED', 'FAILED', 'INTERRUPTED', 'WAITING_FOR_INPUT']

/** @param iteration - The iteration of a step of the agent; for another step, the iteration before it. */
function eventsOf(step: Step, iteration: number): NewEvent[] {
  const inherited = step.isCopied ? { inherited: true } : {}
  if (step.source === 'user')
    return [{ type: 'USER_MESSAGE', content: step.parts ?? step.text, ...inherited }, ...uncalled(step)]
  if (step.source === 'system')
    return [{ type: 'SYSTEM_MESSAGE', level: 'INFO', content: step.text, ...inherited }, ...uncalled(step)]
  return [
    {
      type: 'THOUGHT',
      iteration,
      content: step.text,
      tool_calls: step.calls,
      ...(step.model !== undefined && { model: step.model }),
      ...(step.metrics && { usage: step.metrics, tokens: tokensIn(step.metrics), price: null }),
      ...(step.reasoning !== undefined && {
        message: { role: 'assistant', content: step.text, reasoning_content: step.reasoning },
      }),
      ...inherited,
    },
    ...step.calls.flatMap((call): NewEvent[] => {
      const about = { iteration, action_id: call.action_id, tool_name: call.name, ...inherited }
      const results = step.results.filter(({ callId }) => callId === call.action_id)
      return [
        { type: 'ACTION_REQUEST', attempt: 1, argv: null, ...about },
        ...results
          .slice(-1)
          .map((result): NewEvent => ({ type: 'ACTION_RESULT', ...resultIn(result), ...about })),
      ]
    }),
    ...uncalled(step),
  ]
}

function resultIn({ text, parts, extra: { status, exit_code } }: Result) {
  const code = Number.isSafeInteger(exit_code) ? { exit_code: exit_code as number } : {}
  const known: ActionResult['status'] = STATUSES.find((each) => each === status) ?? 'SUCCESS'
  return { status: known, observation_content: text, ...(parts && { parts }), ...code }
}

const STATUSES = ['SUCCESS', 'FAILED', 'ERROR', 'TIMEOUT', 'BLOCKED', 'INTERRUPTED'] as const

/** Results that answer no call. */
function uncalled({ results }: Step): NewEvent[] {
  return results
    .filter(({ callId }) => callId === undefined)
    .map(({ text }): NewEvent => ({ type: 'SYSTEM_MESSAGE', level: 'INFO', content: text }))
}

/** What the file does not assign to another bucket is input or output. What others keep in `extra` need not be a number. */
function tokensIn({ prompt_tokens, completion_tokens, cached_tokens, extra }: Fields) {
  const { cache_write, reasoning } = Object(extra) as Fields
  const prompt = count(prompt_tokens)
  const completion = count(completion_tokens)
  const read = Math.min(count(cached_tokens), prompt)
  const written = Math.min(count(cache_write), prompt - read)
  const thought = Math.min(count(reasoning), completion)
  return {
    input: prompt - read - written,
    cache_read: read,
    cache_write: written,
    output: completion - thought,
    reasoning: thought,
  }
}

function count(value: unknown): number {
  return isCount(value) ? value : 0
}

/** More tokens than any request has. */
const MOST_TOKENS = 1e12

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MOST_TOKENS
}

type Fields = Record<string, unknown>

interface Trajectory {
  id: string
  agent: { name: string; model: string | undefined }
  steps: Step[]
  extra: Fields
}

interface Step {
  source: 'user' | 'system' | 'agent'
  text: string
  /** If it is not only text. */
  parts?: ContentPart[] | undefined
  isCopied: boolean
  model: string | undefined
  reasoning: string | undefined
  calls: ToolCallRecord[]
  results: Result[]
  metrics: Fields | undefined
}

interface Result {
  /** Undefined: it answers no call. */
  callId: string | undefined
  text: string
  parts?: ContentPart[] | undefined
  extra: Fields
}

/** @throws {TraceError} */
function trajectoryIn(text: string): Trajectory {
  const value = parsed(text)
  if (isDeeper(value, MOST_LEVELS))
    throw notAtif(`something in it is nested more than ${MOST_LEVELS} levels deep`)
  const { schema_version, agent, steps, trajectory_id, session_id, extra } = Object(value) as Fields
  if (!/^ATIF-v1\.\d+$/.test(textIn(schema_version) ?? ''))
    throw notAtif(`its schema_version is ${shown(schema_version)} (must be ATIF-v1.7, or another 1.x)`)
  const { name, model_name } = Object(agent) as Fields
  if (typeof name !== 'string') throw notAtif('its agent has no name')
  if (!Array.isArray(steps) || steps.length === 0) throw notAtif('it has no steps')
  const read = steps.map(stepIn)
  refuseRepeatedCalls(read)
  return {
    id: textIn(trajectory_id) ?? textIn(session_id) ?? 'unknown',
    agent: { name, model: textIn(model_name) },
    steps: read,
    extra: Object(extra) as Fields,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw notAtif('it is not JSON')
  }
}

/** JSON that is nested more deeply cannot be written again in every format. */
const MOST_LEVELS = 500

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}

/** A result, and what a call cost, is of the call with its id. */
function refuseRepeatedCalls(steps: readonly Step[]): void {
  const known = new Map<string, number>()
  for (const [index, { calls }] of steps.entries())
    for (const { id } of calls) {
      const before = known.get(id)
      if (before !== undefined)
        throw notAtif(
          `step ${index + 1} has tool_call_id ${shown(id)}, as a call of step ${before} has (each needs its own)`,
        )
      known.set(id, index + 1)
    }
}

function stepIn(value: unknown, index: number): Step {
  const step = Object(value) as Fields
  const { step_id, source, message, model_name, reasoning_content, tool_calls, observation, metrics } = step
  const where = `step ${index + 1}`
  if (step_id !== index + 1) throw notAtif(`${where} has step_id ${shown(step_id)} (must be ${index + 1})`)
  if (source !== 'user' && source !== 'system' && source !== 'agent')
    throw notAtif(`${where} has source ${shown(source)} (must be user, system or agent)`)
  if (typeof message !== 'string' && !Array.isArray(message)) throw notAtif(`${where} has no message`)
  const calls = listIn(tool_calls).map((call) => callIn(call, where))
  const results = listIn((Object(observation) as Fields).results).map(resultOf)
  const lost = results.find(
    ({ callId }) => callId !== undefined && !calls.some((call) => call.action_id === callId),
  )
  if (lost) throw notAtif(`${where} has a result of ${shown(lost.callId)}, which is not among its calls`)
  return {
    source,
    ...contentIn(message),
    isCopied: step.is_copied_context === true,
    model: textIn(model_name),
    reasoning: textIn(reasoning_content),
    calls,
    results,
    metrics:
      typeof metrics === 'object' && metrics !== null ? metricsIn(metrics as Fields, where) : undefined,
  }
}

function metricsIn(metrics: Fields, where: string): Fields {
  for (const name of ['prompt_tokens', 'completion_tokens', 'cached_tokens']) {
    const value = metrics[name] ?? 0
    if (isCount(value)) continue
    const number = typeof value === 'number' ? String(value) : shown(value) // in JSON, 1e400 is null
    throw notAtif(`${where} has ${name} ${number} (must be a whole number from 0 to 10^12)`)
  }
  return metrics
}

/** Arguments that were exported as `_raw`, because they were not JSON, are the model's text again. */
function callIn(
  { tool_call_id: id, function_name: name, arguments: args = {} }: Fields,
  where: string,
): ToolCallRecord {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw notAtif(`${where} has a call without tool_call_id or function_name`)
  const { _raw: raw, ...others } = Object(args) as Fields
  const isRaw = typeof raw === 'string' && Object.keys(others).length === 0
  return { id, action_id: id, name, arguments: isRaw ? raw : JSON.stringify(args) }
}

function resultOf({ source_call_id, content, extra }: Fields): Result {
  return { callId: textIn(source_call_id), ...contentIn(content ?? ''), extra: Object(extra) as Fields }
}

/** The bytes of an image stay where they are: `path` says it, and the part is named by a hash of that. */
function contentIn(content: unknown): { text: string; parts?: ContentPart[] } {
  if (!Array.isArray(content)) return { text: textIn(content) ?? shown(content) }
  const parts = listIn(content).map(({ text, source }): ContentPart => {
    if (typeof text === 'string') return { type: 'text', text }
    const said = Object(source) as Fields
    const [media_type, path] = [textIn(said.media_type) ?? '', textIn(said.path) ?? '']
    const blob = createHash('sha256').update(path).digest('hex')
    return { type: 'image', blob, media_type, bytes: 0, ...{ path } }
  })
  const texts = parts.map((part) => (part.type === 'text' ? part.text : `[image ${part.media_type}]`))
  return { text: texts.join('\n'), parts }
}

function listIn(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map((each) => Object(each) as Fields) : []
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function shown(value: unknown): string {
  return value === undefined ? 'missing' : (JSON.stringify(value) ?? String(value))
}

function notAtif(what: string): TraceError {
  return new TraceError(`not ATIF: ${what}.`)
}
