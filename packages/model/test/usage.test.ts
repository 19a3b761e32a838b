import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normaliseUsage, type Tokens } from '../src/index.js'

const nothing = { input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }

test.each<[shape: string, usage: object, tokens: object]>([
  ['Chat Completions', { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }, { input: 9, output: 4 }],
  [
    'Chat Completions with a cache and reasoning',
    {
      prompt_tokens: 900,
      completion_tokens: 50,
      prompt_tokens_details: { cached_tokens: 700, cache_write_tokens: 100 },
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    { input: 100, cache_read: 700, cache_write: 100, output: 20, reasoning: 30 },
  ],
  [
    'DeepSeek',
    {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
      completion_tokens_details: { reasoning_tokens: 15 },
    },
    { input: 36, cache_read: 64, output: 5, reasoning: 15 },
  ],
  [
    'Gemini, whose reasoning is only in the total',
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 40 },
    { input: 10, output: 5, reasoning: 25, adjusted: ['outside'] },
  ],
  [
    'a gateway with the names of Messages beside those of chat',
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      cache_read_input_tokens: 60,
      cache_creation_input_tokens: 30,
    },
    { input: 10, cache_read: 60, cache_write: 30, output: 5 },
  ],
  [
    'a gateway that counts the cache beside the prompt',
    { prompt_tokens: 10, completion_tokens: 5, cache_read_input_tokens: 60 },
    { input: 10, cache_read: 60, output: 5, adjusted: ['exclusive'] },
  ],
  [
    'a gateway that counts the cache beside the prompt, and both in the total',
    { prompt_tokens: 100, completion_tokens: 5, total_tokens: 165, cache_read_input_tokens: 60 },
    { input: 100, cache_read: 60, output: 5, adjusted: ['exclusive'] },
  ],
  [
    'a gateway that counts the cache beside the prompt, and reasoning only in the total',
    { prompt_tokens: 10, completion_tokens: 5, total_tokens: 100, cache_read_input_tokens: 60 },
    { input: 10, cache_read: 60, output: 5, reasoning: 25, adjusted: ['exclusive', 'outside'] },
  ],
  [
    'a gateway that counts only what was written beside the prompt',
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 135,
      prompt_tokens_details: { cached_tokens: 60 },
      cache_creation_input_tokens: 30,
    },
    { input: 40, cache_read: 60, cache_write: 30, output: 5, adjusted: ['exclusive'] },
  ],
  [
    'a server whose reasoning beside the output is as much as the cache in the input',
    {
      prompt_tokens: 100,
      completion_tokens: 5,
      total_tokens: 165,
      prompt_tokens_details: { cached_tokens: 60 },
      completion_tokens_details: { reasoning_tokens: 60 },
    },
    { input: 40, cache_read: 60, output: 5, reasoning: 60, adjusted: ['outside'] },
  ],
  [
    'a server with cached_tokens at the top',
    { prompt_tokens: 10, cached_tokens: 4 },
    { input: 6, cache_read: 4 },
  ],
  [
    'Mistral, under its other names',
    { prompt_tokens: 801, completion_tokens: 2, total_tokens: 803, num_cached_tokens: 768 },
    { input: 33, cache_read: 768, output: 2 },
  ],
  [
    'Mistral without the s',
    { prompt_tokens: 801, completion_tokens: 2, prompt_token_details: { cached_tokens: 768 } },
    { input: 33, cache_read: 768, output: 2 },
  ],
  [
    'Qwen, which counts what it writes among the details',
    {
      prompt_tokens: 1615,
      completion_tokens: 10,
      total_tokens: 1625,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 1605, cache_type: 'ephemeral' },
    },
    { input: 10, cache_write: 1605, output: 10 },
  ],
  [
    'Responses',
    {
      input_tokens: 75,
      input_tokens_details: { cached_tokens: 32, cache_write_tokens: 8 },
      output_tokens: 1186,
      output_tokens_details: { reasoning_tokens: 1024 },
      total_tokens: 1261,
    },
    { input: 35, cache_read: 32, cache_write: 8, output: 162, reasoning: 1024 },
  ],
  [
    'Responses of a gateway to Gemini, whose reasoning is only in the total',
    {
      input_tokens: 21,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 60 },
      total_tokens: 81,
    },
    { input: 21, reasoning: 60, adjusted: ['outside'] },
  ],
  [
    'Perplexity’s Responses, with the names of Messages among the details',
    {
      input_tokens: 500,
      input_tokens_details: { cache_read_input_tokens: 300, cache_creation_input_tokens: 100 },
      output_tokens: 40,
      total_tokens: 540,
    },
    { input: 100, cache_read: 300, cache_write: 100, output: 40 },
  ],
  [
    'Messages',
    {
      input_tokens: 21,
      cache_creation_input_tokens: 188,
      cache_read_input_tokens: 2000,
      cache_creation: { ephemeral_5m_input_tokens: 88, ephemeral_1h_input_tokens: 100 },
      output_tokens: 393,
      output_tokens_details: { thinking_tokens: 90 },
    },
    { input: 21, cache_read: 2000, cache_write: 188, cache_write_1h: 100, output: 303, reasoning: 90 },
  ],
  [
    'Messages with a part written for an hour, and no whole',
    { input_tokens: 21, output_tokens: 3, cache_creation: { ephemeral_1h_input_tokens: 100 } },
    { input: 21, output: 3, cache_write_1h: 0 },
  ],
  [
    'Messages that has summed up a long conversation',
    {
      input_tokens: 23,
      output_tokens: 10,
      iterations: [
        {
          type: 'compaction',
          input_tokens: 180,
          output_tokens: 35,
          cache_creation_input_tokens: 7,
          cache_creation: { ephemeral_1h_input_tokens: 7 },
        },
        { type: 'message', input_tokens: 23, output_tokens: 10 },
        null,
      ],
    },
    { input: 203, output: 45, cache_write: 7, cache_write_1h: 7 },
  ],
  ['Messages without a cache', { input_tokens: 21, output_tokens: 3 }, { input: 21, output: 3 }],
  [
    'counts that cannot be right',
    { prompt_tokens: -3, completion_tokens: 1.5, total_tokens: Number.POSITIVE_INFINITY },
    { adjusted: ['invalid'] },
  ],
  [
    'counts above a million million, whose sums would not be exact',
    { prompt_tokens: 1e12, completion_tokens: 1e12 + 1 },
    { input: 1e12, adjusted: ['invalid'] },
  ],
  [
    'more reasoning than output',
    { prompt_tokens: 1, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 9 } },
    { input: 1, reasoning: 5 },
  ],
  [
    'counts that are null',
    { input_tokens: 4, output_tokens: null, cache_read_input_tokens: null },
    { input: 4 },
  ],
])('the tokens of %s fall into buckets that add up', (_shape, usage, tokens) => {
  expect(normaliseUsage(usage)).toEqual({ ...nothing, ...tokens })
})

