import { appendFileSync, chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { evalStatus, readEval, readPlan, results, retryCells } from '@delta/evals'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const written = (more: Record<string, string> = {}) => {
  const keys = {
    tasks: 'tasks/',
    variants: '{ nop: { agent: nop }, oracle: { agent: oracle } }',
    score: '{ command: sh check.sh }',
    ...more,
  }
  return Object.entries(keys)
    .map(([key, value]) => `${key}: ${value}\n`)
    .join('')
}

test('more repeats are new cells; the others keep their results', async () => {
  const { plan, work, place, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await work()
  const [first] = results(directory)
  const path = join(directory, 'cells', first?.cell.cell ?? '', 'result.json')
  const before = statSync(path).mtimeMs
  await place.write('eval.yaml', written({ repeats: '2' }))
  const planned = await plan()
  expect(planned).toMatchObject({ added: 2, kept: 2, rescored: 0 })
  expect(planned.open.map(({ repeat }) => repeat)).toEqual([2, 2])
  const inAMinute = evalStatus(directory, Date.now() + 60_000)
  expect(inAMinute).toMatchObject({ workers: [], rate_per_minute: null, eta_s: null })
  await work()
  expect(evalStatus(directory).cells).toMatchObject({ planned: 4, scored: 4 })
  expect(statSync(path).mtimeMs).toBe(before)
})

test('planning the same again, and working on it, changes no file', async () => {
  const { plan, work, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await work()
  const times = () => ['plan.json', 'manifest.jsonl'].map((name) => statSync(join(directory, name)).mtimeMs)
  const before = times()
  expect(await plan()).toMatchObject({ added: 0, kept: 2 })
  await work()
  expect(times()).toEqual(before)
})

test('cells whose names were swapped are not read, and planning again mends them', async () => {
  const { plan, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  const manifest = join(directory, 'manifest.jsonl')
  const names: Record<string, string> = { nop: 'oracle', oracle: 'nop' }
  const text = readFileSync(manifest, 'utf8')
  writeFileSync(
    manifest,
    text.replaceAll(/"variant":"(\w+)"/g, (_, name) => `"variant":"${names[name]}"`),
  )
  for (const read of [results, evalStatus, retryCells])
    expect(() => read(directory)).toThrow(/manifest\.jsonl: it is not the list of cells that was planned/)
  await plan()
  expect(results(directory)).toHaveLength(2)
  expect(readFileSync(manifest, 'utf8')).toBe(text)
})

test('a renamed variant keeps its cells', async () => {
  const { plan, work, place, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await work()
  await place.write(
    'eval.yaml',
    written({ variants: '{ nothing: { agent: nop }, oracle: { agent: oracle } }' }),
  )
  expect(await plan()).toMatchObject({ added: 0, kept: 2 })
  expect(results(directory).map(({ cell, result }) => [cell.variant, result?.score])).toEqual([
    ['nothing', 0],
    ['oracle', 1],
  ])
})

test('other tests, or another scorer, score again and run no agent', async () => {
  const { plan, work, place, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await work()
  const runs = results(directory).map(({ result }) => result?.run?.id)
  await place.write('tasks/one/tests/check.sh', 'test ! -e answer\n')
  expect(await plan()).toMatchObject({ added: 0, kept: 2, rescored: 2 })
  await work()
  const after = results(directory)
  expect(after.map(({ cell, result }) => [cell.variant, result?.score])).toEqual([
    ['nop', 1],
    ['oracle', 0],
  ])
  expect(after.map(({ result }) => result?.run?.id)).toEqual(runs)
  expect(after.map(({ result }) => result?.attempt)).toEqual([1, 1])
})

test('a changed task is a new cell, and the old one is left and not counted', async () => {
  const { plan, work, place, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await work()
  await place.write('tasks/one/instruction.md', 'Something else.\n')
  expect(await plan()).toMatchObject({ added: 2, kept: 0, left: 2 })
  expect(evalStatus(directory)).toMatchObject({ left: 2, cells: { planned: 2, pending: 2 } })
})

test('a raised limit continues only the cells that ended by it; a lower one is refused', async () => {
  const agent = scriptedAgent('echo ok > answer')
  const { plan, work, place, directory } = await evaluationIn({
    'eval.yaml': written({
      variants: '{ a: { agent: ./a }, nop: { agent: nop } }',
      limits: '{ tokens: 60 }',
    }),
    ...below('a', agent),
    ...easyTask('one'),
  })
  await plan()
  await work()
  const reasons = () =>
    Object.fromEntries(results(directory).map(({ cell, result }) => [cell.variant, result?.reason]))
  expect(reasons()).toMatchObject({ a: 'limit_tokens' })
  await place.write(
    'eval.yaml',
    written({ variants: '{ a: { agent: ./a }, nop: { agent: nop } }', limits: '{ tokens: 60000 }' }),
  )
  expect(await plan()).toMatchObject({ added: 0, continued: 1 })
  await work()
  expect(reasons()).toEqual({ a: 'answered', nop: 'answered' })
  await place.write(
    'eval.yaml',
    written({ variants: '{ a: { agent: ./a }, nop: { agent: nop } }', limits: '{ tokens: 50 }' }),
  )
  await expect(plan()).rejects.toThrow(
    /^limits.tokens: 50 is below the 60000 under which \d cells? ran. Use another --into, or 60000.$/,
  )
})

test('what was planned is what runs: a later edit of the originals changes nothing', async () => {
  const { plan, work, place, directory } = await evaluationIn({ 'eval.yaml': written(), ...easyTask('one') })
  await plan()
  await place.write('tasks/one/tests/check.sh', 'exit 0\n')
  await place.write('tasks/one/solution/solve.sh', 'echo wrong > answer\n')
  await work()
  expect(results(directory).map(({ cell, result }) => [cell.variant, result?.score])).toEqual([
    ['nop', 0],
    ['oracle', 1],
  ])
})

test('a broken scorer is retried after its fix without the agent; a scored cell never', async () => {
  const { plan, work, place, directory } = await evaluationIn({
    'eval.yaml': written({ score: '{ command: exit 2 }' }),
    ...easyTask('one'),
  })
  await plan()
  await work()
  expect(evalStatus(directory)).toMatchObject({
    cells: { unscored_infra: 2 },
    unscored: { "scorer exit 2 (fail: [1, 2] if that is the agent's fault)": 2 },
  })
  await place.write('eval.yaml', written({ score: '{ command: exit 2, fail: [1, 2] }' }))
  expect(await plan()).toMatchObject({ rescored: 2 })
  await work()
  expect(evalStatus(directory).cells).toMatchObject({ scored: 2 })
  expect(() => retryCells(directory, { cells: ['nop/one/1'] })).toThrow(
    'nop/one/1 is scored (0). A scored cell is never run again; raise repeats for more samples.',
  )
})

test('a failed setup is infra, and a retry sets up anew', async () => {
  const { plan, work, directory, place } = await evaluationIn({
    'eval.yaml': written({
      setup: JSON.stringify('test -e "$HOME/ready" || { echo not ready >&2; exit 3; }'),
    }),
    ...easyTask('one'),
  })
  await plan()
  await work()
  expect(results(directory).map(({ result }) => result?.detail)).toEqual([
    'setup exit 3: not ready',
    'setup exit 3: not ready',
  ])
  await place.write('ready', '')
  expect(retryCells(directory)).toHaveLength(2)
  await work()
  expect(evalStatus(directory).cells).toMatchObject({ scored: 2 })
})

test('the manifest lists repeat 1 of everything before repeat 2, and variants side by side', async () => {
  const { plan, directory } = await evaluationIn({
    'eval.yaml': written({ repeats: '2' }),
    ...easyTask('one'),
    ...easyTask('two'),
  })
  await plan()
  const lines = readFileSync(join(directory, 'manifest.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ repeat }) => repeat)).toEqual([1, 1, 1, 1, 2, 2, 2, 2])
  expect(lines.map(({ variant }) => variant)).toEqual([
    'nop',
    'oracle',
    'nop',
    'oracle',
    'nop',
    'oracle',
    'nop',
    'oracle',
  ])
  expect(lines[0].seed).toBe(lines[1].seed)
})

test('a matrix is the cross product of partial variants', async () => {
  const { place } = await evaluationIn({
    'eval.yaml': `tasks: tasks/
matrix:
  model: { sonnet: { agent: ./a, model: claude-sonnet-5 }, luna: { agent: ./a, model: gpt-5.6-luna } }
  heat: { cold: {}, hot: { set: { llm.temperature: 1 } } }
exclude: [luna+hot]
score: { equals: ok }
`,
    ...below('a', scriptedAgent('true')),
    ...easyTask('one'),
  })
  const { variants } = await readEval(join(place.path, 'eval.yaml'))
  expect(variants.map(({ name, model, set }) => ({ name, model, set }))).toEqual([
    { name: 'sonnet+cold', model: 'claude-sonnet-5', set: {} },
    { name: 'sonnet+hot', model: 'claude-sonnet-5', set: { 'llm.temperature': 1 } },
    { name: 'luna+cold', model: 'gpt-5.6-luna', set: {} },
  ])
})

test('a variant whose prompt no source reads is warned of before a cell runs', async () => {
  const variants = '{ plain: { agent: ./a }, careful: { agent: ./a, set: { system_prompt: careful.md } } }'
  const { plan } = await evaluationIn({
    'eval.yaml': written({ variants }),
    ...below('a', { ...scriptedAgent('true'), 'careful.md': 'Take care.\n' }),
    ...easyTask('one'),
  })
  const { warnings } = await plan()
  expect(warnings.map(({ file, message }) => `${file}: ${message}`)).toEqual([
    'variant careful/context.yaml: No source reads careful.md; the model will not see it.',
  ])
})

test('an agent that was changed in inputs/ does not run, and planning again mends it', async () => {
  // python would leave its caches beside the agent's programs
  const agent = scriptedAgent('test "$PYTHONDONTWRITEBYTECODE" = 1 && cp hint answer')
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': written({
      variants:
        '{ plain: { agent: ./a }, other: { agent: ./a, set: { context: other.yaml } }, nop: { agent: nop } }',
    }),
    ...below('a', agent),
    'other.yaml': `# other\n${agent['context.yaml']}`,
    ...easyTask('one'),
  })
  await plan()
  const [plain, other, nop] = readPlan(directory).variants.map((each) =>
    join(directory, 'inputs', String(each.agent)),
  )
  for (const [copy, name] of [
    [String(plain), 'plain'],
    [String(other), 'other'],
    [String(nop), 'nop'],
  ] as const) {
    chmodSync(copy, 0o700)
    appendFileSync(join(copy, 'context.yaml'), '# edited\n')
    await expect(work({ only: `${name}/**` })).rejects.toThrow(`not the agent that was planned for ${name}`)
    expect(await plan()).toMatchObject({ added: 0 })
    expect(readFileSync(join(copy, 'context.yaml'), 'utf8')).not.toContain('edited')
  }
  await work()
  expect(results(directory).map(({ result }) => result?.score)).toEqual([1, 1, 0])
})

test('a link by an absolute path is refused: in the copy it would lead to the original', async () => {
  const { plan, place } = await evaluationIn({
    'eval.yaml': written({ variants: '{ a: { agent: ./a }, nop: { agent: nop } }' }),
    ...below('a', scriptedAgent('true')),
    ...easyTask('one'),
  })
  symlinkSync(join(place.path, 'a/script.yaml'), join(place.path, 'a/linked.yaml'))
  await expect(plan()).rejects.toThrow(/linked\.yaml: it is a link to \S+, which leads out of a copy\./)
})
