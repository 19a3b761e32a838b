import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { isAlive, type TemporaryAgentOptions, waitForExit, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, control, eventsOfType, hooks, scene } from './run.js'

const WORK = calls('work')
const SLEEPS_ONCE = 'echo started | tee -a witness.txt; test -e done || { touch done; exec sleep 300; }'

/** Runs an agent in another process, and kills it with -9 as soon as there is a file `done` in the workspace. */
async function killed(options: TemporaryAgentOptions) {
  const play = await scene(options)
  await play.runAndKill(() => waitForFile(`${play.workspace.path}/done`))
  return play
}

test('the model reads that the outcome of an interrupted call is unknown, and what it had printed', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
  })
  const result = await resume()
  expect(result.answer).toContain('its outcome is unknown')
  expect(result.answer).toContain('started')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { status: 'INTERRUPTED', exit_code: null },
  ])
  expect(await workspace.read('witness.txt')).toBe('started\n')
  const records = await readdir(join(result.runDirectory, 'io', 'tool_executions'))
  expect(records).toEqual([expect.stringMatching(/_work\.json$/)]) // what it had printed is in the journal
})

test('a call that is rejected before its second attempt is still reported as interrupted', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'rerun' }],
    files: hooks({
      pre_tool_execution: `test ! -e done || ${control({ action: 'skip', observation: 'Not now.' })}`,
    }),
  })
  const result = await resume()
  expect(result.answer).toContain('Told: Not now.\nIt had begun before, and was interrupted')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
  expect(await workspace.read('witness.txt')).toBe('started\n')
})

test('a payment that was made when the engine was killed is made once: both attempts have one key', async () => {
  const keys: string[] = []
  const payments = new Map<string, string>()
  const server = createServer((asked, response) => {
    const key = String(asked.headers['idempotency-key'])
    keys.push(key)
    payments.set(key, payments.get(key) ?? `payment ${payments.size + 1}`)
    asked.resume().on('end', () => response.end(payments.get(key)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const pay = `
    const headers = { 'idempotency-key': process.env.DELTA_IDEMPOTENCY_KEY }
    const answer = await fetch('http://127.0.0.1:${port}', { method: 'POST', headers })
    console.log(await answer.text())
    const { existsSync, writeFileSync } = await import('node:fs')
    if (!existsSync('done')) { writeFileSync('done', ''); setTimeout(() => {}, 300_000) }`
  const { resume, run } = await killed({
    turns: [WORK, { content: '{{last_observation}}' }],
    tools: [{ name: 'work', exec: 'node ${AGENT_HOME}/pay.mjs', on_interrupt: 'rerun' }],
    files: { 'pay.mjs': pay },
  })
  const result = await resume()
  expect(result.answer).toBe('payment 1')
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toMatchObject([{ attempt: 1 }, { attempt: 2 }])
  expect(keys).toHaveLength(2)
  expect(keys[1]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(payments.size).toBe(1)

  expect((await run()).answer).toBe('payment 2') // the same call of another run
})

test('with on_interrupt: ask a person decides, and until then nothing runs again', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'ask' }],
  })
  const waiting = await resume()
  expect(waiting).toMatchObject({
    status: 'WAITING_FOR_INPUT',
    question: { command: expect.stringContaining('witness') },
  })
  expect(await workspace.read('witness.txt')).toBe('started\n')

  const requestId = waiting.question?.requestId ?? ''
  const result = await resume({ decision: { kind: 'approve', requestId } })
  expect(result.status).toBe('COMPLETED')
  expect(await workspace.read('witness.txt')).toBe('started\nstarted\n')
})

test.skipIf(process.platform !== 'linux')(
  'the rest of an interrupted hook is ended before it runs again; background processes of an ended hook keep running',
  async () => {
    const { resume, workspace } = await killed({
      turns: [{ content: 'Done.' }],
      files: hooks({
        on_iteration_start: 'test -e left || { sleep 300 & echo $! > left; }',
        pre_llm_request:
          "echo begun >> order; test -e done || { trap 'echo ended >> order; exit' TERM; touch done; sleep 300 & wait; }",
      }),
    })
    const notices: string[] = []
    const result = await resume({
      onEvent: (event) => event.kind === 'notice' && notices.push(event.message),
    })
    const left = Number(await workspace.read('left'))
    expect(isAlive(left)).toBe(true)
    process.kill(left)
    expect(result.status).toBe('COMPLETED')
    expect(await workspace.read('order')).toBe('begun\nended\nbegun\n')
    expect(notices).toContain('A hook was still running, and has been ended.')
  },
)

