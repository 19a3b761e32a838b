import { basename, join } from 'node:path'
import {
  type CommandOutcome,
  commandEnvironment,
  createRedactor,
  type Redactor,
  runCommand,
} from '@delta/executor'
import { type Credentials, secretValues } from '@delta/executor/internal'
import type { ContextCommand } from './manifest.js'
import { type ContextVariables, replaceVariables } from './variables.js'

/** Options of a generator's or a token counter's run. */
export interface CommandOptions {
  variables: ContextVariables
  /** For generators and conditions. Its engine credentials reach a generator only by `pass_env`. */
  env: NodeJS.ProcessEnv
  /** Engine credentials that are not in `env`: for `pass_env`, and for generators that are agents. */
  credentials?: Credentials | undefined
  /** Ends a running command with `ERR_CONTEXT_ABORTED`. */
  signal?: AbortSignal | undefined
  /** Called when a generator or token counter has started. They run one after the other. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** The longest output that is taken for the file. */
export const MAX_STDOUT_BYTES = 16 * 1024 * 1024

/**
 * Runs a command of `context.yaml` in the work directory, with the variables of the generator protocol.
 *
 * @returns The outcome, whose output has no keys, and their redactor for files that the command wrote.
 */
export async function runContextCommand(
  { command, timeoutMs, passEnv }: ContextCommand,
  { variables, env: given, credentials, signal, onSpawn }: CommandOptions,
  stdin?: string,
): Promise<{ outcome: CommandOutcome; known: Redactor }> {
  const { AGENT_HOME: agentHome, CWD: cwd, RUN_DIR: runDirectory } = variables
  const argv = command.map((word) => replaceVariables(word, variables))
  const journalPath = join(runDirectory, 'journal.jsonl')
  const env = commandEnvironment(given, {
    run: { agentHome, cwd, runDirectory, runId: basename(runDirectory), journalPath },
    credentials,
    passEnv,
    command: argv, // an agent asks a model of its own
  })
  const known = createRedactor(secretValues(credentials, given))
  const outcome = await runCommand(argv, {
    cwd,
    env,
    keepBytes: MAX_STDOUT_BYTES,
    timeoutMs,
    stdin,
    signal,
    onSpawn,
    ...(known.active && { filter: () => known.filter() }),
  })
  return { outcome, known }
}

/** How a failed command ended, with the beginning and the end of its stderr. */
export function describeEnd(outcome: CommandOutcome, { timeoutMs }: ContextCommand): string {
  const text = outcome.stderr.text.trim()
  const complaint = text.length <= 600 ? text : `${text.slice(0, 300)}\n…\n${text.slice(-300)}`
  return `${ending(outcome, timeoutMs)}${complaint === '' ? '' : `:\n${complaint}`}`
}

function ending({ status, exitCode, signal, startError }: CommandOutcome, timeoutMs: number): string {
  switch (status) {
    case 'TIMEOUT':
      return `did not end within ${timeoutMs} ms (timeout_ms) and was stopped`
    case 'NOT_STARTED':
      return `could not be started: ${startError.message.replace(/\.$/, '')}`
    case 'ABORTED':
      return 'was stopped'
    case 'SIGNALED':
      return `was ended by ${signal}`
    default:
      return `ended with exit code ${exitCode}`
  }
}
