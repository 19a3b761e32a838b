import { isAbsolute } from 'node:path'
import type { Problem } from '@delta/executor'
import { fitShape, formatPath, inCamelCase } from '@delta/settings'
import picomatch from 'picomatch'
import * as z from 'zod/mini'
import { ContextError } from './errors.js'
import type { ContextVariables } from './variables.js'

const text = z.string().check(z.minLength(1))
const count = z.int().check(z.gte(1))
const pattern = text.check(
  z.superRefine((value, context) => {
    try {
      new RegExp(value, 'i')
    } catch (error) {
      context.addIssue((error as Error).message)
    }
  }),
)
const glob = text.check(
  z.superRefine((value, context) => {
    try {
      globExpression(value)
    } catch {
      context.addIssue(`"${value}" is not a pattern: check what is in its brackets`)
    }
  }),
)

/** `*` and `?` match within a name, `**` matches directories, `{a,b}` either, `[abc]` one character. */
export function globExpression(pattern: string): RegExp {
  return picomatch.makeRe(pattern, { dot: true, posix: true, debug: true }) // debug: throws for an invalid range in brackets
}

/** Reads a mapping as its schema says, and gives it keys in camelCase. */
function camelCased<Schema extends z.core.$ZodType<object>>(schema: Schema) {
  return z.pipe(
    schema,
    z.transform((written: z.output<Schema>) => inCamelCase(written)),
  )
}

/** Includes a source only if it holds. */
const condition = z.discriminatedUnion('when', [
  z.strictObject({ when: z.literal('task_contains'), pattern }),
  z.strictObject({ when: z.literal('file_exists'), path: text }),
  z.strictObject({ when: z.literal('env_set'), name: text }),
  z.strictObject({ when: z.literal('iteration_at_least'), count }),
])

const common = {
  id: z.exactOptional(text),
  /** A text is cut at its end, a conversation loses its oldest iterations. */
  max_tokens: z.exactOptional(count),
  condition: z.exactOptional(condition),
  /** A prefix of the request that the provider may cache ends with this source. `1h`: for an hour, where there is that lifetime. */
  prompt_cache: z.exactOptional(z.literal([true, '1h'])),
}
/** The line above the text, with the name in place of `${id}`. False: none. True, the default: `# Context Block: ${id}`. */
const header = z.exactOptional(z.union([z.boolean(), text], 'true, false or a string with ${id}'))
/** The keys of every source but a journal. The role is `system`, or `user` for an image or a file, unless it is given. */
const block = { role: z.exactOptional(z.enum(['system', 'developer', 'user'])), header, ...common }
const onMissing = z._default(z.enum(['skip', 'error']), 'error')

/** A generator, or a token counter. */
const command = camelCased(
  z.strictObject({
    command: z.array(text).check(z.minLength(1)),
    /** 0: no limit. */
    timeout_ms: z._default(z.int().check(z.gte(0)), 30_000),
    /** Names of credentials that the command gets. */
    pass_env: z._default(z.array(text), []),
  }),
)

const dropped = z.pipe(
  z.union([z.boolean(), text], 'true, false or a string with ${count}'),
  z.transform((written) => {
    return written === true ? '[${count} earlier iterations left out]' : written || undefined
  }),
)

const cache = camelCased(
  z.strictObject({
    strategy: z.literal('file_hash'),
    invalidate_on: z.array(glob).check(z.minLength(1)),
  }),
)

