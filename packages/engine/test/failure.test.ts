import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isKnownEvent, type StoredEvent } from '@delta/journal/runs'
import { ModelError, type ModelErrorCode } from '@delta/model'
import {
  runProcess,
  startScriptedServer,
  type TemporaryAgentOptions,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import type { RunAgentOptions } from '../src/index.js'
import { conclude } from '../src/outcome.js'
import { calls, control, eventsIn, eventsOf, hooks, scene } from './run.js'

const SAY = { name: 'say', exec: 'echo hi' }
const CALL = calls('say')
const STOP = control({ action: 'stop', reason: 'enough' })
const ONE_ATTEMPT = { llm: { provider: 'script', script: 'script.yaml', max_attempts: 1 } }
/** Even a script costs what its agent says. */
const PRICED = {
  llm: { provider: 'script', script: 'script.yaml', model: 'scripted' },
  prices: [{ match: 'scripted', input: 1, output: 1 }],
}
const JOURNAL_ONLY = 'sources: [{ type: journal }]\n'

const answering = (content: string, more: object = {}): Partial<RunAgentOptions> => ({
  model: { complete: async () => ({ message: { role: 'assistant', content, ...more }, raw: {}, ...more }) },
})
const failing = (code: ModelErrorCode): Partial<RunAgentOptions> => ({
  model: { complete: () => Promise.reject(new ModelError(code, 'No.')) },
})

/** Every cause of a failure: what to run, and how. */
const CAUSES: [
  string,
  TemporaryAgentOptions & { files?: Record<string, string> },
  Partial<RunAgentOptions>,
][] = [
  ['empty_answer', {}, answering(' ')],
  ['unparsed_tool_call', {}, answering('<tool_call>\n{}')],
  ['missing_tool_call', {}, answering('I do it.', { finishReason: 'tool_calls' })],
  ['limit_iterations', { turns: [CALL], tools: [SAY] }, { maxIterations: 1 }],
  ['limit_tokens', { turns: [CALL], tools: [SAY], agent: { limits: { tokens: 1 } } }, {}],
  ['limit_cost', { turns: [CALL], tools: [SAY], agent: { ...PRICED, limits: { cost: 1e-9 } } }, {}],
  ['limit_wall_time', { agent: { limits: { wall_time: '0.001s' } } }, {}],
  ['context_overflow', { files: { 'context.yaml': `total_max_tokens: 1\n${JOURNAL_ONLY}` } }, {}],
  ['context_overflow', {}, failing('ERR_MODEL_TOO_LONG')],
  ['content_filter', {}, answering('No', { finishReason: 'content_filter' })],
  ['cut_off', {}, answering('Half of', { finishReason: 'length' })],
  ['model_refused', {}, answering('', { refusal: 'I must not.' })],
  ['hook_stopped', { files: hooks({ pre_llm_request: STOP }) }, {}],
  ['critical_tool', { turns: [CALL], tools: [{ name: 'say', exec: 'false', critical: true }] }, {}],
  ['provider_unavailable', {}, failing('ERR_MODEL_CONNECTION')],
  ['provider_refused', {}, failing('ERR_MODEL_QUOTA')],
  ['provider_answer', {}, failing('ERR_MODEL_RESPONSE')],
  ['provider_answer', { agent: ONE_ATTEMPT }, answering(5 as never)],
  ['provider_answer', { agent: ONE_ATTEMPT }, { model: { complete: async () => undefined as never } }],
  ['context_source', { files: { 'context.yaml': 'sources: [{ type: file, path: "${CWD}/no.md" }]\n' } }, {}],
  ['replay_mismatch', {}, failing('ERR_MODEL_REPLAY_DIFFERS')],
  ['configuration', {}, failing('ERR_MODEL_SCRIPT_END')],
  ['internal', {}, { model: { complete: () => Promise.reject(new TypeError('x is not a function')) } }],
]

test.each(CAUSES)(
  'a run that fails with %s has one ERROR that is not recoverable before its end, and on_error runs for it',
  async (reasonCode, options, how) => {
    const told = hooks({ on_error: 'printf "%s\\0" "$ERROR_MESSAGE" >> told' })['hooks.yaml'] ?? ''
    const files = { ...options.files, 'hooks.yaml': `${options.files?.['hooks.yaml'] ?? ''}${told}` }
    const { run, workspace } = await scene({ ...options, files })
    const result = await run(how)
    expect(result).toMatchObject({ status: 'FAILED', reasonCode })
    expect(Object.keys(result)).not.toContain('iteration')

    const events = await eventsOf(result)
    expect(fatalErrors(events)).toMatchObject([
      { error_message: result.reason, error_details: { reason_code: reasonCode }, iteration: 1 },
    ])
    expect(events.at(-1)).toMatchObject({
      type: 'ENGINE_END',
      reason_code: reasonCode,
      reason: result.reason,
    })
    expect(await workspace.read('told')).toBe(`${result.reason}\0`)
    const metadata = JSON.parse(await readFile(join(result.runDirectory, 'metadata.json'), 'utf8'))
    expect(metadata).toMatchObject({ reason_code: reasonCode, error: result.reason })
  },
)

test('a tool or a hook that fails is not an ERROR', async () => {
  const { run } = await scene({
    turns: [calls('fail'), { content: 'Done.' }],
    tools: [{ name: 'fail', exec: 'false' }],
    files: hooks({ on_iteration_end: 'exit 1' }),
  })
  const result = await run()
  expect(result).toMatchObject({ status: 'COMPLETED', reasonCode: 'answered' })
  expect((await eventsOf(result)).filter(({ type }) => type === 'ERROR')).toEqual([])
})

test('a run that waits or was stopped has a reason code, too', async () => {
  const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }
  expect(await (await scene({ turns: [ask] })).run()).toMatchObject({ reasonCode: 'question' })
  const guarded = await scene({
    turns: [CALL],
    tools: [{ ...SAY, effects: { destructive: true } }],
    agent: { policy: { on_confirmation: 'ask_human' } },
  })
  expect(await guarded.run()).toMatchObject({ reasonCode: 'approval' })
  const stopped = await (await scene({})).run({ signal: AbortSignal.abort('SIGINT') })
  expect(stopped).toMatchObject({ reasonCode: 'signal', reason: 'SIGINT' })
  expect((await eventsOf(stopped)).at(-1)).toMatchObject({ reason_code: 'signal' })
})

