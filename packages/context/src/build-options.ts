import { isAbsolute } from 'node:path'
import type { CountTokens } from './budget/meter.js'
import type { Calibration } from './budget/tokens.js'
import { ContextError } from './errors.js'
import type { ContextVariables } from './manifest/variables.js'
import type { JournalInput } from './sources/sources.js'

/** What a context is built from besides its manifest. */
export interface BuildOptions {
  /** The run's journal, its events if they are at hand, or what `followEvents` made of them for a run that goes on. */
  journalPath: JournalInput
  variables: ContextVariables
  /** For generators, and for conditions. Engine credentials in it reach no generator without `pass_env`. */
  environment: NodeJS.ProcessEnv
  /** Engine credentials by name that are not in `environment`; for `pass_env`, and for generators that are agents. */
  credentials?: Readonly<Record<string, string>> | undefined
  /** The iteration that is about to begin, from 1. */
  iteration: number
  /** Everything users said in this run. */
  task: string
  /** Makes estimates true to the provider; see `Calibration`. */
  calibration?: Calibration | undefined
  /** Counts instead of estimating; comes before `token_counter` of the manifest. */
  countTokens?: CountTokens | undefined
  /** Ends what runs: `ERR_CONTEXT_ABORTED`. */
  signal?: AbortSignal | undefined
  /** Called as soon as a generator or token counter runs; never two of them at once. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** @throws {ContextError} `ERR_CONTEXT_USAGE`: a relative path would be read, or written, beside the caller. */
export function checkVariables(variables: ContextVariables): void {
  for (const [name, path] of Object.entries(variables)) {
    if (isAbsolute(path)) continue
    throw new ContextError('ERR_CONTEXT_USAGE', `The variable ${name} must be an absolute path, not ${path}.`)
  }
}
