import { relative } from 'node:path'
import { defineTool, parsePolicy } from '@delta/executor'
import { temporaryWorkspace } from '@delta/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { dispatch, isAdapterError, toOpenAITools } from '../src/index.js'

const tools = [
  defineTool({ name: 'print', description: 'Print a text', exec: 'printf %s ${text}' }),
  defineTool({ name: 'fail', shell: 'echo oops >&2; exit 3' }),
  defineTool({ name: 'sleep', exec: 'sleep 600' }),
  defineTool({ name: 'where', exec: 'pwd' }),
  defineTool({ name: 'told', shell: 'echo "${CWD} $CWD ${AGENT_HOME} $AGENT_HOME"' }),
  defineTool({ name: 'environment', exec: 'env' }),
  defineTool({ name: 'wipe', exec: 'echo wiped', effects: { destructive: true } }),
]

const workspace = await temporaryWorkspace()
const cwd = workspace.path
afterAll(() => workspace.remove())

function message(...calls: [name: string, args: unknown][]) {
  return {
    role: 'assistant',
    tool_calls: calls.map(([name, args], index) => ({
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: args },
    })),
  }
}

async function contents(sent: ReturnType<typeof message>, options = {}): Promise<string[]> {
  const answers = await dispatch(tools, sent, { cwd, graceMs: 100, ...options })
  return answers.map(({ content }) => content)
}

test('toOpenAITools describes each tool as a function, in strict mode if asked', () => {
  const described = { type: 'function', function: { name: 'print', parameters: { required: ['text'] } } }
  expect(toOpenAITools(tools)[0]).toMatchObject(described)
  expect(toOpenAITools(tools, { strict: true }).every((tool) => tool.function.strict)).toBe(true)
})

