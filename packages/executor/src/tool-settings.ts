import { normalize } from 'node:path'
import { fitShape, formatPath, inCamelCase, unknownKey } from '@delta/settings'
import type { Effects, Problem, TrustLevel } from '@delta/tool-expander'
import { effectsSchema, TRUST_LEVELS, toolSchemas } from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import type { Keep } from './channels.js'
import { DEFAULT_SANDBOX, type SandboxSettings, sandboxSchema } from './sandbox.js'

/** How a tool runs: everything in its YAML that is not its syntax. */
export interface ToolSettings {
  /** What people see of a call instead of its command; see `renderDisplay`. */
  display?: string
  /** 0: no limit, the default of `delta` itself. Default of all others: ten minutes. */
  timeoutMs: number
  /** Relative to the workspace, or absolute; may hold `${AGENT_HOME}`, `${TOOL_HOME}` and `${CWD}`. */
  cwd?: string
  /** Added to the command's environment; values may hold `${AGENT_HOME}`, `${TOOL_HOME}` and `${CWD}`. */
  env: Readonly<Record<string, string>>
  /** Names of the engine's credentials that this tool gets. */
  passEnv: readonly string[]
  /** What the tool says it does to the world. Absent: unknown, not nothing; see `decide`. */
  effects?: Effects
  /** Set for imported tools: who vouches for their `effects`. The author's own have none. */
  trust?: TrustLevel
  /**
   * What happens to a call whose engine died while it ran. Default: a tool with `effects.idempotent` is run again, but of
   * imported tools only one of trust `org` or higher.
   */
  onInterrupt: OnInterrupt
  /** A result other than `SUCCESS` ends the run. */
  critical: boolean
  /** Absent: none. */
  sandbox?: SandboxSettings
  /**
   * `as`: what stdout is. `partBytes`: how large an image or file may be. `maxChars` and `keep`: what the model reads of text.
   * `maxBytes`: what the command may print, or it is ended; 0: no limit.
   */
  output: { as: OutputKind; partBytes: number; maxChars: number; keep: Keep; maxBytes: number }
}

/**
 * What the stdout of a tool is. `auto`: an image (PNG, JPEG, GIF, WebP) or PDF if it begins like one, else text. `mcp`: a
 * `CallToolResult` of the Model Context Protocol, as JSON.
 */
export type OutputKind = (typeof OUTPUT_KINDS)[number]

const ON_INTERRUPT = ['report', 'rerun', 'ask'] as const
type OnInterrupt = (typeof ON_INTERRUPT)[number]

const OUTPUT_KINDS = ['text', 'image', 'file', 'auto', 'mcp'] as const

/** How a tool runs, or every problem; unknown keys are warnings, which come with both. */
export type ParsedSettings =
  | { ok: true; settings: ToolSettings; warnings: Problem[] }
  | { ok: false; problems: Problem[]; warnings: Problem[] }

/** How a tool runs that says nothing about it. */
export const DEFAULT_SETTINGS: ToolSettings = {
  timeoutMs: 600_000,
  env: {},
  passEnv: [],
  onInterrupt: 'report',
  critical: false,
  output: { as: 'text', partBytes: 5_000_000, maxChars: 30_000, keep: 'both', maxBytes: 1_000_000_000 },
}

/**
 * Reads how a tool runs from its definition, next to the keys of its syntax.
 *
 * @returns the settings or every problem, and every unknown key also of its parameters, each with its path (`output.keep`).
 *   Keys that begin with `x-` are the author's own.
 */
export function safeParseToolSettings(definition: object): ParsedSettings {
  const syntax = Object.keys(toolSchemas().Definition.shape)
  const written = Object.entries(definition).filter(([key]) => !syntax.includes(key))
  const ofParameters = unusedParameterKeys(definition)
  if (written.length === 0) return { ok: true, settings: toSettings({}), warnings: ofParameters }
  const proposed = syntax.filter((key) => key !== 'checked_words' && key !== '__meta') // only an expanded tool has these
  const { value, problems } = fitShape(settingsSchema, Object.fromEntries(written), proposed)
  const found = problems.map((problem) => ({ ...problem, path: formatPath(problem.path) }))
  const warnings = [...found.filter(({ unknownKey }) => unknownKey), ...ofParameters]
  if (value) return { ok: true, settings: toSettings(value), warnings }
  return { ok: false, problems: found.filter(({ unknownKey }) => !unknownKey), warnings }
}

