import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { openTrace, type Trace } from '@delta/trace'
import { expect, test } from 'vitest'
import { calls, scene } from './delta.js'

const AGENT = { snapshots: { every: 'iteration', wait_ms: 10_000, ignore: ['cache'] } }
const TOOLS = [
  { name: 'write', shell: 'echo ${text} > ${file}; mkdir -p cache; date > cache/x' },
  { name: 'think', exec: 'true' },
]
const TURNS = [
  calls('write', { file: 'plan.md', text: 'one' }),
  { content: 'Nothing to do.' },
  calls('write', { file: 'plan.md', text: 'two' }),
  calls('think'),
  { content: 'Done.' },
]

function traceOf(workspace: string): Promise<Trace> {
  const runs = join(workspace, '.delta')
  return openTrace(join(runs, readdirSync(runs).find((name) => /^\d{8}_/.test(name)) ?? ''))
}

/** The changes of an iteration, each with the text before and after. */
async function changesIn(trace: Trace, n: number) {
  const changes = await trace.changes(n)
  if (changes === null || 'unknown' in changes) return changes
  const files = changes.files.map(async ({ kind, path, before, after }) => [
    `${kind} ${path}`,
    before && String(await before.read()),
    after && String(await after.read()),
  ])
  return [changes.iterations, ...(await Promise.all(files))]
}

test.skipIf(!areInstalled('git'))(
  'the trace of a run has the files that each iteration changed, in a run and in its fork',
  async () => {
    const { run, at, workspace } = await scene({ agent: AGENT, tools: TOOLS, turns: TURNS })
    await run('-q')
    await writeFile(join(workspace.path, 'mine.txt'), 'of a person') // between two engines
    await at('continue', '-m', 'Go on', '-q')
    const trace = await traceOf(workspace.path)
    const first = [[1], ['A plan.md', null, 'one\n']]
    const third = [[3], ['M plan.md', 'one\n', 'two\n']]
    expect(await Promise.all([1, 2, 3, 4, 5].map((n) => changesIn(trace, n)))).toEqual([
      first,
      [[]],
      third,
      [[4]],
      [[]],
    ])
    expect(await trace.changes(3)).toMatchObject({ omitted: [{ path: 'cache', why: 'ignored' }] })

    const fork = `${workspace.path}-fork`
    const flags = ['--at', '3', '--into', fork, '-m', 'Further', '-q']
    expect((await at('fork', ...flags)).stdout).toBe('Done.\n')
    const forked = await traceOf(fork)
    expect(await changesIn(forked, 1)).toEqual(first)
    expect(await changesIn(forked, 3)).toEqual(third)
    expect(await changesIn(forked, 4)).toEqual([[4]])
  },
)

test('a run without snapshots has no changes to show', async () => {
  const { run, workspace } = await scene({ tools: TOOLS, turns: TURNS })
  await run('-q')
  expect(await (await traceOf(workspace.path)).changes(1)).toBeNull()
})
