import { type Problem, SCHEMA_WORDS } from '@delta/tool-expander'
import { nearestNames } from '../fit-shape.js'

/** Every key of a tool's syntax: what is no setting of how it runs, and what a mistyped one may have meant. */
export const SYNTAX_KEYS: readonly string[] = [
  ...['name', 'description', 'exec', 'shell', 'stdin', 'command', 'parameters', 'substitute', 'allow_dash'],
  ...['input_schema', 'checked_words', '__meta'],
]

/** Every key one of its parameters can have. */
export const PARAMETER_KEYS: readonly string[] = [
  ...['name', 'type', 'description', 'required', 'default', 'enum', 'pattern', 'allow_dash', 'inject_as'],
  ...['position', 'option_name', 'raw', 'items', 'properties', 'required_properties', 'minimum', 'maximum'],
  ...SCHEMA_WORDS,
]

/** Keys of a tool's parameters that nobody knows, which the compiler keeps; those that begin with `x-` are the author's own. */
export function unknownParameterKeys({ parameters }: { parameters?: unknown }): Problem[] {
  return (Array.isArray(parameters) ? parameters : []).flatMap((parameter: unknown, index) =>
    Object.keys(Object(parameter))
      .filter((key) => !PARAMETER_KEYS.includes(key) && !key.startsWith('x-'))
      .map((key) => {
        const [meant] = nearestNames(key, PARAMETER_KEYS)
        const hint = meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }
        return {
          path: `parameters[${index}].${key}`,
          message: `unknown key "${key}"`,
          ...hint,
          unknownKey: true,
        }
      }),
  )
}
