import { resolve } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { credentialsOf } from '@delta/executor'
import { type ChatModel, replayModel, scriptModel } from '@delta/model'
import { EngineError } from '../errors.js'
import type { Credentials, EngineOptions } from '../options.js'
import { commandModel } from './command-model.js'
import { readRecordedRun } from './recorded-run.js'

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
