import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { evalStatus, results } from '@delta/evals'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const WORKER = fileURLToPath(import.meta.resolve('./worker.mjs'))

const EVAL = `tasks: tasks/
variants:
  oracle: { agent: oracle }
  seeded: { agent: ./seeded }
repeats: 4
score: { command: sh check.sh }
`

/** Solves a task with one seed of two. */
const SEEDED = 'if [ $((DELTA_SEED % 2)) = 0 ]; then echo ok > answer; fi'

test('a worker that is killed with -9, again and again, leaves each cell with one result', {
  timeout: 120_000,
}, async () => {
  const { plan, directory, env } = await evaluationIn({
    'eval.yaml': EVAL,
    ...below('seeded', scriptedAgent(SEEDED)),
    ...easyTask('one'),
    ...easyTask('two'),
  })
  await plan()
  const start = () => startProcess([process.execPath, WORKER, directory, '3'], { env })
  for (const ends of [1, 2, 3]) {
    const worker = start()
    await worker.waitForOutput((text) => text.split('ends').length > ends)
    worker.kill('SIGKILL')
    await worker.result
  }
  expect(evalStatus(directory).cells.scored).toBeLessThan(16)

  const last = await start().result
  expect(last).toMatchObject({ exitCode: 0, stderr: '' })
  expect(evalStatus(directory).cells).toMatchObject({ planned: 16, scored: 16, pending: 0, lost: 0 })
  for (const { cell, result } of results(directory)) {
    const ofCell = join(directory, 'cells', cell.cell)
    expect(existsSync(join(ofCell, 'results'))).toBe(false)
    expect(readdirSync(join(ofCell, 'scores')).filter((name) => name.startsWith('.'))).toEqual([])
    const solves = cell.variant === 'oracle' || cell.seed % 2 === 0
    expect(result?.score).toBe(solves ? 1 : 0)
  }
})

test('two workers share the cells, and none is done twice', { timeout: 60_000 }, async () => {
  const { plan, directory, env } = await evaluationIn({
    'eval.yaml': EVAL,
    ...below('seeded', scriptedAgent(SEEDED)),
    ...easyTask('one'),
  })
  await plan()
  const workers = [1, 2].map(() => startProcess([process.execPath, WORKER, directory, '2'], { env }))
  const outputs = await Promise.all(workers.map(({ result }) => result))
  const ended = outputs.flatMap(({ stdout }) => [...stdout.matchAll(/ends (\w+)/g)].map(([, cell]) => cell))
  expect(ended).toHaveLength(8)
  expect(new Set(ended).size).toBe(8)
  for (const { result } of results(directory)) expect(result?.epoch).toBe(1)
})
