// The same loop by the AI SDK, keeping nothing: node ai-sdk.mjs <base url> <workspace> <most steps>
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installed } from './installed.mjs'

const { generateText, jsonSchema, stepCountIs, tool } = await installed('ai')
const { createOpenAICompatible } = await installed('@ai-sdk/openai-compatible')
const [baseURL, cwd, steps] = process.argv.slice(2)

await generateText({
  model: createOpenAICompatible({ name: 'scripted', baseURL, apiKey: 'none' })('scripted'),
  prompt: 'Go',
  stopWhen: stepCountIs(Number(steps)),
  tools: {
    echo: tool({
      description: 'Says it.',
      inputSchema: jsonSchema({
        type: 'object',
        properties: { text: { type: 'string' } },
        required: ['text'],
      }),
      execute: async ({ text }) => (await promisify(execFile)('echo', [text], { cwd })).stdout,
    }),
  },
})
