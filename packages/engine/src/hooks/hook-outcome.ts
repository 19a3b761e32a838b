import type { Hook, HookName } from '@delta/config-loader'
import type { CommandOutcome } from '@delta/executor'
import type { HookInput } from '../hook-protocol.js'
import { type Control, readControl, readOutput } from './control.js'
import { OBSERVATION } from './replacements.js'

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
