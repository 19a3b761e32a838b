import { replaceFile } from '@delta/durable'
import { type CommandOutcome, runCommand } from '@delta/executor'
import type { Driver, DriverCall, Report } from './drivers/driver.js'
import { systemCode } from './errors.js'
import { parseJobs } from './jobs.js'
import {
  commitState,
  isName,
  isSameState,
  largeNotice,
  rememberedVariables,
  type Secrets,
  type SessionState,
  type StoredState,
  type Variables,
} from './state.js'
import type { BackgroundJob, SessionMetadata, SessionPaths } from './store.js'

/** One command in one session, with everything that is known before it runs. */
export interface Execution {
  paths: SessionPaths
  metadata: SessionMetadata
  driver: Driver
  state: StoredState
  call: DriverCall
  caller: Variables
  secrets: Secrets
  notices: string[]
}

interface Kept {
  /** Where the session is now. */
  workDir: string
  /** Everything the session has running now, of this command and of earlier ones. */
  jobs: BackgroundJob[]
  /** True when this command left something running, which may still write. */
  leftRunning: boolean
  notKept: Report['notKept']
}

/** Stores the state a command left in its work file, or says in a notice why the state stays as it was. */
export async function keepState(execution: Execution, outcome: CommandOutcome): Promise<Kept> {
  const { metadata, driver, call, secrets, state, notices } = execution
  let report: Report | undefined
  let next: SessionState | undefined
  try {
    report = outcome.status === 'EXITED' ? driver.collect(call.work, secrets) : undefined
    if (report) next = await storeNext(execution, report)
    else notices.push(asBefore(whyUnfinished(outcome)))
  } catch (error) {
    if (!(error instanceof SyntaxError) && systemCode(error) === undefined) throw error
    notices.push(asBefore(`what it left could not be kept (${(error as Error).message})`))
  }
  notices.push(...largeNotice((next ?? state).variables))

  const ownJobs = parseJobs(report?.jobs ?? '', call)
  return {
    workDir: (next ?? state).workDirectory,
    jobs: [...metadata.background_jobs, ...ownJobs],
    leftRunning: ownJobs.length > 0,
    notKept: report?.notKept ?? [],
  }
}

function asBefore(why: string): string {
  return `The session is as it was before this command: ${why}.`
}

function whyUnfinished({ status, signal }: CommandOutcome): string {
  if (status === 'TIMEOUT') return 'it ran into the time limit'
  if (status === 'ABORTED') return 'it was stopped'
  return signal
    ? `it was killed by ${signal}`
    : 'its process ended without saving (as after exec or os._exit, with a trap on EXIT in sh, or on a full disk)'
}

/** The next state, once it is on the disk. */
async function storeNext(execution: Execution, report: Report): Promise<SessionState> {
  const { paths, state, caller, secrets, notices } = execution
  const { variables, withheld } = rememberedVariables(report.variables, caller, secrets)
  const hidden = [...report.withheld, ...withheld]
  if (hidden.length > 0) notices.push(`Not stored, because they hold a secret: ${hidden.sort().join(', ')}.`)
  const own = await nextOwnState(execution, report)
  const next: SessionState = {
    variables: new Map([...unnameable(state), ...variables]),
    workDirectory: report.workDirectory,
    ...(own && { own }),
  }
  if (!isSameState(state, next)) commitState(paths, next, state.number + 1)
  return next
}

/** Variables that a shell has no syntax for (`a.b`): it cannot have changed them, and does not report them. */
function unnameable({ variables }: SessionState): [string, Buffer][] {
  return [...variables].filter(([name]) => !isName(name) && !name.startsWith('BASH_FUNC_'))
}

/** The driver's new part of the state; the old part when the new one holds a secret or cannot be read back. */
async function nextOwnState(execution: Execution, { own: bytes }: Report): Promise<SessionState['own']> {
  const { metadata, driver, state, secrets, notices } = execution
  if (bytes === undefined || state.own?.bytes.equals(bytes)) return state.own
  if (secrets.isIn(bytes)) {
    notices.push('Variables and functions were not stored, because one of them holds a secret.')
    return state.own
  }
  const problem = await check(execution, bytes)
  if (problem === undefined) return { name: driver.stateFile, bytes }
  notices.push(
    `Variables and functions were not stored; ${metadata.command} could not read them back: ${problem}`,
  )
  return state.own
}

async function check({ paths, driver, call }: Execution, bytes: Buffer): Promise<string | undefined> {
  const path = `${call.work}.check`
  const argv = driver.check?.(call.program, path)
  if (!argv) return undefined
  replaceFile(path, bytes, { sync: false })
  const outcome = await runCommand(argv, { cwd: paths.directory, env: {}, timeoutMs: 10_000 })
  return outcome.exitCode === 0 ? undefined : outcome.stderr.text.trim() || outcome.status
}