/** After each how many lines a kill is tried; `npm run test:real` tries each. */
const STEP = process.env.DELTA_TESTS === 'real' ? 1 : 4

test('killed after a line of its journal, a run that fails has one such ERROR and one end, and on_error has run', async () => {
  await using server = await startScriptedServer({ choose: 'requests', turns: [{ status: 400, times: 99 }] })
  for (let line = 1; ; line += STEP) {
    const files = hooks({
      pre_llm_request: 'true',
      on_iteration_end: 'true',
      on_error: 'echo told >> told',
      on_run_end: 'true',
    })
    const { start, workspace } = await scene({ baseUrl: server.baseUrl, files })
    const killed = await start(line).result
    const hasEnded = killed.signal === null || (await eventsIn(workspace)).at(-1)?.type === 'ENGINE_END'
    if (!hasEnded)
      expect(await start().result, killed.stderr).toMatchObject({ exitCode: 0, stdout: 'begun\nFAILED\n' })
    const events = await eventsIn(workspace)
    expect(fatalErrors(events), `killed after line ${line}`).toHaveLength(1)
    expect(events.filter(({ type }) => type === 'ENGINE_END')).toMatchObject([
      { status: 'FAILED', reason_code: 'provider_refused' },
    ])
    const calls = events.filter((event) => isAudit(event, 'on_error'))
    expect((await workspace.read('told')).split('\n').filter(Boolean)).toHaveLength(calls.length)
    expect(calls.length).toBeGreaterThanOrEqual(1)
    if (killed.signal === null) {
      expect(line).toBeGreaterThan(8)
      return
    }
  }
})

