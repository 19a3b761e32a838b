import { expect, onTestFinished, test } from 'vitest'
import { areInstalled, startScriptedServer } from '../../../packages/testkit/dist/index.js'
import { changedExample, delta, eventsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/budget-guard'

test.skipIf(!areInstalled('jq'))(
  'a run ends when its tokens are spent, and goes on when there are more',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    expect(await runExample(EXAMPLE, workspace, 'Watch.')).toMatchObject({ exitCode: 1, stdout: '' })
    const events = await eventsOf(workspace)
    expect(events.at(-1)).toMatchObject({
      type: 'ENGINE_END',
      status: 'FAILED',
      reason: expect.stringMatching(/^pre_llm_request hook: \d+ of 1000 tokens are spent$/),
    })
    const thoughts = events.filter(({ type }) => type === 'THOUGHT').length
    expect(thoughts).toBeGreaterThan(1)
    expect(thoughts).toBeLessThan(7)

    const more = await delta(['continue', '-w', workspace.path, '-m', 'Go on.'], { BUDGET_TOKENS: '5000' })
    expect(more).toMatchObject({ exitCode: 0, stdout: 'Enough.\n' })
  },
)

test.skipIf(!areInstalled('jq'))('what the provider counted is what is counted', async () => {
  const usage = { prompt_tokens: 490, completion_tokens: 10, total_tokens: 500 }
  const turn = { content: 'I look.', tool_calls: [{ name: 'look', arguments: {} }], usage }
  const server = await startScriptedServer([turn, turn, turn, { content: 'Enough.' }])
  onTestFinished(() => server.close())
  const agent = await changedExample(EXAMPLE, (yaml) =>
    yaml.replace(/^llm:\n( .*\n)+/m, `llm: { model: scripted, base_url: "${server.baseUrl}" }\n`),
  )
  const workspace = await workspaceOf(EXAMPLE)
  const args = ['run', '--agent', agent, '-w', workspace.path, '-m', 'Watch.']
  const { exitCode, stderr } = await delta(args, { DELTA_API_KEY: 'test-key-not-real' })
  expect(exitCode).toBe(1)
  expect(stderr).toContain('1000 of 1000 tokens are spent')
  expect(server.requests()).toHaveLength(2)
})
