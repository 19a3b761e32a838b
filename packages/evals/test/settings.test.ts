import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Change, nameOfCell, planEval, readEval, results, retryCells } from '@delta/evals'
import { startScriptedServer } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

/** An agent whose model is at an address. */
function servedAgent(baseUrl: string): Record<string, string> {
  const llm = `llm: { provider: openai, model: my-model, base_url: "${baseUrl}" }`
  const agent = scriptedAgent('cp hint answer')
  return { ...agent, 'agent.yaml': agent['agent.yaml']?.replace(/^llm: .*$/m, llm) ?? '' }
}

const ORACLE_AND_NOP = 'tasks: tasks/\nvariants: { oracle: { agent: oracle }, nop: { agent: nop } }\n'
const CHECK = 'score: { command: sh check.sh }\n'

test('a throttled provider is no slow agent, and one that stays so leaves its cell unscored-infra', async () => {
  const calls = { tool_calls: [{ name: 'act' }] }
  const slow = await startScriptedServer([
    { before: [{ status: 429, retryAfter: '1' }], ...calls },
    { content: 'Done.' },
  ])
  const gone = await startScriptedServer([{ status: 429, retryAfter: '3600' }])
  onTestFinished(() => Promise.all([slow.close(), gone.close()]).then(() => undefined))
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': `tasks: tasks/\nvariants: { slow: { agent: ./slow }, gone: { agent: ./gone } }\nprovider_wait: 5s\n${CHECK}`,
    ...below('slow', servedAgent(slow.baseUrl)),
    ...below('gone', servedAgent(gone.baseUrl)),
    ...easyTask('one'),
  })
  await plan()
  await work()
  const [first, second] = results(directory).map(({ result }) => result)
  expect(first).toMatchObject({ state: 'scored', score: 1, totals: { waited_ms: first?.ms.waited } })
  expect(first?.ms.waited).toBeGreaterThanOrEqual(1000)
  expect(first?.ms.agent).toBe((first?.totals?.duration_ms ?? 0) - (first?.ms.waited ?? 0))
  expect(second).toMatchObject({ state: 'unscored-infra', score: null, reason: 'provider_unavailable' })
  expect(gone.requests()).toHaveLength(1)
})

test('an agent that is out of time is scored on what it left', async () => {
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': `tasks: tasks/\nvariants: { a: { agent: ./a } }\nlimits: { wall_time: 0.3s }\nscore: { command: test -e hint }\n`,
    ...below('a', scriptedAgent('exec sleep 600')),
    ...easyTask('one'),
  })
  await plan()
  await work()
  const [found] = results(directory)
  expect(found?.result).toMatchObject({
    state: 'scored',
    score: 1,
    reason: 'limit_wall_time',
    run: { status: 'FAILED' },
    limits: { wall_time: '0.3s' },
  })
})

test('what a run warned of stands in the result', async () => {
  const agent = scriptedAgent('printf %s ${text}')
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': `tasks: tasks/\nvariants: { a: { agent: ./a } }\n${CHECK}`,
    ...below('a', {
      ...agent,
      'agent.yaml': agent['agent.yaml']?.replace('shell: "printf', 'exec: "printf') ?? '',
      'script.yaml': '- tool_calls: [{ name: act, arguments: { text: -x } }]\n- content: Done.\n',
    }),
    ...easyTask('one'),
  })
  await plan()
  await work()
  expect(results(directory)[0]?.result?.warnings).toEqual([
    expect.stringMatching(/^act: a value of "text" that begins with "-" was refused\./),
  ])
})

test.each([
  ['never', { oracle: false, nop: false }],
  ['failed', { oracle: false, nop: true }],
])('keep: %s decides which workspaces stay', async (keep, wanted) => {
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': `${ORACLE_AND_NOP}keep: ${keep}\n${CHECK}`,
    ...easyTask('one'),
  })
  await plan()
  await work()
  const found = results(directory).map(({ cell }) => {
    const attempt = join(directory, 'cells', cell.cell, '1')
    expect(existsSync(join(attempt, 'runs', `${cell.cell}-1`, 'journal.jsonl'))).toBe(true)
    return [cell.variant, existsSync(join(attempt, 'workspace'))]
  })
  expect(Object.fromEntries(found)).toEqual(wanted)
})

test('a shard is where a worker begins; it then does the rest, too', async () => {
  const { plan, work } = await evaluationIn({
    'eval.yaml': `${ORACLE_AND_NOP}${CHECK}`,
    ...easyTask('one'),
    ...easyTask('two'),
  })
  const names = (await plan()).cells.map(nameOfCell)
  const begun: string[] = []
  const onChange = (change: Change) => {
    if (change.kind === 'begins') begun.push(nameOfCell(change.cell))
  }
  await work({ shard: { number: 2, of: 2 }, concurrency: 1, onChange })
  expect(begun).toEqual([...names.slice(2), ...names.slice(0, 2)])
})