/** The expander keeps the keys it does not know, and those without an effect. */
function unusedParameterKeys({
  command,
  parameters,
}: {
  command?: unknown
  parameters?: unknown
}): Problem[] {
  const known = Object.keys(toolSchemas().Parameter.shape)
  return (Array.isArray(parameters) ? parameters : []).flatMap((parameter: unknown, index) => {
    if (typeof parameter !== 'object' || parameter === null) return [] // the expander says so
    const { inject_as: injection, option_name: option } = parameter as Record<string, unknown>
    const unknown = Object.keys(parameter).filter((key) => !known.includes(key) && !key.startsWith('x-'))
    const found = unknown.map((key) => ({ key, hint: OWN_KEY, ...unknownKey(key, known) }))
    if (option !== undefined && option !== null && injection !== 'option') {
      const message = `option_name has no effect without inject_as: option`
      const hint = command ? 'Add inject_as: option.' : `Write ${option} into the template, before the value.`
      found.push({ key: 'option_name', hint, message, unknownKey: true })
    }
    return found.map(({ key, ...problem }) => ({ ...problem, path: `parameters[${index}].${key}` }))
  })
}

const OWN_KEY = 'Put what is your own under metadata:, or begin the key with x-.'

function toSettings({ sandbox, output, ...written }: WrittenSettings): ToolSettings {
  return {
    ...DEFAULT_SETTINGS,
    onInterrupt: isRunAgain(written) ? 'rerun' : DEFAULT_SETTINGS.onInterrupt,
    ...inCamelCase(written),
    ...(sandbox && { sandbox: { ...DEFAULT_SANDBOX, ...(sandbox === true ? {} : inCamelCase(sandbox)) } }),
    ...(output !== undefined && {
      output: {
        ...DEFAULT_SETTINGS.output,
        ...(typeof output === 'string' ? { as: output } : inCamelCase(output)),
      },
    }),
  }
}

function isRunAgain({ trust, effects }: WrittenSettings): boolean {
  const isBelieved = trust === undefined || ['org', 'vendor', 'native'].includes(trust)
  return isBelieved && effects?.idempotent === true
}

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
/** In base64, 32 MB: no provider takes more in one request. */
const LARGEST_PART_BYTES = 24_000_000
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The keys of a tool that say how it runs, as they are written. Lazy: making it takes a hundredth of a start, and most tools have none. */
export const settingsSchema = /* @__PURE__ */ z.lazy(() => {
  const milliseconds = z
    .int('whole milliseconds, 0 for no limit')
    .check(z.minimum(0), z.maximum(LONGEST_TIMEOUT_MS, 'at most 2147483647 (24 days)'))
  const yesOrNo = z.optional(z.boolean())
  const variableName = z.string().check(z.regex(NAME, 'the name of an environment variable'))
  const value = z.pipe(
    z.union([z.string(), z.number(), z.boolean()], 'a string or a number'),
    z.transform(String),
  )
  const variablesError = ({ code }: { code?: string }) =>
    code === 'invalid_key' ? 'is not the name of an environment variable' : 'a mapping of names to values'
  const directory = z.string().check(
    z.refine(
      (path) => !/\$\{(?!(?:AGENT_HOME|TOOL_HOME|CWD)\})/.test(path),
      'only ${AGENT_HOME}, ${TOOL_HOME} and ${CWD} are replaced here',
    ),
    z.refine(
      (path) => !leavesWorkspace(path),
      'a relative cwd stays inside the workspace; write an absolute path to leave it',
    ),
  )
  const outputKind = z.enum(OUTPUT_KINDS)
  const output = z.strictObject({
    as: z.optional(outputKind),
    part_bytes: z.optional(
      z
        .int('a whole number of bytes')
        .check(
          z.minimum(1),
          z.maximum(LARGEST_PART_BYTES, 'at most 24000000: in base64, no provider takes more'),
        ),
    ),
    max_chars: z.optional(z.int().check(z.minimum(1))),
    keep: z.optional(z.enum(['head', 'tail', 'both'])),
    max_bytes: z.optional(z.int('a whole number of bytes, 0 for no limit').check(z.minimum(0))),
  })

  return z.strictObject({
    display: z.optional(z.string().check(z.regex(/^[^\n]*\S[^\n]*$/, 'one line of text'))),
    timeout_ms: z.optional(milliseconds),
    cwd: z.optional(directory),
    env: z.optional(z.record(variableName, value, { error: variablesError })),
    pass_env: z.optional(z.array(variableName)),
    effects: z.optional(effectsSchema),
    trust: z.optional(z.enum(TRUST_LEVELS)),
    on_interrupt: z.optional(z.enum(ON_INTERRUPT)),
    critical: yesOrNo,
    sandbox: z.optional(sandboxSchema),
    output: z.optional(z.union([output, outputKind])),
  })
})

type WrittenSettings = z.infer<typeof settingsSchema>

function leavesWorkspace(path: string): boolean {
  return !/^(\/|\$\{)/.test(path) && /^\.\.(\/|$)/.test(normalize(path))
}
