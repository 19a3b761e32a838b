import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { type CreateRunOptions, createRun, type NewEvent, type Run } from '@delta/journal/runs'
import { findExportProblem, temporaryWorkspace } from '@delta/testkit'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type ExportFormat, type ExportOptions, exportRun, importRun, openTrace } from '../src/index.js'

/** A run whose events were written by hand. */
async function runOf(events: (run: Run) => NewEvent[], start: object = {}): Promise<string> {
  const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const first: CreateRunOptions['events'] = ({ runId }) => [
    {
      type: 'ENGINE_START',
      run_id: runId,
      agent_name: 'writer',
      work_dir: workspace.path,
      config: CONFIG,
      ...start,
    },
    { type: 'USER_MESSAGE', content: 'Write.' },
  ]
  const run = await createRun(workspace.path, { runId: 'run', sync: false, events: first })
  for (const event of events(run)) run.journal.append(event)
  run.close()
  return run.directory
}

const CONFIG = { llm: { model: 'small', base_url: 'http://localhost:1/v1' } }

/** The document, which its readers take. */
async function exported(directory: string, format: ExportFormat, options?: ExportOptions): Promise<string> {
  const pieces: string[] = []
  for await (const piece of exportRun(await openTrace(directory), format, options)) pieces.push(piece)
  const text = pieces.join('')
  expect(text === '' ? undefined : await findExportProblem(format, text)).toBeUndefined()
  return text
}

const TOKENS = { input: 100, cache_read: 800, cache_write: 50, output: 20, reasoning: 5 }
const PAID = { tokens: TOKENS, price: { input: 2, output: 10 }, model: 'small' }
const END: NewEvent = { type: 'ENGINE_END', status: 'COMPLETED', reason_code: 'answered' }

function call(iteration: number, id: string, more: object = {}): NewEvent {
  const args = JSON.stringify({ path: `/old/${id}` })
  const tool_calls = [{ id, action_id: id, name: 'look', arguments: args }]
  return { type: 'THOUGHT', iteration, content: `Look ${id}.`, tool_calls, ...PAID, ...more }
}

function result(iteration: number, id: string, more: object = {}): NewEvent {
  const about = { iteration, action_id: id, tool_name: 'look' }
  return { type: 'ACTION_RESULT', ...about, status: 'SUCCESS', observation_content: `Saw ${id}.`, ...more }
}

/** A fork: one iteration of another run, one whose answer was taken from a record, one of its own, and the answer. */
const fork = () =>
  runOf(
    ({ requests }) => {
      const spoken = (id: string) => [
        {
          role: 'assistant',
          content: `Look ${id}.`,
          tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{"path":"/new"}' } }],
        },
        { role: 'tool', tool_call_id: id, content: `Saw ${id}.` },
      ]
      const asked = [{ role: 'user', content: 'Write.' }]
      const messages = [...asked, ...['a', 'b', 'c'].flatMap(spoken)]
      const { ref } = requests.record({ iteration: 4, request: { model: 'small', messages } })
      return [
        { type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'Copied.', inherited: true },
        call(1, 'a', { inherited: true }),
        result(1, 'a', { inherited: true }),
        call(2, 'b', { replayed: true }),
        result(2, 'b', { replayed: true }),
        call(3, 'c'),
        result(3, 'c'),
        { type: 'THOUGHT', iteration: 4, content: 'Done.', tool_calls: [], llm_invocation_ref: ref, ...PAID },
        END,
      ]
    },
    { parent: { run_id: 'first', directory: '/first', iteration: 1, seq: 4, sha256: '' } },
  )

test('what a fork copied is marked as such in ATIF, and what came from a record costs nothing', async () => {
  const { steps, extra, final_metrics } = JSON.parse(await exported(await fork(), 'atif'))
  const marks = steps.map((step: Record<string, unknown>) => [
    step.is_copied_context,
    step.metrics !== undefined,
  ])
  expect(marks).toEqual([
    [undefined, false],
    [true, false],
    [true, false],
    [undefined, false], // replayed
    [undefined, true],
    [undefined, true],
  ])
  expect(steps.map((step: Record<string, unknown>) => step.llm_call_count).slice(2)).toEqual([
    undefined,
    undefined,
    1,
    1,
  ])
  expect(extra.parent).toEqual({ run_id: 'first', iteration: 1 })
  expect(final_metrics).toMatchObject({
    total_prompt_tokens: 1900,
    total_completion_tokens: 50,
    total_cached_tokens: 1600,
  })
  expect(steps[4].metrics).toMatchObject({ prompt_tokens: 950, extra: { cache_write: 50, reasoning: 5 } })
})