const sourceSchema = camelCased(
  z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('file'),
      path: text,
      /** What the model gets: an image to look at, or a file such as a PDF. Default: its text. */
      as: z.exactOptional(z.enum(['image', 'file'])),
      /** The file of this name in each directory from the repository's top down to the workspace. */
      walk: z.exactOptional(z.enum(['up'])),
      on_missing: onMissing,
      ...block,
    }),
    z.strictObject({ type: z.literal('text'), text, ...block }),
    /** A file that a generator writes. */
    z.strictObject({
      type: z.literal('computed_file'),
      generator: command,
      output_path: text,
      on_missing: onMissing,
      cache: z.exactOptional(cache),
      ...block,
    }),
    /** A line for each skill (agentskills.io) in these directories. */
    z.strictObject({ type: z.literal('skills'), paths: z.array(text).check(z.minLength(1)), ...block }),
    /** The conversation. */
    z.strictObject({
      type: z.literal('journal'),
      max_iterations: z.exactOptional(count),
      /** How many iterations stay at least when more than `max_iterations` made the oldest go. */
      drop_to: z.exactOptional(count),
      /** A user message in the place of dropped iterations, with their number in place of `${count}`. */
      dropped: z.exactOptional(dropped),
      ...common,
    }),
  ]),
)

/** The form of `context.yaml`. Exported for its JSON Schema; `parseManifest` reads a value. */
export const manifestSchema = camelCased(
  z.strictObject({
    sources: z.array(sourceSchema).check(z.minLength(1)),
    /** The header of every source without one of its own. */
    header,
    /** Sends neighbouring sources of one role as one message. Default false. */
    merge: z.exactOptional(z.boolean()),
    total_max_tokens: z.exactOptional(count),
    token_counter: z.exactOptional(command),
  }),
)

type ReadOnly<Value> = Value extends object ? { readonly [Key in keyof Value]: ReadOnly<Value[Key]> } : Value

/** A recipe: what the model sees, in this order. Its keys are those of `context.yaml` in camelCase. Paths are as written. */
export interface ContextManifest extends ReadOnly<z.output<typeof manifestSchema>> {}

/** One entry of `sources:`. */
export type ContextSource = ContextManifest['sources'][number]

type SourceOf<Type> = Extract<ContextSource, { type: Type }>

export type FileSource = SourceOf<'file'>
export type ComputedFileSource = SourceOf<'computed_file'>
export type SkillsSource = SourceOf<'skills'>
export type JournalSource = SourceOf<'journal'>
export type Condition = z.output<typeof condition>
export type ContextCommand = ReadOnly<z.output<typeof command>>

