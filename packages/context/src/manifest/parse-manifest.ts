import type { Problem } from '@delta/executor'
import { checkManifest, checkWhole, type PlacedSource } from './check-manifest.js'
import { describeIssue, withoutUnknownKeys } from './issues.js'
import type { ContextCommand, ContextManifest, ContextSource } from './manifest.js'
import { manifestSchema, sourceSchema, type WrittenManifest, type WrittenSource } from './schema.js'

/** What `parseManifest` found: a manifest, or every problem. Warnings, as of unknown keys, come with both. */
export type ParsedManifest =
  | { ok: true; manifest: ContextManifest; warnings: Problem[] }
  | {
      ok: false
      problems: Problem[]
      warnings: Problem[]
      /** The sources of the right form, at their places, so that a caller can check them further. */
      sources: (ContextSource | undefined)[]
    }

const GENERATOR_TIMEOUT_MS = 30_000
const DROPPED = '[${count} earlier iterations left out]'

/**
 * Reads the value of a `context.yaml`, whatever parsed it.
 *
 * Unknown keys are warnings (keys that begin with `x-` are the author's own); everything else that does not fit
 * is a problem, and all of them are reported. Paths are written as in the file, their variables not yet replaced.
 */
export function parseManifest(input: unknown): ParsedManifest {
  const first = manifestSchema.safeParse(input)
  const issues = first.success ? [] : first.error.issues
  const described = issues.flatMap((issue) => describeIssue(issue, input))
  const warnings = described.filter(({ unknownKey }) => unknownKey)
  const problems = described.filter(({ unknownKey }) => !unknownKey)
  const readable = issues.reduce(withoutUnknownKeys, input)
  const written = manifestSchema.safeParse(readable)
  const sources = written.success ? [...written.data.sources.entries()] : soundSources(readable)
  const found = checkManifest(sources, { isWhole: written.success })
  if (written.success) checkWhole(written.data, found)
  problems.push(...found.problems)
  warnings.push(...found.warnings)
  if (written.success && problems.length === 0)
    return { ok: true, manifest: toManifest(written.data), warnings }

  const placed: (ContextSource | undefined)[] = []
  for (const [index, source] of sources) placed[index] = toSource(source)
  return { ok: false, problems, warnings, sources: placed }
}

/** What of a manifest with mistakes can be checked further. */
function soundSources(input: unknown): PlacedSource[] {
  const { sources } = (input ?? {}) as { sources?: unknown }
  if (!Array.isArray(sources)) return []
  return sources.flatMap((source: unknown, index): PlacedSource[] => {
    const { success, data } = sourceSchema.safeParse(source)
    return success ? [[index, data]] : []
  })
}

function toManifest({
  sources,
  header,
  merge,
  total_max_tokens,
  token_counter,
}: WrittenManifest): ContextManifest {
  return {
    sources: sources.map(toSource),
    ...(header === undefined ? {} : { header }),
    ...(merge === undefined ? {} : { merge }),
    ...(total_max_tokens === undefined ? {} : { totalMaxTokens: total_max_tokens }),
    ...(token_counter === undefined ? {} : { tokenCounter: toCommand(token_counter) }),
  }
}

function toSource(source: WrittenSource): ContextSource {
  const { id, max_tokens, condition } = source
  const common = {
    ...(id === undefined ? {} : { id }),
    ...(max_tokens === undefined ? {} : { maxTokens: max_tokens }),
    ...(condition === undefined ? {} : { condition }),
  }
  if (source.type === 'journal') {
    const { max_iterations, dropped = false } = source
    return {
      type: 'journal',
      ...(max_iterations === undefined ? {} : { maxIterations: max_iterations }),
      ...(dropped === false ? {} : { dropped: dropped === true ? DROPPED : dropped }),
      ...common,
    }
  }
  const { role, header } = source
  const block = {
    ...(role === undefined ? {} : { role }),
    ...(header === undefined ? {} : { header }),
    ...common,
  }
  switch (source.type) {
    case 'file':
      return { type: 'file', path: source.path, onMissing: source.on_missing ?? 'error', ...block }
    case 'text':
      return { type: 'text', text: source.text, ...block }
    case 'computed_file':
      return {
        type: 'computed_file',
        generator: toCommand(source.generator),
        outputPath: source.output_path,
        onMissing: source.on_missing ?? 'error',
        ...(source.cache === undefined
          ? {}
          : { cache: { strategy: source.cache.strategy, invalidateOn: source.cache.invalidate_on } }),
        ...block,
      }
    default:
      return source satisfies never
  }
}

function toCommand({
  command,
  timeout_ms,
  pass_env,
}: NonNullable<WrittenManifest['token_counter']>): ContextCommand {
  return { command, timeoutMs: timeout_ms ?? GENERATOR_TIMEOUT_MS, passEnv: pass_env ?? [] }
}
