import { nearestNames } from '@delta/executor'
import type { Findings } from '../findings.js'
import type { ValuePath } from '../path.js'
import { HOOK_NAMES, type Hook, type HookName, type Hooks, hookSchema } from '../schemas/hook.js'
import { reportShape, reportUnreplaced, sentence } from '../shape/report.js'
import { fitShape } from '../shape/shape.js'
import type { ShapeProblem } from '../shape/shape-problem.js'
import type { YamlFile } from '../yaml/file.js'

const DEFAULT_TIMEOUT_MS = 30_000

/** The names of version 1.1. */
const OLD_NAMES: Record<string, HookName> = {
  pre_llm_req: 'pre_llm_request',
  post_llm_resp: 'post_llm_response',
  pre_tool_exec: 'pre_tool_execution',
  post_tool_exec: 'post_tool_execution',
}

const HOOK_KEYS = Object.keys(hookSchema.shape)

/**
 * Reads a map of hooks at `base` of a file.
 *
 * A name nobody calls is an error, never a warning: a guard must not vanish by a typing mistake.
 */
export function readHooks(value: unknown, file: YamlFile, base: ValuePath, findings: Findings): Hooks {
  if (value === null || value === undefined) return {} // a file in which everything is commented out
  if (typeof value !== 'object' || Array.isArray(value)) {
    const hint = Array.isArray(value)
      ? 'Write the names without "- ".'
      : 'As in: on_error: { command: [notify] }'
    findings.error(file.locate(base), sentence(base, 'must be a map from hook names to commands'), hint)
    return {}
  }
  const hooks: Hooks = {}
  for (const [written, definition] of Object.entries(value)) {
    if (written.startsWith('x-')) continue
    const path = [...base, written]
    const name = hookName(written, path, file, findings)
    const hook = name && readHook(definition, path, file, findings)
    if (!name || !hook) continue
    if (hooks[name])
      findings.error(file.locate(path, { key: true }), `"${name}" is given under both of its names.`)
    hooks[name] = hook
  }
  return hooks
}

function hookName(
  written: string,
  path: ValuePath,
  file: YamlFile,
  findings: Findings,
): HookName | undefined {
  const known = HOOK_NAMES.find((name) => name === written)
  if (known) return known

  const place = file.locate(path, { key: true })
  const renamed = Object.hasOwn(OLD_NAMES, written) ? OLD_NAMES[written] : undefined
  if (renamed) {
    findings.deprecated(
      place,
      `The hook "${written}" is now called "${renamed}".`,
      `Rename it to "${renamed}".`,
    )
    return renamed
  }
  const [nearest] = nearestNames(written, [...HOOK_NAMES, ...Object.keys(OLD_NAMES)])
  const hint = nearest
    ? `Did you mean "${OLD_NAMES[nearest] ?? nearest}"?`
    : `${written === 'hooks' ? 'Write the hooks without "hooks:" above them. They' : 'The hooks'} are ${HOOK_NAMES.join(', ')}.`
  findings.error(place, `There is no hook "${written}"; it would never be called.`, hint)
  return undefined
}

function readHook(
  definition: unknown,
  path: ValuePath,
  file: YamlFile,
  findings: Findings,
): Hook | undefined {
  const { value, problems } = fitShape(hookSchema, definition, HOOK_KEYS)
  reportShape(
    problems.map((problem) => explainCommand(problem, definition)),
    file,
    findings,
    path,
  )
  if (value === undefined) return undefined
  reportUnreplaced(value.command, file, [...path, 'command'], findings)
  return {
    command: value.command,
    timeoutMs: value.timeout_ms ?? DEFAULT_TIMEOUT_MS,
    passEnv: value.pass_env ?? [],
  }
}

/** A command is written as one text by everybody once. */
function explainCommand(problem: ShapeProblem, definition: unknown): ShapeProblem {
  const form = 'must be a list: the program, then its arguments, one element each'
  const hint = 'For a shell line: ["sh", "-c", "…"].'
  if (problem.path.length === 0 && (typeof definition === 'string' || Array.isArray(definition))) {
    const words = typeof definition === 'string' ? definition.split(/\s+/) : definition
    const areWords = words.every((word: unknown) => typeof word === 'string')
    return {
      ...problem,
      hint: areWords ? `Write: { command: ${JSON.stringify(words)} }` : 'Write it without "- ".',
    }
  }
  const command = (definition as { command?: unknown } | null)?.command
  return problem.path.join() === 'command' && typeof command === 'string'
    ? { ...problem, message: form, hint }
    : problem
}
