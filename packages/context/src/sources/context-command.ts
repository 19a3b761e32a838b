import { basename, join } from 'node:path'
import {
  type CommandOutcome,
  commandEnvironment,
  createRedactor,
  credentialsOf,
  type Redactor,
  runCommand,
  startsDelta,
} from '@delta/executor'
import type { ContextCommand } from '../manifest/manifest.js'
import { type ContextVariables, replaceVariables } from '../manifest/variables.js'

/** What a generator or a token counter is run with. */
export interface CommandContext {
  variables: ContextVariables
  environment: NodeJS.ProcessEnv
  /** Engine credentials by name, besides those in `environment`. */
  credentials?: Readonly<Record<string, string>> | undefined
  signal?: AbortSignal | undefined
  onSpawn?: ((process: { pid: number }) => void) | undefined
}

/** Standard output may stand in for the file; no more than this of it. */
export const MOST_STDOUT_BYTES = 16 * 1024 * 1024

/**
 * Runs a command of `context.yaml` in the work directory, with the variables of the generator protocol. The keys it is
 * given are taken out of what it prints.
 */
export function runContextCommand(
  contextCommand: ContextCommand,
  context: CommandContext,
  stdin?: string,
): Promise<CommandOutcome> {
  const { command, timeoutMs } = contextCommand
  const { variables, environment, signal, onSpawn } = context
  const { AGENT_HOME: agentHome, CWD: workDirectory, RUN_DIR: runDirectory } = variables
  const argv = command.map((word) => replaceVariables(word, variables))
  const known = redactorFor(contextCommand, context)
  return runCommand(argv, {
    cwd: workDirectory,
    env: commandEnvironment(environment, {
      agentHome,
      workDirectory,
      runDirectory,
      runId: basename(runDirectory),
      journalPath: join(runDirectory, 'journal.jsonl'),
      extra: Object.fromEntries(passedTo(contextCommand, context)),
    }),
    keepBytes: MOST_STDOUT_BYTES,
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(signal === undefined ? {} : { signal }),
    ...(onSpawn === undefined ? {} : { onSpawn }),
    ...(known.active && { filter: () => known.filter() }),
  })
}

/** Takes out what the command was given and nobody else is to read. */
export function redactorFor(command: ContextCommand, context: CommandContext): Redactor {
  // an endpoint goes with a key, but is no secret
  return createRedactor(
    passedTo(command, context).flatMap(([name, value]) => (name.endsWith('_URL') ? [] : [value])),
  )
}

/** The engine's credentials that a command may see. */
function passedTo(
  { command, passEnv }: ContextCommand,
  { variables, environment, credentials }: CommandContext,
): [name: string, value: string][] {
  const argv = command.map((word) => replaceVariables(word, variables))
  const mayHaveKeys = startsDelta(argv, { cwd: variables.CWD, env: environment, trusted: environment })
  return Object.entries({ ...credentialsOf(environment), ...credentials }).filter(
    ([name]) => passEnv.includes(name) || mayHaveKeys, // a sub-agent asks a model of its own
  )
}

/** How a command ended that did not end well, with the beginning and the end of its complaint. */
export function describeEnd(outcome: CommandOutcome, { timeoutMs }: ContextCommand): string {
  return `${ending(outcome, timeoutMs)}${complaint(outcome)}`
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

function complaint({ stderr }: CommandOutcome): string {
  const text = stderr.text.trim()
  if (text === '') return ''
  return `:\n${text.length <= 600 ? text : `${text.slice(0, 300)}\n…\n${text.slice(-300)}`}`
}
