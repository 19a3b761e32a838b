import type { Policy } from '../policy.js'
import type { SecretTokens } from './secret-tokens.js'

/** Where and with what a prepared call runs. */
export interface RunContext {
  /** The workspace: where commands run, and what relative paths start at. */
  workDirectory: string
  /** The whole environment, as `commandEnvironment` makes it; the tool's own `env:` is laid over it. */
  environment: NodeJS.ProcessEnv
  /** Becomes `DELTA_ACTION_ID`, by which the process is found again after a crash. */
  actionId?: string | undefined
  /** `<directory>/<name>`: output goes to `<name>.stdout` and `.stderr` there. Without it nothing is kept. */
  outputPrefix?: string | undefined
  /** Leave the files of small outputs too, until the caller has stored the result: see `removeInlined`. */
  keepOutput?: boolean | undefined
  /** Ends the command, TERM first; the result is `INTERRUPTED`. */
  signal?: AbortSignal | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  /** `executeTool` asks it whether the call may run; `runPrepared` only looks at its `redact`. */
  policy?: Policy | undefined
  /** The engine's credentials by name: not for the tool unless it lists them, and redacted (but not a `…_URL`). */
  credentials?: Readonly<Record<string, string>> | undefined
  /** Values a person entrusted to the run. While there are any, no output touches the disk unredacted. */
  secrets?: readonly string[] | undefined
  /** Such values by the token that stands for them (`«secret:1-0»`): put into argv and stdin at the last moment. */
  secretTokens?: SecretTokens | undefined
  /** Tokens whose values are kept no longer. A call that names one is `BLOCKED`: the command would get the token itself. */
  erasedTokens?: ReadonlySet<string> | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}
