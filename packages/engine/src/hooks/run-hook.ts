import { join, relative } from 'node:path'
import type { Hook, HookName } from '@delta/config-loader'
import { type CommandOutcome, runCommand } from '@delta/executor'
import { recordName, replaceFile } from '@delta/journal'
import { type ActiveRun, record, variablesOf } from '../active-run.js'
import { meantBesideAgent } from '../calls/beside-agent.js'
import { type Control, readControl, readOutput } from './control.js'
import { hookEnvironment } from './environment.js'
import { type HookInput, type Replacement, writeInput } from './hook-input.js'
import { knownSecrets, redactOutput } from './known-secrets.js'
import { abortLater } from './linger.js'

/** A hook that begins while its run is being stopped is killed this long after its time is up. Milliseconds. */
const STOPPING_GRACE_MS = 200

export interface HookOutcome {
  name: HookName
  iteration: number
  /** Absolute path of the directory that holds `input/` and `output/`. */
  directory: string
  succeeded: boolean
  /** Why it failed, for people; empty when it succeeded. */
  failure: string
  /** True when all that was wrong is the replacement it wrote. */
  rejected: boolean
  control: Control | undefined
}

/**
 * Runs one hook by the directory protocol: `input/` is written, the command runs in the workspace with
 * `DELTA_HOOK_IO_PATH`, and `output/` is read if it exits with 0. Undefined when the agent has no such hook, or the run
 * is being stopped and the hook is none of those that may linger.
 *
 * A hook may run again after a crash; `context.json` carries the iteration and the call by which it can tell.
 * What the hook did is journaled as `HOOK_EXECUTION_AUDIT`; the record lies beside its directory.
 */
export async function runHook(
  run: ActiveRun,
  name: HookName,
  input: HookInput,
): Promise<HookOutcome | undefined> {
  const hook = run.agent.hooks[name]
  const stopping = run.signal.aborted
  if (!hook || (stopping && !input.lingerMs)) return undefined

  const directory = join(run.run.paths.hooks, recordName(new Date(), name, { labelFirst: true }))
  writeInput(run, name, { directory, input })
  run.run.journal.sync()
  const known = knownSecrets(run)
  const lingering = abortLater(run.signal, input.lingerMs ?? 0)
  const result = await runCommand(commandOf(run, hook), {
    cwd: run.run.workDirectory,
    env: hookEnvironment(run, hook, { directory, input }),
    graceMs: stopping ? STOPPING_GRACE_MS : run.graceMs,
    timeoutMs: hook.timeoutMs,
    signal: lingering.signal,
    ...(known.active && { filter: () => known.filter() }),
  }).finally(lingering.clear)
  redactOutput(directory, known)
  const outcome = describe(name, { hook, directory, input, result, hint: hintFor(run, hook, result) })
  const text = JSON.stringify(executionRecord(commandOf(run, hook), outcome, result), null, 2)
  replaceFile(`${directory}.json`, `${text}\n`, { durable: false })
  record(run, {
    type: 'HOOK_EXECUTION_AUDIT',
    iteration: input.iteration,
    hook_name: name,
    status: outcome.succeeded ? 'SUCCESS' : 'FAILED',
    io_path_ref: relative(run.run.directory, directory),
    duration_ms: result.durationMs,
    ...(input.actionId === undefined ? {} : { action_id: input.actionId }),
    ...(outcome.succeeded ? {} : { error_message: outcome.failure }),
    ...observationOverride(outcome),
  })
  if (!outcome.succeeded && !outcome.rejected) run.emit({ kind: 'notice', message: outcome.failure })
  return outcome
}

/** What the model is to read instead of the tool's own words; the `ACTION_RESULT` stays as it is. */
function observationOverride(hook: HookOutcome): { observation_override?: string } {
  if (hook.name !== 'post_tool_execution' || !hook.succeeded) return {}
  const { text } = readOutput(hook.directory, 'payload_override.dat')
  return text === undefined ? {} : { observation_override: text }
}

/** A hook's argv; `${AGENT_HOME}` and `${CWD}` are the only variables, and there is no shell. */
function commandOf(run: ActiveRun, hook: Hook): string[] {
  const variables: Record<string, string> = variablesOf(run)
  return hook.command.map((word) =>
    word.replace(/\$\{(AGENT_HOME|CWD)\}/g, (text, name) => variables[name] ?? text),
  )
}

/** For a hook that could not do anything, its script being somewhere else. */
function hintFor(
  { agent, run }: ActiveRun,
  { command }: Hook,
  { status, exitCode }: CommandOutcome,
): string | undefined {
  if (status !== 'NOT_STARTED' && (status !== 'EXITED' || exitCode === 0)) return undefined
  return meantBesideAgent(command, { home: agent.home, directory: run.workDirectory })
}

function joined(failure: string, hint: string | undefined): string {
  return hint === undefined ? failure : `${failure}${failure.endsWith('.') ? ' ' : '; '}${hint}`
}

function describe(
  name: HookName,
  {
    hook,
    directory,
    input: { iteration, replacement },
    result,
    hint,
  }: { hook: Hook; directory: string; input: HookInput; result: CommandOutcome; hint: string | undefined },
): HookOutcome {
  const failed = result.status !== 'EXITED' || result.exitCode !== 0
  const control = failed ? {} : readControl(directory, name)
  const broken = failed
    ? joined(howItFailed(result, hook), hint)
    : (control.problem ?? (replacement && readOutput(directory, replacement.file).problem))
  const rejected = broken === undefined ? problemIn(directory, replacement) : undefined
  const problem = broken ?? rejected
  return {
    name,
    iteration,
    directory,
    succeeded: problem === undefined,
    failure: problem === undefined ? '' : `${name} hook ${problem}`,
    rejected: rejected !== undefined,
    control: control.value,
  }
}

function problemIn(directory: string, replacement: Replacement | undefined): string | undefined {
  if (replacement === undefined) return undefined
  const { text } = readOutput(directory, replacement.file)
  return text === undefined ? undefined : replacement.problemOf(text)
}

function howItFailed(result: CommandOutcome, { timeoutMs }: Hook): string {
  const stderr = result.stderr.text.trim().split('\n').at(-1)
  const said = stderr ? `: ${stderr}` : ''
  if (result.status === 'TIMEOUT') return `timed out after ${timeoutMs} ms (timeout_ms)`
  if (result.status === 'NOT_STARTED')
    return `could not start: ${result.startError?.message ?? 'unknown cause'}`
  if (result.status === 'EXITED') return `exited with ${result.exitCode}${said}`
  return `was ended by ${result.signal ?? 'the engine'}${said}`
}

function executionRecord(command: string[], outcome: HookOutcome, result: CommandOutcome): object {
  return {
    hook_name: outcome.name,
    argv: command,
    status: outcome.succeeded ? 'SUCCESS' : 'FAILED',
    ...(outcome.succeeded ? {} : { error_message: outcome.failure }),
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
  }
}
