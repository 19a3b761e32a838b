import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  defineTool,
  type ExecuteContext,
  executeTool,
  isAgentTool,
  parsePolicy,
  toolMap,
} from '../src/index.js'
import { workspace } from './workspace.js'

const tools = toolMap([
  defineTool({ name: 'say', exec: 'echo ${words}' }),
  defineTool({
    name: 'count',
    shell: 'wc -c',
    stdin: 'text',
  }),
  defineTool({ name: 'complain', shell: 'echo out; echo err >&2; exit 3' }),
])

test('two tools of one name are refused: a model could not tell them apart', () => {
  const say = (template: string) => defineTool({ name: 'say', exec: template })
  expect(() => toolMap([say('echo ${words}'), say('printf %s ${words}')])).toThrow(
    expect.objectContaining({
      code: 'ERR_EXECUTOR_USAGE',
      message: 'Two tools are called "say". A model could not tell them apart.',
    }),
  )
})

test('a model that names no tool at all gets an answer', async () => {
  const tools = toolMap([defineTool({ name: 'say', exec: 'echo hi' })])
  const context = { workDirectory: '/', environment: {} }
  const { status, observation } = await executeTool(tools, { name: '', arguments: '{}' }, context)
  expect(status).toBe('ERROR')
  expect(observation).toBe('ERROR: there is no tool "". Nothing was run.\nThe tools are: say.')
})

test('a plain success is the stdout of the command and nothing else', async () => {
  const workDirectory = (await workspace()).path
  const outputPrefix = join(workDirectory, 'record')
  const call = { name: 'say', arguments: '{"words":"hello  world"}' }
  const result = await executeTool(tools, call, {
    workDirectory,
    environment: process.env,
    actionId: '1-0',
    outputPrefix,
  })
  expect(result).toEqual({
    status: 'SUCCESS',
    exitCode: 0,
    signal: null,
    observation: 'hello  world\n',
    durationMs: expect.any(Number),
    stdout: { bytes: 13, text: 'hello  world\n' },
    stderr: { bytes: 0, text: '' },
  })
  expect(existsSync(`${outputPrefix}.stdout`)).toBe(false)
})

test('a failure says its exit code, then shows stdout and stderr', async () => {
  const result = await executeTool(
    tools,
    { name: 'complain', arguments: {} },
    { workDirectory: (await workspace()).path, environment: process.env },
  )
  expect(result).toMatchObject({ status: 'FAILED', exitCode: 3 })
  expect(result.observation).toBe('[exit code 3]\nout\n[stderr]\nerr\n')
})

test('a large value goes through stdin', async () => {
  const call = { name: 'count', arguments: { text: 'x'.repeat(300_000) } }
  const result = await executeTool(tools, call, {
    workDirectory: (await workspace()).path,
    environment: process.env,
  })
  expect(result.observation.trim()).toBe('300000')
})

test("the engine's keys reach no tool that does not list them, and no observation", async () => {
  const workDirectory = (await workspace()).path
  const environment = { ...process.env, DELTA_API_KEY: 'sekret-value-123' }
  const shows = { shell: 'echo "key: $DELTA_API_KEY"' }
  const two = toolMap([
    defineTool({ name: 'without', ...shows }),
    defineTool({ name: 'with', ...shows, pass_env: ['DELTA_API_KEY'] }),
  ])
  const run = (name: string) => executeTool(two, { name, arguments: {} }, { workDirectory, environment })
  expect((await run('without')).observation).toBe('key: \n')
  expect((await run('with')).observation).toBe('key: [REDACTED]\n')
})

test('delta run is an agent of its own and gets the keys; other commands of delta are tools like any other', () => {
  const tool = (exec: string) => defineTool({ name: 'a', exec })
  expect(isAgentTool(tool('delta run --agent ${agent} -m ${task}'))).toBe(true)
  expect(isAgentTool(tool('/usr/bin/delta continue -w ${directory}'))).toBe(true)
  expect(isAgentTool(tool('delta sessions exec ${id}'))).toBe(false)
  expect(isAgentTool(tool('delta-sessions exec ${id}'))).toBe(false)
})

describe('what a person says to a call', () => {
  const wipe = defineTool({ name: 'wipe', exec: 'touch wiped', effects: { destructive: true } })
  const asking = async (confirm: ExecuteContext['confirm']) => {
    const { path: workDirectory } = await workspace()
    const parsed = parsePolicy({ allow_destructive: false })
    if (!parsed.ok) throw new Error('the policy is valid')
    const context = { workDirectory, environment: process.env, policy: parsed.policy, confirm }
    const result = executeTool(toolMap([wipe]), { name: 'wipe', arguments: {} }, context)
    return { result, wiped: () => existsSync(join(workDirectory, 'wiped')) }
  }

  test.each([false, undefined, 'no', 'yes', 1, {}])('%j is no agreement', async (said) => {
    const { result, wiped } = await asking(async () => said as never)
    expect((await result).status).toBe('BLOCKED')
    expect(wiped()).toBe(false)
  })

  test('true is', async () => {
    const { result, wiped } = await asking(async () => true)
    expect((await result).status).toBe('SUCCESS')
    expect(wiped()).toBe(true)
  })
})

test('nobody is asked about a call that is interrupted already', async () => {
  const { path: workDirectory } = await workspace()
  const wipe = defineTool({ name: 'wipe', exec: 'touch wiped', effects: { destructive: true } })
  const parsed = parsePolicy({ allow_destructive: false })
  if (!parsed.ok) throw new Error('the policy is valid')
  let asked = 0
  const result = await executeTool(
    toolMap([wipe]),
    { name: 'wipe', arguments: {} },
    {
      workDirectory,
      environment: process.env,
      policy: parsed.policy,
      signal: AbortSignal.abort(),
      confirm: () => ++asked > 0,
    },
  )
  expect(result.status).toBe('INTERRUPTED')
  expect(asked).toBe(0)
  expect(existsSync(join(workDirectory, 'wiped'))).toBe(false)
})
