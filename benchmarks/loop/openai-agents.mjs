// The same loop by the OpenAI Agents SDK, keeping nothing: node openai-agents.mjs <base url> <workspace> <most turns>
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { installed } from './installed.mjs'

const { Agent, run, setDefaultOpenAIClient, setOpenAIAPI, setTracingDisabled, tool } =
  await installed('@openai/agents')
const { OpenAI } = await installed('openai')
const [baseURL, cwd, turns] = process.argv.slice(2)
setOpenAIAPI('chat_completions')
setTracingDisabled(true)
setDefaultOpenAIClient(new OpenAI({ apiKey: 'none', baseURL }))

const echo = tool({
  name: 'echo',
  description: 'Says it.',
  strict: false,
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: true,
  },
  execute: async ({ text }) => (await promisify(execFile)('echo', [text], { cwd })).stdout,
})
await run(new Agent({ name: 'echo', model: 'scripted', tools: [echo] }), 'Go', { maxTurns: Number(turns) })
