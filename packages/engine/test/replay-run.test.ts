import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRun } from '@delta/journal/runs'
import { startScriptedServer } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { continueRun } from '../src/index.js'
import { expectSame, MARK, recorded, TURNS } from './recorded.js'
import { calls, control, eventsOf, eventsOfType, hooks, output } from './run.js'

test('a replay sends what the run sent, byte for byte, starts no command, and costs nothing', async () => {
  const { run, replay, workspace } = await recorded()
  const original = await run()
  const marks = await workspace.read('marks.txt')
  const again = await replay(original)
  await expectSame(original, again)
  expect(await workspace.read('marks.txt')).toBe(marks)
  expect(existsSync(join(again.workDirectory, 'marks.txt'))).toBe(false)
  expect(readdirSync(join(again.directory, 'io', 'tool_executions'))).toEqual([])
  const thoughts = await eventsOfType(again.result, 'THOUGHT')
  expect(thoughts.every(({ replayed }) => replayed)).toBe(true)
  expect(again.result.totals).toMatchObject({ all: { requests: 0 } })
})

test('a replay of a run that is copied to another machine needs neither its workspace nor its agent directory', async () => {
  const { run, replay, workspace, elsewhere, agentFiles } = await recorded({
    files: {
      'context.yaml':
        'sources: [{type: text, text: "In ${CWD} and ${RUN_DIR} by ${AGENT_HOME}"}, {type: journal}]',
    },
  })
  const original = await run()
  const copy = join(elsewhere.path, 'copy')
  const { cpSync } = await import('node:fs')
  cpSync(workspace.path, copy, { recursive: true })
  cpSync(agentFiles.path, join(elsewhere.path, 'agent'), { recursive: true })
  rmSync(workspace.path, { recursive: true })
  const { loadAgent } = await import('@delta/config-loader')
  const { agent } = await loadAgent(join(elsewhere.path, 'agent'), { env: {} })
  const run2 = join(copy, '.delta', original.runId)
  const again = await replay({ runDirectory: run2 }, { agent })
  await expectSame({ ...original, runDirectory: run2 }, again)

  const alone = join(elsewhere.path, 'recorded')
  cpSync(run2, alone, { recursive: true })
  rmSync(copy, { recursive: true })
  await expectSame({ ...original, runDirectory: alone }, await replay({ runDirectory: alone }, { agent }))
})

test('an edited prompt shows as the first difference, and nothing is asked', async () => {
  const { run, replay, agentFiles } = await recorded()
  const original = await run()
  writeFileSync(join(agentFiles.path, 'system_prompt.md'), 'Be quick.')
  const { result } = await replay(original)
  expect([result.status, result.reasonCode]).toEqual(['FAILED', 'replay_mismatch'])
  expect(result.iterations).toBe(0)
})

test('an agent that speaks another API now sends other requests', async () => {
  const server = await startScriptedServer(TURNS)
  onTestFinished(() => server.close())
  const { run, replay, load } = await recorded({ baseUrl: server.baseUrl })
  const original = await run()
  const agent = await load()
  const other = { ...agent, llm: { ...agent.llm, api: 'responses' } } as const
  const { result } = await replay(original, { agent: other })
  expect(result.reason).toBe(
    `replay of ${original.runId.slice(-6)}: the agent speaks the API "responses" now, and the run spoke "chat". Nothing was run.`,
  )
})

test('a changed command of a tool is a call that was not recorded', async () => {
  const { run, replay } = await recorded()
  const original = await run()
  const { load } = await recorded({ tools: [{ ...MARK, shell: `${MARK.shell}; true` }] })
  const { result } = await replay(original, { agent: await load() })
  expect(result.reasonCode).toBe('replay_mismatch')
  expect(result.reason).toBe(
    `replay of ${original.runId.slice(-6)}: call 1 of iteration 1 was not recorded: mark {}, which is now sh -c '${MARK.shell}; true' --; in iteration 1 it was sh -c '${MARK.shell}' --. Nothing was run.`,
  )
})

