import type { Agent } from '@delta/config-loader'
import { isKnownEvent, type Run, readRun, type StoredEvent, streamJournal } from '@delta/journal'
import type { ChatModel } from '@delta/model'
import type { ActiveRun } from './active-run.js'
import { keepConfiguration } from './configuration.js'
import { baseEnvironment, credentialVariables } from './environment.js'
import { finish } from './finish.js'
import type { Reply } from './human/reply.js'
import { runLoop } from './loop.js'
import type { EngineOptions } from './options.js'
import type { RunResult } from './outcome.js'

interface LiveOptions extends EngineOptions {
  agent: Agent
  model: ChatModel
  task: string
  maxIterations: number
  reply: Reply | undefined
}

/** Moves a run that this process owns until its outcome, then ends its part of the journal and gives the run back. */
export async function live(run: Run, options: LiveOptions): Promise<RunResult> {
  try {
    const active = await activate(run, options)
    return await finish(active, () => runLoop(active))
  } finally {
    run.close()
  }
}

async function activate(run: Run, options: LiveOptions): Promise<ActiveRun> {
  const emit = options.onEvent ?? (() => undefined)
  const host = options.environment ?? process.env
  const summary = await readRun(run.directory)
  const { used, startSeq } = await announce(run, emit)

  const changed = keepConfiguration(run, options.agent, startSeq)
  if (changed.length > 0)
    emit({ kind: 'notice', message: `Changed since this run was last started: ${changed.join(', ')}` })
  for (const message of run.notices) emit({ kind: 'notice', message })

  return {
    run,
    agent: options.agent,
    model: options.model,
    task: options.task,
    firstIteration: summary.lastIteration + 1,
    lastAllowedIteration: summary.lastIteration + options.maxIterations - summary.iterationsSinceMessage,
    credentials: credentialVariables(host, options.credentials),
    environment: baseEnvironment(run, options.agent.home, host),
    usedActionIds: used,
    signal: options.signal ?? new AbortController().signal,
    reply: options.reply,
    ask: options.ask,
    stream: options.stream ?? false,
    emit,
  }
}

/** Tells the listener the events with which this engine began, and collects the call ids that the run has used. */
async function announce(run: Run, emit: ActiveRun['emit']): Promise<{ used: Set<string>; startSeq: number }> {
  const used = new Set<string>()
  let begun: StoredEvent[] = []
  for await (const event of streamJournal(run.paths.journal)) {
    if (event.type === 'ENGINE_START') begun = []
    begun.push(event)
    if (isKnownEvent(event) && event.type === 'THOUGHT')
      for (const call of event.tool_calls) used.add(call.action_id)
  }
  for (const event of begun) emit({ kind: 'journal', event })
  return { used, startSeq: begun[0]?.seq ?? 1 }
}
