import { basename, dirname, isAbsolute } from 'node:path'
import { CREDENTIAL_NAMES } from '@delta/executor'
import type { LlmSettings } from '@delta/model'
import { realPath } from '../files/real-path.js'
import { isInside } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import { sentence } from '../shape/report.js'
import type { ToolSet } from '../tools/tool-set.js'
import type { YamlFile } from '../yaml/file.js'
import type { LoadedContext } from './context.js'
import type { LoadedHooks } from './hooks-file.js'

/**
 * True for an agent that lies where the tools of another run, whose tool this engine is, can write.
 * A model may have written it: it does not get at credentials by its own word.
 *
 * @param home - Absolute, symbolic links resolved.
 */
export function liesInParentRun(home: string, environment: NodeJS.ProcessEnv): boolean {
  const run = environment.DELTA_PARENT_RUN ?? ''
  if (!isAbsolute(run) || basename(dirname(run)) !== '.delta') return false
  const workDirectory = dirname(dirname(run))
  return isInside(home, realPath(workDirectory) ?? workDirectory)
}

interface NestedParts {
  main: YamlFile | undefined
  llm: LlmSettings | undefined
  tools: ToolSet
  hooks: LoadedHooks
  context: LoadedContext | undefined
}

/** Refuses what would hand credentials to commands that such an agent chose. */
export function refuseCredentials(
  { main, llm, tools, hooks, context }: NestedParts,
  findings: Findings,
): void {
  const refuse = (file: YamlFile | undefined, path: ValuePath, names: readonly string[] = []) => {
    const name = names.find((candidate) => CREDENTIAL_NAMES.includes(candidate))
    if (file === undefined || name === undefined) return
    findings.error(file.locate(path), sentence(path, `${name} is not passed on here: ${REASON}`))
  }
  for (const { tool, file, path } of tools.values())
    refuse(file, [...path, 'pass_env'], tool.settings.passEnv)
  for (const [name, hook] of Object.entries(hooks.hooks))
    refuse(hooks.file, [...hooks.base, name, 'pass_env'], hook.passEnv)
  for (const [index, source] of (context?.sources ?? []).entries()) {
    if (source?.type !== 'computed_file') continue
    refuse(context?.file, ['sources', index, 'generator', 'pass_env'], source.generator.passEnv)
  }
  refuse(context?.file, ['token_counter', 'pass_env'], context?.manifest?.tokenCounter?.passEnv)
  if (llm?.provider === 'command' && main !== undefined) {
    findings.error(
      main.locate(['llm', 'provider']),
      `llm.provider: "command" is not accepted here: ${REASON}.`,
    )
  }
}

const REASON = "this agent lies in another run's workspace, where its tools may have written it"
