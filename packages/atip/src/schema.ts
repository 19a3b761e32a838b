import * as z from 'zod/mini'
import {
  type AtipArgument,
  type AtipAuthentication,
  type AtipAuthenticationMethod,
  type AtipCommand,
  type AtipEffects,
  type AtipOption,
  type AtipTool,
  type AtipTrust,
  type AtipVersionDetails,
  COST_ESTIMATES,
  type CostEffects,
  type DurationEffects,
  type FilesystemEffects,
  type InteractiveEffects,
  PARAMETER_TYPES,
  STDIN_USES,
  TRUST_SOURCES,
} from './metadata.js'

/** The members a type names, without those its index signature allows. */
type Named<T> = keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: T[K] }

/** An object of which the named members are checked, and any others are allowed. */
function objectOf<T extends object>(members: Record<Named<T>, z.ZodMiniType>): z.ZodMiniType {
  return z.looseObject(members, 'must be an object')
}

function listOf(item: z.ZodMiniType) {
  return z.array(item, 'must be a list')
}

function oneOf(values: readonly string[]): z.ZodMiniType {
  return z.enum(values, `must be one of ${values.map((value) => `"${value}"`).join(', ')}`)
}

const NOT_EMPTY = 'must be a text that is not empty'
const FLAG = 'must be a flag, which begins with "-"'
const WORD = 'must be of letters, digits, "_" and "-"'

const text = z.string('must be a text')
const maybeText = z.optional(text)
const maybeFlag = z.optional(z.boolean('must be true or false'))
const maybeTexts = z.optional(listOf(text))

const effects = objectOf<AtipEffects>({
  filesystem: z.optional(
    objectOf<FilesystemEffects>({ read: maybeFlag, write: maybeFlag, delete: maybeFlag, paths: maybeTexts }),
  ),
  network: maybeFlag,
  subprocess: maybeFlag,
  idempotent: maybeFlag,
  reversible: maybeFlag,
  destructive: maybeFlag,
  creates: maybeTexts,
  modifies: maybeTexts,
  deletes: maybeTexts,
  interactive: z.optional(
    objectOf<InteractiveEffects>({
      stdin: z.optional(oneOf(STDIN_USES)),
      prompts: maybeFlag,
      tty: maybeFlag,
    }),
  ),
  cost: z.optional(
    objectOf<CostEffects>({
      estimate: z.optional(oneOf(COST_ESTIMATES)),
      billable: maybeFlag,
    }),
  ),
  duration: z.optional(objectOf<DurationEffects>({ typical: maybeText, timeout: maybeText })),
})

const choice = z.union([z.string(), z.number()], 'must be a text or a number')

const parameter = {
  name: z.string(NOT_EMPTY).check(z.minLength(1, NOT_EMPTY)),
  type: oneOf(PARAMETER_TYPES),
  description: maybeText,
  required: maybeFlag,
  default: z.optional(z.unknown()),
  variadic: maybeFlag,
  deprecated: maybeFlag,
  enum: z.optional(listOf(choice)),
}

const option = objectOf<AtipOption>({
  ...parameter,
  flags: listOf(z.string(FLAG).check(z.regex(/^-/, FLAG))).check(
    z.minLength(1, 'must be a list that is not empty'),
  ),
  envVar: maybeText,
})

/** Where a node's children are, they are walked and checked one by one, in leaves.ts. */
export const command = objectOf<AtipCommand>({
  description: text,
  arguments: z.optional(listOf(objectOf<AtipArgument>(parameter))),
  options: z.optional(listOf(option)),
  effects: z.optional(effects),
  commands: z.optional(z.unknown()),
})

/** What `atip` may be besides a text. */
export const versionDetails = objectOf<AtipVersionDetails>({
  version: text,
  features: maybeTexts,
  minAgentVersion: maybeText,
})

export const tool = objectOf<AtipTool>({
  atip: z.optional(z.unknown()), // a text, or `versionDetails`
  name: z.string(WORD).check(z.regex(/^[a-zA-Z0-9_-]+$/, WORD)),
  version: text,
  description: text,
  binary: maybeText,
  trust: z.optional(
    objectOf<AtipTrust>({
      source: oneOf(TRUST_SOURCES),
      verified: maybeFlag,
    }),
  ),
  commands: z.optional(z.unknown()),
  globalOptions: z.optional(listOf(option)),
  authentication: z.optional(
    objectOf<AtipAuthentication>({
      methods: z.optional(listOf(objectOf<AtipAuthenticationMethod>({ envVar: maybeText }))),
    }),
  ),
  effects: z.optional(effects),
})
