import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { HookName } from '@delta/config-loader'
import { readIfThere } from '@delta/durable'
import type { CommandOutcome } from '@delta/executor'
import { type AssistantMessage, type ChatRequest, parseCompletion } from '@delta/model'

/** `output/control.json`: skip the call, or end the run. */
export type Control = { action: 'skip'; observation: string } | { action: 'stop'; reason: string }

/** What a hook may write to its `output/`. */
export interface OutputFile<Value> {
  /** File names; the first that exists counts. */
  names: readonly string[]
  /** Size limit, because the whole file is read into memory. */
  maxMiB: number
  /** @throws {Error} The message completes the sentence "wrote an output/… that". */
  parse(text: string): Value
}

/** The request to send instead. The server judges its messages. */
export const REQUEST: OutputFile<ChatRequest> = {
  names: ['final_payload.json', 'payload_override.dat'],
  maxMiB: 64,
  parse(text) {
    const request = parseJson(text) as ChatRequest
    const { messages } = Object(request) as { messages?: unknown }
    if (Array.isArray(messages) && messages.every((message) => Object(message) === message)) return request
    throw new Error('is not a request: it has no list "messages" of messages')
  },
}

/** The message to use instead of the model's, parsed like the model's own. */
export const MESSAGE: OutputFile<AssistantMessage> = {
  names: ['payload_override.dat'],
  maxMiB: 64,
  parse(text) {
    const message = parseJson(text)
    if (Object(message).role !== 'assistant')
      throw new Error('is not an assistant message: its "role" is not "assistant"')
    try {
      return parseCompletion(message).message
    } catch (error) {
      throw new Error(`is not an assistant message. ${(error as Error).message}`)
    }
  },
}

/** The text that the model reads instead of a result. */
export const OBSERVATION: OutputFile<string> = {
  names: ['payload_override.dat'],
  maxMiB: 4,
  parse: (text) => text,
}

/** What a hook that has ended did. */
export interface HookOutcome<Value = unknown> {
  name: HookName
  iteration: number
  /** Why the hook failed, for people; undefined when it succeeded. */
  failure: string | undefined
  /** True when only its replacement for the payload is invalid. */
  isOnlyUnusable: boolean
  control: Control | undefined
  /** What the hook wrote instead of its payload. */
  replacement: Value | undefined
}

/** Reads what a hook left in its `output/`, if it did not fail. */
export function judgeHook<Value>(
  name: HookName,
  ended: {
    iteration: number
    directory: string
    replacement: OutputFile<Value> | undefined
    /** How its command failed, as words that follow its name. */
    failed: string | undefined
  },
): HookOutcome<Value> {
  const { directory, iteration, failed } = ended
  const control = failed === undefined ? readControl(directory, name) : { problem: failed }
  const read: Read<Value> =
    control.problem === undefined && ended.replacement ? readOutput(directory, ended.replacement) : {}
  const problem = control.problem ?? read.problem
  return {
    name,
    iteration,
    failure: problem === undefined ? undefined : `${name} hook ${problem}`,
    isOnlyUnusable: read.problem !== undefined,
    control: control.value,
    replacement: read.value,
  }
}

/** How a command failed, as words that follow its name; undefined when it exited with 0. */
export function failureOf(result: CommandOutcome, timeoutMs: number): string | undefined {
  const { status, exitCode } = result
  const said = lastWords(result.stderr.text)
  switch (status) {
    case 'TIMEOUT':
      return `timed out after ${timeoutMs} ms (timeout_ms)`
    case 'NOT_STARTED':
      return `could not start: ${result.startError.message}`
    case 'EXITED':
      return exitCode === 0 ? undefined : `exited with ${exitCode}${said}`
    default:
      return `was ended by ${result.signal ?? 'the engine'}${said}`
  }
}

/** The last line, truncated: the model may read it, and a program may write everything on one line. */
function lastWords(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? ''
  const shown = [...line.slice(0, 1000)].slice(0, 500).join('') // keeps characters whole
  return line === '' ? '' : `: ${shown}${shown === line ? '' : '…'}`
}

/** The value read, or a problem as words that follow the hook's name. Empty when the hook wrote nothing. */
interface Read<Value> {
  value?: Value
  problem?: string
}

/**
 * Reads a hook's `control.json`. An unknown or impossible action is a problem, and never ignored: a guard may have written it.
 */
export function readControl(directory: string, hook: HookName): Read<Control> {
  return readOutput(directory, {
    names: ['control.json'],
    maxMiB: 1,
    parse: (text) => parseControl(text, hook),
  })
}

function readOutput<Value>(directory: string, { names, maxMiB, parse }: OutputFile<Value>): Read<Value> {
  const output = join(directory, 'output')
  if (!statSync(output, { throwIfNoEntry: false })?.isDirectory())
    return { problem: 'removed its output/, in which it may have decided something' }
  for (const name of names) {
    try {
      const bytes = readIfThere(join(output, name), { mostBytes: maxMiB * 2 ** 20 })
      if (bytes !== undefined) return { value: parse(bytes.toString()) }
    } catch (error) {
      const { syscall, message } = error as NodeJS.ErrnoException
      const why = syscall === undefined ? message : `cannot be read: ${message}`
      return { problem: `wrote an output/${name} that ${why}` }
    }
  }
  return {}
}

/** Only `pre_tool_execution` can skip a call, and `on_run_end` cannot stop the run. */
function parseControl(text: string, hook: HookName): Control {
  const { action, observation, reason } = Object(parseJson(text)) as Record<string, unknown>
  if (action === 'skip' && hook === 'pre_tool_execution')
    return { action, observation: textOr(observation, 'Skipped by a hook.') }
  if (action === 'stop' && hook !== 'on_run_end')
    return { action, reason: textOr(reason, 'stopped by a hook') }
  const isGuard = hook === 'pre_tool_execution'
  const possible = [...(isGuard ? [SKIP] : []), ...(hook === 'on_run_end' ? [] : [STOP])].join(' or ')
  throw new Error(`has the action ${JSON.stringify(action)}; possible here: ${possible || 'none'}`)
}

const SKIP = '{"action":"skip","observation":"…"}'
const STOP = '{"action":"stop","reason":"…"}'

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`is not JSON: ${(error as Error).message.replaceAll('\n', '\\n')}`)
  }
}
