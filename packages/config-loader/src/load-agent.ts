import { basename } from 'node:path'
import { AGENT_DEFAULTS, type Agent } from './agent.js'
import { checkLoading } from './check-options.js'
import type { ConfigWarning } from './errors.js'
import { openDirectory } from './files/directory.js'
import { openCache } from './files/load-cache.js'
import type { Workplace } from './files/workplace.js'
import { collectFindings, inReadingOrder } from './findings.js'
import { invalid } from './invalid.js'
import { CONTEXT_FILE } from './parts/context.js'
import { HOOKS_FILE } from './parts/hooks-file.js'
import { type CompleteParts, isComplete, type LoadOptions, readParts } from './parts/parts.js'
import { USUAL_PROMPT } from './parts/prompt.js'
import { makeSnapshot, resolveDocument, textOf } from './snapshot.js'
import { toolsAlone } from './tools/tool-set.js'
import type { YamlFile } from './yaml/file.js'

/**
 * Loads an agent: `agent.yaml` and what it imports, `hooks.yaml`, `context.yaml`, and the prompt.
 *
 * Depends on the files and on what is passed in, and on nothing else; prints nothing and runs nothing. Files are read
 * synchronously: they are few and small, and nothing else can happen before.
 *
 * @throws {ConfigError} with every problem of every file, each with its place; `message` is the whole report.
 */
export async function loadAgent(
  directory: string,
  options: LoadOptions,
): Promise<{ agent: Agent; warnings: ConfigWarning[] }> {
  checkLoading('loadAgent', directory, options)
  const { parts, workplace, warnings } = await loadParts(directory, options)
  return { agent: assemble(parts, workplace, options.overrides ?? []), warnings }
}

/** The same, not yet put together. */
export async function loadParts(
  directory: string,
  options: LoadOptions,
): Promise<{ parts: CompleteParts; workplace: Workplace; warnings: ConfigWarning[] }> {
  const findings = collectFindings(options)
  const cache = options.cache && openCache(options.cache)
  const workplace = { ...openDirectory(directory, options.shownAs), cache }
  const parts = await readParts(workplace, options, findings)
  if (findings.problems.length > 0 || !isComplete(parts)) throw invalid(findings)
  cache?.save()
  return { parts, workplace, warnings: inReadingOrder(findings.warnings) }
}

function assemble(parts: CompleteParts, { home }: Workplace, set: readonly string[]): Agent {
  const { main, document, prompt, context, hooks, tools, overrides, llm, script, policy } = parts
  const version = document.version === undefined ? {} : { version: writtenVersion(document.version, main) }
  const hooksInMain = hooks.file?.path === main.path ? hooks.file : undefined // as before version 1.9
  const config = resolveDocument({ ...((hooksInMain ?? main).value as object), ...version }, tools)
  const files = {
    [basename(prompt?.name ?? USUAL_PROMPT)]: prompt?.text,
    [CONTEXT_FILE]: textOf(context.file),
    [HOOKS_FILE]: hooks.file && !hooksInMain ? textOf(hooks.file) : undefined,
  }
  return {
    home,
    name: document.name,
    ...version,
    ...(document.description !== undefined && { description: document.description }),
    llm,
    ...(script && { script }),
    ...(document.max_iterations !== undefined && { maxIterations: document.max_iterations }),
    ...(document.max_tool_calls !== undefined && { maxToolCalls: document.max_tool_calls }),
    toolConcurrency: document.tool_concurrency ?? AGENT_DEFAULTS.toolConcurrency,
    ...(policy && { policy }),
    tools: toolsAlone(tools),
    manifest: context.manifest,
    hooks: hooks.hooks,
    overrides,
    snapshot: makeSnapshot(config, {
      files,
      hasImports: Object.hasOwn(main.value as object, 'imports'),
      overrides: lastOfEachPath(set),
    }),
  }
}

/** Of two sets of one path the first has no effect. */
function lastOfEachPath(overrides: readonly string[]): string[] {
  const pathOf = (text: string) => text.slice(0, text.indexOf('='))
  return overrides.filter(
    (text, index) => !overrides.slice(index + 1).some((later) => pathOf(later) === pathOf(text)),
  )
}

/** A number is kept as it is written, `1.10` for example. */
function writtenVersion(version: string | number, main: YamlFile): string {
  return typeof version === 'string' ? version : (main.written(['version']) ?? String(version))
}
