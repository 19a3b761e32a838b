import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Hook, HookName } from '@delta/config-loader'
import { readIfThere } from '@delta/durable'
import type { CommandOutcome } from '@delta/executor'
import { type AssistantMessage, type ChatRequest, parseCompletion } from '@delta/model'
import type { HookInput, Replacement } from './hook-protocol.js'

export interface HookOutcome extends HookVerdict {
  name: HookName
  iteration: number
  /** Absolute path of the directory that holds `input/` and `output/`. */
  directory: string
}

/** How a hook that has ended is judged. */
interface HookVerdict {
  /** Why it failed, for people; undefined when it succeeded. `isReplacement`: only its replacement for the payload was unusable. */
  failure: { message: string; isReplacement: boolean } | undefined
  control: Control | undefined
}

interface EndedHook {
  hook: Hook
  directory: string
  input: HookInput
  result: CommandOutcome
}

/** Reads what a hook left in its `output/`, if it exited with 0. */
export function verdictOn(name: HookName, ended: EndedHook): HookVerdict {
  const failed = howItFailed(ended)
  if (failed !== undefined) return { failure: failure(name, failed), control: undefined }

  const { directory, input } = ended
  const control = readControl(directory, name)
  const replaced = input.replacement && readOutput(directory, input.replacement)
  const broken = control.problem ?? replaced?.problem
  if (broken !== undefined) return { failure: failure(name, broken), control: control.value }

  const { text, file = '' } = replaced ?? {}
  const useless = text === undefined ? undefined : input.replacement?.problemOf(text, file)
  if (useless === undefined) return { failure: undefined, control: control.value }
  return { failure: { ...failure(name, useless), isReplacement: true }, control: control.value }
}

function failure(name: HookName, what: string): { message: string; isReplacement: boolean } {
  return { message: `${name} hook ${what}`, isReplacement: false }
}

