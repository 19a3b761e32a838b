import { join } from 'node:path'
import { readYaml, type Workplace } from '../files/workplace.js'
import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import type { AgentDocument } from '../schemas/agent-schema.js'
import type { Hooks } from '../schemas/hook.js'
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
 */
export function loadHooks(
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  findings: Findings,
): LoadedHooks {
  const { exists, file } = readYaml(join(workplace.home, HOOKS_FILE), workplace, findings)
  const oldKeys = (['lifecycle_hooks', 'hooks'] as const).filter((key) => document?.[key] !== undefined)
  if (!exists) return readOldHooks(oldKeys, document, main, findings)

  for (const key of oldKeys) {
    const message = `"${key}" is not read: there is a ${HOOKS_FILE}.`
    if (main) findings.warn(main.locate([key], { key: true }), message, 'Remove it here.')
  }
  return file === undefined ? { hooks: {}, base: [] } : readHooksFile(file, findings)
}

function readHooksFile(file: YamlFile, findings: Findings): LoadedHooks {
  const wrapped = (file.value as { lifecycle_hooks?: unknown } | null)?.lifecycle_hooks
  if (wrapped === undefined) return { hooks: readHooks(file.value, file, [], findings), file, base: [] }

  for (const key of Object.keys(file.value as object)) {
    if (key === 'lifecycle_hooks' || key.startsWith('x-')) continue
    const message = `"${key}" stands beside "lifecycle_hooks:" and would not be read.`
    findings.error(file.locate([key], { key: true }), message, 'Move it under lifecycle_hooks.')
  }
  const base = ['lifecycle_hooks']
  return { hooks: readHooks(wrapped, file, base, findings), file, base }
}

function readOldHooks(
  [key, other]: readonly OldKey[],
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  findings: Findings,
): LoadedHooks {
  if (key === undefined || main === undefined) return { hooks: {}, base: [] }
  const hint = `Move what stands under it to ${HOOKS_FILE}.`
  findings.deprecated(main.locate([key], { key: true }), `"${key}" now belongs into ${HOOKS_FILE}.`, hint)
  if (other !== undefined) {
    const message = `"${other}" and "${key}" mean the same; only one of them can be given.`
    findings.error(main.locate([other], { key: true }), message)
  }
  return { hooks: readHooks(document?.[key], main, [key], findings), file: main, base: [key] }
}
