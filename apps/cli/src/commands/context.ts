import type { LoadedAgent } from '@delta/config-loader'
import { type ContextBlock, type ContextManifest, isContextError } from '@delta/context'
import { type NextRequest, nextRequest } from '@delta/engine'
import { isAgentCommand } from '@delta/executor/internal'
import { latestRunId, refuseLinkedRun } from '@delta/journal/internal'
import type { RunSummary } from '@delta/journal/runs'
import { type CacheBreak, type ComparedRequest, findCacheBreak, openTrace } from '@delta/trace'
import { recordedParts } from '@delta/trace/internal'
import { type AgentFlags, openAgent, ownRun, placeToWork, type RunsFlags } from '@delta/workspace'
import { existingWorkDirectory } from '@delta/workspace/internal'
import { findEnvironment, warnOf } from '../agent.js'
import { readMessage } from '../engine-options.js'
import { findShownRun } from '../find-shown-run.js'
import { withOwnCommands } from '../own-commands.js'
import { EXIT, StoppedError, stopSignal, type Terminal } from '../terminal.js'
import { print, printable, printJson, say, table } from '../text.js'
import { UsageError } from '../usage.js'

/** `delta context explain`: what each source of `context.yaml` costs now, and which ones keep a provider from caching. */
export async function explain(flags: ContextFlags, terminal: Terminal): Promise<number> {
  const next = await nextContext(flags, terminal).catch((error: unknown) => {
    if (isContextError(error) && error.blocks && !flags.json) print(terminal, tableOf(error.blocks))
    throw error
  })
  const breaks = next.run ? await findCacheBreaks(next.run, next) : []
  if (flags.json) printJson(terminal, asRecord(next, breaks))
  else print(terminal, asText(next, breaks))
  return EXIT.completed
}

function asRecord({ context, iteration, run, agent }: NextContext, breaks: ExplainedBreak[]): object {
  return {
    run_id: run?.runId ?? null,
    iteration,
    sources: context.blocks,
    total: {
      ...totalOf(context.blocks),
      messages: context.messages.length,
      limit_tokens: agent.manifest.totalMaxTokens ?? null,
    },
    warnings: context.warnings,
    cache_breaks: breaks.map(({ tokensAfter, advice: _, ...rest }) => ({
      ...rest,
      tokens_after: tokensAfter,
    })),
  }
}

