// The AI SDK: the same with streamText, and with any of its providers.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { toAiSdkTools } from '@delta/tool-adapters/ai-sdk'
import { generateText, stepCountIs } from 'ai'
import { tools } from './tools.mjs'

const provider = createOpenAICompatible({
  name: 'provider',
  baseURL: process.env.OPENAI_BASE_URL ?? 'https://api.openai.com/v1',
  apiKey: process.env.OPENAI_API_KEY ?? '',
})

const { text } = await generateText({
  model: provider(process.env.MODEL ?? 'gpt-4o-mini'),
  tools: toAiSdkTools(tools, { cwd: process.cwd() }),
  prompt: process.argv[2] ?? 'Which files are here?',
  stopWhen: stepCountIs(10),
})
console.log(text)
