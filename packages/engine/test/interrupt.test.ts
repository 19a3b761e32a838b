import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, waitForExit, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { eventsOfType, hooks, scene } from './run.js'

const WORK = { tool_calls: [{ name: 'work', arguments: {} }] }
const SLEEPS_ONCE = 'echo started | tee -a witness.txt; test -e done || { touch done; exec sleep 300; }'

function started(path: string): () => Promise<unknown> {
  return () => waitForFile(`${path}/done`)
}

test('the model is told that the outcome of an interrupted call is unknown, and what it had printed', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
  })
  await runAndKill(started(workspace.path))
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

test('a call beyond max_tool_calls is not run by the next engine either', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [{ tool_calls: [...WORK.tool_calls, { name: 'more', arguments: {} }] }, { content: 'Done.' }],
    tools: [
      { name: 'work', shell: SLEEPS_ONCE },
      { name: 'more', shell: 'touch more' },
    ],
    agent: { max_tool_calls: 1 },
  })
  await runAndKill(started(workspace.path))
  expect(await eventsOfType(await resume(), 'ACTION_RESULT')).toMatchObject([
    { tool_name: 'work', status: 'INTERRUPTED' },
    {
      tool_name: 'more',
      status: 'BLOCKED',
      observation_content: expect.stringMatching(/^Not run: this response has 2 tool calls, and at most 1 /),
    },
  ])
  expect(await workspace.has('more')).toBe(false)
})

test('a tool with on_interrupt: rerun is run again, and the journal shows the second attempt', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'rerun' }],
  })
  await runAndKill(started(workspace.path))
  const result = await resume()
  expect(await eventsOfType(result, 'ACTION_REQUEST')).toMatchObject([{ attempt: 1 }, { attempt: 2 }])
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'SUCCESS' }])
  expect(await workspace.read('witness.txt')).toBe('started\nstarted\n')
})

test('a call that is refused when it is to be run again is not said to have never run', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'rerun' }],
    files: hooks({
      pre_tool_execution: `test ! -e done || echo '{"action":"skip","observation":"Not now."}' > "$DELTA_HOOK_IO_PATH/output/control.json"`,
    }),
  })
  await runAndKill(started(workspace.path))
  const result = await resume()
  expect(result.answer).toContain('Told: Not now.\nIt had begun before, and was interrupted')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
  expect(await workspace.read('witness.txt')).toBe('started\n')
})

test('with on_interrupt: ask a person decides, and until then nothing is run again', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'ask' }],
  })
  await runAndKill(started(workspace.path))
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
  'what is left of an interrupted hook is ended before it runs again; what an ended one left running is not',
  async () => {
    const { runAndKill, resume, workspace } = await scene({
      turns: [{ content: 'Done.' }],
      files: hooks({
        on_iteration_start: 'test -e left || { sleep 300 & echo $! > left; }',
        pre_llm_request:
          "echo begun >> order; test -e done || { trap 'echo ended >> order; exit' TERM; touch done; sleep 300 & wait; }",
      }),
    })
    await runAndKill(started(workspace.path))
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

test('what is left of the interrupted command is ended before its second attempt begins', async () => {
  const { runAndKill, resume, workspace } = await scene({
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
  await runAndKill(started(workspace.path))
  const result = await resume()
  const pid = Number(await workspace.read('pid'))
  await waitForExit(pid)
  expect(isAlive(pid)).toBe(false)
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { observation_content: expect.not.stringContaining('beside') },
  ])
})

test('an interrupted command that has dropped its environment is found by the record of its process, and ended', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [
      {
        name: 'work',
        shell:
          'echo $$ > pid; until grep -qs pid "$DELTA_RUN_DIR"/io/tool_executions/*; do :; done; exec env -i PATH="$PATH" sh -c "touch done; exec sleep 300"',
      },
    ],
  })
  await runAndKill(started(workspace.path))
  const pid = Number(await workspace.read('pid'))
  onTestFinished(() => void (isAlive(pid) && process.kill(pid)))
  const notices: string[] = []
  await resume({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
  expect(isAlive(pid)).toBe(false)
  expect(notices).toContain('The command of "work" was still running, and has been ended.')
})

test('calls of the same thought that had not begun are run after the interrupted one is settled', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [{ tool_calls: [...WORK.tool_calls, { name: 'after', arguments: {} }] }, { content: 'Done.' }],
    tools: [
      { name: 'work', shell: SLEEPS_ONCE },
      { name: 'after', shell: 'echo ran' },
    ],
  })
  await runAndKill(started(workspace.path))
  const result = await resume()
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([
    { tool_name: 'work', status: 'INTERRUPTED' },
    { tool_name: 'after', status: 'SUCCESS' },
  ])
})

