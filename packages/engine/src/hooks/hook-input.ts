import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { HookName } from '@delta/config-loader'
import { replaceFile } from '@delta/durable'
import type { RunState } from '../run-state.js'
import type { OutputFile } from './control.js'

/** What the engine tells a hook: as files in `input/`, short values also as environment variables. */
export interface HookInput {
  iteration: number
  actionId?: string
  toolName?: string
  toolResult?: string
  errorMessage?: string
  /** The main payload, made only if there is a hook to read it, and the name of its file in `input/`. */
  payload?: { file: string; data: () => string }
  /** What the hook may write instead of the payload. */
  replacement?: Replacement
  /** Milliseconds that it has left when the run is stopped. Without it the hook ends at once, or does not begin. */
  lingerMs?: number
}

/** A file of `output/` that must be usable if it exists. */
export interface Replacement extends OutputFile {
  /** What is wrong with the text of the file that was read, as a predicate of the hook: `wrote …`. Undefined if nothing is. */
  problemOf(text: string, file: string): string | undefined
}

/** Makes a hook's directory: `input/` with what it is told, and an empty `output/` for its answer. */
export function writeInput(
  state: RunState,
  name: HookName,
  { directory, input }: { directory: string; input: HookInput },
): void {
  mkdirSync(join(directory, 'input'), { recursive: true, mode: 0o700 })
  mkdirSync(join(directory, 'output'), { mode: 0o700 })
  const context = {
    hook: name,
    run_id: state.run.runId,
    iteration: input.iteration,
    action_id: input.actionId,
    tool_name: input.toolName,
    error_message: input.errorMessage,
    agent_home: state.agent.home,
    work_dir: state.run.workDirectory,
  }
  const write = (file: string, data: string): void =>
    replaceFile(join(directory, 'input', file), data, { sync: false })
  write('context.json', JSON.stringify(context, null, 2))
  if (input.payload) write(input.payload.file, input.payload.data())
}
