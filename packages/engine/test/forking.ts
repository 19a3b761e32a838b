import { join } from 'node:path'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { onTestFinished } from 'vitest'
import { continueRun, type ForkRunOptions, forkRun, type RunResult } from '../src/index.js'
import { calls, scene } from './run.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const TOOLS = [
  { name: 'note', shell: 'echo "$DELTA_ACTION_ID in $PWD" | tee -a noted.txt' },
  { name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' },
]
export const TURNS = [calls('note'), calls('note', 'shot'), calls('note'), { content: 'The end.' }]

/** A run that has ended, and a way to fork it. */
export async function original(
  options: Parameters<typeof scene>[0] = {},
  more: Parameters<Awaited<ReturnType<typeof scene>>['run']>[0] = {},
) {
  const play = await scene({ ...('baseUrl' in options ? {} : { turns: TURNS }), tools: TOOLS, ...options })
  const result = await play.run(more)
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const env = { PATH: process.env.PATH ?? '' }
  let count = 0
  const fork = async (given: Partial<ForkRunOptions> & { at: number }) =>
    forkRun({
      run: result.runDirectory,
      into: join(elsewhere.path, `fork-${++count}`),
      files: 'without',
      env,
      ...given,
    })
  const goOn = async (
    fork: { workDirectory: string; runId: string },
    given: Partial<Parameters<typeof continueRun>[0]> = {},
  ): Promise<RunResult> => continueRun({ ...fork, trusted: true, env, ...given })
  return { ...play, result, elsewhere, fork, goOn, env }
}

/** Every file of a directory with all that would show a change. */
export async function stateOf(directory: string): Promise<string> {
  const { stdout } = await runProcess(['find', directory, '-printf', '%p %y %m %s %T@ %C@ %i %n\\n'])
  return stdout.split('\n').sort().join('\n')
}
