import { relative } from 'node:path'
import { defineTool, parsePolicy } from '@delta/executor'
import { temporaryWorkspace } from '@delta/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { dispatch, isAdapterError, toOpenAITools } from '../src/index.js'

const tools = [
  defineTool({ name: 'print', description: 'Print a text', exec: 'printf %s ${text}' }),
  defineTool({ name: 'fail', shell: 'echo oops >&2; exit 3' }),
  defineTool({ name: 'hang', exec: 'sleep 600', timeout_ms: 100 }),
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

describe('toOpenAITools', () => {
  test('describes each tool as a function', () => {
    expect(toOpenAITools(tools)[0]).toEqual({
      type: 'function',
      function: {
        name: 'print',
        description: 'Print a text',
        parameters: {
          type: 'object',
          properties: { text: { type: 'string' } },
          required: ['text'],
          additionalProperties: false,
        },
      },
    })
  })

  test('in strict mode if asked', () => {
    expect(toOpenAITools(tools, { strict: true }).every((tool) => tool.function.strict)).toBe(true)
  })
})

describe('dispatch', () => {
  test('answers every call of a message, in order, each under its id', async () => {
    const sent = message(['print', '{"text":"one"}'], ['print', { text: 'two' }], ['fail', ''])
    expect(await dispatch(tools, sent, { cwd, concurrency: 3 })).toEqual([
      { role: 'tool', tool_call_id: 'call_0', content: 'one' },
      { role: 'tool', tool_call_id: 'call_1', content: 'two' },
      { role: 'tool', tool_call_id: 'call_2', content: '[exit code 3]\n[stderr]\noops\n' },
    ])
  })

  test('any number of calls may run at the same time', async () => {
    const sent = message(['print', { text: 'one' }], ['print', { text: 'two' }])
    for (const concurrency of [1.5, Number.POSITIVE_INFINITY, 0, Number.NaN])
      expect(await contents(sent, { concurrency })).toEqual(['one', 'two'])
  })

  test('a message without calls has no answers', async () => {
    expect(await dispatch(tools, { tool_calls: null })).toEqual([])
    expect(await dispatch(tools, { role: 'assistant', content: 'Hello', tool_calls: [] })).toEqual([])
    expect(await dispatch(tools, {})).toEqual([])
  })

  test('an unknown tool, broken arguments and a refused value are answers too', async () => {
    const [unknown, broken, refused] = await contents(
      message(['prin', '{}'], ['print', '{"text":'], ['print', { text: {} }]),
    )
    expect(unknown).toContain('ERROR: there is no tool "prin". Nothing was run.\nDid you mean "print"')
    expect(broken).toContain('ERROR: the arguments of "print" are not valid JSON')
    expect(refused).toContain('ERROR: the arguments of "print" were not accepted. Nothing was run.')
  })

  test('a hostile value arrives as one argument', async () => {
    const text = `'; touch pwned; "$(id)" \${HOME}`
    expect(await contents(message(['print', { text }]))).toEqual([text])
  })

  test('a tool that runs too long is ended', async () => {
    expect((await contents(message(['hang', {}])))[0]).toMatch(
      /^\[timed out after .*; its process group was ended\]/,
    )
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
    const confirm = (answer: boolean) => (call: { resolvedCommand: string }) => {
      asked.push(call.resolvedCommand)
      return answer
    }
    expect(await contents(message(['wipe', {}]), { policy, confirm: confirm(true) })).toEqual(['wiped\n'])
    expect((await contents(message(['wipe', {}]), { policy, confirm: confirm(false) }))[0]).toContain(
      'BLOCKED',
    )
    expect(asked).toEqual(['echo wiped', 'echo wiped'])
  })

  test('commands run in the work directory, without the API key', async () => {
    const env = { PATH: process.env.PATH, OPENAI_API_KEY: 'sk-secret-key', OWN: 'kept' }
    const [where, printed] = await contents(message(['where', {}], ['environment', {}]), { env })
    expect(where?.trim()).toBe(cwd)
    expect(printed).toContain('OWN=kept')
    expect(printed).not.toContain('OPENAI_API_KEY')
  })

  test('a relative work directory is told to commands as the absolute one it is', async () => {
    const [told] = await contents(message(['told', {}]), { cwd: relative(process.cwd(), cwd) })
    expect(told?.trim()).toBe(Array(4).fill(cwd).join(' '))
  })

  test("other providers' keys stay with the program, too, unless a tool lists one", async () => {
    const env = {
      PATH: process.env.PATH,
      ANTHROPIC_API_KEY: 'sk-ant-secret',
      DEPLOY_KEY: 'deploy-secret',
    }
    const [printed] = await contents(message(['environment', {}]), { env })
    expect(printed).not.toContain('ANTHROPIC_API_KEY')
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

test('a policy that was not parsed is refused, and nothing is run', async () => {
  const message = { tool_calls: [{ id: '1', function: { name: 'print', arguments: '{"text":"hi"}' } }] }
  const answer = dispatch(tools, message, { policy: { allow_network: false } as never })
  await expect(answer).rejects.toMatchObject({ code: 'ERR_EXECUTOR_USAGE' })
})

test('a call without the name of a tool has an answer, and hides no other call', async () => {
  const calls = [
    { id: '1' },
    { id: '2', function: { name: '' } },
    { id: '3', function: { name: 'print', arguments: '{"text":"hi"}' } },
  ]
  const answers = await dispatch(tools, { tool_calls: calls })
  const nothing = expect.stringContaining('ERROR: there is no tool "". Nothing was run.\n')
  expect(answers.map(({ content }) => content)).toEqual([nothing, nothing, 'hi'])
})

test('an answer of confirm other than true is not an agreement, and nothing is run', async () => {
  const policy = parsePolicy({})
  const message = { tool_calls: [{ id: '1', function: { name: 'print', arguments: '{"text":"hi"}' } }] }
  const [answer] = await dispatch(tools, message, { policy, confirm: async () => 'no' as never })
  expect(answer?.content).toContain("needs a person's approval")
})

test('an id that no environment variable can hold is answered under that id', async () => {
  for (const id of ['a\0b', 'a b', 'x'.repeat(200)]) {
    const call = { id, function: { name: 'print', arguments: '{"text":"hi"}' } }
    expect(await dispatch(tools, { tool_calls: [call] })).toEqual([
      { role: 'tool', tool_call_id: id, content: 'hi' },
    ])
  }
})
