import { join } from 'node:path'
import { type CommandOutcome, runCommand } from '@delta/executor/command'
import { rememberedVariables, secretValues, type Variables } from './environment.js'
import type { Execution } from './execution.js'
import { parseJobs } from './jobs.js'
import type { BackgroundJob } from './metadata.js'
import { parseReport, type Report } from './report.js'
import type { ExecResult } from './result.js'
import { commitState, isSameState, readOptional, type SessionState } from './state.js'

export interface Collected {
  /** Everything the session has running now, of this command and of earlier ones. */
  jobs: BackgroundJob[]
  /** True when this command left something running, which may still write. */
  leftRunning: boolean
  result: Pick<ExecResult, 'work_dir' | 'background_jobs' | 'not_kept' | 'notices'>
}

/** Takes over what a command left in the work directory, or says why the state stays as it was. */
export async function collectState(execution: Execution, outcome: CommandOutcome): Promise<Collected> {
  const { paths, metadata, state, notices } = execution
  const report = outcome.status === 'EXITED' ? readReport(execution) : undefined
  const next = report && (await nextState(execution, report))
  if (next && !isSameState(state, next)) commitState(paths, next, state.number + 1)
  if (!next) notices.push(`The session is as it was before this command: ${whyUnfinished(outcome)}.`)

  const ownJobs = parseJobs(report?.jobs ?? '')
  const jobs = [...metadata.background_jobs, ...ownJobs]
  const lost = parseLost(report?.lost ?? '')
  return {
    jobs,
    leftRunning: ownJobs.length > 0,
    result: {
      work_dir: next?.workDirectory ?? state.workDirectory,
      ...(jobs.length > 0 && { background_jobs: jobs.map(({ pid, command }) => ({ pid, command })) }),
      ...(lost.length > 0 && { not_kept: lost }),
      ...(notices.length > 0 && { notices }),
    },
  }
}

function whyUnfinished({ status, signal }: CommandOutcome): string {
  if (status === 'TIMEOUT') return 'it ran into the time limit'
  if (status === 'ABORTED') return 'it was stopped'
  return signal ? `it was killed by ${signal}` : 'it replaced or left its shell without ending it'
}

function readReport({ work }: Execution): Report | undefined {
  const bytes = readOptional(join(work, 'report'))
  return bytes && parseReport(bytes)
}

async function nextState(
  execution: Execution,
  { variables: final, workDirectory }: Report,
): Promise<SessionState> {
  const { metadata, caller, notices } = execution
  const { variables, withheld } = rememberedVariables(final, caller, metadata.secret_names)
  if (withheld.length > 0) notices.push(`Not stored, because they hold a secret: ${withheld.join(', ')}.`)
  const own = await nextOwnState(execution)
  return { variables: new Map([...unnameable(execution), ...variables]), workDirectory, ...(own && { own }) }
}

/** Names a shell cannot speak of, and so cannot have changed; it does not report them either. */
function unnameable({ state }: Execution): Variables {
  return new Map(
    [...state.variables].filter(
      ([name]) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !name.startsWith('BASH_FUNC_'),
    ),
  )
}

/** The driver's new file, if nothing speaks against it; otherwise the one there is. */
async function nextOwnState(execution: Execution): Promise<SessionState['own']> {
  const { paths, metadata, driver, state, work, caller, notices } = execution
  const path = join(work, 'state')
  const bytes = readOptional(path)
  if (bytes === undefined) return state.own
  if (state.own?.bytes.equals(bytes)) return state.own
  if (secretValues(caller, metadata.secret_names).some((secret) => bytes.includes(secret))) {
    notices.push('Variables and functions were not stored, because one of them holds a secret.')
    return state.own
  }
  const check = driver.check?.(metadata.program, path)
  const checked = check && (await runCommand(check, { cwd: paths.directory, env: {}, timeoutMs: 10_000 }))
  if (checked && checked.exitCode !== 0) {
    notices.push(
      `Variables and functions were not stored; they could not be read back: ${checked.stderr.text.trim()}`,
    )
    return state.own
  }
  return { name: driver.stateFile, bytes }
}

function parseLost(text: string): { name: string; reason: string }[] {
  return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
