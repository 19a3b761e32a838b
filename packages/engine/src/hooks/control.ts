import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { HookName } from '@delta/config-loader'
import { readIfThere } from '@delta/durable'

/** `output/control.json`: leave the call out, or end the run. */
export type Control = { action: 'skip'; observation: string } | { action: 'stop'; reason: string }

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