test('with on_interrupt: rerun the rest of the interrupted command is ended before its second attempt', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Done.' }],
    tools: [
      {
        name: 'work',
        shell:
          'if test -e pid; then case $(ps -o state= -p $(cat pid)) in Z*|"") ;; *) echo beside ;; esac; else echo $$ > pid; touch done; exec sleep 300; fi; true',
        on_interrupt: 'rerun',
      },
    ],
  })
  const result = await resume()
  const pid = Number(await workspace.read('pid'))
  await waitForExit(pid)
  expect(isAlive(pid)).toBe(false)
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toMatchObject([{ attempt: 1 }, { attempt: 2 }])
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { status: 'SUCCESS', observation_content: expect.not.stringContaining('beside') },
  ])
})

test('an interrupted command without its environment is found by the record of its process, and ended', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Done.' }],
    tools: [
      {
        name: 'work',
        shell:
          'echo $$ > pid; until grep -qs pid "$DELTA_RUN_DIR"/io/tool_executions/*; do :; done; exec env -i PATH="$PATH" sh -c "touch done; exec sleep 300"',
      },
    ],
  })
  const pid = Number(await workspace.read('pid'))
  onTestFinished(() => void (isAlive(pid) && process.kill(pid)))
  const notices: string[] = []
  await resume({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
  expect(isAlive(pid)).toBe(false)
  expect(notices).toContain('The command of "work" was still running, and has been ended.')
})

test('after an interrupted call the other calls of its response run, up to max_tool_calls', async () => {
  const { resume, workspace } = await killed({
    turns: [calls('work', 'after', 'more'), { content: 'Done.' }],
    tools: [
      { name: 'work', shell: SLEEPS_ONCE },
      { name: 'after', shell: 'echo ran' },
      { name: 'more', shell: 'touch more' },
    ],
    agent: { max_tool_calls: 2 },
  })
  expect(await eventsOfType(await resume(), 'ACTION_RESULT')).toMatchObject([
    { tool_name: 'work', status: 'INTERRUPTED' },
    { tool_name: 'after', status: 'SUCCESS' },
    {
      tool_name: 'more',
      status: 'BLOCKED',
      observation_content: expect.stringMatching(/^Not run: this response has 3 tool calls, and at most 2 /),
    },
  ])
  expect(await workspace.has('more')).toBe(false)
})

test('with on_interrupt: ask no question is asked about a call that would be rejected by now', async () => {
  const tool = { name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'ask' }
  const { agentFiles, resume } = await killed({
    turns: [WORK, { content: 'Done.' }],
    tools: [tool],
  })
  const agent = JSON.parse(await agentFiles.read('agent.yaml'))
  const changed = { ...agent, tools: [{ ...tool, shell: `${SLEEPS_ONCE}; echo \${needed}` }] }
  await agentFiles.write('agent.yaml', JSON.stringify(changed))
  const result = await resume()
  expect(result.status).toBe('COMPLETED')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
})

test('a hook that stops the run after an interrupted iteration stops it before the next request', async () => {
  const stop = control({ action: 'stop', reason: 'enough' })
  const { resume } = await killed({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
    files: hooks({ on_iteration_end: stop }),
  })
  const result = await resume()
  expect(result).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('enough') })
  expect(await eventsOfType(result, 'THOUGHT')).toHaveLength(1)
})

test('a killed run still ends at its limit of iterations', async () => {
  const { resume } = await killed({
    turns: Array(5).fill(WORK),
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
    agent: { max_iterations: 2 },
  })
  expect(await resume()).toMatchObject({ status: 'FAILED', reason: 'MAX_ITERATIONS', iterations: 2 })
})

test('while one of several interrupted calls waits for a person, no process of the others is left', async () => {
  const { resume, workspace } = await killed({
    turns: [calls('asked', 'beside')],
    tools: [
      { name: 'asked', shell: 'sleep 300', on_interrupt: 'ask' },
      { name: 'beside', shell: 'echo $$ > pid; touch done; exec sleep 300' },
    ],
    agent: { tool_concurrency: 2 },
  })
  const pid = Number(await workspace.read('pid'))
  expect(isAlive(pid)).toBe(true)
  expect(await resume()).toMatchObject({ status: 'WAITING_FOR_INPUT' })
  expect(isAlive(pid)).toBe(false)
})

