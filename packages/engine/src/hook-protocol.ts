import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Hook, HookName } from '@delta/config-loader'
import { replaceFile } from '@delta/durable'
import {
  type CommandOutcome,
  commandEnvironment,
  createRedactor,
  type Redactor,
  runCommand,
} from '@delta/executor'
import { redactFile, secretValues } from '@delta/executor/internal'
import { recordName } from '@delta/journal/internal'
import { type HookExecutionAudit, isKnownEvent } from '@delta/journal/runs'
import { failureOf, type HookOutcome, judgeHook, type OutputFile } from './hook-output.js'
import type { RecordedHook, Replay } from './replay-port.js'
import { environmentOf, lastIterationOf, placeOf, type RunState, record, variablesOf } from './run-state.js'
import { secretTokens } from './secrets.js'

/** Time between TERM and KILL for a hook that begins while its run is being stopped. Milliseconds. */
const STOPPING_GRACE_MS = 200

/**
 * Runs one hook by the directory protocol: writes `input/`, runs the command in the workspace with `DELTA_HOOK_IO_PATH`, and
 * reads `output/` if it exits with 0. Undefined when the agent has no such hook, or when the run is being stopped and the hook
 * has no `lingerMs`; then it is skipped.
 *
 * A hook may run again after a crash; the iteration and the call in `context.json` identify the repetition.
 * The journal gets a `HOOK_EXECUTION_AUDIT`; the record of the process lies beside the hook's directory.
 */
export async function runHook<Value = never>(
  state: RunState,
  name: HookName,
  input: HookInput<Value>,
): Promise<HookOutcome<Value> | undefined> {
  const hook = state.agent.hooks[name]
  const stopping = state.signal.aborted
  if (!hook) return undefined
  if (stopping && !input.lingerMs) return recordSkipped(state, name, input)

  const recorded = recordedHook(state, name, input)
  if (recorded === 'not run') return recordSkipped(state, name, input)
  await state.snapshots?.beforeCommand()
  const directory = newDirectory(state.run.paths.hooks, name)
  writeInput(state, name, { directory, input })
  if (recorded !== 'live') return repeatHook(state, name, { directory, input, recorded })
  state.run.journal.sync()
  const known = secretRedactor(state)
  const argv = commandOf(state, hook)
  const lingering = delayedSignal(state.signal, input.lingerMs ?? 0)
  const result = await runCommand(argv, {
    cwd: state.run.workDirectory,
    env: hookEnvironment(state, hook, { directory, input }),
    graceMs: stopping ? STOPPING_GRACE_MS : state.graceMs,
    timeoutMs: hook.timeoutMs,
    signal: lingering.signal,
    ...(known.active && { filter: () => known.filter() }),
  }).finally(lingering.clear)
  redactOutput(directory, known)
  const { iteration, actionId, replacement } = input
  const failed = failureOf(result, hook.timeoutMs)
  const outcome = judgeHook(name, { iteration, directory, replacement, failed })
  recordHook(state, outcome, { argv, result, directory, actionId })
  return outcome
}

function recordedHook(
  state: RunState,
  name: HookName,
  { iteration, actionId, payload }: HookInput<unknown>,
): ReturnType<Replay['hook']> {
  const index = actionId === undefined ? undefined : placeOf(state, { action_id: actionId }).index
  return state.replay?.hook(name, { iteration, index, payload }) ?? 'live'
}

/** Gives what the hook gave in the recorded run. Starts nothing. */
function repeatHook<Value>(
  state: RunState,
  name: HookName,
  about: { directory: string; input: HookInput<Value>; recorded: RecordedHook },
): HookOutcome<Value> {
  const { directory, input, recorded } = about
  const { iteration, actionId, replacement } = input
  const [output, copy] = [recorded.directory, directory].map((each) => join(each, 'output')) as [
    string,
    string,
  ]
  if (existsSync(output)) cpSync(output, copy, { recursive: true })
  else rmSync(copy, { recursive: true }) // it may have decided something there
  const judge = (failed?: string) => judgeHook(name, { iteration, directory, replacement, failed })
  const outcome =
    recorded.failure === judge().failure ? judge() : judge(recorded.failure?.replace(`${name} hook `, ''))
  const text = JSON.stringify({ hook_name: name, replayed: true, ...statusOf(outcome) }, null, 2)
  replaceFile(`${directory}.json`, `${text}\n`, { sync: false })
  recordAudit(state, outcome, { directory, actionId, replayed: true })
  return outcome
}

