import { evalStatus, results } from '@delta/evals'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const EVAL = `tasks: tasks/
variants:
  oracle: { agent: oracle }
  nop: { agent: nop }
  seeded: { agent: ./seeded }
repeats: 3
score: { command: sh check.sh }
`

/** Solves a task with one seed of two. */
const SEEDED = 'if [ $((DELTA_SEED % 2)) = 0 ]; then echo ok > answer; fi'

test('the oracle scores 1, nop scores 0, and an agent what it deserves', async () => {
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': EVAL,
    ...below('seeded', scriptedAgent(SEEDED)),
    ...easyTask('one'),
    ...easyTask('two'),
  })
  const planned = await plan()
  expect(planned).toMatchObject({ added: 18, kept: 0, rescored: 0, continued: 0, left: 0 })
  expect(await work()).toBe('done')

  const all = results(directory)
  expect(all.map(({ result }) => result?.detail).filter((detail) => detail !== '')).toEqual([])
  for (const { cell, result } of all) {
    const wanted = { oracle: 1, nop: 0, seeded: cell.seed % 2 === 0 ? 1 : 0 }[cell.variant]
    expect({ ...cell, score: result?.score }).toEqual({ ...cell, score: wanted })
  }
  expect(evalStatus(directory).cells).toEqual({
    planned: 18,
    scored: 18,
    unscored_agent: 0,
    unscored_infra: 0,
    invalid: 0,
    pending: 0,
    running: 0,
    lost: 0,
  })
})
