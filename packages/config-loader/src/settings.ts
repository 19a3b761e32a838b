import { DEFAULT_SETTINGS } from '@delta/executor/internal'
import { LLM_DEFAULTS } from '@delta/model/internal'
import { formatPath, type ValuePath } from '@delta/settings'
import { AGENT_DEFAULTS, type CompleteParts, type LoadOptions, loadParts } from './load-agent.js'
import { maskSecrets } from './problems.js'
import { expandedFormOf, fileAndLine } from './tools.js'
import type { YamlFile } from './yaml.js'

/** One value of an agent's configuration, and where it comes from. */
export interface Setting {
  /** `llm.model`, `tools.list_files`, `hooks.on_error`, `context.sources[0]`. */
  path: string
  /** Values under names that say they are secret are masked. */
  value: unknown
  /** `file:line`, or `default`. */
  origin: string
  /** `file:line` of definitions of the same name that do not count. */
  replaces?: string[]
}

/**
 * The effective configuration of an agent: what counts after imports, overrides, old names and defaults.
 *
 * @throws {ConfigError} as `loadAgent`.
 */
export async function listSettings(directory: string, options: LoadOptions): Promise<Setting[]> {
  const { parts } = await loadParts(directory, options)
  const written = ofMainFile(parts)
  const defaults = Object.entries(defaultsOf(parts))
    .filter(([path, value]) => value !== undefined && !written.some((setting) => setting.path === path))
    .map(([path, value]) => ({ path, value, origin: 'default' }))
  const settings = [...written, ...defaults, ...ofTools(parts), ...ofHooks(parts), ...ofContext(parts)]
  return settings.map((setting) => ({
    ...setting,
    value: maskSecrets(setting.value, setting.path.split('.').at(-1)),
  }))
}

function ofMainFile({ main, document }: CompleteParts): Setting[] {
  const { llm, policy, imports: _, tools: __, ...own } = document
  return [
    ...settingsIn(main, [], own),
    ...settingsIn(main, ['llm'], llm as object),
    ...settingsIn(main, ['policy'], (policy ?? {}) as object),
  ]
}

/** The values of a mapping, each with its line. */
function settingsIn(file: YamlFile, base: ValuePath, values: object): Setting[] {
  return Object.entries(values).map(([key, value]) => {
    const path = [...base, Array.isArray(values) ? Number(key) : key]
    return { path: formatPath(path), value, origin: fileAndLine(file, path) }
  })
}

function ofTools({ tools, overrides }: CompleteParts): Setting[] {
  return [...tools].map(([name, loaded]) => {
    const replaces = overrides.filter((override) => override.name === name).map(({ replaced }) => replaced)
    const origin = fileAndLine(loaded.file, loaded.path)
    const found = { path: `tools.${name}`, value: expandedFormOf(loaded), origin }
    return replaces.length > 0 ? { ...found, replaces } : found
  })
}

function ofHooks({ hooks: { hooks, file, base } }: CompleteParts): Setting[] {
  return Object.entries(hooks).map(([name, { command, timeoutMs, passEnv }]) => ({
    path: `hooks.${name}`,
    value: { command, timeout_ms: timeoutMs, ...(passEnv.length > 0 && { pass_env: passEnv }) },
    origin: file === undefined ? '' : fileAndLine(file, [...base, name]),
  }))
}

function ofContext({ context: { file } }: CompleteParts): Setting[] {
  const { sources, ...rest } = file.value as { sources: unknown[] }
  const settings = [...settingsIn(file, [], rest), ...settingsIn(file, ['sources'], sources)]
  return settings.map((setting) => ({ ...setting, path: `context.${setting.path}` }))
}

/**
 * The values that count unless a file says something else, by their path; undefined where a value has no effect. Those of all
 * tools, hooks and sources stand once, under `*`.
 */
function defaultsOf({ llm, prompt, policy, tools, context }: CompleteParts): Record<string, unknown> {
  const isOpenAi = llm.provider === 'openai'
  const isServer = isOpenAi || llm.provider === 'anthropic'
  const hasTools = tools.size > 0
  const { as, partBytes, maxChars, keep, maxBytes } = DEFAULT_SETTINGS.output
  const output = { as, part_bytes: partBytes, max_chars: maxChars, keep, max_bytes: maxBytes }
  const rules = Object.entries(policy?.rules ?? {}).map(([name, value]) => [
    `policy.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    value,
  ])
  return {
    system_prompt: prompt?.name,
    max_iterations: AGENT_DEFAULTS.maxIterations,
    tool_concurrency: AGENT_DEFAULTS.toolConcurrency,
    max_tool_calls: AGENT_DEFAULTS.maxToolCalls,
    accept_empty: AGENT_DEFAULTS.acceptEmpty,
    'llm.provider': llm.provider,
    'llm.api': isOpenAi ? (llm.api ?? 'chat') : undefined,
    'llm.base_url': isOpenAi ? LLM_DEFAULTS.baseUrl : undefined,
    'llm.timeout_ms': isServer ? LLM_DEFAULTS.timeoutMs : undefined,
    'llm.stream': isServer ? LLM_DEFAULTS.stream : undefined,
    'llm.max_attempts': llm.retry === undefined ? LLM_DEFAULTS.maxAttempts : undefined,
    'llm.strict_tools': LLM_DEFAULTS.strictTools,
    ...Object.fromEntries(rules),
    'policy.on_confirmation': policy?.onConfirmation,
    'tools.*.timeout_ms': hasTools ? DEFAULT_SETTINGS.timeoutMs : undefined,
    'tools.*.on_interrupt': hasTools ? DEFAULT_SETTINGS.onInterrupt : undefined,
    'tools.*.critical': hasTools ? DEFAULT_SETTINGS.critical : undefined,
    'tools.*.output': hasTools ? output : undefined,
    'context.sources[*].on_missing': context.manifest.sources.some(({ type }) => type !== 'journal')
      ? 'error'
      : undefined,
  }
}
