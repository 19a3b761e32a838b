import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runProcess, startScriptedServer, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { continueRun, forkRun, type RunResult } from '../src/index.js'
import { expectSame, MARK, recorded } from './recorded.js'
import { calls, eventsOf, hooks, output } from './run.js'

type Play = Awaited<ReturnType<typeof recorded>>

const RISKY = { name: 'risky', shell: 'echo r >> marks; date +%N', effects: { destructive: true } }
const ASKING = { policy: { on_confirmation: 'ask_human' } }

async function serverOf(script: Parameters<typeof startScriptedServer>[0]) {
  const server = await startScriptedServer(script)
  onTestFinished(() => server.close())
  return server
}

/** The replay is the same from the beginning, and from each of these iterations. */
async function expectSameFrom(play: Play, original: RunResult, ...iterations: number[]) {
  await expectSame(original, await play.replay(original))
  for (const at of iterations) await expectSame(original, await play.replay(original, { at }))
}

/** Every file of a directory with all that would show a change. */
async function stateOf(directory: string): Promise<string> {
  const { stdout } = await runProcess(['find', directory, '-printf', '%p %y %m %s %T@ %C@ %i %n\\n'])
  return stdout.split('\n').sort().join('\n')
}

/** After each how many events a kill is tried; `npm run test:real` tries each. */
const STEP = process.env.DELTA_TESTS === 'real' ? 1 : 4

/** Runs an agent, and gives the workspace as a kill after an event leaves it, for some of the events. */
async function killedAfterEach(play: Play, check: (runDirectory: string) => Promise<unknown>) {
  const saved = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  let count = 0
  const { runId } = await play.run({
    onEvent: ({ kind }) => {
      if (kind === 'journal') cpSync(play.workspace.path, join(saved.path, `${++count}`), { recursive: true })
    },
  })
  const lease = `.delta/${runId}/lease/1`
  for (let kill = 1; kill <= count; kill += STEP) {
    for (const name of readdirSync(play.workspace.path))
      rmSync(join(play.workspace.path, name), { recursive: true })
    cpSync(join(saved.path, `${kill}`), play.workspace.path, { recursive: true })
    await play.workspace.write(
      lease,
      (await play.workspace.read(lease)).replace(/"pid":\s*\d+/, '"pid":4194300'),
    )
    await check(join(play.workspace.path, '.delta', runId))
  }
}

test('killed after a line of its journal, a run is replayed to where it was killed and, told something then, to its end', async () => {
  const script = output('payload_override.dat', 'Over')
  const play = await recorded({
    tools: [MARK, { name: 'again', shell: 'date +%N', on_interrupt: 'rerun' }],
    turns: [calls('mark', 'again'), { content: 'The end.' }, { content: 'Really.' }],
    files: hooks({ pre_llm_request: 'true', post_llm_response: 'true', post_tool_execution: script }),
  })
  await killedAfterEach(play, async (runDirectory) => {
    const events = await eventsOf({ runDirectory })
    const isEnded = events.at(-1)?.type === 'ENGINE_END'
    const left = (await play.replay({ runDirectory })).result
    expect([left.status, left.iterations]).toEqual([
      isEnded ? 'COMPLETED' : 'INTERRUPTED',
      events.filter(({ type }) => type === 'THOUGHT').length,
    ])
    const original = await play.resume({ message: 'Be quick.' })
    await expectSame(original, await play.replay(original))
  })
}, 120_000)

test('a run that was stopped in a request, failed at its provider, and was retried after empty and cut off answers is replayed to each end', async () => {
  const server = await serverOf({
    choose: 'requests',
    turns: [
      calls('mark'),
      { content: 'late', hold: 'ever' },
      { status: 429, retryAfter: '0' },
      { status: 400 },
      calls('mark'),
      { content: '' },
      { content: 'Half of', finish_reason: 'length' },
      { content: 'Done.' },
    ],
  })
  const play = await recorded({ baseUrl: server.baseUrl, files: hooks({ on_error: 'true' }) })
  const stop = new AbortController()
  const running = play.run({ signal: stop.signal })
  await server.waitForRequests(2)
  stop.abort('SIGINT')
  await expectSameFrom(play, await running, 1)
  const refused = await play.resume()
  expect(refused.reasonCode).toBe('provider_refused')
  await expectSameFrom(play, refused, 1)
  const empty = await play.resume({ message: 'Go on.' })
  expect(empty.reasonCode).toBe('empty_answer')
  await expectSameFrom(play, empty, 1, 2)
  const cut = await play.resume({ retry: true })
  expect(cut.reasonCode).toBe('cut_off')
  await expectSameFrom(play, cut, 1)
  const original = await play.resume({ retry: true })
  expect(original.answer).toBe('Done.')
  await expectSameFrom(play, original, 2)
}, 60_000)

