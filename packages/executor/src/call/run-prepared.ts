import type { Policy } from '../policy/policy.js'
import { endOrphans } from '../process/orphans.js'
import { runCommand } from '../process/run-command.js'
import { outputPaths, removeInlined } from '../result/stream-record.js'
import { keepBytes, notRun, redactors, type ToolResult, toResult } from '../result/tool-result.js'
import { isTool, toolTimeoutMs } from '../tool/define-tool.js'
import { findWorkingDirectory, variablesOf } from '../tool/working-directory.js'
import { isObject, isText, isTexts, requireThat } from '../usage.js'
import type { RunnableCall } from './prepare-call.js'
import { pathLeadingOut } from './sandbox.js'
import { probeSandbox } from './sandbox-probe.js'
import { toolEnvironment } from './tool-environment.js'

export interface RunContext {
  /** The workspace: where commands run, and what relative paths start at. */
  workDirectory: string
  /** The whole environment, as `commandEnvironment` makes it; the tool's own `env:` is laid over it. */
  environment: NodeJS.ProcessEnv
  /** Becomes `DELTA_ACTION_ID`, by which the process is found again after a crash. */
  actionId?: string | undefined
  /** `<directory>/<name>`: output goes to `<name>.stdout` and `.stderr` there. Without it nothing is kept. */
  outputPrefix?: string | undefined
  /** Leave the files of small outputs too, until the caller has stored the result: see `removeInlined`. */
  keepOutput?: boolean | undefined
  signal?: AbortSignal | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  policy?: Policy | undefined
  /** The engine's credentials by name: not for the tool unless it lists them, and redacted (but not a `…_URL`). */
  credentials?: Readonly<Record<string, string>> | undefined
  /** Values a person entrusted to the run. While there are any, no output touches the disk unredacted. */
  secrets?: readonly string[] | undefined
  /** Such values by the token that stands for them (`«secret:1-0»`): put into argv and stdin at the last moment. */
  secretTokens?: Readonly<Record<string, string>> | undefined
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** An engine that is stopped has 4 seconds, and the command's group may have used half of them. */
const ESCAPED_GRACE_MS = 250
/** How a command ends that was ended from here. */
const STOPPED: ReadonlySet<string> = new Set(['TIMEOUT', 'ABORTED', 'TOO_MUCH_OUTPUT'])

/**
 * Runs a call that `prepareCall` allowed, or a person approved.
 * Whatever the command does is a result.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: an argument or option cannot be used. Besides, what `onSpawn` throws, and the
 *   system's error when redacted output cannot be stored (`ENOSPC`).
 */
export async function runPrepared(call: RunnableCall, context: RunContext): Promise<ToolResult> {
  const { tool, argv } = Object(call) as Partial<RunnableCall>
  requireThat(
    isTool(tool) && isTexts(argv),
    'runPrepared: the call',
    'what prepareCall gave, if it is not refused',
  )
  const { workDirectory, environment } = Object(context)
  requireThat(isText(workDirectory), 'runPrepared: the option workDirectory', 'the directory to run in')
  requireThat(isObject(environment), 'runPrepared: the option environment', 'the whole environment')
  const directory = findWorkingDirectory(tool, context)
  if (!directory.ok) return notRun('ERROR', `ERROR: ${directory.message} Nothing was run.`)

  const env = toolEnvironment(tool, context, directory.path)
  const problem =
    leadsOut(tool, context) ??
    (call.sandbox && (await probeSandbox(call.sandbox, { cwd: directory.path, env })))
  if (problem !== undefined) return notRun('BLOCKED', sandboxRefusal(tool.expanded.name, problem))

  const { outputPrefix, graceMs, signal, onSpawn, secretTokens = {} } = context
  if (signal?.aborted) return notRun('INTERRUPTED', '[interrupted before it started; nothing was run]\n')
  const entrusted = [...(context.secrets ?? []), ...Object.values(secretTokens)]
  const { known } = redactors(tool.settings, context)
  const fill = (text: string) => fillSecrets(text, secretTokens)
  const outcome = await runCommand(argv.map(fill), {
    cwd: directory.path,
    env,
    ...(call.stdin !== undefined && { stdin: fill(call.stdin) }),
    ...(outputPrefix !== undefined && outputPaths(outputPrefix)),
    keepBytes: keepBytes(tool.settings),
    timeoutMs: toolTimeoutMs(tool),
    maxOutputBytes: tool.settings.output.maxBytes,
    ...(graceMs !== undefined && { graceMs }),
    ...(signal && { signal }),
    ...(onSpawn && { onSpawn }),
    ...(entrusted.length > 0 && { filter: known.filter }),
  })
  if (STOPPED.has(outcome.status)) await endEscaped(context)
  const result = toResult(outcome, tool, context)
  if (outputPrefix !== undefined && !context.keepOutput) removeInlined(outputPrefix, result)
  return result
}

/** Puts entrusted values in the place of their tokens; a value is never searched for tokens itself. */
function fillSecrets(text: string, tokens: Readonly<Record<string, string>>): string {
  return text.replaceAll(/«secret:[^»]{1,64}»/g, (token) => tokens[token] ?? token)
}

/** Whoever left the group (`setsid`, a daemon) still carries the call in its environment; the group has had its grace by now. */
async function endEscaped({
  actionId,
  environment: { DELTA_RUN_DIR: runDirectory },
}: RunContext): Promise<void> {
  if (actionId !== undefined && runDirectory !== undefined)
    await endOrphans({ actionId, runDirectory }, { graceMs: ESCAPED_GRACE_MS })
}

/** Asked at the last moment, and not of the call alone: the command before may have made a link. */
function leadsOut(tool: RunnableCall['tool'], context: RunContext): string | undefined {
  const path = pathLeadingOut(tool, variablesOf(context))
  return path && `${path} is a link that leads out of the workspace.`
}

function sandboxRefusal(name: string, problem: string): string {
  return `BLOCKED: the sandbox of "${name}" cannot start, and without it the tool is not run. ${problem}`
}
