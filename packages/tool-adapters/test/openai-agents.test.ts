import { waitForExit } from '@delta/testkit'
import {
  Agent,
  OpenAIProvider,
  Runner,
  setTraceProcessors,
  setTracingDisabled,
  type TracingProcessor,
} from '@openai/agents'
import { expect, onTestFinished, test } from 'vitest'
import { toOpenAIAgentsTools } from '../src/openai-agents.js'
import {
  askingPolicy,
  BROKEN_CALL,
  CALLS,
  inputSent,
  LOOK_AND_WIPE,
  MEDIA_CALLS,
  MEDIA_LINES,
  mediaTools,
  OBSERVATIONS,
  ODD_CALLS,
  ODD_OBSERVATIONS,
  observationsSent,
  PDF_URL,
  PNG_URL,
  setUp,
  tools,
  UNKNOWN_CALL,
  waitStarted,
  wipe,
} from './tools.js'

function runner(baseURL: string): Runner {
  const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL, useResponses: false })
  return new Runner({ modelProvider, tracingDisabled: true })
}

const agent = (made: ReturnType<typeof toOpenAIAgentsTools>) =>
  new Agent({ name: 'Tester', model: 'any', tools: made })

/** The tool of each span, in the order they end, and whether it is marked as an error. */
function collectSpans() {
  const spans: [tool: string, isError: boolean][] = []
  const nothing = async () => undefined
  const onSpanEnd: TracingProcessor['onSpanEnd'] = async ({ spanData, error }) => {
    if (spanData.type === 'function') spans.push([spanData.name, error !== null])
  }
  const others = { onTraceStart: nothing, onTraceEnd: nothing, onSpanStart: nothing }
  setTraceProcessors([{ ...others, onSpanEnd, shutdown: nothing, forceFlush: nothing }])
  setTracingDisabled(false)
  onTestFinished(() => setTracingDisabled(true))
  return spans
}

test('the model reads why its arguments were refused, and that its tool does not exist', async () => {
  const calls = [...ODD_CALLS, BROKEN_CALL, UNKNOWN_CALL]
  const { server, options } = await setUp([{ tool_calls: calls }, { content: 'Done.' }])
  const made = agent(toOpenAIAgentsTools(tools, options))
  const toolNotFoundBehavior = 'return_error_to_model' as const
  const result = await runner(server.baseUrl).run(made, 'Go', { toolNotFoundBehavior })
  expect(result.finalOutput).toBe('Done.')
  expect(observationsSent(server)).toEqual([
    ...ODD_OBSERVATIONS.map((pattern) => expect.stringMatching(pattern)),
    expect.stringContaining('JSON'),
    expect.stringContaining('not found'),
  ])
})

test('the Agents SDK runs every call of a response; a failed, refused or blocked one is an error of its span, which the model reads', async () => {
  const turns = [{ tool_calls: [...CALLS, { name: 'wipe', arguments: {} }] }, { content: 'Done.' }]
  const { server, options } = await setUp(turns)
  const policy = { ...askingPolicy(), onConfirmation: 'deny' as const }
  const spans = collectSpans()
  const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: server.baseUrl, useResponses: false })
  const guarded = toOpenAIAgentsTools([wipe], { ...options, policy })
  const others = toOpenAIAgentsTools(
    tools.filter((tool) => tool !== wipe),
    options,
  )
  const result = await new Runner({ modelProvider }).run(agent([...others, ...guarded]), 'Go')
  expect(result.finalOutput).toBe('Done.')
  expect(spans.map(String).sort()).toEqual([
    'fail,true',
    'hang,true',
    'print,false',
    'print,true',
    'wipe,true',
  ])
  expect(observationsSent(server)).toEqual(
    [...OBSERVATIONS, /^BLOCKED: /].map((pattern) => expect.stringMatching(pattern)),
  )
})

test('a picture and a file reach a model of the Responses API; one of Chat Completions reads a line in their place', async () => {
  const { server, options } = await setUp([
    { tool_calls: MEDIA_CALLS },
    { content: 'Done.' },
    { tool_calls: MEDIA_CALLS },
    { content: 'Done.' },
  ])
  const made = agent(toOpenAIAgentsTools(mediaTools, options))
  const modelProvider = new OpenAIProvider({ apiKey: 'none', baseURL: server.baseUrl, useResponses: true })
  await new Runner({ modelProvider, tracingDisabled: true }).run(made, 'Go')
  expect(inputSent(server).flatMap(({ output }) => output ?? [])).toEqual([
    { type: 'input_text', text: MEDIA_LINES[0] },
    expect.objectContaining({ type: 'input_image', image_url: PNG_URL }),
    { type: 'input_text', text: MEDIA_LINES[1] },
    { type: 'input_file', file_data: PDF_URL, filename: 'file' },
  ])

  await runner(server.baseUrl).run(made, 'Go')
  expect(observationsSent(server)).toEqual(MEDIA_LINES)
})

test.each([true, false])(
  'a call that the policy puts to a person interrupts the run until it is answered: %s',
  async (approved) => {
    const { server, options } = await setUp([{ tool_calls: LOOK_AND_WIPE }, { content: 'Done.' }])
    const made = agent(toOpenAIAgentsTools(tools, { ...options, policy: askingPolicy() }))
    const { interruptions, state } = await runner(server.baseUrl).run(made, 'Go')
    expect(interruptions.map(({ name }) => name)).toEqual(['wipe'])
    for (const interruption of interruptions) {
      if (approved) state.approve(interruption)
      else state.reject(interruption)
    }
    expect((await runner(server.baseUrl).run(made, state)).finalOutput).toBe('Done.')
    const answer = approved ? /^wiped\n$/ : /not approved/
    expect(observationsSent(server)).toContainEqual(expect.stringMatching(answer))
  },
)

test('an abort ends the command that is running', async () => {
  const { server, directory, options } = await setUp([
    { tool_calls: [{ name: 'wait', arguments: {} }] },
    { content: 'No.' },
  ])
  const stop = new AbortController()
  const running = runner(server.baseUrl).run(agent(toOpenAIAgentsTools(tools, options)), 'Go', {
    signal: stop.signal,
  })
  const pid = await waitStarted(directory)
  stop.abort()
  await running.catch(() => undefined) // how a run ends when it is aborted is the SDK's affair
  await waitForExit(pid)
})
