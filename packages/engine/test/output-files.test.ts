import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { areInstalled, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import type { RunResult } from '../src/index.js'
import { calls, eventsOfType, hooks, scene } from './run.js'

async function observations(result: RunResult): Promise<unknown[]> {
  return (await eventsOfType(result, 'ACTION_RESULT')).map((event) => Object(event).observation_content)
}

async function executionFiles({ runDirectory }: RunResult): Promise<string[]> {
  const names = await readdir(join(runDirectory, 'io/tool_executions'))
  return names.map((name) => name.replace(/^.*_/, ''))
}

test("late output of a background process is in no other command's result, even from a session of its own", async () => {
  const late = 'until test -e go; do sleep 0.01; done; echo late; echo late >&2; touch said'
  const play = await scene({
    turns: [calls('leave'), calls('wait'), calls('plain'), { content: 'Done.' }],
    tools: [
      { name: 'leave', shell: `setsid sh -c '${late}' & echo left` },
      { name: 'wait', shell: 'touch go; until test -e said; do sleep 0.01; done; echo waited' },
      { name: 'plain', exec: 'echo plain' },
    ],
  })
  expect(await observations(await play.run())).toEqual(['left\n', 'waited\n', 'plain\n'])
})

test('a result keeps its whole output when the next command prints less', async () => {
  const play = await scene({
    turns: [
      calls('long'),
      calls('short'),
      calls('silent'),
      calls('large'),
      calls('short'),
      { content: 'Done.' },
    ],
    tools: [
      { name: 'long', exec: 'seq 1000' },
      { name: 'short', exec: 'echo hi' },
      { name: 'silent', exec: 'true' },
      { name: 'large', exec: 'seq 20000' },
    ],
  })
  const result = await play.run()
  const [long, short, silent, large, last] = await observations(result)
  expect([short, silent, last]).toEqual(['hi\n', '', 'hi\n'])
  expect(String(long).split('\n')).toHaveLength(1001)
  expect(large).toMatch(/^1\n[\s\S]*bytes left out here; all \d+ bytes are in [\s\S]*20000\n$/)
  expect((await executionFiles(result)).sort()).toEqual([
    'large.json',
    'large.stdout',
    'long.json',
    'short.json',
    'short.json',
    'silent.json',
  ])
})

test.skipIf(!areInstalled('perl'))(
  'a directory that a command puts in the place of an output file does not end the run',
  async () => {
    const script =
      'for (glob("$ENV{RUN_DIR}/io/tool_executions/*.stdout")) { unlink $_; mkdir $_ } print "done\n"'
    const play = await scene({
      turns: [calls('replace'), { content: 'Done.' }],
      tools: [{ name: 'replace', command: ['perl', '-e', script] }],
    })
    const result = await play.run()
    expect(await observations(result)).toEqual(['done\n'])
    expect(result.status).toBe('COMPLETED')
  },
)

test('an engine that was killed after parallel commands leaves no output files once its run has ended', async () => {
  const play = await scene({
    turns: [calls('quick'), calls('slow', 'quick'), { content: 'Done.' }],
    tools: [
      { name: 'slow', exec: 'sleep 0.5' },
      { name: 'quick', exec: 'echo hi' },
    ],
    agent: { tool_concurrency: 2 },
    files: hooks({
      pre_llm_request: 'test $ITERATION_COUNT != 3 || test -e asked || { touch asked; exec sleep 300; }',
    }),
  })
  await play.runAndKill(() => waitForFile(`${play.workspace.path}/asked`))
  const result = await play.resume()
  expect(await observations(result)).toEqual(['hi\n', 'hi\n', ''])
  expect((await executionFiles(result)).sort()).toEqual(['quick.json', 'quick.json', 'slow.json'])
})