const count = fc.nat(1_000_000)
/** Counts as their API defines them: what was read from the cache, or written into it, is a part of what was read. */
const chat = fc
  .record({ cached: count, written: count, fresh: count, reasoning: count, text: count })
  .map(({ cached, written, fresh, reasoning, text }) => ({
    prompt_tokens: cached + written + fresh,
    completion_tokens: reasoning + text,
    total_tokens: cached + written + fresh + reasoning + text,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }))

test('the buckets are never negative, and add up to the total of the provider', () => {
  fc.assert(
    fc.property(chat, (usage) => {
      const { input, cache_read, cache_write, output, reasoning } = normaliseUsage(usage) ?? nothing
      const buckets = [input, cache_read, cache_write, output, reasoning]
      expect(Math.min(...buckets)).toBeGreaterThanOrEqual(0)
      expect(buckets.reduce((sum, tokens) => sum + tokens)).toBe(usage.total_tokens)
    }),
  )
})

/** Anything that a server may send in the place of a count. */
const anything = fc.oneof(
  count,
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.constant(null),
  fc.constant(undefined),
)

test('whatever a server sends, the buckets are whole numbers, and none is negative', () => {
  const details = fc.record({
    cached_tokens: anything,
    cache_write_tokens: anything,
    reasoning_tokens: anything,
  })
  const usages = fc.record(
    {
      prompt_tokens: anything,
      input_tokens: anything,
      completion_tokens: anything,
      output_tokens: anything,
      total_tokens: anything,
      prompt_cache_hit_tokens: anything,
      cache_read_input_tokens: anything,
      cache_creation_input_tokens: anything,
      cache_creation: fc.record({ ephemeral_1h_input_tokens: anything }),
      iterations: fc.oneof(
        fc.array(
          fc.record({ type: fc.constant('compaction'), input_tokens: anything, output_tokens: anything }),
        ),
        anything,
      ),
      prompt_tokens_details: fc.oneof(details, anything),
      input_tokens_details: fc.oneof(details, anything),
      completion_tokens_details: fc.oneof(details, anything),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(usages, (usage) => {
      const { adjusted: _, ...buckets }: Tokens = normaliseUsage(usage) ?? nothing
      for (const tokens of Object.values(buckets)) expect(tokens).toBeGreaterThanOrEqual(0)
      for (const tokens of Object.values(buckets)) expect(Number.isSafeInteger(tokens)).toBe(true)
    }),
  )
})

test.each([
  undefined,
  null,
  7,
  'many',
  [],
  {},
  { total_tokens: 9 },
  { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 }, // Gemini's own API
  { inputTokens: 9, outputTokens: 4, totalTokens: 13 }, // Bedrock's own API
  { prompt_eval_count: 9, eval_count: 4 }, // Ollama's own API
])('a response with the usage %j is unreported', (usage) => expect(normaliseUsage(usage)).toBeNull())