/** Undefined for a hook that exited with 0. */
function howItFailed({ hook, result }: EndedHook): string | undefined {
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

/** What the model reads instead of the tool's result; the `ACTION_RESULT` itself stays as it is. */
export function observationOverride(hook: HookOutcome): { observation_override?: string } {
  if (hook.name !== 'post_tool_execution' || hook.failure) return {}
  const { text } = readOutput(hook.directory, OBSERVATION)
  return text === undefined ? {} : { observation_override: text }
}

/** The part of a hook's record that is about its process. */
export function recordOf({ exitCode, signal, durationMs, stdout, stderr }: CommandOutcome): object {
  return {
    exit_code: exitCode,
    signal,
    duration_ms: durationMs,
    stdout: stdout.text,
    stderr: stderr.text,
  }
}

/** `output/control.json`: leave the call out, or end the run. */
type Control = { action: 'skip'; observation: string } | { action: 'stop'; reason: string }

interface ReadControl {
  value?: Control
  /** What the hook did, in words. */
  problem?: string
}

/** A file of a hook's `output/`, and its largest size, since it is read into memory whole. */
export interface OutputFile {
  file: string
  /** Read in its place if it does not exist. */
  otherwise?: string
  largestMiB: number
}

const CONTROL: OutputFile = { file: 'control.json', largestMiB: 1 }

/** Reads a hook's `control.json`. Anything that is not understood, or not possible for this hook, is a problem and never ignored: a guard may have written it. */
export function readControl(directory: string, hook: HookName): ReadControl {
  const { text, problem } = readOutput(directory, CONTROL)
  if (text === undefined) return problem === undefined ? {} : { problem }
  try {
    return inPlace(parseControl(JSON.parse(text)), hook)
  } catch (error) {
    return {
      problem: `wrote an output/control.json that is not JSON: ${(error as Error).message.replaceAll('\n', '\\n')}`,
    }
  }
}

/** A file of the hook's `output/`: its text and name, or what is wrong with it in words; neither if the hook did not write it. */
export function readOutput(
  directory: string,
  { file, otherwise, largestMiB }: OutputFile,
): { text?: string; file?: string; problem?: string } {
  const output = join(directory, 'output')
  const isThere = () => statSync(output, { throwIfNoEntry: false })?.isDirectory() === true
  try {
    const text = readIfThere(join(output, file), { mostBytes: largestMiB * 2 ** 20 })?.toString()
    if (text !== undefined) return { text, file }
    if (!isThere()) return { problem: 'removed its output/, in which it may have decided something' }
    return otherwise === undefined ? {} : readOutput(directory, { file: otherwise, largestMiB })
  } catch (error) {
    return {
      problem: isThere()
        ? `wrote an output/${file} that ${whyUnreadable(error as NodeJS.ErrnoException, largestMiB)}`
        : 'replaced its output/ with something else',
    }
  }
}

/** As a predicate to follow the name of a file. */
function whyUnreadable({ code = '', message }: NodeJS.ErrnoException, largestMiB: number): string {
  if (['EISDIR', 'ESPIPE', 'ENODEV', 'ENXIO'].includes(code)) return 'is not a regular file'
  return `cannot be read: ${code === 'EFBIG' ? `it is longer than ${largestMiB} MiB` : message}`
}

function parseControl(value: unknown): ReadControl {
  const control = Object(value) as { action?: unknown; observation?: unknown; reason?: unknown }
  if (control.action === 'skip') {
    return { value: { action: 'skip', observation: textOr(control.observation, 'Skipped by a hook.') } }
  }
  if (control.action === 'stop') {
    return { value: { action: 'stop', reason: textOr(control.reason, 'stopped by a hook') } }
  }
  return {
    problem: `wrote an output/control.json with ${actionOf(control)}; it can be {"action":"skip","observation":"…"} or {"action":"stop","reason":"…"}`,
  }
}

/** Only a call that has not been made can be skipped, and a run that is ending cannot be stopped. */
function inPlace(read: ReadControl, hook: HookName): ReadControl {
  const { action } = read.value ?? {}
  const wrote = `wrote an output/control.json with the action "${action}"; it`
  if (action !== undefined && hook === 'on_run_end')
    return { problem: `${wrote} changes nothing here: the run ends as it is` }
  if (action === 'skip' && hook !== 'pre_tool_execution')
    return { problem: `${wrote} can only be {"action":"stop","reason":"…"} here: no call is left to skip` }
  return read
}

function actionOf({ action }: { action?: unknown }): string {
  return action === undefined ? 'no action' : `the unknown action ${JSON.stringify(action)}`
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}

/** What a hook may write in place of what it was given. */
export interface Expected<T> extends Replacement {
  /** Parses a text that `problemOf` accepts. */
  read(text: string): T
}

/** The request to send instead. The content of its messages is for the server to judge. */
export const REQUEST: Expected<ChatRequest> = {
  file: 'final_payload.json',
  otherwise: 'payload_override.dat',
  largestMiB: 64,
  problemOf: (text, file) => problemIn(text, file, 'is not a request', problemOfRequest),
  read: (text) => JSON.parse(text),
}

/** The message to use as the model's, parsed as the model's own would be. */
export const MESSAGE: Expected<AssistantMessage> = {
  file: 'payload_override.dat',
  largestMiB: 64,
  problemOf: (text, file) => problemIn(text, file, 'is not an assistant message', problemOfMessage),
  read: (text) => parseCompletion(JSON.parse(text)).message,
}

/** What the model is to read instead of a result: any text. */
export const OBSERVATION: Replacement = {
  file: 'payload_override.dat',
  largestMiB: 4,
  problemOf: () => undefined,
}

function problemIn(
  text: string,
  file: string,
  isNone: string,
  problemOf: (value: Record<string, unknown>) => string | undefined,
): string | undefined {
  const value = parseJson(text)
  if (value === undefined) return `wrote an output/${file} that is not JSON`
  const problem = problemOf(Object(value))
  return problem && `wrote an output/${file} that ${isNone}: ${problem}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller reports that it is not JSON
  }
}

function problemOfRequest({ messages }: Record<string, unknown>): string | undefined {
  if (!Array.isArray(messages)) return 'it has no list "messages"'
  const areMessages = messages.every((message) => typeof message === 'object' && message !== null)
  return areMessages ? undefined : '"messages" holds something that is not a message'
}

/** Refuses a message that could not be journaled, or would pass for an answer because its calls cannot be read. */
function problemOfMessage({ role, content, tool_calls: calls }: Record<string, unknown>): string | undefined {
  if (role !== 'assistant') return 'its "role" is not "assistant"'
  if (content === undefined && calls === undefined) return 'it has neither "content" nor "tool_calls"'
  if (typeof (content ?? '') !== 'string' && !Array.isArray(content))
    return '"content" is neither text nor a list of parts'
  if (!Array.isArray(calls ?? [])) return '"tool_calls" is not a list'
  const nameless = ((calls ?? []) as unknown[]).findIndex((call) => !namesFunction(call))
  return nameless === -1 ? undefined : `"tool_calls[${nameless}]" names no function`
}

function namesFunction(call: unknown): boolean {
  const { name } = Object(Object(call).function)
  return typeof name === 'string' && name !== ''
}
