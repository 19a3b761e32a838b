import { join } from 'node:path'
import { fitShape, type ValuePath, valueAt } from '@delta/settings'
import * as z from 'zod/mini'
import { displayName, readYaml, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { inside, report, reportUnknownName, type Spot, wrong } from './report.js'
import { type SetValue, setIn } from './set.js'
import { isMap, parseYaml, type YamlFile } from './yaml.js'

/** The points of a run at which a command may run, as `hooks.yaml` spells them. */
export const HOOK_NAMES = [
  'pre_llm_request',
  'post_llm_response',
  'pre_tool_execution',
  'post_tool_execution',
  'on_error',
  'on_run_end',
  'on_iteration_start',
  'on_iteration_end',
] as const

/** A point of a run at which a command may run; `docs/how-to/hooks.md` says what each gets. */
export type HookName = (typeof HOOK_NAMES)[number]

/** A command that runs at one point of a run. */
export interface Hook {
  /** The program and its arguments, in which `${AGENT_HOME}` and `${CWD}` are replaced. */
  command: string[]
  /** 0 for no limit. Default 30000. */
  timeoutMs: number
  /** Names of engine credentials this command may see. */
  passEnv: string[]
}

/** The contents of `hooks.yaml`: at most one command for each point. */
export type Hooks = { [name in HookName]?: Hook }

export const hookSchema = z.lazy(() =>
  z.strictObject({
    command: z
      .array(z.string().check(z.minLength(1)))
      .check(
        z.minLength(1),
        z.describe('The program and its arguments; ${AGENT_HOME} and ${CWD} are replaced.'),
      ),
    timeout_ms: z.optional(
      z.int().check(z.gte(0), z.describe('Timeout in milliseconds; 0 for no limit. Default: 30000')),
    ),
    pass_env: z.optional(z.array(z.string()).check(z.describe('Names of engine credentials it may see.'))),
    description: z.optional(z.string().check(z.describe('Purpose, for readers of the file.'))),
  }),
)

export const HOOKS_FILE = 'hooks.yaml'

export interface LoadedHooks {
  hooks: Hooks
  /** Where they stand: a file, and the keys around them. */
  file?: YamlFile
  base: ValuePath
}

/** Where hooks stood in the main file before version 1.9. */
export const OLD_KEYS = ['lifecycle_hooks', 'hooks'] as const

/**
 * The agent's hooks: from `hooks.yaml`, with or without `lifecycle_hooks:` around them; without that file from
 * `lifecycle_hooks` (or `hooks`) in the main file, as before version 1.9.
 *
 * @param sets - What was set in them.
 */
export function loadHooks(
  main: YamlFile | undefined,
  workplace: Workplace,
  sets: readonly SetValue[],
  findings: Findings,
): LoadedHooks {
  const path = join(workplace.home, HOOKS_FILE)
  const { exists, file } = readYaml(path, workplace, findings)
  const oldKeys = OLD_KEYS.filter((key) => isMap(main?.value) && main.value[key] !== undefined)
  const [oldKey, otherKey] = oldKeys
  if (main && exists) {
    for (const key of oldKeys) {
      const message = `"${key}" is not read: there is a ${HOOKS_FILE}.`
      findings.warn(main.locate([key], { key: true }), message, 'Remove it here.')
    }
  } else if (main && oldKey) {
    const place = main.locate([oldKey], { key: true })
    const hint = `Move what stands under it to ${HOOKS_FILE}.`
    findings.deprecated(place, `"${oldKey}" now belongs in ${HOOKS_FILE}.`, hint)
    if (otherKey !== undefined) {
      const message = `"${otherKey}" and "${oldKey}" mean the same; only one of them can be given.`
      findings.error(main.locate([otherKey], { key: true }), message)
    }
    return withSets({ file: main, path: [oldKey], findings }, sets)
  }
  if (file !== undefined) return withSets(findHooks(file, findings), sets)
  if (exists || sets.length === 0) return { hooks: {}, base: [] }
  const name = displayName(workplace, path)
  const { file: none } = parseYaml('{}', { path, name })
  return none ? withSets({ file: none, path: [], findings }, sets) : { hooks: {}, base: [] }
}

function withSets(spot: Spot, sets: readonly SetValue[]): LoadedHooks {
  const { file, path: base, findings } = spot
  setIn(file, base, sets, findings)
  return { hooks: readHooks(valueAt(file.value, base), spot), file, base }
}

function findHooks(file: YamlFile, findings: Findings): Spot {
  if (!isMap(file.value) || file.value.lifecycle_hooks === undefined) return { file, path: [], findings }
  for (const key of Object.keys(file.value)) {
    if (key === 'lifecycle_hooks' || key.startsWith('x-')) continue
    const message = `"${key}" stands beside "lifecycle_hooks:" and would not be read.`
    findings.error(file.locate([key], { key: true }), message, 'Move it under lifecycle_hooks.')
  }
  return { file, path: ['lifecycle_hooks'], findings }
}

const DEFAULT_TIMEOUT_MS = 30_000

/** The names of version 1.1. */
const OLD_NAMES: Record<string, HookName> = {
  pre_llm_req: 'pre_llm_request',
  post_llm_resp: 'post_llm_response',
  pre_tool_exec: 'pre_tool_execution',
  post_tool_exec: 'post_tool_execution',
}

/** Reads a map of hooks. An unknown name is an error, never a warning: a typing mistake must not remove a guard. */
function readHooks(value: unknown, spot: Spot): Hooks {
  if (value === null || value === undefined) return {} // a file in which everything is commented out
  if (!isMap(value)) {
    wrong(spot, 'must be a mapping from hook names to commands', 'As in: on_error: { command: [notify] }')
    return {}
  }
  const hooks: Hooks = {}
  for (const [written, definition] of Object.entries(value)) {
    if (written.startsWith('x-')) continue
    const at = inside(spot, written)
    const name = hookName(written, at)
    const hook = name && readHook(definition, at)
    if (!name || !hook) continue
    if (hooks[name]) {
      const message = `"${name}" is given under both of its names.`
      spot.findings.error(at.file.locate(at.path, { key: true }), message)
    }
    hooks[name] = hook
  }
  return hooks
}

function hookName(written: string, spot: Spot): HookName | undefined {
  const known = HOOK_NAMES.find((name) => name === written)
  const renamed = Object.hasOwn(OLD_NAMES, written) ? OLD_NAMES[written] : undefined
  if (renamed) {
    const place = spot.file.locate(spot.path, { key: true })
    const message = `The hook "${written}" is now called "${renamed}".`
    spot.findings.deprecated(place, message, `Rename it to "${renamed}".`)
  } else if (!known) {
    const message = `There is no hook "${written}"; it would never be called.`
    const otherwise = `The hooks are ${HOOK_NAMES.join(', ')}.`
    reportUnknownName(spot, message, { known: HOOK_NAMES, otherwise })
  }
  return known ?? renamed
}

function readHook(definition: unknown, spot: Spot): Hook | undefined {
  const { value, problems } = fitShape(hookSchema, definition)
  report(problems, spot)
  if (value === undefined) return undefined
  return {
    command: value.command,
    timeoutMs: value.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    passEnv: value.pass_env ?? [],
  }
}
