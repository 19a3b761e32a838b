import { expect, onTestFinished, test } from 'vitest'
import { readRequest } from '../../../packages/journal/dist/runs.js'
import { areInstalled, startScriptedServer } from '../../../packages/testkit/dist/index.js'
import {
  changedExample,
  delta,
  eventsOf,
  runDirectoryOf,
  runExample,
  workspaceOf,
} from '../../run-example.js'
import { type Message, unchangedShare } from './requests.js'

const EXAMPLE = '2-core-features/memory-folding'
const TASK = 'Where does the treasure lie?'
const ANSWER = 'the treasure lies under the old oak.'

test.skipIf(!areInstalled('jq'))(
  'a hundred iterations fit into 4,000 tokens, as the server sees them, and neither the task nor page 7 is lost',
  async () => {
    const pages = Array.from({ length: 100 }, (_, index) => ({
      content: `I go on with page ${index + 1}.`,
      usage: null, // so that a token stays four bytes
      tool_calls: [{ name: 'read_page', arguments: { number: index + 1 } }],
    }))
    const server = await startScriptedServer({ choose: 'requests', turns: [...pages, { content: ANSWER }] })
    onTestFinished(() => server.close())
    const agent = await changedExample(EXAMPLE, (yaml) =>
      yaml.replace(/^llm:\n( .*\n)+/m, `llm: { model: scripted, base_url: "${server.baseUrl}" }\n`),
    )
    const workspace = await workspaceOf(EXAMPLE)
    const args = ['run', '--agent', agent, '-w', workspace.path, '-m', TASK, '--no-sync', '-q']
    expect(await delta(args, { DELTA_API_KEY: 'test-key-not-real' })).toMatchObject({
      exitCode: 0,
      stdout: `${ANSWER}\n`,
    })

    const requests = server
      .requests()
      .map(({ body }) => (JSON.parse(body) as { messages: Message[] }).messages)
    expect(requests).toHaveLength(101)
    for (const [index, messages] of requests.entries()) {
      const bytes = messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0)
      expect(bytes / 4).toBeLessThanOrEqual(4000)
      expect(messages.filter(({ role }) => role === 'user')).toEqual([{ role: 'user', content: TASK }])
      if (index > 7) expect(JSON.stringify(messages)).toContain(ANSWER)
      if (index > 20) expect(JSON.stringify(messages)).not.toContain('page 7:')
    }
    expect(unchangedShare(requests)).toBeGreaterThan(0.6)
  },
)

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