test('interrupted parallel calls are ended in parallel, each with its own grace time', async () => {
  const untilTheOther = (own: string, other: string) =>
    `trap 'touch told-${own}; until test -e told-${other}; do sleep 0.01; done; touch met-${own}; exit' TERM
     touch ${own}; test -e ${other} && touch done; while :; do sleep 0.01; done`
  const { resume, workspace } = await killed({
    turns: [calls('one', 'two'), { content: 'So.' }],
    tools: [
      { name: 'one', shell: untilTheOther('one', 'two') },
      { name: 'two', shell: `until test -e one; do sleep 0.01; done; ${untilTheOther('two', 'one')}` },
    ],
    agent: { tool_concurrency: 2 },
  })
  expect(await resume()).toMatchObject({ status: 'COMPLETED' })
  expect([await workspace.has('met-one'), await workspace.has('met-two')]).toEqual([true, true])
})

test('a critical tool that failed ends the run, also when the engine was killed before it recorded that', async () => {
  const { resume, workspace } = await killed({
    turns: [calls('check', 'deploy'), { content: 'Told.' }],
    tools: [
      { name: 'check', exec: 'false', critical: true },
      { name: 'deploy', shell: 'touch deployed' },
    ],
    files: hooks({ post_tool_execution: 'test -e done || { touch done; exec sleep 300; }' }),
  })
  expect(await resume()).toMatchObject({
    status: 'FAILED',
    reason: 'critical tool "check" ended with FAILED',
  })
  expect(await workspace.has('deployed')).toBe(false)
  expect(await resume({ message: 'Leave it.' })).toMatchObject({ status: 'COMPLETED', answer: 'Told.' })
  expect(await workspace.has('deployed')).toBe(false)
})

test('the model never reads a result before its post_tool_execution hook, also when the engine was killed as that ran', async () => {
  const { resume, workspace } = await killed({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', exec: 'echo private' }],
    files: hooks({
      post_tool_execution:
        'test -e done || { touch done; exec sleep 300; }; printf public > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"',
      on_iteration_end: 'echo "$ITERATION_COUNT" >> ended.txt',
    }),
  })
  const result = await resume()
  expect(result.answer).toBe('Told: public')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ observation_content: 'private\n' }])
  expect(await workspace.read('ended.txt')).toBe('1\n2\n')
})

test('an iteration ends with its on_iteration_end hook, also when the engine was killed as that ran', async () => {
  const { resume, workspace } = await killed({
    turns: [{ content: 'Done.' }],
    files: hooks({
      on_iteration_end:
        'test -e done || { touch done; exec sleep 300; }; echo "$ITERATION_COUNT" >> ended.txt',
    }),
  })
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  expect(await workspace.read('ended.txt')).toBe('1\n')
  expect(await resume({ message: 'More.' })).toMatchObject({ status: 'FAILED' }) // the script has ended
  expect(await workspace.read('ended.txt')).toBe('1\n')
})

test('a hook stops a run, also when the engine was killed before it recorded that; a message continues it', async () => {
  const stop = `test -e done || ${control({ action: 'stop', reason: 'enough' })}`
  for (const moment of ['on_iteration_start', 'pre_tool_execution', 'post_tool_execution']) {
    const { resume } = await killed({
      turns: [WORK, { content: 'Done.' }],
      tools: [{ name: 'work', exec: 'true' }],
      files: hooks({ [moment]: stop, on_run_end: 'test -e done || { touch done; exec sleep 300; }' }),
    })
    expect(await resume()).toMatchObject({ status: 'FAILED', reason: `${moment} hook: enough` })
    expect(await resume({ message: 'Go on.' })).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  }
})

test('a critical tool that was rejected does not end the run, also when the engine was killed after that', async () => {
  const { resume } = await killed({
    turns: [{ tool_calls: [{ name: 'check', arguments: { to: 'nowhere' } }] }, { content: 'I will ask.' }],
    tools: [{ name: 'check', exec: 'true', critical: true }],
    files: hooks({ on_iteration_end: 'test -e done || { touch done; exec sleep 300; }' }),
  })
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'I will ask.' })
})

test('calls after an interrupted critical tool are not run: the model decides again', async () => {
  const { resume, workspace } = await killed({
    turns: [calls('check', 'deploy'), { content: 'I will look first.' }],
    tools: [
      { name: 'check', shell: 'touch done; exec sleep 300', critical: true },
      { name: 'deploy', shell: 'touch deployed' },
    ],
  })
  const result = await resume()
  expect(result).toMatchObject({ status: 'COMPLETED', answer: 'I will look first.' })
  expect(await workspace.has('deployed')).toBe(false)
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { tool_name: 'check', status: 'INTERRUPTED' },
    {
      tool_name: 'deploy',
      status: 'BLOCKED',
      observation_content:
        'Not run: "check", a critical tool, was not run, or its outcome is unknown: see its result, then decide how to go on.',
    },
  ])
})