/** The name of a source in messages, records and headers: its id, else its path without a leading variable, else its type. */
export function sourceName(source: ContextSource): string {
  if (source.id !== undefined) return source.id
  if (source.type !== 'file' && source.type !== 'computed_file') return source.type
  return (source.type === 'file' ? source.path : source.outputPath).replace(/^\$\{\w+\}\//, '')
}

/** A manifest, or every problem. Warnings come with both. */
export type ParsedManifest =
  | { ok: true; manifest: ContextManifest; warnings: Problem[] }
  | {
      ok: false
      problems: Problem[]
      warnings: Problem[]
      /** Each source of the right form at its index, for further checks. */
      sources: readonly (ContextSource | undefined)[]
    }

/**
 * Reads the value of a `context.yaml`, whatever parsed it. Paths stay as written, their variables not yet replaced.
 *
 * @example
 * const manifest = parseManifest({ sources: [{ type: 'journal', max_iterations: 20 }] })
 *
 * @throws {ContextError} `ERR_CONTEXT_MANIFEST`: the message lists every problem, one a line.
 */
export function parseManifest(input: unknown): ContextManifest {
  const parsed = safeParseManifest(input)
  if (parsed.ok) return parsed.manifest
  const lines = parsed.problems.map(({ path, message }) => `\n  ${path === '' ? '' : `${path}: `}${message}`)
  throw new ContextError('ERR_CONTEXT_MANIFEST', `context.yaml cannot be used:${lines.join('')}`)
}

/**
 * Reads as `parseManifest` does, but returns the problems instead of throwing, and warnings besides.
 *
 * An unknown key is a warning, unless it begins with `x-`, which marks a key of the author's own. Everything else that does
 * not fit is a problem.
 */
export function safeParseManifest(input: unknown): ParsedManifest {
  const { value: manifest, problems: misfits } = fitShape(manifestSchema, input)
  const found = misfits.map((problem) => ({ ...problem, path: formatPath(problem.path) }))
  const problems: Problem[] = found.filter(({ unknownKey }) => !unknownKey)
  const warnings: Problem[] = found.filter(({ unknownKey }) => unknownKey)
  const sources = manifest?.sources ?? soundSources(input)
  checkSources(sources, { problems, warnings })
  if (manifest) checkWhole(manifest, { problems, warnings })
  if (manifest && problems.length === 0) return { ok: true, manifest, warnings }
  return { ok: false, problems, warnings, sources }
}

/** The sources of the right form in a manifest with mistakes. */
function soundSources(input: unknown): (ContextSource | undefined)[] {
  const { sources } = (input ?? {}) as { sources?: unknown }
  if (!Array.isArray(sources)) return []
  return sources.map((source: unknown) => fitShape(sourceSchema, source).value)
}

const VARIABLES = ['${AGENT_HOME}', '${CWD}', '${RUN_DIR}']

interface Findings {
  problems: Problem[]
  warnings: Problem[]
}

/** Names that stand for no source in the account of a request. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['tools', 'the tool definitions'],
  ['answers', "the model's answers"],
  ['all', 'the sum of all sources'],
])

/** Finds mistakes that the schema cannot: unknown variables, and texts in which something is not replaced. */
function checkSources(sources: readonly (ContextSource | undefined)[], findings: Findings): void {
  checkBreakpoints(sources, findings)
  const ids = new Set<string>()
  let journals = 0
  for (const [index, source] of sources.entries()) {
    if (source === undefined) continue
    const at = `sources[${index}]`
    checkSource(source, at, findings)
    const reservedFor = RESERVED.get(sourceName(source))
    if (reservedFor !== undefined) {
      const message = `"${sourceName(source)}" is reserved for ${reservedFor}`
      findings.problems.push({ path: `${at}.id`, message, hint: 'Choose another id.' })
    }
    if (source.id !== undefined && ids.has(source.id))
      findings.warnings.push({ path: `${at}.id`, message: `another source is called "${source.id}" as well` })
    if (source.id !== undefined) ids.add(source.id)
    if (source.type !== 'journal' || journals++ === 0) continue
    const message = 'there is another journal source; the model would see its conversation twice'
    findings.problems.push({ path: at, message, hint: 'Keep one of them.' })
  }
}

/** More than the Messages API takes, and than others write. */
const MOST_BREAKPOINTS = 4

function checkBreakpoints(sources: readonly (ContextSource | undefined)[], { problems }: Findings): void {
  const names = sources.flatMap((source) => (source?.promptCache === undefined ? [] : sourceName(source)))
  checkLifetimes(sources, problems)
  const excess = names.length - MOST_BREAKPOINTS
  if (excess <= 0) return
  const message = `prompt_cache on ${names.length} sources (${names.join(', ')}); providers take ${MOST_BREAKPOINTS}`
  problems.push({ path: 'sources', message, hint: `Remove ${excess === 1 ? 'one' : excess}.` })
}

/** The Messages API refuses a longer lifetime behind a shorter one. */
function checkLifetimes(
  sources: readonly (ContextSource | undefined)[],
  problems: Findings['problems'],
): void {
  const short = sources.findIndex((source) => source?.promptCache === true)
  const long = sources.findLastIndex((source) => source?.promptCache === '1h')
  if (short === -1 || long < short) return
  const message =
    'the longer lifetime stands behind a source with prompt_cache: true, which the Messages API refuses'
  problems.push({
    path: `sources[${long}].prompt_cache`,
    message,
    hint: 'Put "1h" on the earlier sources, too.',
  })
}

function checkSource(source: ContextSource, at: string, findings: Findings): void {
  const { condition } = source
  if (source.type === 'text') checkReplaced(source.text, `${at}.text`, VARIABLES, findings)
  if (source.type === 'journal') checkJournal(source, at, findings)
  else checkReplaced(source.header, `${at}.header`, ['${id}'], findings)
  if (source.type === 'file') {
    if (source.walk) checkWalk(source, at, findings)
    else checkPath(`${at}.path`, source.path, 'AGENT_HOME', findings)
    checkRole(source, `${at}.role`, findings)
  }
  if (source.type === 'skills')
    for (const [index, path] of source.paths.entries())
      checkPath(`${at}.paths[${index}]`, path, 'AGENT_HOME', findings)
  if (source.type === 'computed_file') checkPath(`${at}.output_path`, source.outputPath, 'CWD', findings)
  if (condition?.when === 'file_exists') checkPath(`${at}.condition.path`, condition.path, 'CWD', findings)
}

function checkJournal(
  { dropped, dropTo, maxIterations: most }: JournalSource,
  at: string,
  findings: Findings,
): void {
  checkReplaced(dropped, `${at}.dropped`, ['${count}'], findings)
  if (dropTo === undefined || (most !== undefined && dropTo < most)) return
  const [message, hint] =
    most === undefined
      ? ['drop_to needs max_iterations, from which it drops', 'Add max_iterations.']
      : [`drop_to (${dropTo}) must be below max_iterations (${most})`, 'Half of it is a good start.']
  findings.problems.push({ path: `${at}.drop_to`, message, hint })
}

function checkWalk({ path, as }: FileSource, at: string, { problems }: Findings): void {
  if (isAbsolute(path) || /\$|^~|(^|\/)\.\.(\/|$)/.test(path)) {
    const message = `must be a name to look for in each directory, got "${path}"`
    problems.push({ path: `${at}.path`, message, hint: 'Write path: AGENTS.md, or remove walk.' })
  }
  if (as === undefined) return
  problems.push({ path: `${at}.as`, message: 'walk sends texts only', hint: 'Remove as, or walk.' })
}

/** Providers take images and files from a user only. */
function checkRole({ as, role = 'user' }: FileSource, path: string, { problems }: Findings): void {
  if (as === undefined || role === 'user') return
  const message = `must be user, because as: ${as} sends no text; got "${role}"`
  problems.push({ path, message, hint: 'Write role: user, or remove role.' })
}

function checkWhole({ sources, header }: ContextManifest, findings: Findings): void {
  checkReplaced(header, 'header', ['${id}'], findings)
  if (sources.some(({ type }) => type === 'journal')) return
  const message = 'there is no journal source; the model sees neither the task nor what it did'
  findings.warnings.push({ path: 'sources', message, hint: 'Add to the list of sources: - type: journal' })
}

function checkPath(
  path: string,
  value: string,
  base: keyof ContextVariables,
  { problems, warnings }: Findings,
): void {
  for (const [written] of value.matchAll(/\$\{[^}]*\}|\$(?:AGENT_HOME|CWD|RUN_DIR)\b/g)) {
    if (VARIABLES.includes(written)) continue
    const hint = `The variables are ${VARIABLES.join(', ')}.`
    problems.push({ path, message: `there is no variable ${written}`, hint })
  }
  if (value.startsWith('~')) {
    const hint = `Write it out, from / or from \${${base}} on.`
    warnings.push({ path, message: '"~" is not replaced here: no shell reads this path', hint })
  } else if (!value.startsWith('$') && !isAbsolute(value)) {
    const hint = `Write it out: \${${base}}/${value.replace(/^\.\//, '')}`
    warnings.push({ path, message: `the relative path "${value}" starts at \${${base}}`, hint })
  }
}

/** An unknown variable reaches the model as written, which is seldom intended. */
function checkReplaced(text: unknown, path: string, known: readonly string[], { warnings }: Findings): void {
  if (typeof text !== 'string') return
  for (const [written] of text.matchAll(/(?<!\\)\$\{\w*\}/g)) {
    if (known.includes(written)) continue
    const hint = `What is replaced here: ${known.join(', ')}.`
    warnings.push({ path, message: `${written} is not replaced, and reaches the model as it is`, hint })
  }
}