/** Writes the record beside the hook's directory first: for `endOrphanedHooks`, a hook without one is unfinished. */
function recordHook(
  state: RunState,
  outcome: HookOutcome,
  about: { argv: string[]; result: CommandOutcome; directory: string; actionId: string | undefined },
): void {
  const { argv, result, directory, actionId } = about
  const ended = statusOf(outcome)
  const ofProcess = {
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
  }
  const text = JSON.stringify({ hook_name: outcome.name, argv, ...ended, ...ofProcess }, null, 2)
  replaceFile(`${directory}.json`, `${text}\n`, { sync: false })
  recordAudit(state, outcome, { directory, actionId, duration_ms: result.durationMs })
}

function statusOf({ failure }: HookOutcome) {
  return failure ? ({ status: 'FAILED', error_message: failure } as const) : ({ status: 'SUCCESS' } as const)
}

function recordAudit(
  state: RunState,
  outcome: HookOutcome,
  about: { directory: string; actionId: string | undefined } & Pick<
    HookExecutionAudit,
    'duration_ms' | 'replayed'
  >,
): void {
  const { name, iteration, failure, isOnlyUnusable, replacement } = outcome
  const { directory, actionId, ...more } = about
  record(state, {
    type: 'HOOK_EXECUTION_AUDIT',
    iteration,
    hook_name: name,
    ...statusOf(outcome),
    io_path_ref: relative(state.run.directory, directory),
    ...more,
    ...(actionId === undefined ? {} : { action_id: actionId }),
    // what the model reads instead of the tool's result; the `ACTION_RESULT` itself is unchanged
    ...(typeof replacement === 'string' && { observation_override: replacement }),
  })
  const isReportedToModel = isOnlyUnusable && name === 'post_llm_response'
  if (failure && !isReportedToModel) state.emit({ kind: 'notice', message: failure })
}

/** The path of a new directory. A clock that was set back repeats names, so taken ones are passed over. */
function newDirectory(parent: string, name: HookName): string {
  for (;;) {
    const path = join(parent, recordName(new Date(), name, { labelFirst: true }))
    if (!existsSync(path) && !existsSync(`${path}.json`)) return path
  }
}

/** A hook's argv, without a shell; `${AGENT_HOME}` and `${CWD}` are the only variables. */
function commandOf(state: RunState, hook: Hook): string[] {
  const variables: Record<string, string> = variablesOf(state)
  return hook.command.map((word) =>
    word.replace(/\$\{(AGENT_HOME|CWD)\}/g, (text, name) => variables[name] ?? text),
  )
}

/** What a hook receives: files in `input/`, and short values also as environment variables. */
export interface HookInput<Value = never> {
  iteration: number
  actionId?: string
  toolName?: string
  toolResult?: string
  errorMessage?: string
  /** The main payload, built only if the agent has this hook, and its file name in `input/`. */
  payload?: { file: string; data: () => string }
  /** What the hook may write instead of the payload. */
  replacement?: OutputFile<Value>
  /** Milliseconds that the hook has left when the run is stopped. Default: it ends at once, or does not begin. */
  lingerMs?: number
}

/** Makes a hook's directory: `input/` with its files, and an empty `output/`. */
function writeInput(
  state: RunState,
  name: HookName,
  { directory, input }: { directory: string; input: HookInput<unknown> },
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
    agent_home: state.agent.home ?? null,
    work_dir: state.run.workDirectory,
  }
  const write = (file: string, data: string): void =>
    replaceFile(join(directory, 'input', file), data, { sync: false })
  write('context.json', JSON.stringify(context, null, 2))
  if (input.payload) write(input.payload.file, input.payload.data())
}

