import { expect, test } from 'vitest'
import { normaliseUsage } from '../src/index.js'

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
    'a server with cached_tokens at the top',
    { prompt_tokens: 10, cached_tokens: 4 },
    { input: 6, cache_read: 4 },
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
  ['Messages without a cache', { input_tokens: 21, output_tokens: 3 }, { input: 21, output: 3 }],
  [
    'counts that cannot be right',
    { prompt_tokens: -3, completion_tokens: 1.5, total_tokens: Number.POSITIVE_INFINITY },
    { adjusted: ['invalid'] },
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

test.each([undefined, null, 7, 'many', [], {}, { total_tokens: 9 }])(
  'a response with the usage %j is unreported',
  (usage) => expect(normaliseUsage(usage)).toBeNull(),
)
