import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryWorkspace } from '../../../packages/testkit/dist/index.js'
import { checkExports, delta, EXAMPLES } from '../../run-example.js'

const FILE = join(EXAMPLES, '3-advanced/evaluation/eval.yaml')

test('each task is solved by its solution and not by doing nothing, and a fix of the agent is seen by the tests', async () => {
  const place = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const directory = join(place.path, 'bugfix.eval')
  const only = '{oracle/*,nop/*,careful/slug}/1'
  const run = await delta(['eval', 'run', FILE, '--into', directory, '--only', only, '--json'])
  expect(run).toMatchObject({ exitCode: 0 })
  expect(JSON.parse(run.stdout).cells).toMatchObject({ planned: 64, scored: 17, pending: 47 })
  const report = await delta(['eval', 'report', directory, '--format', 'json', '--allow-missing'])
  const { variants, alarms } = JSON.parse(report.stdout)
  expect(alarms).toEqual([])
  expect(variants).toMatchObject([
    { name: 'quick', runs: 0 },
    { name: 'careful', runs: 1 },
    { name: 'oracle', tasks: 8, score: { estimate: 1 } },
    { name: 'nop', tasks: 8, score: { estimate: 0 } },
  ])
  expect((await delta(['show', `${directory}/careful/slug/1`, '--answer'])).stdout).toBe(
    variants[1].score.estimate === 1
      ? "Done: .replace(' ', '-') -> .replaceAll(/ +/g, '-')\n"
      : 'Done: It looks fine.\n',
  )
  await checkExports(place)
})