test('the metrics of a step are those of all its answers that were paid for, and add up to the sum', async () => {
  const { input, output } = PAID.price
  const cost = (input * (100 + 800 + 50) + output * (20 + 5)) / 1e6
  const lost = { type: 'ERROR', iteration: 1, error_message: 'No.', recoverable: true } as const
  const directory = await runOf(() => [
    { ...lost, error_details: { attempt: 1 }, ...PAID },
    call(1, 'a', { tokens: { ...TOKENS, cache_write_1h: 10 } }),
    result(1, 'a'),
    { type: 'THOUGHT', iteration: 2, content: 'Done.', tool_calls: [], ...PAID, price: null },
    END,
  ])
  const { steps, final_metrics } = JSON.parse(await exported(directory, 'atif'))
  const [, both, last] = steps
  expect(both).toMatchObject({
    llm_call_count: 2,
    metrics: {
      prompt_tokens: 1900,
      completion_tokens: 50,
      cached_tokens: 1600,
      extra: { cache_write: 100, cache_write_1h: 10, reasoning: 10 },
    },
  })
  expect(last.metrics).not.toHaveProperty('cost_usd')
  expect(final_metrics).toMatchObject({
    total_prompt_tokens: both.metrics.prompt_tokens + last.metrics.prompt_tokens,
    total_cost_usd: both.metrics.cost_usd,
  })
  expect(both.metrics.cost_usd).toBeGreaterThan(1.9 * cost)
})

test('spans and sessions of a fork are those of its own iterations', async () => {
  const directory = await fork()
  const { resourceSpans } = JSON.parse(await exported(directory, 'otlp', { content: true }))
  const [root, ...spans] = resourceSpans[0].scopeSpans[0].spans
  expect(root.parentSpanId).toBeUndefined()
  const names = spans.map(({ name }: { name: string }) => name)
  expect(names).toEqual(['chat small', 'execute_tool look', 'chat small', 'execute_tool look', 'chat small'])
  const withUsage = spans.filter((span: object) => JSON.stringify(span).includes('gen_ai.usage'))
  expect(withUsage).toHaveLength(2)
  const hf = await exported(directory, 'hf')
  expect(hf).not.toContain('Copied.')
  expect(hf.match(/Look .\./g)).toEqual(['Look b.', 'Look c.'])
})

test('answers that a fork copied are not learned again', async () => {
  const { messages } = JSON.parse(await exported(await fork(), 'sft'))
  const answers = messages.filter(({ role }: { role: string }) => role === 'assistant')
  expect(answers.map(({ content, weight }: Record<string, unknown>) => [content, weight])).toEqual([
    ['Look a.', 0],
    ['Look b.', undefined],
    ['Look c.', undefined],
    ['Done.', undefined],
  ])
  expect(messages[1].tool_calls[0].function.arguments).toEqual({ path: '/new' })
})

test('a run of an evaluation has its score, to choose what is learned', async () => {
  const directory = await fork()
  const { write, path } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const cell = { cell: 'aa', variant: 'luna', task: 'bowling', repeat: 1, seed: 7, score_hash: 's1' }
  await write('x.eval/plan.json', '{}')
  await write('x.eval/manifest.jsonl', `${JSON.stringify(cell)}\n`)
  await write('x.eval/cells/aa/cell.json', JSON.stringify(cell))
  await write('x.eval/cells/aa/result.json', `{"attempt":1,"state":"scored","score":0.5,"score_hash":"s1"}\n`)
  const run = join(path, 'x.eval/cells/aa/1/runs/aa-1')
  await cp(directory, run, { recursive: true })
  const { metadata } = JSON.parse(await exported(run, 'sft'))
  expect(metadata).toEqual({
    run_id: 'aa-1',
    agent: 'writer',
    model: 'small',
    reason_code: 'answered',
    score: 0.5,
  })
  expect(JSON.parse(await exported(directory, 'sft')).metadata).not.toHaveProperty('score')
})

