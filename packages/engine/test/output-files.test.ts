import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { areInstalled, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import type { RunResult } from '../src/index.js'
import { eventsOfType, hooks, scene } from './run.js'

const call = (name: string) => ({ name, arguments: {} })

async function observations(result: RunResult): Promise<unknown[]> {
  return (await eventsOfType(result, 'ACTION_RESULT')).map((event) => Object(event).observation_content)
}

async function executionFiles({ runDirectory }: RunResult): Promise<string[]> {
  const names = await readdir(join(runDirectory, 'io/tool_executions'))
  return names.map((name) => name.replace(/^.*_/, ''))
}

test('what a command left behind prints later is in the result of no other command, also from a session of its own', async () => {
  const late = 'until test -e go; do sleep 0.01; done; echo late; echo late >&2; touch said'
  const play = await scene({
    turns: [
      { tool_calls: [call('leave')] },
      { tool_calls: [call('wait')] },
      { tool_calls: [call('plain')] },
      { content: 'Done.' },
    ],
    tools: [
      { name: 'leave', shell: `setsid sh -c '${late}' & echo left` },
      { name: 'wait', shell: 'touch go; until test -e said; do sleep 0.01; done; echo waited' },
      { name: 'plain', exec: 'echo plain' },
    ],
  })
  expect(await observations(await play.run())).toEqual(['left\n', 'waited\n', 'plain\n'])
})

test.skipIf(process.platform !== 'linux')(
  'commands that start nothing print into the same files, one after the other, each into empty ones',
  async () => {
    // whatever else starts on this machine during a command gives the next one files of its own
    const times = 60
    const play = await scene({
      turns: [...Array(times).fill({ tool_calls: [call('number')] }), { content: 'Done.' }],
      tools: [{ name: 'number', exec: 'stat -L -c %i /proc/self/fd/1' }],
      agent: { max_iterations: times + 1 },
    })
    const numbers = await observations(await play.run())
    expect(numbers).toHaveLength(times)
    for (const number of numbers) expect(number).toMatch(/^\d+\n$/)
    expect(numbers.some((number, index) => number === numbers[index - 1])).toBe(true)
  },
)

test('a result keeps its whole output where the next command prints something shorter', async () => {
  const play = await scene({
    turns: [
      { tool_calls: [call('long')] },
      { tool_calls: [call('short')] },
      { tool_calls: [call('silent')] },
      { tool_calls: [call('large')] },
      { tool_calls: [call('short')] },
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
  'a command that puts links in the place of its output files does not lead the output of the next one elsewhere',
  async () => {
    // a program that starts no thread, so that its files may be used again
    const script =
      'for (glob("$ENV{RUN_DIR}/io/tool_executions/*.std*")) { unlink $_; symlink "$ENV{CWD}/precious", $_ }'
    const play = await scene(
      {
        turns: [{ tool_calls: [call('link')] }, { tool_calls: [call('large')] }, { content: 'Done.' }],
        tools: [
          { name: 'link', command: ['perl', '-e', script] },
          { name: 'large', exec: 'seq 20000' },
        ],
      },
      { precious: 'kept' },
    )
    const result = await play.run()
    expect(await play.workspace.read('precious')).toBe('kept')
    const directory = join(result.runDirectory, 'io/tool_executions')
    const kept = (await readdir(directory)).find((name) => name.endsWith('_large.stdout')) ?? ''
    expect(await readFile(join(directory, kept), 'utf8')).toMatch(/\n20000\n$/)
  },
)

test.skipIf(!areInstalled('perl'))(
  'what a command sets on its open output files does not hold for the next one',
  async () => {
    // F_SETFL without a flag, which is how some programs make their output non-blocking: it takes O_APPEND away
    const script = 'fcntl STDOUT, 4, 0; print "first\n"'
    const play = await scene({
      turns: [...Array(20).fill({ tool_calls: [call('set'), call('say')] }), { content: 'Done.' }],
      tools: [
        { name: 'set', command: ['perl', '-e', script] },
        { name: 'say', exec: 'echo second' },
      ],
      agent: { max_iterations: 21 },
    })
    expect(await observations(await play.run())).toEqual(Array(20).fill(['first\n', 'second\n']).flat())
  },
)

test.skipIf(!areInstalled('perl'))(
  'a further name that a command gives its output file keeps what it printed',
  async () => {
    const script =
      'link $_, "$ENV{CWD}/copy" for glob("$ENV{RUN_DIR}/io/tool_executions/*_link.stdout"); print "mine\n"'
    const play = await scene({
      turns: [{ tool_calls: [call('link')] }, { tool_calls: [call('say')] }, { content: 'Done.' }],
      tools: [
        { name: 'link', command: ['perl', '-e', script] },
        { name: 'say', exec: 'echo other' },
      ],
    })
    const result = await play.run()
    expect(await observations(result)).toEqual(['mine\n', 'other\n'])
    expect(await play.workspace.read('copy')).toBe('mine\n')
    expect(await executionFiles(result)).toEqual(['link.json', 'say.json'])
  },
)

test.skipIf(!areInstalled('perl'))(
  'an output file that a command put a directory in the place of does not end the run',
  async () => {
    const script =
      'for (glob("$ENV{RUN_DIR}/io/tool_executions/*.stdout")) { unlink $_; mkdir $_ } print "done\n"'
    const play = await scene({
      turns: [{ tool_calls: [call('replace')] }, { content: 'Done.' }],
      tools: [{ name: 'replace', command: ['perl', '-e', script] }],
    })
    const result = await play.run()
    expect(await observations(result)).toEqual(['done\n'])
    expect(result.status).toBe('COMPLETED')
  },
)

test('an engine that was killed between two commands leaves no files of outputs once its run has ended', async () => {
  const play = await scene({
    turns: [{ tool_calls: [call('say')] }, { tool_calls: [call('say')] }, { content: 'Done.' }],
    tools: [{ name: 'say', exec: 'echo hi' }],
    files: hooks({
      pre_llm_request: 'test $ITERATION_COUNT != 3 || test -e asked || { touch asked; exec sleep 300; }',
    }),
  })
  await play.runAndKill(() => waitForFile(`${play.workspace.path}/asked`))
  const result = await play.resume()
  expect(await observations(result)).toEqual(['hi\n', 'hi\n'])
  expect(await executionFiles(result)).toEqual(['say.json', 'say.json'])
})

test('so does one that was killed after commands that ran side by side', async () => {
  const play = await scene({
    turns: [{ tool_calls: [call('slow'), call('quick')] }, { content: 'Done.' }],
    tools: [
      { name: 'slow', exec: 'sleep 0.5' },
      { name: 'quick', exec: 'echo hi' },
    ],
    agent: { tool_concurrency: 2 },
    files: hooks({
      pre_llm_request: 'test $ITERATION_COUNT != 2 || test -e asked || { touch asked; exec sleep 300; }',
    }),
  })
  await play.runAndKill(() => waitForFile(`${play.workspace.path}/asked`))
  expect((await executionFiles(await play.resume())).sort()).toEqual(['quick.json', 'slow.json'])
})
