import { effectsSchema, nearestNames, PARAMETER_KEYS, TOOL_KEYS } from '@delta/executor'
import type { Findings } from '../findings.js'
import { isMap } from '../is-map.js'
import { parsePath, type ValuePath } from '../path.js'
import { commaHint } from '../shape/comma-in-text.js'
import { sentence } from '../shape/report.js'
import type { YamlFile } from '../yaml/file.js'

/** What a mistyped key may have meant, in `output:` too. The packages that read them decide. */
const GUESSED_KEYS = [...TOOL_KEYS, 'max_chars', 'keep', 'max_bytes']

/** What other tools call settings of ours; by the letters alone `cmd` would be `cwd`. */
const OTHER_NAMES: Record<string, string> = {
  cmd: 'command',
  run: 'shell',
  script: 'shell',
  args: 'parameters',
  arguments: 'parameters',
  params: 'parameters',
  inputs: 'parameters',
  environment: 'env',
  workdir: 'cwd',
  working_directory: 'cwd',
  input: 'stdin',
  desc: 'description',
}

const OTHER_PARAMETER_NAMES: Record<string, string> = {
  desc: 'description',
  optional: 'required',
  options: 'enum',
  choices: 'enum',
  values: 'enum',
  regex: 'pattern',
  flag: 'option_name',
  option: 'option_name',
}

/** Reports keys that nobody reads, each given as in `output.keeep` or `parameters[0].requird`. */
export function reportUnknownKeys(
  keys: readonly string[],
  file: YamlFile,
  path: ValuePath,
  findings: Findings,
): void {
  for (const key of keys) {
    if (key.startsWith('x-')) continue
    const names = parsePath(key)
    const nearest = meantBy(String(names.at(-1)), names)
    const named = nearest === undefined ? undefined : `Did you mean "${nearest}"?`
    const hint = commaHint(file, [...path, ...names]) ?? ofParameter(names) ?? named
    const place = file.locate([...path, ...names], { key: true })
    findings.unknownKey(place, sentence(path, `unknown key "${key}"`), hint)
  }
}

function ofParameter([key, ...inner]: ValuePath): string | undefined {
  if (inner.length > 0 || !PARAMETER_KEYS.some((known) => known === key)) return undefined
  return `It says more about a parameter: parameters: [{ name: …, ${key}: … }]`
}

function meantBy(name: string, [outer, ...inner]: ValuePath): string | undefined {
  const others = inner.length === 0 ? OTHER_NAMES : outer === 'parameters' ? OTHER_PARAMETER_NAMES : {}
  return Object.hasOwn(others, name) ? others[name] : nearestNames(name, knownIn([outer ?? '', ...inner]))[0]
}

function knownIn([outer, ...inner]: ValuePath): readonly string[] {
  if (outer === 'effects') return Object.keys(effectsSchema.shape)
  return outer === 'parameters' && inner.length > 0 ? PARAMETER_KEYS : GUESSED_KEYS
}

const MODES = ['exec', 'shell', 'command']

/** The unknown key by which a tool says what it runs, if it says that by no known one. */
export function mistypedMode(item: unknown): { key: string; meant: string } | undefined {
  if (!isMap(item) || MODES.some((mode) => Object.hasOwn(item, mode))) return undefined
  for (const key of strangeKeys(item)) {
    const meant = meantBy(key, [key])
    if (meant === undefined || !MODES.includes(meant)) continue
    return { key, meant: meant === 'command' && typeof item[key] === 'string' ? 'exec' : meant }
  }
  return undefined
}

/** The unknown keys of a tool that no parser looked through. */
export function strangeKeys(item: unknown): string[] {
  const keys = isMap(item) ? Object.keys(item) : []
  return keys.filter((key) => !GUESSED_KEYS.includes(key))
}

/** The expander keeps keys of parameters that it does not know. */
export function strangeParameterKeys(item: unknown): string[] {
  const parameters = isMap(item) && Array.isArray(item.parameters) ? item.parameters : []
  return parameters.flatMap((parameter: unknown, index) =>
    Object.keys(isMap(parameter) ? parameter : {})
      .filter((key) => !PARAMETER_KEYS.includes(key) && !key.startsWith('x-'))
      .map((key) => `parameters[${index}].${key}`),
  )
}