test('what was sent through the AI SDK is a chat for fine-tuning, with its pictures', async () => {
  const prompt = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'file', mediaType: 'image/png', data: 'AAAA' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: { path: 'x' } },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'a', toolName: 'look', output: { type: 'text', value: 'Saw.' } },
      ],
    },
  ]
  const tools = [{ type: 'function', name: 'look', inputSchema: { type: 'object' } }]
  const directory = await runOf(({ requests }) => {
    const { ref } = requests.record({ iteration: 1, request: { prompt, tools }, list: 'prompt' })
    return [{ type: 'THOUGHT', iteration: 1, content: 'Done.', tool_calls: [], llm_invocation_ref: ref }, END]
  })
  expect(JSON.parse(await exported(directory, 'sft'))).toMatchObject({
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        ],
      },
      {
        role: 'assistant',
        reasoning_content: 'Hm.',
        tool_calls: [{ id: 'a', function: { name: 'look', arguments: { path: 'x' } } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Saw.' },
      { role: 'assistant', content: 'Done.' },
    ],
    tools: [{ function: { name: 'look', parameters: { type: 'object' } } }],
  })
})

test('a sub-agent belongs to the trace and session of the run that was asked for', async () => {
  const { run: root } = await openTrace(await fork())
  const directory = await runOf(() => [END])
  const other = { ...root, runId: 'asked' }
  expect(JSON.parse(await exported(directory, 'atif', { root: other }))).toMatchObject({
    session_id: 'asked',
    trajectory_id: 'run',
  })
  const traceOf = async (options: ExportOptions) =>
    /"traceId":"(\w+)"/.exec(await exported(directory, 'otlp', options))?.[1]
  expect(await traceOf({ root: other })).not.toBe(await traceOf({}))
})

test('of a home that others begin with, only the home itself is replaced', async () => {
  const text = '/home/al/x /home/alice /home/al.b /home/al. (/home/al) file:///home/al'
  const directory = await runOf(() => [{ type: 'THOUGHT', iteration: 1, content: text, tool_calls: [] }, END])
  const hf = await exported(directory, 'hf', { redact: true, home: '/home/al' })
  expect(hf).toContain('"~/x /home/alice /home/al.b ~. (~) file://~"')
  const root = await exported(directory, 'hf', { redact: true, home: '/' })
  expect(root).toContain(text)
})

const words = fc.string({ unit: 'binary' })
const anyResult = fc.record({ text: words, status: fc.constantFrom('SUCCESS', 'FAILED', 'TIMEOUT') })
const anyCall = fc.record({
  name: fc.constantFrom('look', 'say'),
  args: fc.oneof(fc.json({ stringUnit: 'binary' }), words, fc.constant('{"_raw": 1}')),
  result: fc.option(anyResult, { nil: undefined }),
})
const anyStep = fc.record({
  said: fc.array(fc.record({ role: fc.constantFrom('user', 'system'), text: words }), { maxLength: 2 }),
  content: words,
  reasoning: fc.option(words.filter(Boolean), { nil: undefined }),
  calls: fc.array(anyCall, { maxLength: 3 }),
  inherited: fc.boolean(),
})

function eventsOf(
  steps: readonly (typeof anyStep extends fc.Arbitrary<infer Step> ? Step : never)[],
): NewEvent[] {
  return steps.flatMap(({ said, content, reasoning, calls, inherited }, index): NewEvent[] => {
    const iteration = index + 1
    const more = inherited ? { inherited } : {}
    const named = calls.map((each, n) => ({ ...each, id: `${iteration}-${n}` }))
    return [
      ...said.map(
        ({ role, text }): NewEvent =>
          role === 'user'
            ? { type: 'USER_MESSAGE', content: text, ...more }
            : { type: 'SYSTEM_MESSAGE', level: 'INFO', content: text, ...more },
      ),
      {
        type: 'THOUGHT',
        iteration,
        content,
        tool_calls: named.map(({ id, name, args }) => ({ id, action_id: id, name, arguments: args })),
        ...(reasoning && { message: { role: 'assistant', content, reasoning_content: reasoning } }),
        ...more,
      },
      ...named
        .toReversed() // as they come
        .flatMap(({ id, name, result: each }): NewEvent[] =>
          each
            ? [
                {
                  type: 'ACTION_RESULT',
                  iteration,
                  action_id: id,
                  tool_name: name,
                  status: each.status as 'SUCCESS',
                  observation_content: each.text,
                  ...more,
                },
              ]
            : [],
        ),
    ]
  })
}

