import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Hook, HookName } from '@delta/config-loader'
import { replaceFile } from '@delta/durable'
import { type CommandOutcome, runCommand } from '@delta/executor'
import { recordName } from '@delta/journal/runs'
import { type RunState, record, variablesOf } from '../run-state.js'
import { abortLater } from './abort-later.js'
import { hookEnvironment } from './environment.js'
import { type HookInput, writeInput } from './hook-input.js'
import { type HookOutcome, observationOverride, recordOf, verdictOn } from './hook-outcome.js'
import { knownSecrets, redactOutput } from './known-secrets.js'
import { recordSkipped } from './skipped.js'

/** The grace before KILL for a hook that begins while its run is being stopped. Milliseconds. */
const STOPPING_GRACE_MS = 200

/**
 * Runs one hook by the directory protocol: `input/` is written, the command runs in the workspace with
 * `DELTA_HOOK_IO_PATH`, and `output/` is read if it exits with 0. Undefined when the agent has no such hook, or when it is
 * skipped, because the run is being stopped and this hook may not linger.
 *
 * A hook may run again after a crash; `context.json` carries the iteration and the call by which it can tell.
 * What the hook did is journaled as `HOOK_EXECUTION_AUDIT`; the record lies beside its directory.
 */
export async function runHook(
  state: RunState,
  name: HookName,
  input: HookInput,
): Promise<HookOutcome | undefined> {
  const hook = state.agent.hooks[name]
  const stopping = state.signal.aborted
  if (!hook) return undefined
  if (stopping && !input.lingerMs) {
    recordSkipped(state, name, input)
    return undefined
  }

  const directory = newDirectory(state.run.paths.hooks, name)
  writeInput(state, name, { directory, input })
  state.run.journal.sync()
  const known = knownSecrets(state)
  const argv = commandOf(state, hook)
  const lingering = abortLater(state.signal, input.lingerMs ?? 0)
  const result = await runCommand(argv, {
    cwd: state.run.workDirectory,
    env: hookEnvironment(state, hook, { directory, input }),
    graceMs: stopping ? STOPPING_GRACE_MS : state.graceMs,
    timeoutMs: hook.timeoutMs,
    signal: lingering.signal,
    ...(known.active && { filter: () => known.filter() }),
  }).finally(lingering.clear)
  redactOutput(directory, known)
  const verdict = verdictOn(name, { hook, directory, input, result })
  const outcome = { name, iteration: input.iteration, directory, ...verdict }
  recordHook(state, outcome, { argv, result, actionId: input.actionId })
  return outcome
}

/** The record beside the hook's directory comes first: `endOrphanedHooks` takes a hook without one for unfinished. */
function recordHook(
  state: RunState,
  outcome: HookOutcome,
  { argv, result, actionId }: { argv: string[]; result: CommandOutcome; actionId: string | undefined },
): void {
  const { name, iteration, directory, failure } = outcome
  const ended = {
    status: failure ? 'FAILED' : 'SUCCESS',
    ...(failure && { error_message: failure.message }),
  } as const
  const text = JSON.stringify({ hook_name: name, argv, ...ended, ...recordOf(result) }, null, 2)
  replaceFile(`${directory}.json`, `${text}\n`, { sync: false })
  record(state, {
    type: 'HOOK_EXECUTION_AUDIT',
    iteration,
    hook_name: name,
    ...ended,
    io_path_ref: relative(state.run.directory, directory),
    duration_ms: result.durationMs,
    ...(actionId === undefined ? {} : { action_id: actionId }),
    ...observationOverride(outcome),
  })
  const isToldToModel = failure?.isReplacement && name === 'post_llm_response'
  if (failure && !isToldToModel) state.emit({ kind: 'notice', message: failure.message })
}

/** The path of a new directory, and of the record beside it. A clock that was set back repeats the names of an earlier engine. */
function newDirectory(parent: string, name: HookName): string {
  for (;;) {
    const path = join(parent, recordName(new Date(), name, { labelFirst: true }))
    if (!existsSync(path) && !existsSync(`${path}.json`)) return path
  }
}

/** A hook's argv; `${AGENT_HOME}` and `${CWD}` are the only variables, and there is no shell. */
function commandOf(state: RunState, hook: Hook): string[] {
  const variables: Record<string, string> = variablesOf(state)
  return hook.command.map((word) =>
    word.replace(/\$\{(AGENT_HOME|CWD)\}/g, (text, name) => variables[name] ?? text),
  )
}