function isAudit(event: StoredEvent, hook: string): boolean {
  return isKnownEvent(event) && event.type === 'HOOK_EXECUTION_AUDIT' && event.hook_name === hook
}

function fatalErrors(events: readonly StoredEvent[]): StoredEvent[] {
  return events.filter((event) => event.type === 'ERROR' && Object(event).recoverable === false)
}

test.each([
  ['<tool_call>\n{"name": "say", "arguments": {"text": "hi"}}\n</tool_call>', 'stop', 'unparsed_tool_call'],
  ['{"name": "say", "parameters": {"text": "hi"}}', 'stop', 'unparsed_tool_call'],
  ['I say it.\n[TOOL_CALLS]say{"text": "hi"}', 'stop', 'unparsed_tool_call'],
  ['I say it.', 'tool_calls', 'missing_tool_call'],
])(
  'a call that its server lost fails the run, and with accept_empty completes it with a warning: %j (%s)',
  (content, finish_reason, reasonCode) => {
    const thought = { content, iteration: 1, finish_reason }
    const failed = { status: 'FAILED', reasonCode, partialAnswer: content }
    expect(conclude(thought, { acceptEmpty: false })).toMatchObject(failed)
    expect(conclude(thought, { acceptEmpty: true })).toMatchObject({
      status: 'COMPLETED',
      reasonCode,
      answer: content,
      reason: expect.stringMatching(
        /a tool call (written as text, which was not run|along with this text, but sent none)/,
      ),
    })
  },
)

/** Milliseconds, the least of three. */
function time(content: string): number {
  const times = [1, 2, 3].map(() => {
    const start = performance.now()
    conclude({ content, iteration: 1, finish_reason: 'stop' }, { acceptEmpty: false })
    return performance.now() - start
  })
  return Math.min(...times)
}

test('four times as many empty lines in an answer do not take ten times as long to judge', () => {
  const [few = 0, many = 0] = [20_000, 80_000].map((lines) => time(`${'\n'.repeat(lines)}x`))
  expect(many).toBeLessThan(10 * few)
})

test("a run does not begin without the package of its model's provider: the error says what to install", async () => {
  await using workspace = await temporaryWorkspace()
  const program = `
    import { register } from 'node:module'
    register('data:text/javascript,' + encodeURIComponent(\`
      export function resolve(name, context, next) {
        if (/^(openai|@anthropic-ai)/.test(name)) throw new Error('Cannot find package')
        return next(name, context)
      }
    \`))
    const { defineAgent, runAgent } = await import('@delta/engine')
    const { openAiModel } = await import('@delta/model/openai')
    const openai = { model: 'm' }
    const anthropic = { provider: 'anthropic', model: 'm', max_tokens: 9 }
    for (const llm of [openai, anthropic, openAiModel({ apiKey: 'k' })]) {
      const agent = defineAgent({ name: 'a', llm, system: 'Help.' })
      const run = runAgent({ agent, credentials: { apiKey: 'k' }, workDirectory: process.argv[1], message: 'Go' })
      await run.catch(({ code, message }) => console.log(code, message))
    }
  `
  const argv = [process.execPath, '--input-type=module', '--eval', program, workspace.path]
  const { stdout, stderr } = await runProcess(argv, { cwd: join(import.meta.dirname, '..') })
  const openai = 'ERR_MODEL_SETTINGS The package openai is not installed. Install it: npm install openai\n'
  expect({ stdout, stderr }).toEqual({
    stdout: openai + openai.replaceAll('openai', '@anthropic-ai/sdk') + openai,
    stderr: '',
  })
  expect(await readdir(workspace.path)).toEqual([])
})