test('sources that the agent does not own are taken from the record: files of the workspace, and generators', async () => {
  const { run, replay } = await recorded(
    {
      files: {
        'context.yaml': `sources:
  - {type: file, path: "\${CWD}/notes.md"}
  - {type: file, id: missing, path: "\${CWD}/none.md", on_missing: skip}
  - {type: computed_file, id: clock, output_path: "\${CWD}/out.txt", generator: {command: [sh, -c, "date +%N"]}}
  - {type: text, text: here, condition: {when: file_exists, path: "\${CWD}/notes.md"}}
  - {type: journal}`,
      },
    },
    { 'notes.md': 'Remember.' },
  )
  const original = await run()
  await expectSame(original, await replay(original))
})

test('what hooks did is repeated: a skipped call, another request, another answer, another result', async () => {
  const first = `grep -q '"iteration": 1' "$DELTA_HOOK_IO_PATH/input/context.json"`
  const { run, replay } = await recorded({
    files: hooks({
      pre_llm_request: `sed 's/Go/Went/' "$DELTA_HOOK_IO_PATH/input/proposed_payload.json" > "$DELTA_HOOK_IO_PATH/output/final_payload.json"`,
      pre_tool_execution: `! ${first} || { ${control({ action: 'skip', observation: 'Not now.' })}; }; date >> ran`,
      post_tool_execution: `${output('payload_override.dat', 'Overridden.')}; date >> ran`,
      on_iteration_end: 'date >> ran',
      on_run_end: 'date >> ran',
    }),
  })
  const original = await run()
  const again = await replay(original)
  await expectSame(original, again)
  expect(existsSync(join(again.workDirectory, 'ran'))).toBe(false)
})

test('a run that a hook stopped, a limit ended or a failed provider ended is replayed to the same end', async () => {
  const stopped = await recorded({
    files: hooks({ on_iteration_end: control({ action: 'stop', reason: 'Enough.' }) }),
  })
  const byHook = await stopped.run()
  expect(byHook.reasonCode).toBe('hook_stopped')
  await expectSame(byHook, await stopped.replay(byHook))

  const limited = await recorded({ agent: { max_iterations: 2 } })
  const byLimit = await limited.run()
  expect(byLimit.reasonCode).toBe('limit_iterations')
  await expectSame(byLimit, await limited.replay(byLimit))

  const typed = await recorded()
  const byFlag = await typed.run({ maxIterations: 1 })
  await expectSame(byFlag, await typed.replay(byFlag))

  const failing = await recorded({ turns: [calls('mark')] })
  const byProvider = await failing.run()
  expect(byProvider.status).toBe('FAILED')
  await expectSame(byProvider, await failing.replay(byProvider))
})

test('further messages of the user come at their places', async () => {
  const { run, resume, replay } = await recorded({
    turns: [...TURNS, calls('mark'), { content: 'And again.' }],
  })
  await run()
  const original = await resume({ message: 'Once more.' })
  expect(original.answer).toBe('And again.')
  await expectSame(original, await replay(original))
})

test('questions and approvals are answered as they were', async () => {
  const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }
  const secret = {
    tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Password?', input_type: 'password' } }],
  }
  const { run, replay } = await recorded({
    turns: [ask, secret, calls('mark'), calls('mark'), { content: 'Done.' }],
    tools: [{ ...MARK, effects: { destructive: true } }],
    agent: { policy: { on_confirmation: 'ask_human' } },
  })
  const answers = ['This one.', 'hunter2', 'no', 'yes']
  const original = await run({ ask: async () => answers.shift() })
  expect(original.answer).toBe('Done.')
  const again = await replay(original)
  await expectSame(original, again)
  expect(JSON.stringify(await eventsOf(again.result))).not.toContain('hunter2')
})

test('where the run waits for a person, so does its replay', async () => {
  const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }
  const { run, replay } = await recorded({ turns: [calls('mark'), ask] })
  const original = await run()
  expect(original.status).toBe('WAITING_FOR_INPUT')
  await expectSame(original, await replay(original))
})

