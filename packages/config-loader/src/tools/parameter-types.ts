import type { ParameterType } from '@delta/tool-expander'

/** What `type:` of a parameter may say. */
export const PARAMETER_TYPES: readonly ParameterType[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'array',
  'object',
]
