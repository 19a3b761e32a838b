import { isAbsolute } from 'node:path'
import { findUnreplaced, fitShape, formatPath, type Problem } from '@delta/executor'
import type { ContextCommand, ContextManifest, ContextSource } from './manifest.js'
import { manifestSchema, sourceSchema } from './schema.js'
import { type ContextVariables, VARIABLE, VARIABLE_NAMES } from './variables.js'

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

/**
 * Reads the value of a `context.yaml`, whatever parsed it.
 *
 * Unknown keys are warnings (keys that begin with `x-` are the author's own); everything else that does not fit
 * is a problem, and all of them are reported. Paths are written as in the file, their variables not yet replaced.
 */
export function parseManifest(input: unknown): ParsedManifest {
  const { value, problems: misfits } = fitShape(manifestSchema, input)
  const found = misfits.map((problem) => ({ ...problem, path: formatPath(problem.path) }))
  const findings: Findings = {
    problems: found.filter(({ unknownKey }) => !unknownKey),
    warnings: found.filter(({ unknownKey }) => unknownKey),
  }
  const manifest: ContextManifest | undefined = value && camelKeys(value)
  const sources = manifest?.sources ?? soundSources(input)
  checkSources(sources, findings)
  if (manifest) checkWhole(manifest, findings)
  const { problems, warnings } = findings
  if (manifest && problems.length === 0) return { ok: true, manifest, warnings }
  return { ok: false, problems, warnings, sources: [...sources] }
}

/** What of a manifest with mistakes can be checked further. */
function soundSources(input: unknown): (ContextSource | undefined)[] {
  const { sources } = (input ?? {}) as { sources?: unknown }
  if (!Array.isArray(sources)) return []
  return sources.map((source: unknown) => {
    const { value } = fitShape(sourceSchema, source)
    return value && camelKeys(value)
  })
}

type CamelCase<Name> = Name extends `${infer Start}_${infer Rest}`
  ? `${Start}${Capitalize<CamelCase<Rest>>}`
  : Name
type CamelKeys<Value> = Value extends readonly unknown[]
  ? { [Index in keyof Value]: CamelKeys<Value[Index]> }
  : Value extends object
    ? { [Key in keyof Value as CamelCase<Key>]: CamelKeys<Value[Key]> }
    : Value

/** Keys of files are written in snake_case, those of our own values in camelCase. */
function camelKeys<Value>(value: Value): CamelKeys<Value> {
  return renamed(value) as CamelKeys<Value>
}

function renamed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(renamed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => {
    return [key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), renamed(inner)]
  })
  return Object.fromEntries(entries)
}

/** What is wrong (problems) or probably not meant so (warnings). */
interface Findings {
  problems: Problem[]
  warnings: Problem[]
}

/** Finds what a schema cannot: unknown variables, and texts and commands in which something is not replaced. */
function checkSources(sources: readonly (ContextSource | undefined)[], findings: Findings): void {
  const ids = new Set<string>()
  let journals = 0
  for (const [index, source] of sources.entries()) {
    if (source === undefined) continue
    const at = `sources[${index}]`
    checkSource(source, at, findings)
    if (source.condition?.when === 'file_exists')
      checkPath(`${at}.condition.path`, source.condition.path, 'CWD', findings)
    if (source.id !== undefined && ids.has(source.id))
      findings.warnings.push({ path: `${at}.id`, message: `another source is called "${source.id}" as well` })
    if (source.id !== undefined) ids.add(source.id)
    if (source.type !== 'journal' || journals++ === 0) continue
    const message = 'there is another journal source; the model would see its conversation twice'
    findings.problems.push({ path: at, message, hint: 'Keep one of them.' })
  }
}

function checkSource(source: ContextSource, at: string, findings: Findings): void {
  if (source.type === 'text') checkReplaced(source.text, `${at}.text`, VARIABLE_NAMES, findings)
  if (source.type === 'journal') checkReplaced(source.dropped, `${at}.dropped`, ['count'], findings)
  else checkReplaced(source.header, `${at}.header`, ['id'], findings)
  if (source.type === 'file') checkPath(`${at}.path`, source.path, 'AGENT_HOME', findings)
  if (source.type !== 'computed_file') return
  checkPath(`${at}.output_path`, source.outputPath, 'CWD', findings)
  checkCommand(source.generator, `${at}.generator`, findings)
}

function checkWhole({ sources, header, tokenCounter }: ContextManifest, findings: Findings): void {
  if (tokenCounter) checkCommand(tokenCounter, 'token_counter', findings)
  checkReplaced(header, 'header', ['id'], findings)
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
  for (const [written, name = ''] of value.matchAll(VARIABLE)) {
    if (VARIABLE_NAMES.includes(name)) continue
    const hint = `The variables are ${VARIABLE_NAMES.map((known) => `\${${known}}`).join(', ')}.`
    problems.push({ path, message: `there is no variable ${written}`, hint })
  }
  const [bare, name = ''] = /\$([A-Z_]+)\b/.exec(value) ?? []
  if (bare !== undefined && VARIABLE_NAMES.includes(name)) {
    problems.push({ path, message: `"${bare}" is not replaced here`, hint: `Write \${${name}}.` })
  } else if (value.startsWith('~')) {
    const hint = `Write it out, from / or from \${${base}} on.`
    warnings.push({ path, message: '"~" is not replaced here: no shell reads this path', hint })
  } else if (!value.startsWith('${') && !isAbsolute(value)) {
    const hint = `Write it out: \${${base}}/${value.replace(/^\.\//, '')}`
    warnings.push({ path, message: `the relative path "${value}" starts at \${${base}}`, hint })
  }
}

function checkCommand({ command }: ContextCommand, path: string, { warnings }: Findings): void {
  for (const { index, message, hint } of findUnreplaced(command, VARIABLE_NAMES))
    warnings.push({ path: `${path}.command[${index}]`, message, hint })
}

/** What looks like a variable and is none reaches the model as it is written, which is seldom meant. */
function checkReplaced(text: unknown, path: string, known: readonly string[], { warnings }: Findings): void {
  if (typeof text !== 'string') return
  for (const [written, name = ''] of text.matchAll(/(?<!\\)\$\{(\w*)\}/g)) {
    if (known.includes(name)) continue
    const hint = `What is replaced here: ${known.map((each) => `\${${each}}`).join(', ')}.`
    warnings.push({ path, message: `${written} is not replaced, and reaches the model as it is`, hint })
  }
}
