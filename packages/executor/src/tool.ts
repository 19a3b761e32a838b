import { normalize } from 'node:path'
import {
  type ExpandedTool,
  formatProblem,
  type ParameterDefinition,
  type Problem,
  safeParseTool,
  type ToolDefinition,
} from '@delta/tool-expander'
import { toolSchemas } from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import type { Keep } from './channels.js'
import { isAgentCommand } from './environment.js'
import { ExecutorError, lineOf } from './errors.js'
import { fitShape, formatPath, inCamelCase, unknownKey } from './fit-shape.js'
import { type Constant, type Effects, effectsSchema, TRUST_LEVELS, type TrustLevel } from './policy.js'

/** A tool that can be called: its compiled syntax, and how it runs. */
export interface Tool {
  expanded: ExpandedTool
  settings: ToolSettings
}

/** How a tool runs: everything in its YAML that is not its syntax. */
export interface ToolSettings {
  /** What people see of a call instead of its command; see `renderDisplay`. */
  display?: string
  /** 0: no limit. Undefined: ten minutes, none for `delta` itself; see `toolTimeoutMs`. */
  timeoutMs?: number
  /** Relative to the workspace, or absolute; may hold `${AGENT_HOME}` and `${CWD}`. */
  cwd?: string
  /** Added to the command's environment; values may hold `${AGENT_HOME}` and `${CWD}`. */
  env: Readonly<Record<string, string>>
  /** Names of the engine's credentials that this tool gets. */
  passEnv: readonly string[]
  /** What the tool says it does to the world. Absent: unknown, not nothing; see `decide`. */
  effects?: Effects
  /** Set for imported tools: who vouches for their `effects`. The author's own have none. */
  trust?: TrustLevel
  /** What to do when the engine died during the call; undefined: see `interruptPolicy`. */
  onInterrupt?: 'report' | 'rerun' | 'ask'
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

const OUTPUT_KINDS = ['text', 'image', 'file', 'auto', 'mcp'] as const

/** Paths are absolute, relative to the workspace, or begin with `CWD`, `AGENT_HOME` or `~`. */
export interface SandboxSettings {
  /** Default false. */
  network: boolean
  /** What may be written. Default: the workspace; an empty list: nothing. */
  write: readonly string[]
  /** What is there to read of `/tmp`, `/run` and the home directory, which are empty inside but for the workspace and the agent. */
  read: readonly string[]
}

/** How a tool runs, or every problem; unknown keys are warnings, which come with both. */
export type ParsedSettings =
  | { ok: true; settings: ToolSettings; warnings: Problem[] }
  | { ok: false; problems: Problem[]; warnings: Problem[] }

/** How a tool runs that says nothing about it. */
export const DEFAULT_SETTINGS: ToolSettings = {
  env: {},
  passEnv: [],
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

function toSettings({ sandbox, output = {}, ...written }: WrittenSettings): ToolSettings {
  return {
    ...DEFAULT_SETTINGS,
    ...inCamelCase(written),
    ...(sandbox && { sandbox: { ...DEFAULT_SANDBOX, ...(sandbox === true ? {} : inCamelCase(sandbox)) } }),
    output: {
      ...DEFAULT_SETTINGS.output,
      ...inCamelCase(typeof output === 'string' ? { as: output } : output),
    },
  }
}

const DEFAULT_SANDBOX: SandboxSettings = { network: false, write: ['CWD'], read: [] }

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
  const texts = z.optional(z.array(z.string()))
  const variableName = z.string().check(z.regex(NAME, 'the name of an environment variable'))
  const value = z.pipe(
    z.union([z.string(), z.number(), z.boolean()], 'a string or a number'),
    z.transform(String),
  )
  const variablesError = ({ code }: { code?: string }) =>
    code === 'invalid_key' ? 'is not the name of an environment variable' : 'a mapping of names to values'
  const directory = z.string().check(
    z.refine(
      (path) => !/\$\{(?!AGENT_HOME\}|CWD\})/.test(path),
      'only ${AGENT_HOME} and ${CWD} are replaced here',
    ),
    z.refine(
      (path) => !leavesWorkspace(path),
      'a relative cwd stays inside the workspace; write an absolute path to leave it',
    ),
  )
  const sandbox = z.strictObject({ network: yesOrNo, write: texts, read: texts })
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
    on_interrupt: z.optional(z.enum(['report', 'rerun', 'ask'])),
    critical: yesOrNo,
    sandbox: z.optional(z.union([z.boolean(), sandbox])),
    output: z.optional(z.union([output, outputKind])),
  })
})

type WrittenSettings = z.infer<typeof settingsSchema>