test('a limit of tokens that ended a run, and was raised, ends its replay in no other place', async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20 }
  const turns = [calls('mark'), calls('mark'), calls('mark'), { content: 'Done.' }]
  const { baseUrl } = await serverOf(turns.map((turn) => ({ ...turn, usage })))
  const play = await recorded({ baseUrl, agent: { limits: { tokens: 200 } } })
  const limited = await play.run()
  expect(limited.reasonCode).toBe('limit_tokens')
  await expectSameFrom(play, limited, 1)
  const agent = { ...(await play.load()), limits: { tokens: 1000 } }
  await expectSameFrom(play, await play.resume({ agent, retry: true }), 2)
})

test.each(['report', 'rerun', 'ask'])(
  'a run that was stopped in a tool with on_interrupt: %s is replayed to the stop, and to what came then',
  async (on_interrupt) => {
    const shell = 'echo began; test -e began || { touch began; exec sleep 300; }'
    const play = await recorded({
      turns: [calls('work', 'mark'), { content: 'Done.' }],
      tools: [MARK, { name: 'work', shell, on_interrupt }],
    })
    const stop = new AbortController()
    const running = play.run({ signal: stop.signal })
    await waitForFile(join(play.workspace.path, 'began'))
    stop.abort('SIGINT')
    const stopped = await running
    expect(stopped.status).toBe('INTERRUPTED')
    await expectSame(stopped, await play.replay(stopped))
    let original = await play.resume()
    await expectSame(original, await play.replay(original))
    const requestId = original.question?.requestId
    if (requestId) original = await play.resume({ decision: { kind: 'approve', requestId } })
    expect(original.status).toBe('COMPLETED')
    await expectSame(original, await play.replay(original))
  },
)

test.each(['approve', 'deny'] as const)(
  'a run whose commands were decided on later, by %s and with a message, is replayed at each wait and at its end',
  async (kind) => {
    const play = await recorded({
      turns: [calls('mark'), calls('risky', 'mark', 'risky'), { content: 'Done.' }],
      tools: [MARK, RISKY],
      agent: ASKING,
      files: hooks({ post_tool_execution: output('payload_override.dat', 'Over'), on_iteration_end: 'true' }),
    })
    let original = await play.run()
    while (original.status === 'WAITING_FOR_INPUT') {
      await expectSame(original, await play.replay(original))
      const requestId = original.question?.requestId ?? ''
      original = await play.resume({ decision: { kind, requestId }, message: 'Hurry.' })
    }
    expect(original.status).toBe('COMPLETED')
    await expectSameFrom(play, original, 1)
  },
)

test('with live tools a command that was approved with a message runs in the replay, once', async () => {
  const play = await recorded({
    turns: [calls('risky'), { content: 'Done.' }],
    tools: [{ ...RISKY, shell: 'echo r >> marks' }],
    agent: ASKING,
    files: hooks({ post_tool_execution: 'echo h >> marks' }),
  })
  const requestId = (await play.run()).question?.requestId ?? ''
  const original = await play.resume({ decision: { kind: 'approve', requestId }, message: 'Hurry.' })
  const { result, workDirectory } = await play.replay(original, { live: 'tools', files: 'without' })
  expect([result.reason, result.status]).toEqual([undefined, 'COMPLETED'])
  expect(readFileSync(join(workDirectory, 'marks'), 'utf8')).toBe('r\nh\n')
})

