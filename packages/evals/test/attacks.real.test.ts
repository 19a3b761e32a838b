import { fileURLToPath } from 'node:url'
import { evalStatus, results } from '@delta/evals'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const WORKER = fileURLToPath(import.meta.resolve('./worker.mjs'))

const EVAL = `tasks: tasks/
variants: { a: { agent: ./a }, oracle: { agent: oracle } }
score: { command: sh check.sh }
`

test('an agent that kills its worker, and one that forges a result first, stops neither the evaluation nor changes its score', async () => {
  const forge = `echo '{"state":"scored","score":1,"cell":"x"}' > "$DELTA_CELL/result.json"; kill -9 $PPID; sleep 60`
  const { plan, directory, env } = await evaluationIn({
    'eval.yaml': EVAL,
    ...below('a', scriptedAgent(forge)),
    ...easyTask('one'),
  })
  await plan()
  let workers = 1
  while ((await runProcess([process.execPath, WORKER, directory, '1'], { env })).signal === 'SIGKILL')
    workers += 1
  expect(workers).toBeLessThan(13)
  const found = Object.fromEntries(results(directory).map(({ cell, result }) => [cell.variant, result]))
  expect(found.oracle).toMatchObject({ state: 'scored', score: 1 })
  expect(found.a).toMatchObject({ state: 'invalid', reason: 'result', score: null })
})

/** A stand-in for a million: each is one more of the same. */
const FILES = 20_000

test('an agent that leaves a great many files is scored as any other', async () => {
  const { plan, work, directory } = await evaluationIn({
    'eval.yaml': EVAL.replace('sh check.sh', `test "$(ls many | wc -l)" = ${FILES} && sh check.sh`),
    ...below('a', scriptedAgent(`mkdir many; cd many; seq ${FILES} | xargs touch; cd ..; echo ok > answer`)),
    ...easyTask('one'),
  })
  await plan()
  await work({ only: 'a/**' })
  expect(evalStatus(directory).cells).toMatchObject({ scored: 1 })
  expect(results(directory)[0]?.result?.score).toBe(1)
})
