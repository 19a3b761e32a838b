import * as z from 'zod/mini'
import type { Keep } from './captured.js'
import { type Effects, effectsSchema, TRUST_LEVELS, type TrustLevel } from './effects.js'
import type { SettingsProblem } from './errors.js'

/** How a tool runs: everything in its YAML that is not its syntax. */
export interface ToolSettings {
  /** 0: no limit. Undefined: ten minutes, none for `delta` itself; see `toolTimeoutMs`. */
  timeoutMs?: number
  /** Relative to the workspace, or absolute; may hold `${AGENT_HOME}` and `${CWD}`. */
  cwd?: string
  /** Added to the command's environment; values may hold `${AGENT_HOME}` and `${CWD}`. */
  env: Readonly<Record<string, string>>
  /** Names of the engine's credentials that this tool gets. */
  passEnv: readonly string[]
  effects?: Effects
  /** Set for imported tools: who vouches for their `effects`. The author's own have none. */
  trust?: TrustLevel
  /** What to do when the engine died during the call; undefined: see `interruptPolicy`. */
  onInterrupt?: 'report' | 'rerun' | 'ask'
  /** A result other than `SUCCESS` ends the run. */
  critical: boolean
  sandbox?: SandboxSettings
  output: { maxChars: number; keep: Keep }
}

/** Paths are absolute, relative to the workspace, or begin with `CWD`, `AGENT_HOME` or `~`. */
export interface SandboxSettings {
  network: boolean
  write: readonly string[]
  read: readonly string[]
}

export type ParsedSettings =
  | { ok: true; settings: ToolSettings; unknownKeys: string[] }
  | { ok: false; problems: SettingsProblem[] }

export const DEFAULT_MAX_CHARS = 30_000
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const milliseconds = z
  .int('expected whole milliseconds, 0 for no limit')
  .check(
    z.minimum(0, 'expected 0 (no limit) or more'),
    z.maximum(LONGEST_TIMEOUT_MS, 'at most 2147483647 (24 days)'),
  )
const yesOrNo = z.boolean('expected true or false')
const text = z.string('expected a text')
const pathList = z.array(text, 'expected a list of paths')
const variableName = text.check(z.regex(NAME, 'expected the name of an environment variable'))
const value = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], 'expected a text or a number'),
  z.transform(String),
)
const variablesError = ({ code }: { code?: string }) =>
  code === 'invalid_key'
    ? 'expected the name of an environment variable'
    : 'expected a mapping of names to values'
const directory = text.check(
  z.refine(
    (path) => !/\$\{(?!AGENT_HOME\}|CWD\})/.test(path),
    'only ${AGENT_HOME} and ${CWD} stand for something here',
  ),
  z.refine(
    (path) => !leavesWorkspace(path),
    'a relative cwd stays inside the workspace; write an absolute path to leave it',
  ),
)

const schema = z.object({
  timeout_ms: z.optional(milliseconds),
  cwd: z.optional(directory),
  env: z.optional(z.record(variableName, value, variablesError)),
  pass_env: z.optional(z.array(variableName, 'expected a list of names')),
  effects: z.optional(effectsSchema),
  trust: z.optional(z.enum(TRUST_LEVELS, `expected one of ${TRUST_LEVELS.join(', ')}`)),
  on_interrupt: z.optional(z.enum(['report', 'rerun', 'ask'], 'expected report, rerun or ask')),
  critical: z.optional(yesOrNo),
  sandbox: z.optional(
    z.union(
      [
        z.boolean(),
        z.object({ network: z.optional(yesOrNo), write: z.optional(pathList), read: z.optional(pathList) }),
      ],
      'expected true, false, or { network: true|false, write: [paths], read: [paths] }',
    ),
  ),
  output: z.optional(
    z.object(
      {
        max_chars: z.optional(z.int('expected a whole number').check(z.minimum(1, 'expected 1 or more'))),
        keep: z.optional(z.enum(['head', 'tail', 'both'], 'expected head, tail or both')),
      },
      'expected { max_chars: number, keep: head|tail|both }',
    ),
  ),
})

type Written = z.infer<typeof schema>

/** The keys a tool's YAML may hold for this package, for suggestions when one is misspelt. */
export const TOOL_SETTING_KEYS: readonly string[] = Object.keys(schema.shape)

/**
 * Reads how a tool runs from the keys the tool's syntax left over.
 *
 * @returns every problem, each with its path (`output.keep`); or the settings, and the keys
 *   nobody knows (`x-` keys are the author's own and not among them).
 */
export function parseToolSettings(rest: Record<string, unknown>): ParsedSettings {
  const parsed = schema.safeParse(rest)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    return { ok: false, problems }
  }
  return { ok: true, settings: toSettings(parsed.data), unknownKeys: unknownKeys(rest) }
}

function toSettings(written: Written): ToolSettings {
  const sandbox = toSandbox(written.sandbox)
  return {
    ...(written.timeout_ms !== undefined && { timeoutMs: written.timeout_ms }),
    ...(written.cwd !== undefined && { cwd: written.cwd }),
    env: written.env ?? {},
    passEnv: written.pass_env ?? [],
    ...(written.effects && { effects: written.effects }),
    ...(written.trust && { trust: written.trust }),
    ...(written.on_interrupt && { onInterrupt: written.on_interrupt }),
    critical: written.critical ?? false,
    ...(sandbox && { sandbox }),
    output: {
      maxChars: written.output?.max_chars ?? DEFAULT_MAX_CHARS,
      keep: written.output?.keep ?? 'both',
    },
  }
}

function toSandbox(written: Written['sandbox']): SandboxSettings | undefined {
  if (!written) return undefined
  const { network = false, write = ['CWD'], read = [] } = written === true ? {} : written
  return { network, write, read }
}

function unknownKeys(rest: Record<string, unknown>): string[] {
  const outer = Object.keys(rest).filter((key) => !TOOL_SETTING_KEYS.includes(key))
  const inner = [
    ...strangers(rest, 'output', ['max_chars', 'keep']),
    ...strangers(rest, 'sandbox', ['network', 'write', 'read']),
  ]
  return [...outer, ...inner].filter((key) => !key.startsWith('x-'))
}

function strangers(rest: Record<string, unknown>, key: string, known: readonly string[]): string[] {
  const value = rest[key]
  if (typeof value !== 'object' || value === null) return []
  return Object.keys(value)
    .filter((inner) => !known.includes(inner))
    .map((inner) => `${key}.${inner}`)
}

function leavesWorkspace(path: string): boolean {
  if (path.startsWith('/') || path.startsWith('${')) return false
  let depth = 0
  for (const part of path.split('/')) {
    if (part === '..') depth--
    else if (part !== '' && part !== '.') depth++
    if (depth < 0) return true
  }
  return false
}
