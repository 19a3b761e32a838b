import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { followEvents } from '@delta/context'
import { isKnownEvent, type Run } from '@delta/journal'
import { finish } from './finish.js'
import { type History, historyOf } from './history.js'
import { secretToken } from './human.js'
import { runLoop } from './loop.js'
import type { ModelOfRun } from './model.js'
import { baseEnvironment, type Callbacks, credentialVariables, type EngineOptions } from './options.js'
import type { RunResult } from './outcome.js'
import { removeLeftOutput } from './run-call.js'
import type { Reply, RunState } from './run-state.js'
import { changeNotice, keepConfiguration } from './start/configuration.js'

interface DriveOptions extends Omit<EngineOptions, keyof Callbacks>, Callbacks {
  agent: Agent
  modelOf: ModelOfRun
  maxIterations: number
  reply: Reply | undefined
}

/** How long a stopped command has before it is killed. A child engine must end before its parent kills it. */
const GRACE_MS = { own: 2000, child: 1000 }

/** Moves a run that this process owns, and whose `ENGINE_START` is written, until its outcome. */
export async function driveRun(run: Run, options: DriveOptions): Promise<RunResult> {
  const signal = options.signal ?? new AbortController().signal
  const { onEvent: emit } = options
  for (const directory of [run.paths.toolExecutions, run.paths.hooks])
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  const history = historyOf(await run.events())
  for (const reference of history.lastExecutions.refs) removeLeftOutput(join(run.directory, reference))
  for (const event of history.begun) emit({ kind: 'journal', event })
  const notices = [...run.notices, ...changeNotices(history, options.agent)]
  for (const message of notices) emit({ kind: 'notice', message })
  keepConfiguration(run, options.agent, { seq: history.begun[0]?.seq ?? 1, sync: options.sync })

  const state = await activate(run, history, { ...options, signal })
  return finish(state, () => runLoop(state))
}

async function activate(
  run: Run,
  history: History,
  options: DriveOptions & Pick<RunState, 'signal'>,
): Promise<RunState> {
  const host = options.environment ?? process.env
  const environment = baseEnvironment(run, options.agent.home, host)
  const summary = run.summary()
  return {
    run,
    agent: options.agent,
    model: options.modelOf(environment),
    task: history.userMessages.join('\n'),
    firstIteration: summary.lastIteration + 1,
    lastAllowedIteration: summary.lastIteration + options.maxIterations - summary.iterationsSinceMessage,
    maxIterations: options.maxIterations,
    credentials: credentialVariables(host, options.credentials),
    environment,
    graceMs: host.DELTA_PARENT_RUN === undefined ? GRACE_MS.own : GRACE_MS.child,
    usedActionIds: history.usedActionIds,
    earlierSecretTokens: new Set([...history.sensitiveCalls].map(secretToken)),
    lastCount: history.lastCount,
    warnings: new Set(),
    conversation: followEvents(run.events),
    signal: options.signal,
    reply: options.reply,
    alwaysAllowed: new Set(),
    ask: options.ask,
    stream: options.stream ?? false,
    emit: options.onEvent,
  }
}

function changeNotices({ begun: [start] }: History, agent: Agent): string[] {
  if (!start || !isKnownEvent(start) || start.type !== 'ENGINE_START') return []
  return [changeNotice(start.changed_files ?? [], agent) ?? []].flat()
}
