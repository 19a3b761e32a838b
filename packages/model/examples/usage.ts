import { normaliseUsage } from '@delta/model'

const chat = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
const messages = { input_tokens: 100, cache_read_input_tokens: 800, output_tokens: 20 }
console.log(normaliseUsage(chat))
console.log(normaliseUsage(messages))
