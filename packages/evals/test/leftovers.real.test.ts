import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { results } from '@delta/evals'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { easyTask, evaluationIn } from './evaluation.js'

const WORKER = fileURLToPath(import.meta.resolve('./worker.mjs'))

/** The first time, until it is ended: makes files where it is, wherever that is by then. */
const SPOIL =
  'if mkdir ../../../../../once 2>/dev/null; then here=$(pwd); while [ "$((i=i+1))" -lt 20000 ]; do :; mkdir -p "$here/spoiled/$i"; echo x > "$here/spoiled/$i/x"; done; fi'

test.each([
  ['setup', { setup: SPOIL, score: { command: 'sh check.sh && test ! -e spoiled' } }],
  [
    'scorer',
    {
      score: {
        command: `${SPOIL.replaceAll('../../../../../', '../../../../../../')}; sh check.sh && test ! -e spoiled`,
      },
    },
  ],
])('a %s whose worker was killed is ended before its cell goes on', async (_, keys) => {
  const { plan, directory, env, place } = await evaluationIn({
    'eval.yaml': JSON.stringify({ tasks: 'tasks/', variants: { oracle: { agent: 'oracle' } }, ...keys }),
    ...easyTask('one'),
  })
  await plan()
  const start = () => startProcess([process.execPath, WORKER, directory, '1'], { env })
  const worker = start()
  const spoiled = () =>
    readdirSync(place.path, { recursive: true, encoding: 'utf8' }).some((name) =>
      name.endsWith('spoiled/100/x'),
    )
  await expect.poll(spoiled).toBe(true)
  worker.kill('SIGKILL')
  await worker.result
  expect(await start().result).toMatchObject({ exitCode: 0, stderr: '' })
  expect(results(directory).map(({ result }) => [result?.score, result?.epoch])).toEqual([[1, 2]])
})
