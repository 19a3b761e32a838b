import { continueRun, findRun, type Reply } from '@delta/engine'
import { refuseReadOnly } from '@delta/engine/internal'
import type { RunSummary } from '@delta/journal/runs'
import { openAgent, placeToWork, rememberPlace, trustedRun } from '@delta/workspace'
import { existingWorkDirectory, isWithinRun, namedDirectory, refuseCell } from '@delta/workspace/internal'
import { setLine, warnOf } from '../agent.js'
import {
  type EngineFlags,
  engineOptions,
  exitCodeFor,
  readMessage,
  withStopSignal,
} from '../engine-options.js'
import { resolveRunId } from '../find-shown-run.js'
import { presenterFor } from '../presenter.js'
import type { Terminal } from '../terminal.js'
import { say } from '../text.js'
import { UsageError } from '../usage.js'

interface ContinueFlags extends EngineFlags {
  workDir: string
  message?: string
  runId?: string
  agent?: string
  force?: boolean
  retry?: boolean
  trustRun?: boolean
  approve?: string
  deny?: string
}

/**
 * `delta continue`: goes on with a run of a workspace. The agent is the one the run was started with, with what was set for
 * it; `--agent` says where it is now, if it was moved.
 */
export async function execute(flags: ContinueFlags, terminal: Terminal): Promise<number> {
  refuseCell(namedDirectory(flags.workDir, terminal))
  const place = placeToWork(existingWorkDirectory(flags, terminal), flags, terminal)
  const presenter = presenterFor(flags, terminal)
  const typed = decisionIn(flags, terminal)
  refuseBeside(flags)
  const runId = flags.runId && (await resolveRunId(flags.runId, place))
  const found = await findRun(place.workDirectory, runId, place)
  refuseReadOnly(found) // not by asking for trust in it
  const { run, list, isNew, notice } = await trustedRun(found, { ...flags, place, env: terminal.env })
  if (notice !== undefined) say(terminal, notice)
  const decision = typed && completed(typed, run)
  refuseShownSecret(run, flags, terminal)
  const message = await readMessage(flags.message, terminal)
  rememberPlace(place, terminal)()
  const opened = await openAgent(flags.agent, { flags, surroundings: terminal, run })
  warnOf(opened, presenter.warn)
  const { agent, allowed } = opened
  if (agent.snapshot.overrides.length > 0) presenter.warn(setLine(agent))

  const result = await withStopSignal(terminal, presenter, async (signal) => {
    const options = await engineOptions(opened, { place, flags, terminal, presenter, signal })
    return continueRun({
      ...options,
      force: flags.force ?? false,
      run,
      trusted: true,
      onRun: (directory) => {
        list(directory, { ...options, allowed })
        presenter.begin(directory)
      },
      ...(isNew ? { allowed } : {}),
      retry: flags.retry ?? false,
      ...(message === undefined ? {} : { message }),
      ...(decision === undefined ? {} : { decision }),
    })
  })
  presenter.finish(result)
  return exitCodeFor(result)
}

type Decision = Extract<Reply, { requestId: string }>

/** With the whole id, where the beginning of it was typed: one command waits at a time. */
function completed(decision: Decision, { humanRequest }: RunSummary): Decision {
  const waiting = humanRequest?.request_id
  return waiting?.startsWith(decision.requestId) ? { ...decision, requestId: waiting } : decision
}

/** What is typed behind `-m -` is shown. */
function refuseShownSecret(
  { humanRequest: request }: RunSummary,
  { message }: ContinueFlags,
  { stdin }: Terminal,
): void {
  const isSecret = request?.sensitive || request?.input_type === 'password'
  if (isSecret && message === '-' && stdin.isTTY)
    throw new UsageError(
      '-m - shows what is typed, and the question asks for a secret. Use -i, which does not echo.',
    )
}

/** A retry puts nothing before the model. */
function refuseBeside({ retry, message, approve, deny }: ContinueFlags): void {
  const given = Object.entries({ '-m': message, '--approve': approve, '--deny': deny })
  const [other] = given.find(([, value]) => value !== undefined) ?? []
  if (retry && other !== undefined)
    throw new UsageError(`--retry and ${other} cannot be combined: --retry makes the same request again.`)
}

function decisionIn({ approve, deny }: ContinueFlags, terminal: Terminal): Decision | undefined {
  if (approve !== undefined && deny !== undefined)
    throw new UsageError('--approve and --deny cannot be combined.')
  if (approve !== undefined && isWithinRun(terminal))
    throw new UsageError(
      '--approve is for a person, and this was started by a run (DELTA_PARENT_RUN is set). Nothing was run.\nLeave the question waiting, and tell the person who started that run.',
    )
  if (approve !== undefined) return { kind: 'approve', requestId: approve }
  return deny === undefined ? undefined : { kind: 'deny', requestId: deny }
}
