import { getEventListeners } from 'node:events'
import { ModelError } from '@delta/model'
import { waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import type { EngineEvent } from '../src/index.js'
import { calls, eventsOfType, hooks, scene } from './run.js'

const WORK = calls('work')
const SLEEPS_ONCE = 'echo started >> witness.txt; test -e began || { touch began; exec sleep 300; }'

/** Runs until there is a file `began` in the workspace, and is told to stop; then there is a file `stopped`. */
async function stopped(play: Awaited<ReturnType<typeof scene>>) {
  const controller = new AbortController()
  const running = play.run({ signal: controller.signal })
  await waitForFile(`${play.workspace.path}/began`)
  controller.abort('SIGINT')
  await play.workspace.write('stopped', '')
  const result = await running
  expect(result).toMatchObject({ status: 'INTERRUPTED', reason: 'SIGINT' })
  return result
}

test('a stop while pre_tool_execution decides rejects nothing: the call runs when the run continues', async () => {
  const play = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'echo ran' }],
    files: hooks({ pre_tool_execution: 'test -e began || { touch began; exec sleep 300; }' }),
  })
  expect(await eventsOfType(await stopped(play), 'ACTION_RESULT')).toEqual([])

  expect(await eventsOfType(await play.resume(), 'ACTION_RESULT')).toMatchObject([
    { status: 'SUCCESS', observation_content: 'ran\n' },
  ])
})

test('a stop counts between two calls that run nothing, whose patterns have a second together', async () => {
  const p = `${'a'.repeat(40)}b`
  const slow = { name: 'slow', arguments: { p } }
  const { run, resume } = await scene({
    turns: [{ tool_calls: [slow, slow, slow] }, { content: 'Done.' }],
    tools: [{ name: 'slow', exec: 'echo ${p}', parameters: [{ name: 'p', pattern: '(a+)+' }] }],
  })
  const stop = new AbortController()
  const onEvent = (event: EngineEvent) => {
    if (event.kind === 'journal' && event.event.type === 'ACTION_RESULT')
      setImmediate(() => stop.abort('SIGTERM')) // as a signal comes: in a turn of the event loop
  }
  const result = await run({ signal: stop.signal, onEvent })
  expect(result).toMatchObject({ status: 'INTERRUPTED', reason: 'SIGTERM' })
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { status: 'ERROR', observation_content: expect.stringContaining('took longer than 1000 ms') },
  ])

  expect(await eventsOfType(await resume(), 'ACTION_RESULT')).toMatchObject([
    { status: 'ERROR' },
    { status: 'ERROR', observation_content: expect.stringContaining('took longer than 1000 ms') },
    { status: 'ERROR', observation_content: expect.stringContaining('Send the call again') },
  ])
})

test('a stopped call is reported to the model as interrupted, and not made again', async () => {
  const play = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
  })
  await stopped(play)
  expect(await eventsOfType(await play.resume(), 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
  expect(await play.workspace.read('witness.txt')).toBe('started\n')
})

test.each([
  ['rerun', { status: 'COMPLETED' }, [1, 2]],
  ['ask', { status: 'WAITING_FOR_INPUT', question: { command: expect.stringContaining('witness') } }, [1]],
])(
  'with on_interrupt: %s a stopped call is settled when the run continues, as after a crash',
  async (on_interrupt, outcome, attempts) => {
    const play = await scene({
      turns: [WORK, { content: 'Done.' }],
      tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt }],
    })
    await stopped(play)
    const result = await play.resume()
    expect(result).toMatchObject(outcome)
    const requests = await eventsOfType(result, 'ACTION_REQUEST')
    expect(requests.map((event) => Object(event).attempt)).toEqual(attempts)
  },
)

test('post_tool_execution has time for the result of a command that ended as the stop came', async () => {
  const play = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'echo ran' }],
    files: hooks({
      post_tool_execution:
        'touch began; until test -e stopped; do :; done; read -r seen < "$DELTA_HOOK_IO_PATH/input/payload.dat"; echo "$seen" > seen.txt',
    }),
  })
  await stopped(play)
  expect(await play.workspace.read('seen.txt')).toBe('ran\n')
})

test('a hook that hangs does not delay a stop for long: it is ended, and the run is INTERRUPTED', async () => {
  const hangs = 'touch began; trap "" TERM; while :; do sleep 1; done'
  const play = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'echo ran' }],
    files: hooks({ post_tool_execution: hangs, on_run_end: hangs }),
  })
  const result = await stopped(play)
  expect(await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')).toMatchObject([
    { hook_name: 'post_tool_execution', status: 'FAILED' },
    { hook_name: 'on_run_end', status: 'FAILED' },
  ])
})

test('a call whose record cannot be written stops the parallel ones: no command runs once the run has ended', async () => {
  const play = await scene({
    turns: [calls('work', 'spoil', 'late'), { content: 'Done.' }],
    tools: [
      { name: 'work', shell: 'echo $$ > began; exec sleep 300' },
      {
        name: 'spoil',
        shell:
          'cd "$RUN_DIR/io"; for name in work spoil; do until grep -qs boot_id tool_executions/*_$name.json; do :; done; done; mv tool_executions elsewhere',
      },
      { name: 'late', shell: 'touch late' },
    ],
    agent: { tool_concurrency: 2 },
  })
  await expect(play.run()).rejects.toMatchObject({ code: 'ERR_JOURNAL_WRITE' })
  const pid = Number(await play.workspace.read('began'))
  expect(() => process.kill(pid, 0)).toThrow('ESRCH')

  const result = await play.resume()
  expect(result).toMatchObject({ status: 'COMPLETED' })
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { tool_name: 'work', status: 'INTERRUPTED' },
    { tool_name: 'spoil', status: 'INTERRUPTED' },
    { tool_name: 'late', status: 'SUCCESS' },
  ])
})

test('a request that fails because the run is stopped is not a failure of the run', async () => {
  const { run } = await scene({})
  const stop = new AbortController()
  const complete = async () => {
    stop.abort('SIGINT')
    throw new ModelError('ERR_MODEL_REQUEST', 'The connection was closed.')
  }
  const result = await run({ signal: stop.signal, model: { complete } })
  expect(result).toMatchObject({ status: 'INTERRUPTED', reason: 'SIGINT' })
  expect(await eventsOfType(result, 'ERROR')).toEqual([])
})

test('a stop during the report of a failed request does not wait for the next attempt', async () => {
  const { run } = await scene({})
  const stop = new AbortController()
  const complete = async () => {
    throw new ModelError('ERR_MODEL_RATE_LIMIT', 'Busy.', { retryable: true, retryAfterMs: 300_000 })
  }
  const onEvent = (event: EngineEvent) => {
    if (event.kind === 'journal' && event.event.type === 'ERROR') stop.abort('SIGINT')
  }
  const result = await run({ signal: stop.signal, model: { complete }, onEvent })
  expect(result).toMatchObject({ status: 'INTERRUPTED', reason: 'SIGINT' })
})

test('a run leaves no listeners on its signal, however many commands, hooks and questions it has', async () => {
  const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }
  const { run } = await scene({
    turns: [WORK, ...Array(12).fill(ask), { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'true' }],
    files: hooks({ pre_tool_execution: 'true', on_run_end: 'true' }),
  })
  const { signal } = new AbortController()
  const result = await run({ signal, ask: async () => 'Well.' })
  expect(result).toMatchObject({ status: 'COMPLETED', iterations: 14 })
  expect(getEventListeners(signal, 'abort')).toEqual([])
})
