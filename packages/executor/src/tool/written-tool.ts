import type { ParameterDefinition, ToolDefinition } from '@delta/tool-expander'
import type * as z from 'zod/mini'
import type { Constant } from '../policy.js'
import type { settingsSchema } from '../settings.js'

/** A tool as it is written, in YAML or in a program. No key but those there are, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Omit<ToolDefinition, 'parameters'> & {
    parameters?: readonly WithOwnKeys<ParameterDefinition>[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

/** Both, for an interface such as `ExpandedTool` has no signature and would not be taken for one with it. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })
