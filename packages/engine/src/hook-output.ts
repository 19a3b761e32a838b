import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Hook, HookName } from '@delta/config-loader'
import { readIfThere } from '@delta/durable'
import type { CommandOutcome } from '@delta/executor'
import { type AssistantMessage, type ChatRequest, parseCompletion } from '@delta/model'

/** `output/control.json`: leave the call out, or end the run. */
export type Control = { action: 'skip'; observation: string } | { action: 'stop'; reason: string }

/** What a hook may write to its `output/`. */
export interface OutputFile<Value> {
  /** Its names; the first that exists counts. */
  names: readonly string[]
  /** Its largest size, since it is read into memory whole. */
  largestMiB: number
  /** @throws {Error} What is wrong with the text, as the end of "wrote an output/… that". */
  parse(text: string): Value
}

/** The request to send instead. What its messages say is for the server to judge. */
export const REQUEST: OutputFile<ChatRequest> = {
  names: ['final_payload.json', 'payload_override.dat'],
  largestMiB: 64,
  parse(text) {
    const request = parseJson(text) as ChatRequest
    const { messages } = Object(request) as { messages?: unknown }
    if (Array.isArray(messages) && messages.every((message) => Object(message) === message)) return request
    throw new Error('is not a request: it has no list "messages" of messages')
  },
}

/** The message to use as the model's, parsed as the model's own would be. */
export const MESSAGE: OutputFile<AssistantMessage> = {
  names: ['payload_override.dat'],
  largestMiB: 64,
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

/** What the model is to read instead of a result: any text. */
export const OBSERVATION: OutputFile<string> = {
  names: ['payload_override.dat'],
  largestMiB: 4,
  parse: (text) => text,
}

/** A hook that has ended, and how it is judged. */
export interface HookOutcome<Value = unknown> {
  name: HookName
  iteration: number
  /** Why it failed, for people; undefined when it succeeded. */
  failure: string | undefined
  /** Nothing failed but what it wrote instead of its payload. */
  isOnlyUnusable: boolean
  control: Control | undefined
  /** What it wrote instead of its payload. */
  replacement: Value | undefined
}

/** Reads what a hook left in its `output/`, if it exited with 0. */
export function verdictOn<Value>(
  name: HookName,
  ended: {
    hook: Hook
    iteration: number
    directory: string
    replacement: OutputFile<Value> | undefined
    result: CommandOutcome
  },
): HookOutcome<Value> {
  const { directory, iteration } = ended
  const failed = howItFailed(ended)
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

/** Undefined for a hook that exited with 0. */
function howItFailed({ hook, result }: { hook: Hook; result: CommandOutcome }): string | undefined {
  const { status, exitCode } = result
  const said = lastWords(result.stderr.text)
  switch (status) {
    case 'TIMEOUT':
      return `timed out after ${hook.timeoutMs} ms (timeout_ms)`
    case 'NOT_STARTED':
      return `could not start: ${result.startError.message}`
    case 'EXITED':
      return exitCode === 0 ? undefined : `exited with ${exitCode}${said}`
    default:
      return `was ended by ${result.signal ?? 'the engine'}${said}`
  }
}

/** The last line, cut: the model may have to read it, and a program may write everything on one line. */
function lastWords(stderr: string): string {
  const line = stderr.trim().split('\n').at(-1) ?? ''
  const shown = [...line.slice(0, 1000)].slice(0, 500).join('') // never half a character
  return line === '' ? '' : `: ${shown}${shown === line ? '' : '…'}`
}

/** What was read; or what the hook did wrong, in words that follow its name. Neither if it wrote nothing. */
interface Read<Value> {
  value?: Value
  problem?: string
}

/**
 * Reads a hook's `control.json`. Anything that is not understood, or not possible for this hook, is a problem and never ignored: a
 * guard may have written it.
 */
export function readControl(directory: string, hook: HookName): Read<Control> {
  return readOutput(directory, {
    names: ['control.json'],
    largestMiB: 1,
    parse: (text) => parseControl(text, hook),
  })
}

function readOutput<Value>(directory: string, { names, largestMiB, parse }: OutputFile<Value>): Read<Value> {
  const output = join(directory, 'output')
  if (!statSync(output, { throwIfNoEntry: false })?.isDirectory())
    return { problem: 'removed its output/, in which it may have decided something' }
  for (const name of names) {
    try {
      const bytes = readIfThere(join(output, name), { mostBytes: largestMiB * 2 ** 20 })
      if (bytes !== undefined) return { value: parse(bytes.toString()) }
    } catch (error) {
      const { syscall, message } = error as NodeJS.ErrnoException
      const why = syscall === undefined ? message : `cannot be read: ${message}`
      return { problem: `wrote an output/${name} that ${why}` }
    }
  }
  return {}
}

/** Only a call that has not been made can be skipped, and a run that is ending cannot be stopped. */
function parseControl(text: string, hook: HookName): Control {
  const { action, observation, reason } = Object(parseJson(text)) as Record<string, unknown>
  if (action === 'skip' && hook === 'pre_tool_execution')
    return { action, observation: textOr(observation, 'Skipped by a hook.') }
  if (action === 'stop' && hook !== 'on_run_end')
    return { action, reason: textOr(reason, 'stopped by a hook') }
  throw new Error(`has the action ${JSON.stringify(action)}; ${whatIsPossible(hook)}`)
}

function whatIsPossible(hook: HookName): string {
  if (hook === 'on_run_end') return 'there is none here: the run ends as it is'
  const stop = '{"action":"stop","reason":"…"}'
  return hook === 'pre_tool_execution'
    ? `it can be {"action":"skip","observation":"…"} or ${stop}`
    : `it can only be ${stop} here: no call is left to skip`
}

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