test('an invalid cell is only started anew, in an empty workspace', async () => {
  const once =
    'test -e "$HOME/again" || { cd .. && mv workspace old && ln -s old workspace; }; cp hint answer'
  const { plan, work, directory, place } = await evaluationIn({
    'eval.yaml': `tasks: tasks/\nvariants: { a: { agent: ./a } }\n${CHECK}`,
    ...below('a', scriptedAgent(once)),
    ...easyTask('one'),
  })
  await plan()
  await work()
  expect(results(directory)).toMatchObject([{ standing: 'invalid', result: { reason: 'workspace' } }])
  expect(retryCells(directory)).toEqual([])
  expect(() => retryCells(directory, { cells: ['a/one/1'] })).toThrow(
    `a/one/1 (workspace) cannot go on from where it stopped. Start it anew: delta eval retry ${directory} --fresh a/one/1`,
  )
  await place.write('again', '')
  expect(retryCells(directory, { cells: ['a/one/1'], fresh: true }).map(nameOfCell)).toEqual(['a/one/1'])
  await work()
  const [found] = results(directory)
  expect(found?.result).toMatchObject({
    state: 'scored',
    score: 1,
    attempt: 2,
    run: { id: `${found?.cell.cell}-2` },
  })
})

describe('limits.cost', () => {
  const EVAL = `tasks: tasks/\nvariants: { luna: { agent: ./luna } }\nlimits: { cost: 2 }\n${CHECK}`
  const luna = servedAgent('https://llm.example/v1')

  test('with a model without a price is refused when it is planned, and before anything is written', async () => {
    const { place, plan } = await evaluationIn({
      'eval.yaml': EVAL,
      ...below('luna', luna),
      ...easyTask('one'),
    })
    const message =
      'limits.cost: no price for my-model (variant luna). Give prices: in its agent.yaml, or use limits.tokens.'
    await expect(plan()).rejects.toThrow(message)
    await place.write('eval.yaml', EVAL.replace('limits: { cost: 2 }', 'limits: { tokens: 200 }'))
    await place.write('luna/agent.yaml', `${luna['agent.yaml']}limits: { cost: 2 }\n`)
    await expect(plan()).rejects.toThrow(message)
    await place.write('luna/agent.yaml', luna['agent.yaml'] ?? '')
    expect(await plan()).toMatchObject({ added: 1 })
  })

  test('takes a price of the agent, or of the person', async () => {
    const { place, plan, directory, env } = await evaluationIn({
      'eval.yaml': EVAL,
      ...below('luna', luna),
      ...easyTask('one'),
    })
    const evaluation = await readEval(join(place.path, 'eval.yaml'))
    const prices = { last: [{ match: 'my-model', input: 1, output: 2 }] }
    expect(await planEval(evaluation, directory, { env, prices })).toMatchObject({ added: 1 })
    await place.write(
      'luna/agent.yaml',
      `${luna['agent.yaml']}prices: [{ match: "my-*", input: 1, output: 2 }]\n`,
    )
    expect(await plan()).toMatchObject({ added: 1 })
  })
})

describe('a glob in fork:', () => {
  const found = async (fork: string, directories: readonly string[]) => {
    const { place } = await evaluationIn({
      'eval.yaml': `tasks: [{ fork: ${JSON.stringify(fork)}, at: 0, id: old }]\nvariants: { a: {} }\n${CHECK}`,
    })
    for (const each of directories) mkdirSync(join(place.path, each), { recursive: true })
    const { tasks } = await readEval(join(place.path, 'eval.yaml'), {
      shownAs: 'eval.yaml',
      findRuns: async (named) =>
        named.endsWith('empty')
          ? []
          : [{ directory: join(place.path, named), own: { home: place.path, set: [] } }],
    })
    return tasks.map(({ id, fork: forked }) => [
      id,
      forked?.run.directory.slice(place.path.length + 1),
      forked?.at,
    ])
  }
  const SITES = ['sites/one', 'sites/two/deep', 'sites/.delta/x', 'sites/empty', 'other']

  test.each([
    ['sites/*', ['sites/one', 'sites/two']],
    ['./sites/t*/', ['sites/two']],
    ['sites/**', ['sites/one', 'sites/two', 'sites/two/deep']],
    ['sites/.delta/*', ['sites/.delta/x']],
    ['{other,sites/one}', ['other', 'sites/one']],
  ])('%s makes a task of each run', async (fork, wanted) => {
    const tasks = await found(fork, SITES)
    expect(tasks.map(([, directory]) => directory)).toEqual(wanted)
    expect(tasks.every(([id]) => (wanted.length === 1 ? id === 'old' : String(id).startsWith('old-')))).toBe(
      true,
    )
  })

  test('that names none is a mistake in its line', async () => {
    await expect(found('sites/empty*', SITES)).rejects.toThrow(
      'eval.yaml:1:17: tasks[0].fork: there is no run sites/empty*.',
    )
  })
})