test('a hook that failed, or whose output was no use, fails in the replay as it did', async () => {
  const play = await recorded({
    files: hooks({
      pre_llm_request: 'exit 3',
      post_llm_response: output('payload_override.dat', 'junk'),
      pre_tool_execution: 'exit 4',
      on_iteration_end: 'exit 1',
    }),
  })
  const original = await play.run()
  await expectSameFrom(play, original, 1)
})

test('a recorded hook whose output/ is gone counts as one that removed it, so a guard allows nothing', async () => {
  const play = await recorded({ files: hooks({ pre_tool_execution: 'true' }) })
  const original = await play.run()
  const directory = join(original.runDirectory, 'io/hooks')
  const hooked = readdirSync(directory).filter((name) => !name.endsWith('.json'))
  for (const name of hooked) rmSync(join(directory, name, 'output'), { recursive: true })
  expect((await play.replay(original)).result.reasonCode).toBe('replay_mismatch')
})

test('a journal that names a directory outside of its run as the record of a hook is not believed', async () => {
  const play = await recorded({
    turns: [{ content: 'Mine.' }],
    files: hooks({
      post_llm_response: output('payload_override.dat', '{"role":"assistant","content":"Mine."}'),
    }),
  })
  const original = await play.run()
  const journal = join(original.runDirectory, 'journal.jsonl')
  const hook = readdirSync(join(original.runDirectory, 'io/hooks')).find((name) => !name.endsWith('.json'))
  cpSync(join(original.runDirectory, 'io/hooks', hook ?? ''), join(play.elsewhere.path, 'outside'), {
    recursive: true,
  })
  const outside = relative(original.runDirectory, join(play.elsewhere.path, 'outside'))
  writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/io\/hooks\/[\w-]+(?=")/g, outside))
  const { result } = await play.replay(original)
  expect(result.reason).toContain('what the post_llm_response hook did in iteration 1 was not recorded.')
})

test.each([undefined, 'Another way.'])(
  'forks, and forks of forks, are replayed from where they begin; with the message %s',
  async (message) => {
    const play = await recorded({
      turns: [
        calls('mark'),
        calls('mark', 'mark'),
        calls('mark'),
        { content: 'The end.' },
        { content: 'Another.' },
      ],
      files: hooks({ post_tool_execution: 'true', on_iteration_end: 'exit 1' }),
    })
    const [agent, env] = [await play.load(), { PATH: process.env.PATH ?? '' }]
    const forkOf = async ({ runDirectory: run }: RunResult, at: number) => {
      const into = join(play.elsewhere.path, `fork-${at}`)
      const fork = await forkRun({ run, at, into, message, agent, env, files: 'without' })
      return continueRun({ ...fork, trusted: true, agent, env })
    }
    const first = await forkOf(await play.run(), 1)
    await expectSameFrom(play, first, 2)
    const second = await forkOf(first, 2)
    await expectSame(second, await play.replay(second))
    const live = { live: 'tools', files: 'without', masks: [/\d{9}/g] } as const
    expect((await play.replay(second, live)).result.reason).toBeUndefined()
    await expect(play.replay(second, { at: 1 })).rejects.toThrow(
      'is a fork and has inherited iterations 1 to 2.',
    )
  },
)

test('a replay can be replayed', async () => {
  const play = await recorded()
  const original = await play.run()
  const { directory } = await play.replay(original, { at: 1 })
  await expectSame(original, await play.replay({ runDirectory: directory }))
})

test('a run whose workspace was moved is replayed from the iteration before, and no other', async () => {
  const play = await recorded()
  await play.run({ maxIterations: 1 })
  const moved = join(play.elsewhere.path, 'moved')
  renameSync(play.workspace.path, moved)
  const original = await play.resume({ workDirectory: moved, message: 'Go on.' })
  await expect(play.replay(original)).rejects.toThrow('To replay what came then: --at 1')
  await expectSame(original, await play.replay(original, { at: 1 }))
  renameSync(moved, play.workspace.path)
})

test.each([
  { provider: 'openai' },
  { provider: 'openai', api: 'responses' },
  { provider: 'anthropic', max_tokens: 1000 },
])(
  'reasoning, signatures, pictures and the sources of a request come back byte for byte in every API: %j',
  async (llm) => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    const context = `sources:
  - {type: file, path: "\${CWD}/notes.md"}
  - {type: file, path: "\${CWD}/notes.md", role: user, header: false}
  - {type: file, id: empty, path: "\${CWD}/empty.md"}
  - {type: journal}`
    const server = await serverOf([
      { ...calls('mark', 'shot'), message: { reasoning_content: 'Hm, why.' } },
      { content: 'Done.', message: { reasoning_content: 'So.' } },
    ])
    const baseUrl = llm.provider === 'anthropic' ? server.baseUrl.replace(/\/v1$/, '') : server.baseUrl
    const play = await recorded(
      {
        baseUrl,
        agent: { llm: { ...llm, model: 'any', base_url: baseUrl } },
        tools: [MARK, { name: 'shot', shell: `echo ${png} | base64 -d`, output: 'image' }],
        files: { 'context.yaml': context },
      },
      { 'notes.md': 'Note.', 'empty.md': '' },
    )
    const original = await play.run()
    expect(original.answer).toBe('Done.')
    rmSync(join(play.workspace.path, 'notes.md'))
    await expectSameFrom(play, original, 1)
    expect(server.requests()).toHaveLength(2)
  },
)

