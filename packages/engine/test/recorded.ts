import { join } from 'node:path'
import { readRequest } from '@delta/journal/runs'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished } from 'vitest'
import { type ReplayRunOptions, type RunResult, replayRun } from '../src/index.js'
import { calls, scene } from './run.js'

export const MARK = { name: 'mark', shell: 'date +%N >> marks.txt; pwd; date +%N' }
export const TURNS = [calls('mark'), calls('mark', 'mark'), { content: 'The end.' }]

/** A scene whose runs can be replayed. */
export async function recorded(
  options: Parameters<typeof scene>[0] = {},
  files: Record<string, string> = {},
) {
  const play = await scene(
    { tools: [MARK], ...('baseUrl' in options ? {} : { turns: TURNS }), ...options },
    files,
  )
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  let count = 0
  const replay = async (
    { runDirectory }: Pick<RunResult, 'runDirectory'>,
    more: Partial<ReplayRunOptions> = {},
  ) =>
    replayRun({
      run: runDirectory,
      into: join(elsewhere.path, `replay-${++count}`),
      agent: await play.load(),
      env: { PATH: process.env.PATH ?? '' },
      ...more,
    })
  return { ...play, elsewhere, replay }
}

/** The replay sent what the run sent, byte for byte, and ended as it did. */
export async function expectSame(
  original: RunResult,
  { result, directory }: Awaited<ReturnType<typeof replayRun>>,
) {
  expect([result.reason, result.status, result.reasonCode, result.answer]).toEqual([
    original.reason,
    original.status,
    original.reasonCode,
    original.answer,
  ])
  expect(result.iterations).toBe(original.iterations)
  for (let n = 1; n <= original.iterations; n++)
    expect(await readRequest(directory, n)).toBe(await readRequest(original.runDirectory, n))
}