/** `TOOL_RESULT` and `ERROR_MESSAGE` are truncated to this; `input/` has the whole text. Linux allows 128 KB. */
const MAX_VARIABLE_BYTES = 32 * 1024

/** A hook's environment: the base set of every command, then the variables of this event. */
function hookEnvironment(
  state: RunState,
  hook: Hook,
  { directory, input }: { directory: string; input: HookInput<unknown> },
): NodeJS.ProcessEnv {
  return commandEnvironment(environmentOf(state), {
    credentials: state.credentials,
    passEnv: hook.passEnv,
    extra: {
      DELTA_HOOK_IO_PATH: directory,
      ITERATION_COUNT: String(input.iteration),
      // without a value, the user's own variable stays
      ...(input.actionId === undefined ? {} : { DELTA_ACTION_ID: input.actionId }),
      ...(input.toolName === undefined ? {} : { TOOL_NAME: input.toolName }),
      ...(input.toolResult === undefined ? {} : { TOOL_RESULT: cut(input.toolResult) }),
      ...(input.errorMessage === undefined ? {} : { ERROR_MESSAGE: cut(input.errorMessage) }),
    },
  })
}

/** Makes a text a valid variable: without NUL, not too long, and truncated between characters. */
function cut(text: string): string {
  const bytes = Buffer.from(text.replaceAll('\0', '\\0')).subarray(0, MAX_VARIABLE_BYTES)
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}

/** Redacts the engine's keys, which hooks may see, and the run's secrets: a record must hold neither. */
function secretRedactor(state: RunState): Redactor {
  const entrusted = Object.values(secretTokens(state.run.paths.secrets))
  return createRedactor([...secretValues(state.credentials), ...entrusted])
}

/** Redacts the files in a hook's `output/`. Called before they are read. */
function redactOutput(directory: string, known: Redactor): void {
  const output = join(directory, 'output')
  if (!known.active || !statSync(output, { throwIfNoEntry: false })?.isDirectory()) return
  for (const name of readdirSync(output)) {
    const path = join(output, name)
    if (lstatSync(path).isFile()) redactFile(path, known)
  }
}

/** A signal that is aborted `ms` after another; `clear` releases both. */
function delayedSignal(signal: AbortSignal, ms: number): { signal: AbortSignal; clear: () => void } {
  const later = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const begin = (): void => {
    timer = setTimeout(() => later.abort(signal.reason), ms)
  }
  if (signal.aborted) begin()
  else signal.addEventListener('abort', begin, { once: true })
  const clear = (): void => {
    signal.removeEventListener('abort', begin)
    clearTimeout(timer)
  }
  return { signal: later.signal, clear }
}

/** Journals a hook that was due but not run, so that an audit has every due hook. */
export function recordSkipped(
  state: RunState,
  name: HookName,
  { iteration, actionId }: { iteration: number; actionId?: string | undefined },
): undefined {
  if (!state.agent.hooks[name]) return
  record(state, {
    type: 'HOOK_EXECUTION_AUDIT',
    iteration,
    hook_name: name,
    status: 'SKIPPED',
    ...(actionId === undefined ? {} : { action_id: actionId }),
  })
}

/** The hooks that run once in each complete iteration, in this order. */
const ITERATION_HOOKS = ['pre_llm_request', 'post_llm_response', 'on_iteration_end'] as const

/** Journals as skipped the hooks that an iteration did not reach because the run failed. */
export async function recordSkippedIn(state: RunState, iteration: number): Promise<void> {
  const due = ITERATION_HOOKS.filter((name) => state.agent.hooks[name])
  if (due.length === 0) return
  const seen = lastIterationOf(await state.run.events()).map((event) =>
    isKnownEvent(event) && event.type === 'HOOK_EXECUTION_AUDIT' && event.iteration === iteration
      ? event.hook_name
      : undefined,
  )
  for (const name of due) if (!seen.includes(name)) recordSkipped(state, name, { iteration })
}
