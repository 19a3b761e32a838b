import { isAbsolute } from 'node:path'
import type { Problem } from '@delta/executor'
import { findUnreplaced, repeatsRepeat } from '@delta/executor'
import { ONE_REPETITION } from './condition.js'
import { globProblem } from './glob.js'
import type { WrittenManifest, WrittenSource } from './schema.js'
import { type ContextVariables, VARIABLE, VARIABLE_NAMES } from './variables.js'

/** What is wrong (problems) or probably not meant so (warnings) in a manifest of the right form. */
export interface Findings {
  problems: Problem[]
  warnings: Problem[]
}

/** A source and its number in the file. */
export type PlacedSource = readonly [index: number, source: WrittenSource]

/**
 * Finds what a schema cannot: unknown variables, expressions that are none, recipes in which something is missing.
 *
 * @param options - `isWhole`: these are all the sources, and not only those of the right form.
 */
export function checkManifest(sources: readonly PlacedSource[], { isWhole }: { isWhole: boolean }): Findings {
  const findings: Findings = { problems: [], warnings: [] }
  for (const path of sources.flatMap(pathsOf)) checkPath(path, findings)
  for (const [index, source] of sources) {
    if (source.type === 'computed_file')
      checkCommand(source.generator.command, `sources[${index}].generator.command`, findings)
    checkPattern(source, `sources[${index}]`, findings)
    checkGlobs(source, `sources[${index}]`, findings)
    checkTexts(source, `sources[${index}]`, findings)
  }
  checkIds(sources, findings)
  const [, second] = sources.flatMap(([index, { type }]) => (type === 'journal' ? [index] : []))
  if (second !== undefined) {
    const message = 'there is another journal source; the model would see its conversation twice'
    findings.problems.push({ path: `sources[${second}]`, message, hint: 'Keep one of them.' })
  }
  if (isWhole && !sources.some(([, { type }]) => type === 'journal')) {
    const message = 'there is no journal source; the model sees neither the task nor what it did'
    findings.warnings.push({ path: 'sources', message, hint: 'Add to the list of sources: - type: journal' })
  }
  return findings
}

interface WrittenPath {
  path: string
  value: string
  base: keyof ContextVariables
}

function pathsOf([index, source]: PlacedSource): WrittenPath[] {
  const at = `sources[${index}]`
  const paths: WrittenPath[] = []
  if (source.type === 'file') paths.push({ path: `${at}.path`, value: source.path, base: 'AGENT_HOME' })
  if (source.type === 'computed_file')
    paths.push({ path: `${at}.output_path`, value: source.output_path, base: 'CWD' })
  if (source.condition?.when === 'file_exists') {
    paths.push({ path: `${at}.condition.path`, value: source.condition.path, base: 'CWD' })
  }
  return paths
}

function checkPath({ path, value, base }: WrittenPath, { problems, warnings }: Findings): void {
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
    warnings.push({ path, message: `"~" is not replaced here: no shell reads this path`, hint })
  } else if (!value.startsWith('${') && !isAbsolute(value)) {
    const hint = `Write it out: \${${base}}/${value.replace(/^\.\//, '')}`
    warnings.push({ path, message: `the relative path "${value}" starts at \${${base}}`, hint })
  }
}

/** What a manifest of the right form says of all its sources together. */
export function checkWhole(
  { sources, header, merge, token_counter }: WrittenManifest,
  findings: Findings,
): void {
  if (token_counter) checkCommand(token_counter.command, 'token_counter.command', findings)
  checkReplaced(header, 'header', ['id'], findings)
  if (!merge || typeof header !== 'string' || header.includes('${id}')) return
  const alike = sources
    .reduce<WrittenSource[][]>(byMessage, [])
    .map(
      (merged) => merged.filter((source) => source.type !== 'journal' && source.header === undefined).length,
    )
  const most = Math.max(...alike)
  if (most < 2) return
  const message = `${JSON.stringify(header)} has no \${id}, so the ${most} sources of a merged message look alike`
  findings.warnings.push({
    path: 'header',
    message,
    hint: 'Write ${id} where the name of the source belongs.',
  })
}

/** Puts a source to those before it if they become one message. */
function byMessage(groups: WrittenSource[][], source: WrittenSource): WrittenSource[][] {
  const last = groups.at(-1)?.at(-1)
  return last !== undefined && roleOf(last) === roleOf(source)
    ? [...groups.slice(0, -1), [...(groups.at(-1) ?? []), source]]
    : [...groups, [source]]
}

function roleOf(source: WrittenSource): string {
  return source.type === 'journal' ? 'journal' : (source.role ?? 'system')
}

/** Of a generator, or of a token counter. */
function checkCommand(command: readonly string[], path: string, { warnings }: Findings): void {
  for (const { index, message, hint } of findUnreplaced(command, VARIABLE_NAMES))
    warnings.push({ path: `${path}[${index}]`, message, hint })
}

function checkTexts(source: WrittenSource, at: string, findings: Findings): void {
  if (source.type === 'text') checkReplaced(source.text, `${at}.text`, VARIABLE_NAMES, findings)
  if (source.type === 'journal') checkReplaced(source.dropped, `${at}.dropped`, ['count'], findings)
  else checkReplaced(source.header, `${at}.header`, ['id'], findings)
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

function checkPattern({ condition }: WrittenSource, at: string, { problems, warnings }: Findings): void {
  if (condition?.when !== 'task_contains') return
  const path = `${at}.condition.pattern`
  try {
    new RegExp(condition.pattern, 'i')
  } catch (error) {
    problems.push({ path, message: (error as Error).message })
  }
  if (repeatsRepeat(condition.pattern)) {
    const message = 'a repetition inside a repetition can take very long to find that a text does not match'
    warnings.push({ path, message, hint: ONE_REPETITION })
  }
}

function checkGlobs(source: WrittenSource, at: string, { problems }: Findings): void {
  const globs = source.type === 'computed_file' ? (source.cache?.invalidate_on ?? []) : []
  for (const [index, glob] of globs.entries()) {
    const message = globProblem(glob)
    if (message !== undefined) problems.push({ path: `${at}.cache.invalidate_on[${index}]`, message })
  }
}

function checkIds(sources: readonly PlacedSource[], { warnings }: Findings): void {
  const seen = new Set<string>()
  for (const [index, { id }] of sources) {
    if (id === undefined) continue
    if (seen.has(id))
      warnings.push({ path: `sources[${index}].id`, message: `another source is called "${id}" as well` })
    seen.add(id)
  }
}