describe('dispatch', () => {
  test('answers every call of a message, in order, each under its id, however many may run at the same time', async () => {
    const sent = message(['print', '{"text":"one"}'], ['print', { text: 'two' }], ['fail', ''])
    expect(await dispatch(tools, sent, { cwd, concurrency: 3 })).toEqual([
      { role: 'tool', tool_call_id: 'call_0', content: 'one' },
      { role: 'tool', tool_call_id: 'call_1', content: 'two' },
      { role: 'tool', tool_call_id: 'call_2', content: '[exit code 3]\n[stderr]\noops\n' },
    ])
    const two = message(['print', { text: 'one' }], ['print', { text: 'two' }])
    for (const concurrency of [1.5, Number.POSITIVE_INFINITY, 0, Number.NaN])
      expect(await contents(two, { concurrency })).toEqual(['one', 'two'])
  })

  test('a message without calls has no answers', async () => {
    expect(await dispatch(tools, { tool_calls: null })).toEqual([])
    expect(await dispatch(tools, { role: 'assistant', content: 'Hello', tool_calls: [] })).toEqual([])
    expect(await dispatch(tools, {})).toEqual([])
  })

  test('calls of no tool, with broken arguments and with a refused value are answered, and hide no other call', async () => {
    const [unknown, broken, refused, hi] = await contents(
      message(['prin', '{}'], ['print', '{"text":'], ['print', { text: {} }], ['print', { text: 'hi' }]),
    )
    expect(unknown).toContain('ERROR: there is no tool "prin". Nothing was run.\nDid you mean "print"')
    expect(broken).toContain('ERROR: the arguments of "print" are not valid JSON')
    expect(refused).toContain('ERROR: the arguments of "print" were not accepted. Nothing was run.')
    expect(hi).toBe('hi')
    const nameless = { tool_calls: [{ id: '1' }, { id: '2', function: { name: '' } }] }
    const nothing = { content: expect.stringContaining('ERROR: there is no tool "". Nothing was run.\n') }
    expect(await dispatch(tools, nameless)).toMatchObject([nothing, nothing])
  })

  test('an abort ends what runs and answers what is left', async () => {
    const stop = new AbortController()
    const answered = contents(message(['sleep', {}], ['print', { text: 'later' }]), { signal: stop.signal })
    stop.abort()
    const [running, later] = await answered
    expect(running).toContain('interrupted')
    expect(later).toBe('[interrupted before it started; nothing was run]\n')
  })

  test('what a policy does not allow runs only after a person agreed', async () => {
    const policy = parsePolicy({ allow_destructive: false })
    const asked: string[] = []
    const confirm = (answer: unknown) => (call: { resolvedCommand: string }) => {
      asked.push(call.resolvedCommand)
      return answer as boolean
    }
    expect(await contents(message(['wipe', {}]), { policy, confirm: confirm(true) })).toEqual(['wiped\n'])
    for (const answer of [false, 'no'])
      expect(await contents(message(['wipe', {}]), { policy, confirm: confirm(answer) })).toEqual([
        expect.stringContaining('BLOCKED'),
      ])
    expect(asked).toEqual(['echo wiped', 'echo wiped', 'echo wiped'])
  })

  test('a relative work directory is told to commands as the absolute one it is', async () => {
    const calls = message(['told', {}], ['where', {}])
    const [told, where] = await contents(calls, { cwd: relative(process.cwd(), cwd) })
    expect(told?.trim()).toBe(Array(4).fill(cwd).join(' '))
    expect(where?.trim()).toBe(cwd)
  })

  test('the keys of providers stay with the program, unless a tool lists one', async () => {
    const env = {
      PATH: process.env.PATH,
      OPENAI_API_KEY: 'sk-secret-key',
      ANTHROPIC_API_KEY: 'sk-ant-secret',
      DEPLOY_KEY: 'deploy-secret',
    }
    const [printed] = await contents(message(['environment', {}]), { env })
    expect(printed).not.toMatch(/ANTHROPIC_API_KEY|OPENAI_API_KEY/)
    expect(printed).toContain('DEPLOY_KEY=deploy-secret')
    const [own] = await contents(message(['environment', {}]), { env, credentials: ['DEPLOY_KEY'] })
    expect(own).not.toContain('ANTHROPIC_API_KEY')
    expect(own).not.toContain('DEPLOY_KEY')

    const asks = defineTool({ name: 'asks', exec: 'env', pass_env: ['ANTHROPIC_API_KEY'] })
    const [answer] = await dispatch([asks], message(['asks', {}]), { cwd, env })
    expect(answer?.content).toContain('ANTHROPIC_API_KEY=[REDACTED]')
  })

  test('each result can be watched as it comes', async () => {
    const seen: unknown[] = []
    await contents(message(['print', { text: 'x' }]), {
      onResult: (call: { name: string }, result: { status: string }) => seen.push([call.name, result.status]),
    })
    expect(seen).toEqual([['print', 'SUCCESS']])
  })
})

describe('mistakes of the program, not of the model, are errors', () => {
  test('two tools with one name', async () => {
    const [print] = tools
    if (!print) throw new Error('there are tools')
    const failed = dispatch([print, print], message())
    await expect(failed).rejects.toMatchObject({ code: 'ERR_ADAPTER_DUPLICATE' })
    expect(isAdapterError(await failed.catch((error) => error))).toBe(true)
    expect(() => toOpenAITools([print, print])).toThrow(
      expect.objectContaining({ code: 'ERR_ADAPTER_DUPLICATE' }),
    )
  })

  test('a call without an id', async () => {
    await expect(dispatch(tools, { tool_calls: [{ function: { name: 'print' } }] })).rejects.toMatchObject({
      code: 'ERR_ADAPTER_MESSAGE',
    })
  })
})

test('an id that no environment variable can hold is answered under that id', async () => {
  for (const id of ['a\0b', 'a b', 'x'.repeat(200)]) {
    const call = { id, function: { name: 'print', arguments: '{"text":"hi"}' } }
    expect(await dispatch(tools, { tool_calls: [call] })).toEqual([
      { role: 'tool', tool_call_id: id, content: 'hi' },
    ])
  }
})
