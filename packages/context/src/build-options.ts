import { isAbsolute } from 'node:path'
import { ContextError } from './errors.js'
import type { CountTokens } from './meter.js'
import type { JournalInput } from './sources.js'
import type { Calibration } from './tokens.js'
import { type ContextVariables, VARIABLE_NAMES } from './variables.js'

export interface BuildOptions {
  /** The run's journal, its events if they are at hand, or a follower (`followJournal`) for a run that goes on. */
  journalPath: JournalInput
  variables: ContextVariables
  /** For generators, and for conditions. Engine credentials in it reach no generator without `pass_env`. */
  environment: NodeJS.ProcessEnv
  /** Engine credentials by name that are not in `environment`; for `pass_env`, and for generators that are agents. */
  credentials?: Readonly<Record<string, string>>
  /** The iteration that is about to begin, from 1. */
  iteration: number
  /** Everything users said in this run. */
  task: string
  /** Makes estimates true to the provider; see `Calibration`. */
  calibration?: Calibration
  /** Counts instead of estimating; comes before `token_counter` of the manifest. */
  countTokens?: CountTokens
  signal?: AbortSignal
}

// For callers without a type checker: said here, before a missing option becomes the text "undefined" in a context.

/** @throws {ContextError} `ERR_CONTEXT_USAGE`, naming the first option that is missing. */
export function checkOptions(options: BuildOptions): void {
  const { journalPath, variables, environment, iteration, task }: Partial<BuildOptions> = options ?? {}
  const isJournal = typeof journalPath === 'string' || typeof journalPath === 'object'
  if (!isJournal || journalPath === null)
    refuse('journalPath', "a path, as in '.delta/<run>/journal.jsonl', or events")
  for (const name of VARIABLE_NAMES) {
    const value: unknown = variables?.[name as keyof typeof variables]
    if (typeof value !== 'string' || !isAbsolute(value)) refuse(`variables.${name}`, 'an absolute path')
  }
  if (typeof environment !== 'object' || environment === null)
    refuse('environment', 'process.env, or a part of it')
  if (!Number.isInteger(iteration)) refuse('iteration', 'a whole number, 1 for the first')
  if (typeof task !== 'string') refuse('task', 'a text: what users said in this run')
}

function refuse(option: string, wanted: string): never {
  throw new ContextError(
    'ERR_CONTEXT_USAGE',
    `buildContext: the option ${option} is missing, or not what it must be.\nPass ${wanted}.`,
  )
}
