import { expect, test } from 'vitest'
import { openTrace } from '../src/index.js'
import { all, runOf, start, thought, user } from './runs.js'

/** Dollars for a million tokens. */
interface Rates {
  input: number
  output: number
  cache_read?: number
  cache_write?: number
  cache_write_1h?: number
  reasoning?: number
}

const GPT: Rates = { input: 1.25, cache_read: 0.125, output: 10 }
const CLAUDE: Rates = { input: 3, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6, output: 15 }
const GEMINI: Rates = { input: 0.3, cache_read: 0.03, output: 2.5 }
const GROK: Rates = { input: 3, cache_read: 0.75, output: 15 }
const OPEN: Rates = { input: 0.6, output: 2.5 }

/** What servers report, in the shapes that they document, and the bill of it: millionths of a dollar, written out as it is added up. */
const BILLS: [server: string, usage: object, rates: Rates, millionths: number][] = [
  [
    'OpenAI, Chat Completions',
    {
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: 0,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
    GPT,
    19 * 1.25 + 10 * 10,
  ],
  [
    'OpenAI, Chat Completions from the cache',
    {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    GPT,
    86 * 1.25 + 1920 * 0.125 + 300 * 10,
  ],
  [
    'OpenAI, Chat Completions with paid writes and reasoning',
    {
      prompt_tokens: 5000,
      completion_tokens: 700,
      total_tokens: 5700,
      prompt_tokens_details: { cached_tokens: 3072, cache_write_tokens: 1024 },
      completion_tokens_details: { reasoning_tokens: 640 },
    },
    { ...GPT, cache_write: 1.5 },
    904 * 1.25 + 3072 * 0.125 + 1024 * 1.5 + 60 * 10 + 640 * 10,
  ],
  [
    'OpenAI, Responses',
    {
      input_tokens: 75,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 1186,
      output_tokens_details: { reasoning_tokens: 1024 },
      total_tokens: 1261,
    },
    GPT,
    75 * 1.25 + (162 + 1024) * 10,
  ],
  [
    'OpenAI, Responses from the cache',
    {
      input_tokens: 8192,
      input_tokens_details: { cached_tokens: 7680, cache_write_tokens: 256 },
      output_tokens: 64,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 8256,
    },
    GPT,
    256 * 1.25 + 7680 * 0.125 + 256 * 1.25 + 64 * 10, // a write without a rate costs as any input
  ],
  [
    'Azure OpenAI',
    {
      prompt_tokens: 1566,
      completion_tokens: 1518,
      total_tokens: 3084,
      prompt_tokens_details: { audio_tokens: null, cached_tokens: 1408 },
      completion_tokens_details: { audio_tokens: null, reasoning_tokens: 576 },
    },
    GPT,
    158 * 1.25 + 1408 * 0.125 + 1518 * 10,
  ],
  ['Anthropic, Messages', { input_tokens: 2095, output_tokens: 503 }, CLAUDE, 2095 * 3 + 503 * 15],
  [
    'Anthropic, Messages into the cache',
    {
      input_tokens: 21,
      cache_creation_input_tokens: 188086,
      cache_read_input_tokens: 0,
      output_tokens: 393,
    },
    CLAUDE,
    21 * 3 + 188086 * 3.75 + 393 * 15,
  ],
  [
    'Anthropic, Messages from the cache',
    {
      input_tokens: 21,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 188086,
      output_tokens: 393,
      service_tier: 'standard',
    },
    CLAUDE,
    21 * 3 + 188086 * 0.3 + 393 * 15,
  ],
  [
    'Anthropic, Messages kept for five minutes and for an hour',
    {
      input_tokens: 2048,
      cache_read_input_tokens: 1800,
      cache_creation_input_tokens: 248,
      output_tokens: 503,
      cache_creation: { ephemeral_5m_input_tokens: 148, ephemeral_1h_input_tokens: 100 },
    },
    CLAUDE,
    2048 * 3 + 1800 * 0.3 + 148 * 3.75 + 100 * 6 + 503 * 15,
  ],
  [
    'Anthropic, Messages with thinking and a search',
    {
      input_tokens: 105,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 7123,
      output_tokens: 239,
      output_tokens_details: { thinking_tokens: 180 },
      server_tool_use: { web_search_requests: 1 },
    },
    CLAUDE,
    105 * 3 + 7123 * 0.3 + 239 * 15,
  ],
  [
    'Anthropic, its chat layer',
    { prompt_tokens: 340, completion_tokens: 25, total_tokens: 365, prompt_tokens_details: null },
    CLAUDE,
    340 * 3 + 25 * 15,
  ],
  [
    'Gemini, its chat layer, without thinking',
    { prompt_tokens: 8, completion_tokens: 12, total_tokens: 20 },
    GEMINI,
    8 * 0.3 + 12 * 2.5,
  ],
  [
    'Gemini, its chat layer, whose thinking is only in the total',
    { prompt_tokens: 14, completion_tokens: 120, total_tokens: 1034 },
    GEMINI,
    14 * 0.3 + (120 + 900) * 2.5,
  ],
  [
    'Gemini, its chat layer, from the cache',
    {
      prompt_tokens: 4100,
      completion_tokens: 60,
      total_tokens: 4560,
      prompt_tokens_details: { cached_tokens: 4000 },
      completion_tokens_details: { reasoning_tokens: 400 },
    },
    GEMINI,
    100 * 0.3 + 4000 * 0.03 + (60 + 400) * 2.5,
  ],
  [
    'DeepSeek',
    {
      prompt_tokens: 16,
      completion_tokens: 10,
      total_tokens: 26,
      prompt_tokens_details: { cached_tokens: 0 },
      prompt_cache_hit_tokens: 0,
      prompt_cache_miss_tokens: 16,
    },
    { input: 0.28, cache_read: 0.028, output: 0.42 },
    16 * 0.28 + 10 * 0.42,
  ],
  [
    'DeepSeek, the reasoner from the cache',
    {
      prompt_tokens: 1100,
      completion_tokens: 480,
      total_tokens: 1580,
      prompt_tokens_details: { cached_tokens: 1024 },
      completion_tokens_details: { reasoning_tokens: 400 },
      prompt_cache_hit_tokens: 1024,
      prompt_cache_miss_tokens: 76,
    },
    { input: 0.28, cache_read: 0.028, output: 0.42 },
    76 * 0.28 + 1024 * 0.028 + 480 * 0.42,
  ],
  [
    'Mistral',
    { prompt_tokens: 16, completion_tokens: 34, total_tokens: 50 },
    { input: 0.4, output: 2 },
    16 * 0.4 + 34 * 2,
  ],
  [
    'Mistral from the cache',
    {
      prompt_tokens: 1013,
      completion_tokens: 30,
      total_tokens: 1043,
      prompt_tokens_details: { cached_tokens: 1008 },
      num_cached_tokens: 1008,
    },
    { input: 0.4, cache_read: 0.04, output: 2 },
    5 * 0.4 + 1008 * 0.04 + 30 * 2,
  ],
  [
    'Groq',
    {
      queue_time: 0.037493756,
      prompt_tokens: 4641,
      prompt_time: 0.128,
      completion_tokens: 1817,
      completion_time: 3.8,
      total_tokens: 6458,
      total_time: 3.93,
      prompt_tokens_details: { cached_tokens: 4608 },
      completion_tokens_details: { reasoning_tokens: 1200 },
    },
    { input: 1, cache_read: 0.5, output: 3 },
    33 * 1 + 4608 * 0.5 + 1817 * 3,
  ],
  [
    'OpenRouter',
    {
      prompt_tokens: 194,
      completion_tokens: 2,
      total_tokens: 196,
      cost: 0.95,
      cost_details: { upstream_inference_cost: 19 },
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    OPEN,
    194 * 0.6 + 2 * 2.5,
  ],
  [
    'OpenRouter to Anthropic, with writes',
    {
      prompt_tokens: 10339,
      completion_tokens: 60,
      total_tokens: 10399,
      prompt_tokens_details: { cached_tokens: 5000, cache_write_tokens: 5318, audio_tokens: 0 },
      cache_creation: { ephemeral_1h_input_tokens: 318, ephemeral_5m_input_tokens: 5000 },
    },
    CLAUDE,
    21 * 3 + 5000 * 0.3 + 5000 * 3.75 + 318 * 6 + 60 * 15,
  ],
  [
    'xAI, Chat Completions',
    {
      prompt_tokens: 125,
      completion_tokens: 48,
      total_tokens: 173,
      prompt_tokens_details: { text_tokens: 125, audio_tokens: 0, image_tokens: 0, cached_tokens: 98 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    GROK,
    27 * 3 + 98 * 0.75 + 48 * 15,
  ],
  [
    'xAI, Chat Completions, which counts reasoning beside the completion',
    {
      prompt_tokens: 32,
      completion_tokens: 9,
      total_tokens: 135,
      prompt_tokens_details: { text_tokens: 32, audio_tokens: 0, image_tokens: 0, cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 94, audio_tokens: 0 },
      num_sources_used: 0,
    },
    GROK,
    26 * 3 + 6 * 0.75 + (9 + 94) * 15,
  ],
  [
    'xAI, Responses',
    {
      input_tokens: 125,
      output_tokens: 48,
      total_tokens: 173,
      input_tokens_details: { cached_tokens: 98 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
    GROK,
    27 * 3 + 98 * 0.75 + 48 * 15,
  ],
  [
    'Together',
    { prompt_tokens: 18, completion_tokens: 40, total_tokens: 58, cached_tokens: 0 },
    OPEN,
    18 * 0.6 + 40 * 2.5,
  ],
  [
    'Together from the cache',
    { prompt_tokens: 1200, completion_tokens: 40, total_tokens: 1240, cached_tokens: 1024 },
    { ...OPEN, cache_read: 0.1 },
    176 * 0.6 + 1024 * 0.1 + 40 * 2.5,
  ],
  [
    'Fireworks',
    {
      prompt_tokens: 600,
      completion_tokens: 12,
      total_tokens: 612,
      prompt_tokens_details: { cached_tokens: 512 },
    },
    { ...OPEN, cache_read: 0.3 },
    88 * 0.6 + 512 * 0.3 + 12 * 2.5,
  ],
  [
    'Cerebras',
    {
      prompt_tokens: 22,
      completion_tokens: 16,
      total_tokens: 38,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 },
    },
    OPEN,
    22 * 0.6 + 16 * 2.5,
  ],
  [
    'Moonshot',
    {
      prompt_tokens: 1500,
      completion_tokens: 100,
      total_tokens: 1600,
      cached_tokens: 1280,
    },
    { ...OPEN, cache_read: 0.15 },
    220 * 0.6 + 1280 * 0.15 + 100 * 2.5,
  ],
  [
    'Qwen, with an explicit cache',
    {
      prompt_tokens: 1615,
      completion_tokens: 10,
      total_tokens: 1625,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 1605, cache_type: 'ephemeral' },
    },
    { input: 0.4, cache_read: 0.04, cache_write: 0.5, output: 1.2 },
    10 * 0.4 + 1605 * 0.5 + 10 * 1.2,
  ],
  [
    'Perplexity, Responses',
    {
      input_tokens: 500,
      input_tokens_details: { cache_read_input_tokens: 300, cache_creation_input_tokens: 100 },
      output_tokens: 40,
      total_tokens: 540,
    },
    CLAUDE,
    100 * 3 + 300 * 0.3 + 100 * 3.75 + 40 * 15,
  ],
  [
    'a gateway to Bedrock in the words of chat, with the cache inside the prompt',
    {
      prompt_tokens: 98805,
      completion_tokens: 5120,
      total_tokens: 103925,
      prompt_tokens_details: { text_tokens: null, cached_tokens: 66360, cache_creation_tokens: 32435 },
      completion_tokens_details: { reasoning_tokens: 1710 },
      cache_read_input_tokens: 66360,
      cache_creation_input_tokens: 32435,
    },
    CLAUDE,
    10 * 3 + 66360 * 0.3 + 32435 * 3.75 + 5120 * 15,
  ],
  [
    'LiteLLM of before, with the cache beside the prompt',
    {
      completion_tokens: 467,
      prompt_tokens: 31,
      total_tokens: 498,
      prompt_tokens_details: { cached_tokens: 0 },
      cache_creation_input_tokens: 1253,
      cache_read_input_tokens: 0,
    },
    CLAUDE,
    31 * 3 + 1253 * 3.75 + 467 * 15,
  ],
  [
    'Portkey to Anthropic, with the cache beside the prompt and in the total',
    {
      prompt_tokens: 21,
      completion_tokens: 393,
      total_tokens: 188500,
      prompt_tokens_details: { cached_tokens: 187086 },
      cache_read_input_tokens: 187086,
      cache_creation_input_tokens: 1000,
    },
    CLAUDE,
    21 * 3 + 187086 * 0.3 + 1000 * 3.75 + 393 * 15,
  ],
  [
    'Portkey to Anthropic, with less in the cache than in the prompt',
    {
      prompt_tokens: 2000,
      completion_tokens: 100,
      total_tokens: 3600,
      prompt_tokens_details: { cached_tokens: 1500 },
      cache_read_input_tokens: 1500,
      cache_creation_input_tokens: 0,
    },
    CLAUDE,
    2000 * 3 + 1500 * 0.3 + 100 * 15,
  ],
  [
    'LiteLLM of before to Bedrock, with only what was written beside the prompt',
    {
      prompt_tokens: 2031,
      completion_tokens: 467,
      total_tokens: 3751,
      prompt_tokens_details: { cached_tokens: 2000 },
      cache_creation_input_tokens: 1253,
      cache_read_input_tokens: 2000,
    },
    CLAUDE,
    31 * 3 + 2000 * 0.3 + 1253 * 3.75 + 467 * 15,
  ],
  [
    'Anthropic, Messages that has summed up a long conversation',
    {
      input_tokens: 23000,
      output_tokens: 1000,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
      iterations: [
        { type: 'compaction', input_tokens: 180000, output_tokens: 3500, cache_read_input_tokens: 2000 },
        { type: 'message', input_tokens: 23000, output_tokens: 1000 },
      ],
    },
    CLAUDE,
    (23000 + 180000) * 3 + 2000 * 0.3 + (1000 + 3500) * 15,
  ],
  [
    'vLLM, which does not tell of its cache',
    { prompt_tokens: 21, total_tokens: 84, completion_tokens: 63, prompt_tokens_details: null },
    OPEN,
    21 * 0.6 + 63 * 2.5,
  ],
  ['Ollama', { prompt_tokens: 26, completion_tokens: 298, total_tokens: 324 }, { input: 0, output: 0 }, 0],
  [
    'a rate of its own for reasoning',
    { prompt_tokens: 1, completion_tokens: 50, completion_tokens_details: { reasoning_tokens: 40 } },
    { input: 1, output: 2, reasoning: 3 },
    1 + 10 * 2 + 40 * 3,
  ],
]

test('what servers report costs what the bill by hand says, and a run the sum', async () => {
  const directory = await runOf([
    start(),
    user('Go'),
    ...BILLS.map(([model, usage], index) => thought(index + 1, { model, usage })),
  ])
  const first = BILLS.map(([match, , rates]) => ({ match, ...rates }))
  const trace = await openTrace(directory, { prices: { first } })
  const steps = await all(trace.steps())
  const costs = steps.map(({ request }) => request?.cost ?? Number.NaN)
  expect(costs).toHaveLength(BILLS.length)
  for (const [index, [server, , , millionths]] of BILLS.entries()) {
    const difference = Math.abs((costs[index] ?? Number.NaN) - millionths / 1e6)
    expect({ server, isEqual: difference < 1e-9 }).toEqual({ server, isEqual: true })
  }
  const sum = BILLS.reduce((total, [, , , millionths]) => total + millionths, 0) / 1e6
  expect(trace.run.totals.own.cost).toBeCloseTo(sum, 9)
  expect(trace.run.totals.own).toMatchObject({ requests: BILLS.length, unreported: 0, priced: 1 })
})
