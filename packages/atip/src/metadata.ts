import * as z from 'zod/mini'

/*
 * The members of ATIP metadata we act on. Unknown members are allowed and kept, and an absent
 * effect means "unknown", never "safe". The nesting of commands is walked in leaves.ts.
 */

const flag = z.optional(z.boolean())
const text = z.optional(z.string())
const names = z.optional(z.array(z.string()))

export const effectsSchema = z.looseObject({
  filesystem: z.optional(z.looseObject({ read: flag, write: flag, delete: flag, paths: names })),
  network: flag,
  subprocess: flag,
  idempotent: flag,
  reversible: flag,
  destructive: flag,
  creates: names,
  modifies: names,
  deletes: names,
  interactive: z.optional(
    z.looseObject({
      stdin: z.optional(z.enum(['none', 'optional', 'required', 'password'])),
      prompts: flag,
      tty: flag,
    }),
  ),
  cost: z.optional(
    z.looseObject({ estimate: z.optional(z.enum(['free', 'low', 'medium', 'high'])), billable: flag }),
  ),
  duration: z.optional(z.looseObject({ typical: text, timeout: text })),
})

const parameterType = z.enum([
  'string',
  'integer',
  'number',
  'boolean',
  'file',
  'directory',
  'url',
  'enum',
  'array',
])

const parameterFields = {
  name: z.string().check(z.minLength(1)),
  type: parameterType,
  // Required by the specification; metadata in the wild leaves it out, and a missing text harms nobody.
  description: text,
  required: flag,
  default: z.optional(z.unknown()),
  variadic: flag,
  deprecated: flag,
  enum: z.optional(z.array(z.union([z.string(), z.number()]))),
}

const argumentSchema = z.looseObject(parameterFields)
const optionSchema = z.looseObject({
  ...parameterFields,
  flags: z.array(z.string().check(z.regex(/^-/, 'a flag begins with "-"'))).check(z.minLength(1)),
  envVar: text,
})

/** One node of the command tree, without its children. */
export const commandSchema = z.looseObject({
  description: z.string(),
  arguments: z.optional(z.array(argumentSchema)),
  options: z.optional(z.array(optionSchema)),
  effects: z.optional(effectsSchema),
})

/** The root, without its commands. */
export const toolSchema = z.looseObject({
  atip: z.union([z.string(), z.looseObject({ version: z.string(), features: names, minAgentVersion: text })]),
  name: z.string().check(z.regex(/^[a-zA-Z0-9_-]+$/, 'a tool name consists of letters, digits, "_" and "-"')),
  version: z.string(),
  description: z.string(),
  binary: text,
  trust: z.optional(
    z.looseObject({
      source: z.enum(['native', 'vendor', 'org', 'community', 'user', 'inferred']),
      verified: flag,
    }),
  ),
  globalOptions: z.optional(z.array(optionSchema)),
  authentication: z.optional(
    z.looseObject({ methods: z.optional(z.array(z.looseObject({ envVar: text }))) }),
  ),
  effects: z.optional(effectsSchema),
})

/** What a command does to the world. Absent members are unknown, not safe. */
export type AtipEffects = z.infer<typeof effectsSchema>

export type AtipParamType = z.infer<typeof parameterType>

/** A positional argument; `required` defaults to true. */
export type AtipArgument = z.infer<typeof argumentSchema>

/** A flag; `required` defaults to false. */
export type AtipOption = z.infer<typeof optionSchema>

/** A node of the command tree. With `commands` it is a group, and only its leaves can be called. */
export type AtipCommand = z.infer<typeof commandSchema> & {
  commands?: Record<string, AtipCommand> | undefined
}

/** The JSON object a tool prints for `--agent`. */
export type AtipTool = z.infer<typeof toolSchema> & { commands?: Record<string, AtipCommand> | undefined }

/** `"0.3"`, or the object that later versions have. */
export type AtipVersion = AtipTool['atip']

/** Who wrote the metadata. Self-declared: an importer may lower it, never raise it. Absent is `inferred`. */
export type AtipTrust = NonNullable<AtipTool['trust']>

export type TrustSource = AtipTrust['source']

export type CostEstimate = NonNullable<NonNullable<AtipEffects['cost']>['estimate']>
