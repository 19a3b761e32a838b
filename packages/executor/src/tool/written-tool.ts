import type { ParameterDefinition, ToolDefinition } from '@delta/tool-expander'
import type * as z from 'zod/mini'
import type { Constant } from '../constant.js'
import type { settingsSchema } from './settings-schema.js'

/** A tool as it is written, in YAML or in a program. No key but those there are, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Constant<Omit<ToolDefinition, 'parameters'>> & {
    parameters?: readonly WrittenParameter[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

type WrittenParameter = WithOwnKeys<Constant<KnownKeys<ParameterDefinition>>>

/** Both, for an interface such as `ExpandedTool` has no signature and would not be taken for one with it. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })

/** Without the signature that lets any other key stand there. */
type KnownKeys<Type> = { [Key in keyof Type as string extends Key ? never : Key]: Type[Key] }