function totalOf(blocks: readonly ContextBlock[]) {
  return {
    messages: blocks.reduce((sum, { messages }) => sum + messages, 0),
    bytes: blocks.reduce((sum, { bytes }) => sum + bytes, 0),
    tokens: blocks.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function asText({ context, iteration, run, agent }: NextContext, breaks: readonly ExplainedBreak[]): string {
  const limit = agent.manifest.totalMaxTokens
  const note = limit === undefined ? '' : `of at most ${limit} tokens`
  const what = run ? `Iteration ${iteration} of run ${run.runId}` : 'The first iteration of a new run'
  return [
    `${what}, as it would be sent now:\n`,
    tableOf(context.blocks, context.messages.length, note),
    ...(breaks.length === 0 ? [] : ['\nThe provider cannot use its cache from these places on:\n']),
    ...breaks.map((each) => `  iteration ${each.iteration}: ${printable(each.message)}\n`),
    ...[...new Set(breaks.map(({ advice }) => advice))].map((advice) => `${advice}\n`),
  ].join('')
}

/** What each source costs, and all together. */
function tableOf(blocks: readonly ContextBlock[], sent?: number, note = ''): string {
  const { messages, bytes, tokens } = totalOf(blocks)
  const rows = blocks.map((block) => [
    printable(block.source_id),
    block.type,
    ...[block.messages, block.bytes, block.tokens].map(String),
    printable(block.note ?? ''),
  ])
  const total = ['all', '', ...[sent ?? messages, bytes, tokens].map(String), note]
  return table([['SOURCE', 'TYPE', 'MESSAGES', 'BYTES', 'TOKENS', 'NOTE'], ...rows, total])
}

/** `delta context build`: the request that would be sent now, as JSON. No model is asked. */
export async function build(flags: ContextFlags, terminal: Terminal): Promise<number> {
  const { body } = await nextContext(flags, terminal)
  printJson(terminal, body)
  return EXIT.completed
}

interface ContextFlags extends AgentFlags, RunsFlags {
  agent?: string
  workDir: string
  runId?: string
  message?: string
  json?: boolean
  trustWorkspaceEnv?: boolean
}

interface NextContext extends NextRequest {
  agent: LoadedAgent
  run: RunSummary | undefined
}

/**
 * What would be sent now: the next request of the named run or the latest one, or the first of a new run if the
 * workspace has none. Warnings, and what a real run would do first, go to stderr.
 */
async function nextContext(flags: ContextFlags, terminal: Terminal): Promise<NextContext> {
  const warn = (text: string): void => say(terminal, text)
  const place = placeToWork(existingWorkDirectory(flags, terminal), flags, terminal)
  const id = flags.runId ?? (await latestRunId(place.workDirectory, place))
  const run = id === undefined ? undefined : await findShownRun(place, id)
  if (run !== undefined) refuseLinkedRun(run.directory) // generators write into it
  const believed = run && ownRun(run, terminal.env)
  if (run !== undefined && believed === undefined && flags.agent === undefined)
    throw new UsageError(
      `Run ${run.runId} is not among your runs, so the agent that it names is not trusted: its generators would run.\nName the agent with --agent <directory>.`,
    )
  const named = believed?.metadata.agent_home === null ? '.' : undefined // it was made by a program
  const opened = await openAgent(flags.agent ?? named, { flags, surroundings: terminal, run: believed })
  const { agent } = opened
  warnOf(opened, warn)
  const message = await readMessage(flags.message, terminal)
  for (const notice of noticesOn(run, message)) warn(notice)

  using stop = stopSignal(terminal, {
    onFirst: (name) => warn(`${name}: stopping; once more to stop at once.`),
    onExit: () => warn('Stopped at once.'),
  })
  const env = withOwnCommands(terminal.env)
  const credentials = asksForKeys(agent.manifest)
    ? await findEnvironment(opened, { ...place, terminal, warn, signal: stop.signal })
    : {}
  const next = await nextRequest({
    agent,
    workDirectory: place.workDirectory,
    runsDirectory: place.runsDirectory,
    run,
    message,
    env,
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

/** In a long run, the last requests are enough. */
const MOST_REQUESTS = 10

interface ExplainedBreak extends CacheBreak {
  /** The iteration whose request could not be answered from the cache. */
  iteration: number
}

type Sent = ComparedRequest & { iteration: number }

/** Where each of the last requests of a run, and the next one, stops being an extension of the one before. */
async function findCacheBreaks(
  { directory }: RunSummary,
  { body, context: { blocks }, iteration }: NextRequest,
): Promise<ExplainedBreak[]> {
  const requests: Sent[] = [...(await lastRequests(directory)), { ...body, blocks, iteration }]
  return requests.flatMap((after, index) => {
    const before = requests[index - 1]
    const found = before && findCacheBreak(before, after)
    return found ? [{ iteration: after.iteration, ...found }] : []
  })
}

/** Without those that are not recorded: of a run of an old layout. */
async function lastRequests(directory: string): Promise<Sent[]> {
  const trace = await openTrace(directory)
  const { bodyOf } = recordedParts(directory)
  const sent: Sent[] = []
  for await (const { n, request } of trace.steps({ last: MOST_REQUESTS + 1 })) {
    const body = request && bodyOf(request)
    if (body) sent.push({ ...body, iteration: n })
  }
  return sent.slice(-MOST_REQUESTS)
}