test('a limit of iterations that is typed for a replay holds, with a live model as with a recorded one', async () => {
  const server = await serverOf([calls('mark'), calls('mark'), { content: 'Done.' }])
  const play = await recorded({ baseUrl: server.baseUrl })
  const original = await play.run()
  const credentials = { apiKey: 'k', baseUrl: server.baseUrl }
  for (const live of ['model', undefined] as const) {
    const { result } = await play.replay(original, { live, credentials, maxIterations: 1 })
    expect([result.reasonCode, result.iterations]).toEqual(['limit_iterations', 1])
  }
})

test('after another answer of a live model no hook and no command runs, because neither was recorded', async () => {
  const first = await serverOf([calls('mark'), { content: 'Done.' }])
  const second = await serverOf([calls('other'), { content: 'Done.' }])
  const tools = [MARK, { name: 'other', shell: 'touch ran' }]
  const files = hooks({ pre_tool_execution: 'touch hooked' })
  const play = await recorded({ baseUrl: first.baseUrl, tools, files })
  const original = await play.run()
  const credentials = { apiKey: 'k', baseUrl: second.baseUrl }
  const { result, workDirectory } = await play.replay(original, { live: 'model', credentials })
  expect(result.reasonCode).toBe('replay_mismatch')
  expect(readdirSync(workDirectory)).toEqual(['.delta'])
})

test('with live tools an absolute path of the old workspace leads into the replay, and the original stays as it was', async () => {
  const play = await recorded({
    agent: { snapshots: { every: 'iteration', wait_ms: 10_000 } },
    tools: [{ name: 'sh', exec: 'sh -c ${script}' }],
  })
  const { path } = play.workspace
  const script = `echo x >> ${path}/out.txt; cat ${path}/out.txt; echo ${path}-not`
  const turn = { tool_calls: [{ name: 'sh', arguments: { script } }] }
  writeFileSync(
    join(play.agentFiles.path, 'script.yaml'),
    JSON.stringify([turn, turn, { content: `In ${path}` }]),
  )
  const original = await play.run()
  const before = await stateOf(path)
  for (const at of [0, 1]) {
    const { result, workDirectory } = await play.replay(original, { live: 'tools', at })
    expect([result.reason, result.answer]).toEqual([undefined, `In ${workDirectory}`])
    expect(readFileSync(join(workDirectory, 'out.txt'), 'utf8')).toBe('x\nx\n')
  }
  expect(await stateOf(path)).toBe(before)
})

test.each(['io/invocations', 'io/parts.jsonl'])('without %s nothing is asked or run', async (missing) => {
  const play = await recorded()
  const original = await play.run()
  rmSync(join(original.runDirectory, missing), { recursive: true })
  await expect(play.replay(original)).rejects.toMatchObject({ code: 'ERR_REQUEST_CORRUPT' })
  expect(existsSync(join(play.elsewhere.path, 'replay-1', 'marks.txt'))).toBe(false)
})
