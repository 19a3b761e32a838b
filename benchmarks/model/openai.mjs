import { measure } from './measure.mjs'

await measure(async (baseUrl) => {
  const { OpenAI } = await import('openai')
  const client = new OpenAI({ apiKey: 'none', baseURL: baseUrl, maxRetries: 0 })
  return async (body) => (await client.chat.completions.create(body)).choices[0].message
})
