import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { results } from '@delta/evals'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const WORKER = fileURLToPath(import.meta.resolve('./worker.mjs'))

test('a plan that is amended again and again never shows a worker half of itself', async () => {
  const amended = (number: number) =>
    JSON.stringify({
      tasks: 'tasks/',
      variants: { [`name-${number % 2}`]: { agent: './a' } },
      repeats: 60,
      score: { command: `sh check.sh; echo ${number % 2}; true` },
    })
  const { plan, place, directory, env } = await evaluationIn({
    'eval.yaml': amended(0),
    ...below('a', scriptedAgent('echo ok > answer')),
    ...easyTask('one'),
  })
  await plan()
  const worker = startProcess([process.execPath, WORKER, directory, '2'], { env })
  let isOver = false
  void worker.result.finally(() => {
    isOver = true
  })
  let latest = 0
  while (!isOver && latest < 40) {
    latest += 1
    await place.write('eval.yaml', amended(latest))
    await plan()
  }
  expect(await worker.result).toMatchObject({ exitCode: 0, stderr: '' })
  await plan()
  for (const { cell, result } of results(directory)) {
    if (result === undefined) continue // scored by the other scorer
    const scores = join(directory, 'cells', cell.cell, 'scores')
    const last = Math.max(...readdirSync(scores).map((name) => Number(name.replace('score-', ''))))
    expect(readFileSync(join(scores, `score-${last}`, 'stdout'), 'utf8')).toBe(`${latest % 2}\n`)
  }
})
