import { isAbsolute } from 'node:path'
import type { EngineOptions } from './options.js'
import { isObject, isText, requireThat } from './usage.js'

/** @throws {EngineError} `ERR_ENGINE_USAGE`, naming the first option that cannot be used; so do the others here. */
export function checkRunAgent(options: unknown): void {
  const { agent, workDirectory, message, runId, runsDirectory } = Object(options)
  const of = 'runAgent: the option'
  requireThat(isAgent(agent), `${of} agent`, AGENT)
  requireThat(isWorkspace(workDirectory), `${of} workDirectory`, WORKSPACE)
  requireThat(typeof message === 'string', `${of} message`, 'a string: the task')
  requireThat(isPlace(runsDirectory), `${of} runsDirectory`, PLACE)
  requireThat(runId === undefined || isText(runId), `${of} runId`, RUN_ID)
  checkShared(of, Object(options))
}

export function checkContinueRun(options: unknown): void {
  const { agent, workDirectory, message, runId, runsDirectory, trusted } = Object(options)
  const of = 'continueRun: the option'
  requireThat(trusted === true, `${of} trusted`, TRUSTED)
  requireThat(isWorkspace(workDirectory), `${of} workDirectory`, WORKSPACE)
  requireThat(isPlace(runsDirectory), `${of} runsDirectory`, PLACE)
  requireThat(runId === undefined || isText(runId), `${of} runId`, RUN_ID)
  requireThat(isTextOrNothing(message), `${of} message`, 'a string, or nothing')
  const { decision, retry } = Object(options)
  const isRetry = retry === undefined || typeof retry === 'boolean'
  requireThat(isRetry, `${of} retry`, 'true, false or nothing')
  const isAlone = !retry || (message === undefined && decision === undefined)
  requireThat(
    isAlone,
    `${of} retry`,
    'either it or a message or decision: a retry puts nothing before the model',
  )
  requireThat(decision === undefined || isDecision(decision), `${of} decision`, DECISION)
  requireThat(agent === undefined || isAgent(agent), `${of} agent`, `${AGENT}, or nothing`)
  checkShared(of, Object(options))
}

export function checkNextRequest(options: unknown): void {
  const { agent, workDirectory } = Object(options)
  requireThat(isAgent(agent), 'nextRequest: the option agent', AGENT)
  requireThat(isWorkspace(workDirectory), 'nextRequest: the option workDirectory', WORKSPACE)
  const { run, message, environment } = Object(options)
  const { directory, journalPath, lastIteration } = Object(run)
  const isRun = isText(directory) && isText(journalPath) && Number.isInteger(lastIteration)
  requireThat(
    run === undefined || isRun,
    'nextRequest: the option run',
    '{ ...(await findRun(workDirectory)), journalPath }, or nothing',
  )
  requireThat(isTextOrNothing(message), 'nextRequest: the option message', 'a string, or nothing')
  const isEnvironment = environment === undefined || isObject(environment)
  requireThat(isEnvironment, 'nextRequest: the option environment', 'process.env, a part of it, or nothing')
}

function isTextOrNothing(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

const AGENT =
  "what loadAgent of @delta/config-loader loads: (await loadAgent('./my-agent', { environment: process.env })).agent"
const WORKSPACE = 'the absolute path of a directory that exists'
const PLACE = 'the absolute path of a directory outside the workspace, or nothing'
const RUN_ID = 'a string, or nothing'
const TRUSTED =
  'trusted: true if you started the run, or have read its journal: the directory of the agent that it names runs commands'
const DECISION = "{ kind: 'approve', requestId } or { kind: 'deny', requestId }, or nothing"

function checkShared(
  of: string,
  { model, maxIterations, signal, environment, onEvent, ask, credentials }: EngineOptions,
): void {
  const isCount = maxIterations === undefined || (Number.isInteger(maxIterations) && maxIterations > 0)
  requireThat(isCount, `${of} maxIterations`, 'a whole number of at least 1, or nothing')
  requireThat(
    model === undefined || isFunction(Object(model).complete),
    `${of} model`,
    'an object with complete(request, options), or nothing',
  )
  requireThat(
    signal === undefined || isFunction(Object(signal).addEventListener),
    `${of} signal`,
    'an AbortSignal, or nothing',
  )
  requireThat(
    environment === undefined || isObject(environment),
    `${of} environment`,
    'process.env, a part of it, or nothing',
  )
  const isKeys = credentials === undefined || isObject(credentials)
  requireThat(isKeys, `${of} credentials`, '{ apiKey, baseUrl }, or nothing')
  requireThat(onEvent === undefined || isFunction(onEvent), `${of} onEvent`, 'a function, or nothing')
  requireThat(ask === undefined || isFunction(ask), `${of} ask`, 'a function, or nothing')
}

function isAgent(agent: unknown): boolean {
  const { llm, manifest, tools, hooks, snapshot } = Object(agent)
  return [llm, manifest, hooks, snapshot].every(isObject) && tools instanceof Map
}

function isDecision(decision: unknown): boolean {
  const { kind, requestId } = Object(decision)
  return (kind === 'approve' || kind === 'deny') && isText(requestId)
}

function isWorkspace(path: unknown): boolean {
  return isText(path) && isAbsolute(path)
}

function isPlace(path: unknown): boolean {
  return path === undefined || isWorkspace(path)
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}
