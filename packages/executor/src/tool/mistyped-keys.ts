import type { Problem } from '@delta/tool-expander'
import { SCHEMA_WORDS } from '@delta/tool-expander'
import { nearestNames } from '../nearest.js'
import { effectsSchema } from '../policy/effects.js'
import { TOOL_SETTING_KEYS } from './settings-schema.js'

/** Every key a tool can have, its syntax and how it runs: to guess what a mistyped one meant. */
export const TOOL_KEYS: readonly string[] = [
  ...['name', 'description', 'exec', 'shell', 'stdin', 'command', 'parameters', 'substitute', 'allow_dash'],
  ...['input_schema', 'checked_words', '__meta'],
  ...TOOL_SETTING_KEYS,
]

/** Every key one of its parameters can have. */
export const PARAMETER_KEYS: readonly string[] = [
  ...['name', 'type', 'description', 'required', 'default', 'enum', 'pattern', 'allow_dash', 'inject_as'],
  ...['position', 'option_name', 'raw', 'items', 'properties', 'required_properties', 'minimum', 'maximum'],
  ...SCHEMA_WORDS,
]

const INNER_KEYS = {
  output: ['max_chars', 'keep', 'max_bytes'],
  sandbox: ['network', 'write', 'read'],
  effects: Object.keys(effectsSchema.shape),
}

/** The keys of a tool's definition that are nearly a known one, and are not the author's own (`x-`). */
export function mistypedKeys(definition: unknown): Problem[] {
  if (!isObject(definition)) return []
  const { parameters, ...rest } = definition as Record<string, unknown>
  const inner = Object.entries(INNER_KEYS).flatMap(([key, known]) => mistypedIn(rest[key], known, `${key}.`))
  const list = Array.isArray(parameters) ? parameters : []
  return [
    ...mistypedIn(rest, TOOL_KEYS, ''),
    ...inner,
    ...list.flatMap((parameter, index) => mistypedIn(parameter, PARAMETER_KEYS, `parameters[${index}].`)),
  ]
}

function mistypedIn(value: unknown, known: readonly string[], base: string): Problem[] {
  if (!isObject(value) || Array.isArray(value)) return []
  return Object.keys(value).flatMap((key) => {
    if (known.includes(key) || key.startsWith('x-')) return []
    const [meant] = nearestNames(key, known)
    if (meant === undefined) return []
    const path = `${base}${key}`
    return [{ path, message: `unknown key "${path}"`, hint: `Did you mean "${meant}"?` }]
  })
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
