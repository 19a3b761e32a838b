import type { Problem } from '@delta/tool-expander'
import { type Effects, effectsSchema, type TrustLevel } from '../policy/effects.js'
import type { Keep } from '../process/captured.js'
import { settingsSchema, TOOL_SETTING_KEYS, type WrittenSettings } from './settings-schema.js'

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
  /** `maxChars` and `keep`: what the model reads. `maxBytes`: what the command may print, or it is ended; 0: no limit. */
  output: { maxChars: number; keep: Keep; maxBytes: number }
}

/** Paths are absolute, relative to the workspace, or begin with `CWD`, `AGENT_HOME` or `~`. */
export interface SandboxSettings {
  /** Default false. */
  network: boolean
  /** What may be written. Default: the workspace; an empty list: nothing. */
  write: readonly string[]
  /** What is there to read of `/tmp`, `/run` and the home directory, which are empty inside but for the workspace and the agent. */
  read: readonly string[]
}

/** How a tool runs, or every problem; see `parseToolSettings`. */
export type ParsedSettings =
  | { ok: true; settings: ToolSettings; unknownKeys: string[] }
  | { ok: false; problems: Problem[]; unknownKeys: string[] }

/** How a tool runs that says nothing about it. */
export const DEFAULT_SETTINGS: ToolSettings = {
  env: {},
  passEnv: [],
  critical: false,
  output: { maxChars: 30_000, keep: 'both', maxBytes: 1_000_000_000 },
}

/**
 * Reads how a tool runs from the keys the tool's syntax left over.
 *
 * @returns every problem, each with its path (`output.keep`); or the settings; and both ways the keys
 *   nobody knows (`x-` keys are the author's own and not among them).
 */
export function parseToolSettings(rest: Record<string, unknown>): ParsedSettings {
  // Most tools say nothing of how they run.
  if (Object.keys(rest).length === 0) return { ok: true, settings: toSettings({}), unknownKeys: [] }
  const parsed = settingsSchema.safeParse(rest)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    return { ok: false, problems, unknownKeys: unknownKeys(rest) }
  }
  return { ok: true, settings: toSettings(parsed.data), unknownKeys: unknownKeys(rest) }
}

function toSettings(written: WrittenSettings): ToolSettings {
  const sandbox = toSandbox(written.sandbox)
  return {
    ...(written.display !== undefined && { display: written.display }),
    ...(written.timeout_ms !== undefined && { timeoutMs: written.timeout_ms }),
    ...(written.cwd !== undefined && { cwd: written.cwd }),
    env: written.env ?? DEFAULT_SETTINGS.env,
    passEnv: written.pass_env ?? DEFAULT_SETTINGS.passEnv,
    ...(written.effects && { effects: written.effects }),
    ...(written.trust && { trust: written.trust }),
    ...(written.on_interrupt && { onInterrupt: written.on_interrupt }),
    critical: written.critical ?? DEFAULT_SETTINGS.critical,
    ...(sandbox && { sandbox }),
    output: {
      maxChars: written.output?.max_chars ?? DEFAULT_SETTINGS.output.maxChars,
      keep: written.output?.keep ?? DEFAULT_SETTINGS.output.keep,
      maxBytes: written.output?.max_bytes ?? DEFAULT_SETTINGS.output.maxBytes,
    },
  }
}

function toSandbox(written: WrittenSettings['sandbox']): SandboxSettings | undefined {
  if (!written) return undefined
  const { network = false, write = ['CWD'], read = [] } = written === true ? {} : written
  return { network, write, read }
}

function unknownKeys(rest: Record<string, unknown>): string[] {
  return [
    ...strangersIn(rest, TOOL_SETTING_KEYS),
    ...strangers(rest, 'output', ['max_chars', 'keep', 'max_bytes']),
    ...strangers(rest, 'sandbox', ['network', 'write', 'read']),
    ...strangers(rest, 'effects', Object.keys(effectsSchema.shape)),
  ]
}

function strangers(rest: Record<string, unknown>, key: string, known: readonly string[]): string[] {
  const value = rest[key]
  if (typeof value !== 'object' || value === null) return []
  return strangersIn(value, known).map((inner) => `${key}.${inner}`)
}

/** What begins with `x-` is the author's own. */
function strangersIn(value: object, known: readonly string[]): string[] {
  return Object.keys(value).filter((key) => !known.includes(key) && !key.startsWith('x-'))
}
