import { resolve } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { type CommandOutcome, credentialsOf, runCommand } from '@delta/executor'
import { openRecordedRequests } from '@delta/journal'
import {
  type ChatModel,
  type ChatResponse,
  ModelError,
  parseCompletion,
  type Recording,
  replayModel,
  scriptModel,
} from '@delta/model'
import { EngineError } from './errors.js'
import type { Credentials, EngineOptions } from './options.js'

/** Makes the model of one run. A model that is a command gets the environment of the run's other commands. */
export type ModelOfRun = (ofCommands: NodeJS.ProcessEnv) => ChatModel

/**
 * The model of a run: the one that is given, or else the one that `llm.provider` names. It is not called yet.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_CREDENTIALS`: the provider needs a key or a base URL and has neither.
 */
export async function modelFor(
  agent: Agent,
  { model, credentials = {}, environment = process.env }: EngineOptions,
): Promise<ModelOfRun> {
  if (model !== undefined) return () => model
  const { llm } = agent
  switch (llm.provider) {
    case 'script':
      return always(
        scriptModel(agent.script ?? [], {
          ...(llm.script === undefined ? {} : { path: resolve(agent.home, llm.script) }),
        }),
      )
    case 'command':
      return (ofCommands) =>
        commandModel(commandOf(agent), {
          cwd: agent.home,
          environment: { ...ofCommands, ...credentialsOf(environment) }, // it may be a client of the provider
          timeoutMs: llm.timeoutMs,
        })
    case 'replay':
      return always(replayModel(readRecordedRun(resolve(agent.home, llm.script ?? '.'))))
    case 'openai':
      return always(await openAi(agent, { credentials, isWithinRun: Boolean(environment.DELTA_PARENT_RUN) }))
    default:
      return llm.provider satisfies never
  }
}

function always(model: ChatModel): ModelOfRun {
  return () => model
}

/** As in hooks, `${AGENT_HOME}` is replaced by the agent's directory. */
function commandOf({ llm, home }: Agent): string[] {
  return (llm.command ?? []).map((word) => word.replaceAll('${AGENT_HOME}', () => home))
}

async function openAi(
  agent: Agent,
  { credentials, isWithinRun }: { credentials: Credentials; isWithinRun: boolean },
): Promise<ChatModel> {
  const baseUrl = credentials.baseUrl ?? agent.llm.baseUrl
  if (credentials.apiKey === undefined && baseUrl === undefined)
    throw new EngineError('ERR_ENGINE_NO_CREDENTIALS', isWithinRun ? NO_KEY_WITHIN_RUN : NO_KEY)
  const { openAiModel } = await import('@delta/model/openai')
  return openAiModel({
    ...(credentials.apiKey === undefined ? {} : { apiKey: credentials.apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(agent.llm.timeoutMs === undefined ? {} : { timeoutMs: agent.llm.timeoutMs }),
  })
}

const NO_KEY_WITHIN_RUN = `No API key and no base URL for the model: a tool of another run started this agent, and was not given them.
Add to that tool: pass_env: [DELTA_API_KEY]. A tool whose command is "delta run" itself needs no pass_env.`

const NO_KEY = `No API key and no base URL for the model. Choose one of these:
  a key             put DELTA_API_KEY=… (or OPENAI_API_KEY=…) into the environment or the agent's .env
  a local server    put DELTA_BASE_URL=http://127.0.0.1:11434/v1 there; anything that speaks chat completions will do`

/** A longer answer is cut, and then fails to parse. Bytes. */
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024

const WHAT_IT_PRINTS =
  'It must print one assistant message of the chat-completions format to stdout, such as {"content": "…"}, and nothing else; anything for people goes to stderr.'

/**
 * A model that is a command: it reads the request (JSON) on stdin and prints a completion in OpenAI's shape, or a bare
 * assistant message. It runs in the agent's directory.
 *
 * `complete` throws `ModelError`: `ERR_MODEL_CONNECTION` when the command did not start or failed, with the last line of
 * its stderr; `ERR_MODEL_TIMEOUT` when it took longer than `timeoutMs`, by default without end; `ERR_MODEL_RESPONSE` when it
 * printed something else.
 */
function commandModel(
  argv: readonly string[],
  {
    cwd,
    environment,
    timeoutMs = 0,
  }: { cwd: string; environment: NodeJS.ProcessEnv; timeoutMs?: number | undefined },
): ChatModel {
  return {
    async complete(request, { signal } = {}) {
      const outcome = await runCommand(argv, {
        cwd,
        env: environment,
        stdin: JSON.stringify(request),
        keepBytes: MAX_RESPONSE_BYTES,
        keep: 'head',
        timeoutMs,
        ...(signal ? { signal } : {}),
      })
      if (outcome.status === 'EXITED' && outcome.exitCode === 0) return parse(argv, outcome.stdout.text)
      if (outcome.status === 'TIMEOUT') throw tookTooLong(argv, timeoutMs)
      throw new ModelError('ERR_MODEL_CONNECTION', `The model command ${argv[0]} ${howItEnded(outcome)}`)
    },
  }
}

function tookTooLong(argv: readonly string[], timeoutMs: number): ModelError {
  const message = `The model command ${argv[0]} had no answer within ${timeoutMs} ms (timeout_ms of llm).`
  return new ModelError('ERR_MODEL_TIMEOUT', message)
}

function howItEnded({ startError, exitCode, signal, status, stderr }: CommandOutcome): string {
  if (startError) return `did not start: ${startError.message}`
  const said = stderr.text.trim().split('\n').at(-1)
  return `ended with ${exitCode ?? signal ?? status}${said ? `: ${said}` : ''}`
}

function parse(argv: readonly string[], text: string): ChatResponse {
  try {
    return parseCompletion(JSON.parse(text))
  } catch (cause) {
    const message = `The model command ${argv[0]} did not print a completion: ${(cause as Error).message}\n${WHAT_IT_PRINTS}`
    throw new ModelError('ERR_MODEL_RESPONSE', message, { cause })
  }
}

/**
 * The exchanges of a recorded run, as `replayModel` takes them: oldest first, each read when its turn comes. Requests
 * that got no response are left out.
 *
 * @param runDirectory - The directory of the run to be replayed.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`, `ERR_REQUEST_CORRUPT`.
 */
export function readRecordedRun(runDirectory: string): Recording {
  return openRecordedRequests(runDirectory)
}
