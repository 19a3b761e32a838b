import { expect, test } from 'vitest'
import { readRequest } from '../../../packages/journal/dist/runs.js'
import { areInstalled } from '../../../packages/testkit/dist/index.js'
import { eventsOf, runDirectoryOf, runExample, workspaceOf } from '../../run-example.js'
import { type Message, unchangedShare } from './requests.js'

const EXAMPLE = '2-core-features/memory-folding'
const TASK = 'Where does the treasure lie?'
const ANSWER = 'the treasure lies under the old oak.'

test.skipIf(!areInstalled('jq'))(
  'a model that knows only what is in the request reads the book to its end, and answers',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const { stdout } = await runExample(EXAMPLE, workspace, TASK)
    expect(stdout).toBe(`${ANSWER}\n`)

    const events = await eventsOf(workspace)
    const whole = events.reduce((sum, event) => {
      return sum + (event.type === 'ACTION_RESULT' ? Buffer.byteLength(event.observation_content) : 0)
    }, 0)
    expect(whole / 4).toBeGreaterThan(30_000)
    const run = await runDirectoryOf(workspace)
    const requests: Message[][] = []
    for (let iteration = 1; iteration <= 101; iteration++)
      requests.push(JSON.parse(await readRequest(run, iteration)).messages)
    expect(unchangedShare(requests)).toBeGreaterThan(0.6)
    for (const messages of requests) expect(JSON.stringify(messages).length / 4).toBeLessThanOrEqual(4001)
  },
)