test('a run that was killed in a command and continued is replayed as if it had not been', async () => {
  const { start, resume, replay, workspace } = await recorded()
  const engine = start(6)
  await engine.result
  const original = await resume()
  expect(original.status).toBe('COMPLETED')
  expect(await workspace.read('marks.txt')).not.toBe('')
  await expectSame(original, await replay(original))
})

test('live tools run in the files of the replay, on the paths of the replay, and what they print is compared', async () => {
  const tools = [
    { name: 'where', shell: 'pwd' },
    { name: 'clock', shell: 'date +%N' },
  ]
  const { run, replay } = await recorded({
    tools,
    turns: [calls('where'), calls('where'), { content: 'Same.' }],
  })
  const original = await run()
  const again = await replay(original, { live: 'tools', files: 'without' })
  expect([again.result.reason, again.result.answer]).toEqual([undefined, 'Same.'])
  const [{ observation_content: said }] = (await eventsOfType(again.result, 'ACTION_RESULT')) as never as [
    { observation_content: string },
  ]
  expect(said).toBe(`${again.workDirectory}\n`)

  const clock = await recorded({ tools, turns: [calls('clock'), { content: 'Late.' }] })
  const timed = await clock.run()
  const other = await clock.replay(timed, { live: 'tools', files: 'without' })
  expect(other.result.reasonCode).toBe('replay_mismatch')
  const masked = await clock.replay(timed, { live: 'tools', files: 'without', masks: [/\d{9}/g] })
  expect([masked.result.reason, masked.result.answer]).toEqual([undefined, 'Late.'])
})

test('a live model goes on in the recorded world until it calls what was not recorded', async () => {
  const say = { name: 'say', exec: 'echo ${text}' }
  const said = (text: string) => ({ tool_calls: [{ name: 'say', arguments: { text } }] })
  const first = await startScriptedServer([said('a'), said('b'), { content: 'Done.' }])
  const second = await startScriptedServer([said('b'), said('c')])
  onTestFinished(async () => {
    await first.close()
    await second.close()
  })
  const { run, replay } = await recorded({ baseUrl: first.baseUrl, tools: [say] })
  const original = await run()
  const { result } = await replay(original, {
    live: 'model',
    credentials: { apiKey: 'k', baseUrl: second.baseUrl },
  })
  expect(result.reasonCode).toBe('replay_mismatch')
  expect(result.reason).toContain(
    'call 1 of iteration 2 was not recorded: say {"text":"c"}; the nearest is iteration 1: say {"text":"a"}. Nothing was run.',
  )
  expect(second.requests()).toHaveLength(2)
})

test('a replay is for reading: it cannot be continued', async () => {
  const { run, replay } = await recorded()
  const original = await run()
  const { workDirectory, directory } = await replay(original)
  const summary = await readRun(directory)
  expect(summary.replay).toEqual({ model: 'recorded', tools: 'recorded' })
  await expect(continueRun({ workDirectory, trusted: true, message: 'Go on.' })).rejects.toThrow(
    `${summary.runId.slice(-6)} is a replay of ${original.runId.slice(-6)} and cannot be continued. To go on for real: delta fork ${original.runDirectory} --at 3`,
  )
  expect(readFileSync(join(directory, 'journal.jsonl'), 'utf8')).toContain('"replay":{"model":"recorded"')
})

test('a replay may begin at an iteration, and a replay of a fork begins where it was forked', async () => {
  const { run, replay } = await recorded()
  const original = await run()
  await expectSame(original, await replay(original, { at: 1 }))
})

test('a limit of iterations that is set now counts, and one that was typed for the run counts in its replay', async () => {
  const { run, replay } = await recorded()
  const original = await run()
  const shorter = await recorded({ agent: { max_iterations: 1 } })
  const bySetting = await replay(original, { agent: await shorter.load() })
  expect([bySetting.result.reasonCode, bySetting.result.iterations]).toEqual(['limit_iterations', 1])
  const byFlag = await replay(original, { maxIterations: 2 })
  expect([byFlag.result.reasonCode, byFlag.result.iterations]).toEqual(['limit_iterations', 2])
})