test('any run is taken by the readers of each format; imported and exported again, it says the same in the same order', async () => {
  const said = (document: string) =>
    JSON.parse(document).steps.map(
      ({ timestamp: _, llm_call_count: __, ...step }: Record<string, unknown>) => step,
    )
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 4 }), async (steps) => {
      const directory = await runOf(() => eventsOf(steps))
      for (const format of ['otlp', 'hf', 'sft'] as const)
        await exported(directory, format, { content: true })
      const once = await exported(directory, 'atif')
      const [start, , ...events] = importRun(once, 'atif')
      expect(start).toMatchObject({
        type: 'ENGINE_START',
        run_id: 'run',
        agent_name: 'writer',
        task: 'Write.',
      })
      const again = await exported(await runOf(() => events, { imported: Object(start).imported }), 'atif')
      expect(said(again)).toEqual(said(once))
    }),
    { numRuns: 40 },
  )
})

test('an image keeps its path through an import', async () => {
  const part = { type: 'image', blob: 'ab'.repeat(32), media_type: 'image/png', bytes: 70 } as const
  const directory = await runOf(() => [
    { type: 'USER_MESSAGE', content: [{ type: 'text', text: 'See:' }, part] },
  ])
  const once = await exported(directory, 'atif')
  const [, , ...events] = importRun(once, 'atif')
  const again = await exported(await runOf(() => events), 'atif')
  const [, shown] = JSON.parse(again).steps
  expect(shown.message).toEqual([
    { type: 'text', text: 'See:' },
    { type: 'image', source: { media_type: 'image/png', path: `${directory}/io/blobs/${part.blob}` } },
  ])
})

/** As other programs write it: results that no call asked for, and no counts but the sums. */
const FOREIGN = {
  schema_version: 'ATIF-v1.5',
  session_id: 's1',
  agent: { name: 'terminus', version: '2', model_name: 'large' },
  steps: [
    { step_id: 1, source: 'user', message: 'Go.' },
    {
      step_id: 2,
      source: 'agent',
      message: 'ls',
      metrics: { prompt_tokens: 30, completion_tokens: 7, cached_tokens: 10, cost_usd: 0.5 },
      observation: { results: [{ content: 'a.txt' }] },
    },
    { step_id: 3, source: 'agent', message: 'Done.' },
  ],
}

test('a trajectory of another program has its tokens and, between its messages, what it saw', async () => {
  const [start, ...events] = importRun(JSON.stringify(FOREIGN), 'atif')
  expect(start).toMatchObject({
    run_id: 's1',
    config: { llm: { model: 'large' } },
    imported: { format: 'atif' },
  })
  expect(events.map(({ type }) => type)).toEqual([
    'USER_MESSAGE',
    'THOUGHT',
    'SYSTEM_MESSAGE',
    'THOUGHT',
    'ENGINE_END',
  ])
  expect(events[1]).toMatchObject({
    tokens: { input: 20, cache_read: 10, cache_write: 0, output: 7, reasoning: 0 },
    price: null,
    usage: { cost_usd: 0.5 },
  })
  expect(events.at(-1)).toMatchObject({ status: 'COMPLETED', reason_code: 'answered' })
})

const [first, second, third] = FOREIGN.steps

test.each([
  ['{"steps": [', 'it is not JSON'],
  [{}, 'its schema_version is missing (must be ATIF-v1.7, or another 1.x)'],
  [
    { ...FOREIGN, schema_version: 'ATIF-v2.0' },
    'its schema_version is "ATIF-v2.0" (must be ATIF-v1.7, or another 1.x)',
  ],
  [{ ...FOREIGN, agent: 'x' }, 'its agent has no name'],
  [{ ...FOREIGN, steps: [] }, 'it has no steps'],
  [{ ...FOREIGN, steps: [first, third] }, 'step 2 has step_id 3 (must be 2)'],
  [
    { ...FOREIGN, steps: [{ ...first, source: 'tool' }] },
    'step 1 has source "tool" (must be user, system or agent)',
  ],
  [{ ...FOREIGN, steps: [{ ...first, message: null }] }, 'step 1 has no message'],
  [
    { ...FOREIGN, steps: [first, { ...second, tool_calls: [{ function_name: 'x' }] }] },
    'step 2 has a call without tool_call_id or function_name',
  ],
  [
    { ...FOREIGN, steps: [first, { ...second, observation: { results: [{ source_call_id: 'x' }] } }] },
    'step 2 has a result of "x", which is not among its calls',
  ],
])('what is not ATIF is refused with the place: %#', (document, problem) => {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  expect(() => importRun(text, 'atif')).toThrow(
    expect.objectContaining({ code: 'ERR_TRACE_FORMAT', message: `not ATIF: ${problem}.` }),
  )
})
