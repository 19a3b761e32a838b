import { join } from 'node:path'
import { displayName, readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import type { AgentDocument } from '../schemas/agent-schema.js'
import type { Hooks } from '../schemas/hook.js'
import { type SetValue, setIn, valueAt } from '../shape/set.js'
import type { YamlFile } from '../yaml/file.js'
import { readHooks } from './hooks.js'

export const HOOKS_FILE = 'hooks.yaml'

export interface LoadedHooks {
  hooks: Hooks
  /** Where they stand: a file, and the keys around them. */
  file?: YamlFile
  base: ValuePath
}

type OldKey = 'lifecycle_hooks' | 'hooks'

/**
 * The agent's hooks: from `hooks.yaml`, with or without `lifecycle_hooks:` around them; without that file from
 * `lifecycle_hooks` (or `hooks`) in the main file, as before version 1.9.
 *
 * @param sets - What was set in them.
 */
export function loadHooks(
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  sets: readonly SetValue[],
  findings: Findings,
): LoadedHooks {
  const path = join(workplace.home, HOOKS_FILE)
  const { exists, file } = readYaml(path, workplace, findings)
  const oldKeys = (['lifecycle_hooks', 'hooks'] as const).filter((key) => document?.[key] !== undefined)
  if (!exists)
    return withSets(findOldHooks(oldKeys, main, findings) ?? noFile(path, workplace), sets, findings)

  for (const key of oldKeys) {
    const message = `"${key}" is not read: there is a ${HOOKS_FILE}.`
    if (main) findings.warn(main.locate([key], { key: true }), message, 'Remove it here.')
  }
  return file === undefined ? { hooks: {}, base: [] } : withSets(findHooks(file, findings), sets, findings)
}

interface Found {
  file: YamlFile
  base: ValuePath
}

function withSets({ file, base }: Found, sets: readonly SetValue[], findings: Findings): LoadedHooks {
  const set = setIn(valueAt(file.value, base), file, base, sets, findings)
  const hooks = readHooks(set.value, set.file, base, findings)
  if (file.value === undefined && sets.length === 0) return { hooks, base }
  const [key] = base
  const value = key === undefined ? set.value : { ...(file.value as object), [key]: set.value }
  return { hooks, file: { ...set.file, value }, base }
}

function noFile(path: string, workplace: Workplace): Found {
  const name = displayName(workplace, path)
  return {
    file: {
      path,
      name,
      text: '',
      value: undefined,
      locate: () => ({ file: name }),
      written: () => undefined,
    },
    base: [],
  }
}

function findHooks(file: YamlFile, findings: Findings): Found {
  const wrapped = (file.value as { lifecycle_hooks?: unknown } | null)?.lifecycle_hooks
  if (wrapped === undefined) return { file, base: [] }

  for (const key of Object.keys(file.value as object)) {
    if (key === 'lifecycle_hooks' || key.startsWith('x-')) continue
    const message = `"${key}" stands beside "lifecycle_hooks:" and would not be read.`
    findings.error(file.locate([key], { key: true }), message, 'Move it under lifecycle_hooks.')
  }
  return { file, base: ['lifecycle_hooks'] }
}

function findOldHooks(
  [key, other]: readonly OldKey[],
  main: YamlFile | undefined,
  findings: Findings,
): Found | undefined {
  if (key === undefined || main === undefined) return undefined
  const hint = `Move what stands under it to ${HOOKS_FILE}.`
  findings.deprecated(main.locate([key], { key: true }), `"${key}" now belongs into ${HOOKS_FILE}.`, hint)
  if (other !== undefined) {
    const message = `"${other}" and "${key}" mean the same; only one of them can be given.`
    findings.error(main.locate([other], { key: true }), message)
  }
  return { file: main, base: [key] }
}
