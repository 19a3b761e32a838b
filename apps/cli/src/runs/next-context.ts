import type { Agent } from '@delta/config-loader'
import type { ContextManifest } from '@delta/context'
import { type NextRequest, nextRequest } from '@delta/engine'
import { isAgentCommand } from '@delta/executor'
import { latestRunId } from '@delta/journal'
import { findEnvironment } from '../agent/find-environment.js'
import { type AgentFlags, loadAgentFor, withAllowed } from '../agent/load-agent.js'
import { withOwnCommands } from '../own-commands.js'
import { say } from '../present/print.js'
import { StoppedError, stopSignal, type Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { existingWorkDirectoryOf, placeToWork, type RunsFlags } from '../workspace/find-place.js'
import { readMessage } from './message.js'
import { agentHomeOf, isOwnRun } from './own-runs.js'
import { findShownRun, type ShownRun } from './shown-run.js'

export interface ContextFlags extends AgentFlags, RunsFlags {
  agent?: string
  workDir: string
  runId?: string
  message?: string
  json?: boolean
  trustWorkspaceEnv?: boolean | string
}

export interface NextContext extends NextRequest {
  agent: Agent
  run: ShownRun | undefined
}

/**
 * What would be sent now: the next request of the named run or the latest one, or the first of a new run if the
 * workspace has none. Warnings, and what a real run would do first, go to stderr.
 */
export async function nextContext(flags: ContextFlags, terminal: Terminal): Promise<NextContext> {
  const warn = (text: string): void => say(terminal, text)
  const place = placeToWork(existingWorkDirectoryOf(flags, terminal), flags, terminal)
  const id = flags.runId ?? (await latestRunId(place.workDirectory, place))
  const run = id === undefined ? undefined : await findShownRun(place, id)
  const believed = run && isOwnRun(run.directory, terminal.env) ? run : undefined
  const allowed = withAllowed(flags, believed?.allowed)
  if (run !== undefined && believed === undefined && flags.agent === undefined)
    throw new UsageError(
      `Run ${run.runId} is not among your runs, so the agent that it names is not believed: its generators would run.\nName the agent with --agent <directory>.`,
    )
  const directory = flags.agent ?? (await presentHome(believed, terminal.env)) ?? '.'
  const overrides = believed?.overrides ?? []
  const agent = await loadAgentFor(directory, { flags: allowed, terminal, warn, overrides })
  const message = await readMessage(flags.message, terminal)
  for (const notice of noticesOn(run, message)) warn(notice)

  using stop = stopSignal(terminal, {
    onFirst: (name) => warn(`${name}: stopping; once more to stop at once.`),
    onExit: () => warn('Stopped at once.'),
  })
  const environment = withOwnCommands(terminal.env)
  const credentials = asksForKeys(agent.manifest)
    ? await findEnvironment(agent, { ...place, flags: allowed, terminal, warn, signal: stop.signal })
    : {}
  const next = await nextRequest({
    agent,
    workDirectory: place.workDirectory,
    runsDirectory: place.runsDirectory,
    run,
    message,
    environment,
    credentials,
    signal: stop.signal,
  }).catch((error: unknown) => {
    throw stop.signal.aborted ? new StoppedError(stop.signal, error) : error
  })
  for (const warning of next.context.warnings) warn(warning)
  return { ...next, agent, run }
}

/** Most recipes run no command that may see a key; then no key has to be found. */
function asksForKeys({ sources, tokenCounter }: ContextManifest): boolean {
  const generators = sources.flatMap((source) => (source.type === 'computed_file' ? source.generator : []))
  const commands = tokenCounter === undefined ? generators : [...generators, tokenCounter]
  return commands.some(({ command, passEnv }) => passEnv.length > 0 || isAgentCommand(command))
}

async function presentHome(run: NextContext['run'], env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return run === undefined || run.metadata.agent_home === null ? undefined : agentHomeOf(run, env)
}

function noticesOn(run: NextContext['run'], message: string | undefined): string[] {
  if (run === undefined)
    return message === undefined
      ? ['There is no run yet: this is what a new one would send first, without its message (-m).']
      : []
  const calls = run.pendingCalls.length
  if (calls === 0) return []
  const what = calls === 1 ? '1 call has no result yet and is' : `${calls} calls have no result yet and are`
  return [`${what} shown as interrupted; delta continue would settle that first.`]
}
