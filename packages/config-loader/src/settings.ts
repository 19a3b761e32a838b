import {
  DEFAULT_SETTINGS,
  DEFAULT_TOOL_TIMEOUT_MS,
  formatPath,
  type ValuePath,
} from '@delta/executor/internal'
import { LLM_DEFAULTS } from '@delta/model/internal'
import { HOOKS_FILE } from './hooks.js'
import { AGENT_DEFAULTS, type CompleteParts, type LoadOptions, loadParts } from './load-agent.js'
import { maskSecrets } from './problems.js'
import { expandedFormOf } from './tools.js'
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
  return [...ofMainFile(parts), ...ofTools(parts), ...ofHooks(parts), ...ofContext(parts)].map((setting) => ({
    ...setting,
    value: maskSecrets(setting.value, setting.path.split('.').at(-1)),
  }))
}

function ofMainFile(parts: CompleteParts): Setting[] {
  const { main, document } = parts
  const { llm: _, policy: __, imports, tools, ...own } = document
  const written = [
    ...Object.entries(own).map(([key, value]): [ValuePath, unknown] => [[key], value]),
    ...inner('llm', document.llm),
    ...inner('policy', document.policy),
  ].map(([path, value]) => setting(main, path, value))
  const isWritten = new Set(written.map(({ path }) => path))
  const unwritten = defaultsOf(parts).filter(([path]) => !isWritten.has(path))
  return [...written, ...unwritten.map(([path, value]) => ({ path, value, origin: 'default' }))]
}

function inner(name: string, map: unknown): [ValuePath, unknown][] {
  return Object.entries(map ?? {}).map(([key, value]) => [[name, key], value])
}

function ofTools({ tools, overrides }: CompleteParts): Setting[] {
  return [...tools].map(([name, loaded]) => {
    const replaces = overrides.filter((override) => override.name === name).map(({ replaced }) => replaced)
    const found = {
      path: `tools.${name}`,
      value: expandedFormOf(loaded),
      origin: originOf(loaded.file, loaded.path),
    }
    return replaces.length > 0 ? { ...found, replaces } : found
  })
}

function ofHooks({ hooks: { hooks, file, base } }: CompleteParts): Setting[] {
  return Object.entries(hooks).map(([name, { command, timeoutMs, passEnv }]) => ({
    path: `hooks.${name}`,
    value: { command, timeout_ms: timeoutMs, ...(passEnv.length > 0 && { pass_env: passEnv }) },
    origin: file === undefined ? HOOKS_FILE : originOf(file, [...base, name]),
  }))
}

function ofContext({ context: { file } }: CompleteParts): Setting[] {
  const { sources, ...rest } = file.value as { sources: unknown[] }
  const keys = Object.entries(rest).map(([key, value]): [ValuePath, unknown] => [[key], value])
  const items = sources.map((source, index): [ValuePath, unknown] => [['sources', index], source])
  return [...keys, ...items].map(([path, value]) => ({
    ...setting(file, path, value),
    path: formatPath(['context', ...path]),
  }))
}

function setting(file: YamlFile, path: ValuePath, value: unknown): Setting {
  return { path: formatPath(path), value, origin: originOf(file, path) }
}

function originOf(file: YamlFile, path: ValuePath): string {
  const { file: name, line } = file.locate(path, { key: true })
  return line === undefined ? name : `${name}:${line}`
}

/** Where the value stands in a configuration, as in `llm.base_url`, and the value. */
type DefaultValue = [path: string, value: unknown]

/** Every value that counts unless a file says something else; those of all tools, hooks and sources once, under `*`. */
function defaultsOf(parts: CompleteParts): DefaultValue[] {
  const { llm, prompt, tools, context } = parts
  const hasFiles = context.manifest.sources.some(({ type }) => type !== 'journal')
  const ofPrompt: DefaultValue[] = prompt ? [['system_prompt', prompt.name]] : []
  const ofServer: DefaultValue[] = [
    ['llm.base_url', LLM_DEFAULTS.baseUrl],
    ['llm.timeout_ms', LLM_DEFAULTS.timeoutMs],
    ['llm.stream', LLM_DEFAULTS.stream],
  ]
  const ofRetry: DefaultValue[] = [['llm.max_attempts', LLM_DEFAULTS.maxAttempts]]
  const ofEachTool: DefaultValue[] = [
    ['tools.*.timeout_ms', DEFAULT_TOOL_TIMEOUT_MS],
    ['tools.*.on_interrupt', 'report'],
    ['tools.*.critical', DEFAULT_SETTINGS.critical],
    ['tools.*.output', outputDefaults],
  ]
  return [
    ...ofPrompt,
    ['max_iterations', AGENT_DEFAULTS.maxIterations],
    ['tool_concurrency', AGENT_DEFAULTS.toolConcurrency],
    ['max_tool_calls', AGENT_DEFAULTS.maxToolCalls],
    ['accept_empty', AGENT_DEFAULTS.acceptEmpty],
    ['llm.provider', llm.provider],
    ...(llm.provider === 'openai' ? ofServer : []),
    ...(llm.retry === undefined ? ofRetry : []),
    ['llm.strict_tools', LLM_DEFAULTS.strictTools],
    ...policyDefaults(parts),
    ...(tools.size > 0 ? ofEachTool : []),
    ...(hasFiles ? [['context.sources[*].on_missing', 'error'] satisfies DefaultValue] : []),
  ]
}

const { maxChars, keep, maxBytes } = DEFAULT_SETTINGS.output
const outputDefaults = { max_chars: maxChars, keep, max_bytes: maxBytes }

/** Rules count only where a policy is given. */
function policyDefaults({ policy }: CompleteParts): DefaultValue[] {
  if (policy === undefined) return []
  const rules = Object.entries(policy.rules ?? {}).map(
    ([name, value]): DefaultValue => [
      `policy.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      value,
    ],
  )
  return [...rules, ['policy.on_confirmation', policy.onConfirmation]]
}