test('with on_interrupt: ask nobody is asked about a call that would be refused by now', async () => {
  const tool = { name: 'work', shell: SLEEPS_ONCE, on_interrupt: 'ask' }
  const { agentFiles, runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [tool],
  })
  await runAndKill(started(workspace.path))
  const agent = JSON.parse(await agentFiles.read('agent.yaml'))
  const changed = { ...agent, tools: [{ ...tool, shell: `${SLEEPS_ONCE}; echo \${needed}` }] }
  await agentFiles.write('agent.yaml', JSON.stringify(changed))
  const result = await resume()
  expect(result.status).toBe('COMPLETED')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
})

test('a hook that stops the run behind an interrupted cycle stops it before the model is asked again', async () => {
  const stop = `echo '{"action":"stop","reason":"enough"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
    files: hooks({ on_iteration_end: stop }),
  })
  await runAndKill(started(workspace.path))
  const result = await resume()
  expect(result).toMatchObject({ status: 'FAILED', reason: expect.stringContaining('enough') })
  expect(await eventsOfType(result, 'THOUGHT')).toHaveLength(1)
})

test('a run killed again and again still ends at its limit of cycles', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: Array(5).fill(WORK),
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
    agent: { max_iterations: 2 },
  })
  await runAndKill(started(workspace.path))
  expect(await resume()).toMatchObject({ status: 'FAILED', reason: 'MAX_ITERATIONS', iterations: 2 })
})

test('continue says which files of the agent have changed, and journals their names', async () => {
  const { runAndKill, resume, workspace, agentFiles } = await scene({
    turns: [WORK, { content: 'Done.' }],
    tools: [{ name: 'work', shell: SLEEPS_ONCE }],
  })
  await runAndKill(started(workspace.path))
  await agentFiles.write('system_prompt.md', 'Another prompt.\n')
  const notices: string[] = []
  const result = await resume({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
  expect(notices.join('\n')).toContain('system_prompt.md')
  expect((await eventsOfType(result, 'ENGINE_START'))[1]).toMatchObject({
    resumed: true,
    changed_files: ['system_prompt.md'],
  })
})

test('continue says it of a file that is gone, too: without hooks.yaml there is no guard', async () => {
  const { run, resume, agentFiles } = await scene({
    turns: [{ content: 'Done.' }, { content: 'Done again.' }, { content: 'And again.' }],
    files: hooks({ pre_tool_execution: 'true' }),
  })
  await run()
  await rm(join(agentFiles.path, 'hooks.yaml'))
  const notices: string[] = []
  const result = await resume({
    message: 'More',
    onEvent: (event) => event.kind === 'notice' && notices.push(event.message),
  })
  expect(notices).toEqual(['Changed since this run was last started: hooks.yaml'])
  await resume({ message: 'More' })
  expect((await eventsOfType(result, 'ENGINE_START')).map((start) => Object(start).changed_files)).toEqual([
    undefined,
    ['hooks.yaml'],
    undefined,
  ])
})

test('a copy of the agent that could not be finished is none: nothing is said to have changed since', async () => {
  const { run, resume, load } = await scene({ turns: [{ content: 'Done.' }] })
  const agent = await load()
  const files = { 'no\0name': '', ...agent.snapshot.files } // it cannot be written, and so the others are not
  await expect(run({ agent: { ...agent, snapshot: { ...agent.snapshot, files } } })).rejects.toThrow()
  const resumed = await resume()
  const [, start] = await eventsOfType(resumed, 'ENGINE_START')
  expect(start).toMatchObject({ resumed: true })
  expect(start).not.toHaveProperty('changed_files')
})

test('where the agent has imports, continue does not claim that agent.yaml itself has changed', async () => {
  const tools = (text: string) =>
    `tools:\n  - { name: work, description: ${text}, shell: '${SLEEPS_ONCE}' }\n`
  const { runAndKill, resume, workspace, agentFiles } = await scene({
    turns: [WORK, { content: 'Done.' }],
    agent: { imports: ['tools.yaml'] },
    files: { 'tools.yaml': tools('Works.') },
  })
  await runAndKill(started(workspace.path))
  await agentFiles.write('tools.yaml', tools('Still works.'))
  const notices: string[] = []
  await resume({ onEvent: (event) => event.kind === 'notice' && notices.push(event.message) })
  expect(notices).toContain(
    'Changed since this run was last started: agent.yaml, what it imports, or what is set for the run',
  )
})

test('whatever one of several interrupted calls waits for, nothing of the others is left running', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'asked', arguments: {} },
          { name: 'beside', arguments: {} },
        ],
      },
    ],
    tools: [
      { name: 'asked', shell: 'sleep 300', on_interrupt: 'ask' },
      { name: 'beside', shell: 'echo $$ > pid; touch done; exec sleep 300' },
    ],
    agent: { tool_concurrency: 2 },
  })
  await runAndKill(started(workspace.path))
  const pid = Number(await workspace.read('pid'))
  expect(isAlive(pid)).toBe(true)
  expect(await resume()).toMatchObject({ status: 'WAITING_FOR_INPUT' })
  expect(isAlive(pid)).toBe(false)
})

test('interrupted calls that ran side by side are told to end side by side, each with its own time to do so', async () => {
  const untilTheOther = (own: string, other: string) =>
    `trap 'touch told-${own}; until test -e told-${other}; do sleep 0.01; done; touch met-${own}; exit' TERM
     touch ${own}; test -e ${other} && touch done; while :; do sleep 0.01; done`
  const { runAndKill, resume, workspace } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'one', arguments: {} },
          { name: 'two', arguments: {} },
        ],
      },
      { content: 'So.' },
    ],
    tools: [
      { name: 'one', shell: untilTheOther('one', 'two') },
      { name: 'two', shell: `until test -e one; do sleep 0.01; done; ${untilTheOther('two', 'one')}` },
    ],
    agent: { tool_concurrency: 2 },
  })
  await runAndKill(started(workspace.path))
  expect(await resume()).toMatchObject({ status: 'COMPLETED' })
  expect([await workspace.has('met-one'), await workspace.has('met-two')]).toEqual([true, true])
})

test('a critical tool that failed ends the run, also when its engine was killed before it could say so', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'check', arguments: {} },
          { name: 'deploy', arguments: {} },
        ],
      },
      { content: 'Told.' },
    ],
    tools: [
      { name: 'check', exec: 'false', critical: true },
      { name: 'deploy', shell: 'touch deployed' },
    ],
    files: hooks({ post_tool_execution: 'test -e done || { touch done; exec sleep 300; }' }),
  })
  await runAndKill(started(workspace.path))
  expect(await resume()).toMatchObject({
    status: 'FAILED',
    reason: 'critical tool "check" ended with FAILED',
  })
  expect(await workspace.has('deployed')).toBe(false)
  expect(await resume({ message: 'Leave it.' })).toMatchObject({ status: 'COMPLETED', answer: 'Told.' })
  expect(await workspace.has('deployed')).toBe(false)
})

test('the model never reads a result past its post_tool_execution hook, also when the engine was killed as that ran', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [WORK, { content: 'Told: {{last_observation}}' }],
    tools: [{ name: 'work', exec: 'echo private' }],
    files: hooks({
      post_tool_execution:
        'test -e done || { touch done; exec sleep 300; }; printf public > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"',
      on_iteration_end: 'echo "$ITERATION_COUNT" >> ended.txt',
    }),
  })
  await runAndKill(started(workspace.path))
  const result = await resume()
  expect(result.answer).toBe('Told: public')
  expect(await eventsOfType(result, 'ACTION_RESULT')).toMatchObject([{ observation_content: 'private\n' }])
  expect(await workspace.read('ended.txt')).toBe('1\n2\n')
})

test('a cycle ends with its on_iteration_end hook, also when the engine was killed as that ran', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [{ content: 'Done.' }],
    files: hooks({
      on_iteration_end:
        'test -e done || { touch done; exec sleep 300; }; echo "$ITERATION_COUNT" >> ended.txt',
    }),
  })
  await runAndKill(started(workspace.path))
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  expect(await workspace.read('ended.txt')).toBe('1\n')
  expect(await resume({ message: 'More.' })).toMatchObject({ status: 'FAILED' }) // the script has ended
  expect(await workspace.read('ended.txt')).toBe('1\n')
})

test('a hook that stops a run stops it, also when the engine was killed before it could say so; a message goes on', async () => {
  const stop = `test -e done || echo '{"action":"stop","reason":"enough"}' > "$DELTA_HOOK_IO_PATH/output/control.json"`
  for (const moment of ['on_iteration_start', 'pre_tool_execution', 'post_tool_execution']) {
    const { runAndKill, resume, workspace } = await scene({
      turns: [WORK, { content: 'Done.' }],
      tools: [{ name: 'work', exec: 'true' }],
      files: hooks({ [moment]: stop, on_run_end: 'test -e done || { touch done; exec sleep 300; }' }),
    })
    await runAndKill(started(workspace.path))
    expect(await resume()).toMatchObject({ status: 'FAILED', reason: `${moment} hook: enough` })
    expect(await resume({ message: 'Go on.' })).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  }
})

test('a critical tool that was refused ends no run, also when its engine was killed after that', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [{ tool_calls: [{ name: 'check', arguments: { to: 'nowhere' } }] }, { content: 'I will ask.' }],
    tools: [{ name: 'check', exec: 'true', critical: true }],
    files: hooks({ on_iteration_end: 'test -e done || { touch done; exec sleep 300; }' }),
  })
  await runAndKill(started(workspace.path))
  expect(await resume()).toMatchObject({ status: 'COMPLETED', answer: 'I will ask.' })
})

test('what was to follow a critical tool is not run when that was interrupted: the model decides anew', async () => {
  const { runAndKill, resume, workspace } = await scene({
    turns: [
      {
        tool_calls: [
          { name: 'check', arguments: {} },
          { name: 'deploy', arguments: {} },
        ],
      },
      { content: 'I will look first.' },
    ],
    tools: [
      { name: 'check', shell: 'touch done; exec sleep 300', critical: true },
      { name: 'deploy', shell: 'touch deployed' },
    ],
  })
  await runAndKill(started(workspace.path))
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
