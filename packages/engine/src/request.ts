import { hash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { type BuiltContext, buildContext } from '@delta/context'
import { readJournal } from '@delta/journal'
import { foldRun, journalPath } from '@delta/journal/internal'
import {
  type RunSummary,
  type RunsPlace,
  readBlob,
  runEventSchema,
  type StoredEvent,
} from '@delta/journal/runs'
import type { Api, BlobReader, ChatModel, ChatRequest, ContentPart, FunctionTool } from '@delta/model'
import { LLM_DEFAULTS, toWire } from '@delta/model/internal'
import { apiOfProvider } from '@delta/model/vendors'
import { toFunctionTool } from '@delta/tool-expander'
import { askHumanTool } from './ask-human.js'
import { baseEnvironment, credentialsFor, type EngineOptions } from './options.js'

/** The request for these messages and tools, with the agent's parameters. */
export function requestFor(
  { llm }: Agent,
  { messages, tools }: Required<Pick<ChatRequest, 'messages' | 'tools'>>,
): ChatRequest {
  const { provider, model, parameters, stream = LLM_DEFAULTS.stream } = llm
  const request = { ...(model !== undefined && { model }), ...parameters, messages, tools }
  return apiOfProvider(provider) !== undefined && stream ? { ...request, stream } : request
}

/** The definitions of an agent's tools, and of `ask_human`. */
export function toolsOf({
  tools,
  llm: { strictTools: strict = LLM_DEFAULTS.strictTools },
}: Agent): FunctionTool[] {
  const own = [...tools.values()].map(({ expanded }) => toFunctionTool(expanded, { strict }))
  return [...own, askHumanTool(strict)]
}

/** What the record of a request holds: the body, the blobs in it, and how it is sent. */
export function invocationFor(model: ChatModel, request: ChatRequest, blobs: BlobReader) {
  const wire = model.toWire ? model.toWire(request, blobs) : toWire('chat', request, blobs)
  const { api, list, body, leftOut, url, headerNames } = wire
  const about = {
    wire: { api, list, url, header_names: headerNames, stream: request.stream === true },
    ...(leftOut.length > 0 && { left_out: leftOut }),
  }
  return { request: body, list, blobs: blobsIn(request), about }
}

function blobsIn({ messages }: ChatRequest): string[] {
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? (content as ContentPart[]) : []))
  return [
    ...new Set(parts.flatMap((part) => ('blob' in part && typeof part.blob === 'string' ? part.blob : []))),
  ]
}

/** The run whose next request is built: its id, directory, and last iteration in which the model responded. */
type ExistingRun = Pick<RunSummary, 'runId' | 'directory' | 'lastIteration'>

/**
 * The run or agent whose next request is built. Generators get `env` without credentials, and the `credentials` that they list.
 * `signal` stops them.
 */
export interface NextRequestOptions extends RunsPlace, Pick<EngineOptions, 'env' | 'credentials' | 'signal'> {
  agent: Agent
  /** Absolute path of the workspace. */
  workDirectory: string
  /** Default: the first request of a new run. */
  run?: ExistingRun | undefined
  /** A user message to add, as if it came now. */
  message?: string | undefined
}

/** A request that was built but not sent. */
export interface NextRequest {
  /** Before `pre_llm_request` hooks. */
  request: ChatRequest
  /** What the agent's API would get of it. */
  body: object
  /** The request's messages, and the source of each. */
  context: BuiltContext
  /** The iteration that the request would begin. */
  iteration: number
}

/**
 * Builds the request that would be sent to the model now. Sends and journals nothing. Generators of `context.yaml` run, and
 * tool calls without a result count as interrupted.
 *
 * @example
 * const run = await findRun('/work/site')
 * const { request } = await nextRequest({ agent, workDirectory: '/work/site', run, message: 'Go on.' })
 * console.log(request.messages.length)
 *
 * @throws {ContextError} A source, generator or budget of `context.yaml` fails.
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
  const { agent, workDirectory, runsDirectory } = options
  const paths = { journal: journalPath(directory) }
  const events = [...(await readJournal(paths.journal, { schema: runEventSchema })).events, ...added]
  const fold = foldRun()
  for (const event of events) fold.add(event)
  const run = { runId, directory, workDirectory, runsDirectory, paths }
  const iteration = lastIteration + 1
  const tools = toolsOf(agent)
  const blobs = new Map<string, Uint8Array>() // of files that no request held yet
  const context = await buildContext(agent.manifest, {
    journalPath: events,
    variables: { AGENT_HOME: agent.home, CWD: workDirectory, RUN_DIR: directory },
    env: baseEnvironment(run, agent, options),
    credentials: credentialsFor(agent.llm, options),
    iteration,
    task: fold.history.userMessages.join('\n'),
    tools,
    calibration: fold.history.lastCount,
    writeBlob: (bytes) => {
      const sha256 = hash('sha256', bytes)
      blobs.set(sha256, bytes)
      return sha256
    },
    ...(options.signal && { signal: options.signal }),
  })
  const request = requestFor(agent, { messages: context.messages, tools })
  const readFresh = (sha256: string) => blobs.get(sha256) ?? readBlob(directory, sha256)
  const { body } = agent.model?.toWire?.(request, readFresh) ?? toWire(apiOf(agent.llm), request, readFresh)
  return { request, body, context, iteration }
}

/** The API of the agent's provider. Scripts and commands are asked in the words of a chat. */
export function apiOf({ provider, api }: Agent['llm']): Api {
  return apiOfProvider(provider, api) ?? 'chat'
}

function userMessage(content: string): StoredEvent {
  return { seq: 1, timestamp: new Date().toISOString(), type: 'USER_MESSAGE', content }
}
