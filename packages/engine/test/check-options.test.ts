import type { ChatModel } from '@delta/model'
import { expect, test } from 'vitest'
import {
  agentHomeIn,
  continueRun,
  findAgentHome,
  findRun,
  nextRequest,
  readRecordedRun,
  runAgent,
} from '../src/index.js'
import { scene } from './run.js'

// Called from JavaScript, where no type checker has looked at what is passed.

test.each([
  ['agent', { agent: undefined }],
  ['agent', { agent: './my-agent' }],
  ['agent', { agent: { llm: {}, manifest: {}, tools: new Map() } }], // made by hand, without hooks and snapshot
  ['workDirectory', { workDirectory: undefined }],
  ['workDirectory', { workDirectory: 'relative' }],
  ['message', { message: 5 }],
  ['runId', { runId: 5 }],
  ['runsDirectory', { runsDirectory: 'relative' }],
  ['maxIterations', { maxIterations: '3' }],
  ['model', { model: {} }],
  ['signal', { signal: 5 }],
  ['environment', { environment: 'PATH=/bin' }],
  ['credentials', { credentials: null }],
  ['onEvent', { onEvent: 5 }],
  ['ask', { ask: 5 }],
])('runAgent names the option that it cannot use, and starts nothing: %s %o', async (option, change) => {
  const { run, workspace } = await scene({})
  await expect(run(change as never)).rejects.toMatchObject({
    code: 'ERR_ENGINE_USAGE',
    message: expect.stringContaining(`runAgent: the option ${option} is missing or invalid.\nPass `),
  })
  expect(await workspace.files()).toEqual([])
})

test.each([[{ requestId: 'r', approved: true }], [{ kind: 'yes', requestId: 'r' }], [{ kind: 'approve' }]])(
  'a decision that is none approves nothing and refuses nothing: %j',
  async (decision) => {
    const { resume } = await scene({})
    await expect(resume({ decision: decision as never })).rejects.toMatchObject({
      code: 'ERR_ENGINE_USAGE',
      message:
        "continueRun: the option decision is missing or invalid.\nPass { kind: 'approve', requestId } or { kind: 'deny', requestId }, or nothing.",
    })
  },
)

test.each([
  ['runAgent: the option agent', () => runAgent(undefined as never)],
  ['continueRun: the option trusted', () => continueRun(undefined as never)],
  ['nextRequest: the option agent', () => nextRequest(undefined as never)],
  ['findRun: the workspace, its first argument,', () => findRun(undefined as never)],
  ['findRun: the id of the run', () => findRun('/work', 5 as never)],
  ['agentHomeIn: the run', async () => agentHomeIn(undefined as never)],
  ['findAgentHome: the run', () => findAgentHome(undefined as never)],
  ['readRecordedRun: the directory of the run', async () => readRecordedRun(undefined as never)],
])('called with nothing the first option is named: %s', async (what, call) => {
  await expect(call()).rejects.toThrow(`${what} is missing`)
})

test.each([{}, { message: null }])(
  'a model that resolves to no message, %j, fails the run with words about that',
  async (answer) => {
    const { run } = await scene({})
    const model = { complete: async () => answer } as unknown as ChatModel
    expect(await run({ model })).toMatchObject({
      status: 'FAILED',
      reason: expect.stringContaining("The model's complete() resolved to no answer."),
    })
  },
)
