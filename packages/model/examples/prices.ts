import { normaliseUsage } from '@delta/model'
import { providerAt, ratesFor } from '@delta/model/prices'

const mine = [{ match: 'my-finetune*', input: 3, cache_read: 0.3, output: 15 }]
const tokens = normaliseUsage({ input_tokens: 100, cache_read_input_tokens: 800, output_tokens: 20 })
console.log(ratesFor({ models: ['my-finetune-2'], provider: null, rows: [mine], tokens }))
console.log(providerAt('https://api.openai.com/v1'), providerAt('http://localhost:11434/v1'))
