import { closeSync, openSync, readSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { credentialsAbove, isAgentCommand, isInside, keyNamesOf } from '@delta/executor/internal'
import type { LlmSettings } from '@delta/model/internal'
import { KEY_NAMES } from '@delta/model/vendors'
import type { ValuePath } from '@delta/settings'
import type { LoadedContext } from './context.js'
import { realPath } from './files.js'
import type { LoadedHooks } from './hooks.js'
import type { Findings } from './problems.js'
import { sentence } from './report.js'
import type { LoadedTool, ToolSet } from './tools.js'
import type { YamlFile } from './yaml.js'

/**
 * True for a path in the workspace of a run above this engine: its tools can write there, so a model may have written the file.
 * Such an agent gets no credentials just because it asks for them.
 *
 * @param path - Absolute, symbolic links resolved.
 */
export function liesInParentRun(path: string, env: NodeJS.ProcessEnv): boolean {
  return runsAbove(env).some((run) => {
    const workDirectory = isAbsolute(run) ? workspaceOf(run) : undefined
    // a run whose workspace cannot be told may have written anything
    return workDirectory === undefined || isInside(path, realPath(workDirectory) ?? workDirectory)
  })
}

/** The directory that holds `.delta`; for a run that is kept outside its workspace, the one that its first event names. */
function workspaceOf(run: string): string | undefined {
  if (basename(dirname(run)) === '.delta') return dirname(dirname(run))
  try {
    const first = firstLineOf(join(run, 'journal.jsonl'))
    const { work_dir: workDirectory } = Object(JSON.parse(first)) as { work_dir?: unknown }
    return typeof workDirectory === 'string' ? workDirectory : undefined
  } catch {
    return undefined // not a run of ours
  }
}

const CHUNK_BYTES = 1 << 20

/** The first event holds the agent's settings and the task, which may be long. */
function firstLineOf(path: string): string {
  const file = openSync(path, 'r')
  const chunks: Buffer[] = []
  try {
    for (;;) {
      const chunk = Buffer.alloc(CHUNK_BYTES)
      const read = chunk.subarray(0, readSync(file, chunk))
      const end = read.indexOf(10)
      chunks.push(end === -1 ? read : read.subarray(0, end))
      if (end !== -1 || read.length === 0) return Buffer.concat(chunks).toString()
    }
  } finally {
    closeSync(file)
  }
}

/** The directories of the runs above; `DELTA_CALLS` has a line for each tool call: its id, a space, its run's directory. */
export function runsAbove({
  DELTA_PARENT_RUN: parent = '',
  DELTA_CALLS: calls = '',
}: NodeJS.ProcessEnv): string[] {
  return [parent, ...calls.split('\n').map((call) => call.slice(call.indexOf(' ') + 1))].filter(
    (run) => run !== '',
  )
}

interface NestedParts {
  main: YamlFile | undefined
  llm: LlmSettings | undefined
  tools: ToolSet
  hooks: LoadedHooks
  context: LoadedContext | undefined
}

/**
 * Refuses what would give credentials to commands that a model may have chosen.
 *
 * @param isWritten - True if a tool of another run may have written the agent. Otherwise only what the overrides set is
 *   refused, which a tool may have chosen.
 */
export function refuseCredentials(
  { main, llm, tools, hooks, context }: NestedParts,
  { isWritten, env }: { isWritten: boolean; env: NodeJS.ProcessEnv },
  findings: Findings,
): void {
  const refuse = (file: YamlFile | undefined, part: ValuePath, path: ValuePath, message: string) => {
    if (file === undefined) return
    const isOfTools = isWritten || liesInParentRun(realPath(file.path) ?? file.path, env)
    const imported = file === main ? undefined : main?.setBy?.(['imports'])
    const place = isOfTools ? file.locate(path) : (file.setBy?.(part) ?? imported)
    const reason = isOfTools ? REASON : SET_REASON
    if (place !== undefined) findings.error(place, sentence(path, `${message} here: ${reason}`))
  }
  const refuseKeys = (
    file: YamlFile | undefined,
    part: ValuePath,
    passEnv: readonly string[] = [],
    key: ValuePath = ['pass_env'],
  ) => {
    const name = passEnv.find((candidate) => names.includes(candidate))
    if (name !== undefined) refuse(file, part, [...part, ...key], `${name} is not passed on`)
  }
  const above = credentialsAbove(env) ?? { pairs: [], env: {} }
  const names = [...KEY_NAMES, ...keyNamesOf(above), llm?.apiKeyEnv, llm?.otherKeyEnv]
  for (const { tool, file, path } of tools.values()) {
    refuseKeys(file, path, tool.settings.passEnv)
    if (hasOwnVariables(tool)) refuse(file, path, [...path, 'env'], 'delta gets no variables of its own')
  }
  for (const [name, hook] of Object.entries(hooks.hooks))
    refuseKeys(hooks.file, [...hooks.base, name], hook.passEnv)
  for (const [index, source] of (context?.sources ?? []).entries()) {
    if (source?.type !== 'computed_file') continue
    refuseKeys(context?.file, ['sources', index], source.generator.passEnv, ['generator', 'pass_env'])
  }
  refuseKeys(context?.file, ['token_counter'], context?.manifest?.tokenCounter?.passEnv)
  if (llm?.apiKeyEnv !== undefined)
    refuse(main, ['llm', 'api_key_env'], ['llm', 'api_key_env'], `${llm.apiKeyEnv} is not read`)
  if (llm?.provider !== 'command') return
  const key = isWritten || main?.setBy?.(['llm', 'provider']) ? 'provider' : 'command'
  refuse(main, ['llm', key], ['llm', 'provider'], '"command" is not accepted')
}

/** `delta` always gets the credentials, and a variable such as `NODE_OPTIONS` or `PATH` can make it another program. */
function hasOwnVariables({ expanded, settings }: LoadedTool['tool']): boolean {
  return isAgentCommand(expanded.command) && Object.keys(settings.env).length > 0
}

const REASON = "this agent lies in another run's workspace, where its tools may have written it"
const SET_REASON = 'a tool of another run may have set it'
