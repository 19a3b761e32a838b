import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { type BuiltContext, buildContext } from '@delta/context'
import { readJournal } from '@delta/journal'
import { foldRun, journalPath } from '@delta/journal/internal'
import { type RunSummary, type RunsPlace, runEventSchema, type StoredEvent } from '@delta/journal/runs'
import { type ChatRequest, type FunctionTool, LLM_DEFAULTS, streamingRequest } from '@delta/model'
import { toFunctionTool } from '@delta/tool-expander'
import { askHumanTool } from './ask-human.js'
import { baseEnvironment, credentialVariables, type EngineOptions } from './options.js'

/** The request for these messages, with the agent's parameters and tools. */
export function requestFor(agent: Agent, messages: ChatRequest['messages']): ChatRequest {
  const { provider, model, parameters, stream = LLM_DEFAULTS.stream } = agent.llm
  const request = { ...(model !== undefined && { model }), ...parameters, messages, tools: toolsOf(agent) }
  return provider === 'openai' && stream ? streamingRequest(request) : request
}

function toolsOf({ tools, llm: { strictTools: strict = LLM_DEFAULTS.strictTools } }: Agent): FunctionTool[] {
  const own = [...tools.values()].map(({ expanded }) => toFunctionTool(expanded, { strict }))
  return [...own, askHumanTool(strict)]
}

/** The run whose next request is wanted: its id, directory, and the highest cycle in which the model has answered. */
type ExistingRun = Pick<RunSummary, 'runId' | 'directory' | 'lastIteration'>

/**
 * Whose next request is wanted. Generators find the `environment` without credentials, and the `credentials` that they ask for. The
 * `signal` is as for `buildContext`.
 */
export interface NextRequestOptions extends RunsPlace, Pick<EngineOptions, 'env' | 'credentials' | 'signal'> {
  agent: Agent
  /** Absolute path of the workspace. */
  workDirectory: string
  /** Undefined: what a new run would send first. */
  run?: ExistingRun | undefined
  /** As if the user said this now. */
  message?: string | undefined
}

/** A request that was built, and not sent. */
export interface NextRequest {
  /** The body, before `pre_llm_request` hooks. */
  request: ChatRequest
  /** Its messages, and which source each is from. */
  context: BuiltContext
  /** The cycle it would begin. */
  iteration: number
}

/**
 * What would be sent to the model now. Nothing is journaled and no model is asked; generators of `context.yaml` run as
 * they would, and calls that have no result yet count as interrupted.
 *
 * @throws {ContextError} as `buildContext`.
 */
export async function nextRequest(options: NextRequestOptions): Promise<NextRequest> {
  const said = options.message === undefined ? [] : [userMessage(options.message)]
  if (options.run) return build(options, options.run, said)
  // generators may look at the journal, or write to ${RUN_DIR}
  const directory = await mkdtemp(join(tmpdir(), 'delta-new-run-'))
  try {
    await writeFile(journalPath(directory), said.map((event) => `${JSON.stringify(event)}\n`).join(''))
    return await build(options, { runId: 'new-run', directory, lastIteration: 0 }, [])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function build(
  options: NextRequestOptions,
  { runId, directory, lastIteration }: ExistingRun,
  added: readonly StoredEvent[],
): Promise<NextRequest> {
  const { agent, workDirectory, runsDirectory, env = process.env } = options
  const paths = { journal: journalPath(directory) }
  const events = [...(await readJournal(paths.journal, { schema: runEventSchema })).events, ...added]
  const fold = foldRun()
  for (const event of events) fold.add(event)
  const run = { runId, directory, workDirectory, runsDirectory, paths }
  const iteration = lastIteration + 1
  const context = await buildContext(agent.manifest, {
    journalPath: events,
    variables: { AGENT_HOME: agent.home, CWD: workDirectory, RUN_DIR: directory },
    environment: baseEnvironment(run, agent.home, env),
    credentials: credentialVariables(env, options.credentials),
    iteration,
    task: fold.history.userMessages.join('\n'),
    calibration: fold.history.lastCount,
    ...(options.signal && { signal: options.signal }),
  })
  return { request: requestFor(agent, context.messages), context, iteration }
}

function userMessage(content: string): StoredEvent {
  return { seq: 1, timestamp: new Date(0).toISOString(), type: 'USER_MESSAGE', content }
}
