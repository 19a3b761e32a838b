import type { Problem } from '@delta/tool-expander'
import type { Keep } from '../channels.js'
import { fitShape, formatPath } from '../fit-shape.js'
import type { Effects, TrustLevel } from '../policy.js'
import { SYNTAX_KEYS } from './known-keys.js'
import { settingsSchema, type WrittenSettings } from './settings-schema.js'

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

/** How a tool runs, or every problem; see `parseToolSettings`. Keys nobody knows are warnings, which come with both. */
export type ParsedSettings =
  | { ok: true; settings: ToolSettings; warnings: Problem[] }
  | { ok: false; problems: Problem[]; warnings: Problem[] }

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
 * @returns every problem, each with its path (`output.keep`); or the settings. Keys that begin with `x-` are the author's own.
 */
export function parseToolSettings(rest: Record<string, unknown>): ParsedSettings {
  // Most tools say nothing of how they run.
  if (Object.keys(rest).length === 0) return { ok: true, settings: toSettings({}), warnings: [] }
  const { value, problems } = fitShape(settingsSchema, rest, SYNTAX_KEYS)
  const found = problems.map((problem) => ({ ...problem, path: formatPath(problem.path) }))
  const warnings = found.filter(({ unknownKey }) => unknownKey)
  if (value) return { ok: true, settings: toSettings(value), warnings }
  return { ok: false, problems: found.filter(({ unknownKey }) => !unknownKey), warnings }
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
