import { join } from 'node:path'
import type { AgentDocument } from './agent-schema.js'
import type { Findings } from './findings.js'
import { type Hooks, readHooks } from './hooks.js'
import { readYaml, type Workplace } from './workplace.js'
import type { YamlFile } from './yaml-file.js'

export const HOOKS_FILE = 'hooks.yaml'

export interface LoadedHooks {
  hooks: Hooks
  /** The text of hooks.yaml, if there is one. */
  text?: string
}

/**
 * The agent's hooks: from `hooks.yaml`, with or without `lifecycle_hooks:` around them; without that file from
 * `lifecycle_hooks` (or `hooks`) in the main file, as before version 1.9.
 */
export async function loadHooks(
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  findings: Findings,
): Promise<LoadedHooks> {
  const { exists, file } = await readYaml(join(workplace.home, HOOKS_FILE), workplace, findings)
  const old = (['lifecycle_hooks', 'hooks'] as const).filter((key) => document?.[key] !== undefined)
  if (exists) {
    for (const key of old) {
      main &&
        findings.warn(
          main.locate([key], { key: true }),
          `"${key}" is not read: there is a ${HOOKS_FILE}.`,
          'Remove it here.',
        )
    }
    if (file === undefined) return { hooks: {} }
    const inner = (file.value as { lifecycle_hooks?: unknown } | null)?.lifecycle_hooks
    const hooks =
      inner === undefined ? readHooks(file.value, file, [], findings) : readWrapped(inner, file, findings)
    return { hooks, text: file.text }
  }
  return { hooks: readOldHooks(old, document, main, findings) }
}

/** Under `lifecycle_hooks:` stand all hooks; one beside it would be overlooked. */
function readWrapped(inner: unknown, file: YamlFile, findings: Findings): Hooks {
  for (const key of Object.keys(file.value as object)) {
    if (key === 'lifecycle_hooks' || key.startsWith('x-')) continue
    findings.error(
      file.locate([key], { key: true }),
      `"${key}" stands beside "lifecycle_hooks:" and would not be read.`,
      'Move it under lifecycle_hooks.',
    )
  }
  return readHooks(inner, file, ['lifecycle_hooks'], findings)
}

function readOldHooks(
  keys: readonly ('lifecycle_hooks' | 'hooks')[],
  document: AgentDocument | undefined,
  main: YamlFile | undefined,
  findings: Findings,
): Hooks {
  const [key, other] = keys
  if (key === undefined || main === undefined) return {}
  const place = main.locate([key], { key: true })
  findings.deprecated(
    place,
    `"${key}" now belongs into ${HOOKS_FILE}.`,
    `Move what stands under it to ${HOOKS_FILE}.`,
  )
  if (other !== undefined) {
    findings.error(
      main.locate([other], { key: true }),
      `"${other}" and "${key}" are the same; only one may be given.`,
    )
  }
  return readHooks(document?.[key], main, [key], findings)
}
