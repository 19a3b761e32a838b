import { isAbsolute } from 'node:path'
import type { CountTokens } from './budget/meter.js'
import type { Calibration } from './budget/tokens.js'
import { type ContextVariables, VARIABLE_NAMES } from './manifest/variables.js'
import type { JournalInput } from './sources/sources.js'
import { isEvents, isObject, requireThat } from './usage.js'

/** What a context is built from besides its manifest. */
export interface BuildOptions {
  /** The run's journal, its events if they are at hand, or a follower (`followJournal`) for a run that goes on. */
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

/** @throws {ContextError} `ERR_CONTEXT_USAGE`, naming the first option that is missing. */
export function checkOptions(options: BuildOptions): void {
  const of = 'buildContext: the option'
  const { journalPath, variables, environment, iteration, task, ...others }: Partial<BuildOptions> =
    options ?? {}
  requireThat(
    isJournal(journalPath),
    `${of} journalPath`,
    "a path, as in '.delta/<run>/journal.jsonl', or events",
  )
  for (const name of VARIABLE_NAMES) {
    const value: unknown = variables?.[name as keyof typeof variables]
    const isDirectory = typeof value === 'string' && isAbsolute(value)
    requireThat(isDirectory, `${of} variables.${name}`, 'an absolute path')
  }
  requireThat(isObject(environment), `${of} environment`, 'process.env, or a part of it')
  requireThat(Number.isInteger(iteration), `${of} iteration`, 'a whole number, 1 for the first')
  requireThat(typeof task === 'string', `${of} task`, 'a text: what users said in this run')
  const { calibration, countTokens, onSpawn } = others
  requireThat(
    calibration === undefined || isObject(calibration),
    `${of} calibration`,
    '{ tokens, bytes }, or nothing',
  )
  for (const [name, value] of Object.entries({ countTokens, onSpawn })) {
    const isRight = value === undefined || typeof value === 'function'
    requireThat(isRight, `${of} ${name}`, 'a function, or nothing')
  }
}

function isJournal(journal: unknown): boolean {
  if (typeof journal === 'string') return !journal.includes('\0')
  return (
    isEvents(journal) || (isObject(journal) && typeof (journal as { turns?: unknown }).turns === 'function')
  )
}

export function checkManifest(manifest: unknown): void {
  const { sources } = Object(manifest) as { sources?: unknown }
  const isManifest = Array.isArray(sources) && sources.every(isObject)
  requireThat(isManifest, 'buildContext: the manifest', 'the manifest that parseManifest gave')
}
