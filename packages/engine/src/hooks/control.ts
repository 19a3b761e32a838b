import { join } from 'node:path'
import { readIfThere } from '../read-if-there.js'

/** `output/control.json`: leave the call out, or end the run. */
export type Control = { action: 'skip'; observation: string } | { action: 'stop'; reason: string }

/** Reads a hook's `control.json`. A file that is not understood is a problem (what the hook did, in words), never ignored: a guard may have written it. */
export function readControl(directory: string): { value?: Control; problem?: string } {
  const text = readOutput(directory, 'control.json')
  if (text === undefined) return {}
  try {
    return parseControl(JSON.parse(text))
  } catch (error) {
    return {
      problem: `wrote an output/control.json that is not JSON: ${(error as Error).message.replaceAll('\n', '\\n')}`,
    }
  }
}

/** A file of the hook's `output/` as text; undefined when the hook did not write it. */
export function readOutput(directory: string, file: string): string | undefined {
  return readIfThere(join(directory, 'output', file))
}

function parseControl(value: unknown): { value?: Control; problem?: string } {
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

function actionOf({ action }: { action?: unknown }): string {
  return action === undefined ? 'no action' : `the unknown action ${JSON.stringify(action)}`
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}