function leavesWorkspace(path: string): boolean {
  return !/^(\/|\$\{)/.test(path) && /^\.\.(\/|$)/.test(normalize(path))
}

/** How long a tool without `timeout_ms` may run. */
export const DEFAULT_TOOL_TIMEOUT_MS = 600_000

/**
 * Makes a tool from its definition, as it stands in an agent's YAML.
 *
 * A key that is nearly a known one (`timeout` for `timeout_ms`) is a problem: without the setting the tool would run all the
 * same. Other unknown keys are ignored, as those of a later version may be, and so are keys that begin with `x-`. To the
 * compiler every unknown key is an error; a value of type `unknown` goes through `safeParseTool` of the expander first:
 * `defineTool({ ...tool, ...rest })`.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_TOOL`: names every problem of the definition.
 *
 * @example
 * const count = defineTool({ name: 'count_words', exec: 'wc -w ${file}', timeout_ms: 5000 })
 */
export function defineTool(input: WrittenTool): Tool {
  const syntax = safeParseTool(input)
  const run = safeParseToolSettings(Object(input)) // also where the syntax is wrong, to name all mistakes at once
  const mistyped = run.warnings.filter(({ nearest }) => nearest !== undefined)
  const made = syntax.ok && run.ok ? { expanded: syntax.expanded, settings: run.settings } : undefined
  const ofDisplay = made ? findDisplayProblems(made.settings.display ?? '', made.expanded) : []
  if (made && mistyped.length === 0 && ofDisplay.length === 0) return made

  const ofSyntax = syntax.ok ? [] : syntax.problems
  const others = [...(run.ok ? ofDisplay : run.problems), ...mistyped]
  const lines = [...ofSyntax.map((problem) => formatProblem(problem)), ...others.map(lineOf)]
  const message = ['The tool cannot be used:', ...lines].join('\n')
  throw new ExecutorError('ERR_EXECUTOR_TOOL', message, [...ofSyntax, ...others])
}

/** How long a tool may run: its `timeout_ms`, else ten minutes, or no limit for `delta` itself. 0: no limit. */
export function toolTimeoutMs(tool: Tool): number {
  return tool.settings.timeoutMs ?? (isAgentTool(tool) ? 0 : DEFAULT_TOOL_TIMEOUT_MS)
}

/** True when the tool's command is an agent of its own by its name: see `isAgentCommand`. */
export function isAgentTool(tool: Tool): boolean {
  return isAgentCommand(tool.expanded.command)
}

/**
 * What happens to a call whose engine died while it ran. A tool with `effects.idempotent` is run again; of imported tools,
 * only one of trust `org` or higher.
 */
export function interruptPolicy({ settings }: Tool): 'report' | 'rerun' | 'ask' {
  if (settings.onInterrupt) return settings.onInterrupt
  const believed = settings.trust === undefined || ['org', 'vendor', 'native'].includes(settings.trust)
  return settings.effects?.idempotent === true && believed ? 'rerun' : 'report'
}

/** `${name}`, or `\${name}` for the text itself. */
const PLACEHOLDER = /(\\)?\$\{([^}]*)\}/g

/** The problems of a tool's `display:`, in the order of the text. */
export function findDisplayProblems(
  display: string,
  { name: toolName, parameters }: Pick<ExpandedTool, 'name' | 'parameters'>,
): Problem[] {
  const names = parameters.map(({ name }) => name)
  const known = names.length > 0 ? ` of ${toolName} (${names.join(', ')})` : `: ${toolName} has none`
  return [...display.matchAll(PLACEHOLDER)]
    .filter(({ 1: escaped, 2: name = '' }) => escaped === undefined && !names.includes(name))
    .map(({ 0: written, index }) => ({
      path: 'display',
      message: `${written} is not a parameter${known}`,
      column: index + 1,
    }))
}

/**
 * The text of `display:` with the arguments of one call; an absent one is empty.
 *
 * @param show - Writes one value. A model chose it, so on a terminal it must have no control characters.
 */
export function renderDisplay(display: string, args: unknown, show: (value: string) => string): string {
  const values = new Map(Object.entries(Object(args)))
  return display.replace(PLACEHOLDER, (written, escaped: string | undefined, name: string) => {
    if (escaped !== undefined) return written.slice(1)
    const value = values.get(name)
    if (value === undefined || value === null) return ''
    return show(typeof value === 'string' ? value : JSON.stringify(value))
  })
}

/** A tool as it is written, in YAML or in a program: known keys, and the author's own (`x-`). */
export type WrittenTool = WithOwnKeys<
  Omit<ToolDefinition, 'parameters'> & {
    parameters?: readonly WithOwnKeys<ParameterDefinition>[] | undefined
  } & Constant<z.input<typeof settingsSchema>>
>

/** A union, because an interface such as `ExpandedTool` has no index signature and does not fit a type that has one. */
type WithOwnKeys<Type> = Type | (Type & { [key: `x-${string}`]: unknown })
