import { isObject } from '../is-object.js'
import type { SettingsProblem } from '../llm/llm-problems.js'

/**
 * One answer of a scripted model. In texts, `{{last_observation}}` is the newest tool result without its final newlines;
 * `\{{last_observation}}` stays as text, without its backslash.
 */
export interface ScriptTurn {
  readonly content?: string | undefined
  /** Absent, with `content`: the final answer, which ends a run. */
  readonly tool_calls?: readonly ScriptedCall[] | undefined
}

/** Arguments that are a string are passed on as they are, so that a script can also send invalid JSON. */
export interface ScriptedCall {
  readonly name: string
  /** Absent: none. */
  readonly arguments?: Readonly<Record<string, unknown>> | string | undefined
}

/** The turns, or every problem; see `parseScript`. */
export type ParsedScript = { ok: true; turns: ScriptTurn[] } | { ok: false; problems: SettingsProblem[] }

const EXAMPLE =
  'A turn looks like this: { content: "Hello." } or { tool_calls: [{ name: read, arguments: { file: a.txt } }] }.'

/**
 * Checks a script that was already read from YAML or JSON: a list of turns.
 *
 * @returns The turns, or every problem, each with its place: `[1].tool_calls[0].name`.
 */
export function parseScript(input: unknown): ParsedScript {
  if (!Array.isArray(input) || input.length === 0) {
    const problem = { path: '', message: 'A script is a list of at least one turn.', hint: EXAMPLE }
    return { ok: false, problems: [problem] }
  }
  const problems = input.flatMap((turn, index) => checkTurn(turn, `[${index}]`))
  return problems.length > 0 ? { ok: false, problems } : { ok: true, turns: input as ScriptTurn[] }
}

function checkTurn(turn: unknown, path: string): SettingsProblem[] {
  if (!isObject(turn)) return [{ path, message: 'A turn is a mapping.', hint: EXAMPLE }]
  const { content, tool_calls, ...unknown } = turn
  const problems = unknownKeys(unknown, path, 'content, tool_calls')

  if (content === undefined && tool_calls === undefined) {
    problems.push({ path, message: 'A turn needs content or tool_calls, or both.', hint: EXAMPLE })
  }
  if (content !== undefined && typeof content !== 'string') {
    problems.push({ path: `${path}.content`, message: 'Must be text.', hint: 'Put it in quotes.' })
  }
  if (tool_calls === undefined) return problems
  if (!Array.isArray(tool_calls)) {
    return [...problems, { path: `${path}.tool_calls`, message: 'Must be a list of calls.', hint: EXAMPLE }]
  }
  return [
    ...problems,
    ...tool_calls.flatMap((call, index) => checkCall(call, `${path}.tool_calls[${index}]`)),
  ]
}

function checkCall(call: unknown, path: string): SettingsProblem[] {
  if (!isObject(call)) return [{ path, message: 'A call is a mapping with a name.', hint: EXAMPLE }]
  const { name, arguments: values, ...unknown } = call
  const problems = unknownKeys(unknown, path, 'name, arguments')

  if (typeof name !== 'string' || name === '') {
    problems.push({ path: `${path}.name`, message: 'Must be the name of a tool.' })
  }
  if (values !== undefined && typeof values !== 'string' && !isObject(values)) {
    problems.push({
      path: `${path}.arguments`,
      message: 'Must be a mapping, or text that is passed on as it is.',
    })
  }
  return problems
}

function unknownKeys(unknown: object, path: string, known: string): SettingsProblem[] {
  return Object.keys(unknown).map((key) => ({
    path: `${path}.${key}`,
    message: `Unknown key. Known: ${known}.`,
  }))
}
