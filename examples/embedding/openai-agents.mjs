// The OpenAI Agents SDK: tools in strict mode, beside handoffs and guardrails.
import { toOpenAIAgentsTools } from '@delta/tool-adapters/openai-agents'
import { Agent, run, setOpenAIAPI, setTracingDisabled } from '@openai/agents'
import { tools } from './tools.mjs'

setOpenAIAPI('chat_completions') // what every provider understands; leave it out for OpenAI's own
setTracingDisabled(true) // otherwise runs are sent to OpenAI

const agent = new Agent({
  name: 'counter',
  instructions: 'You answer questions about files. Look before you answer.',
  model: process.env.MODEL ?? 'gpt-4o-mini',
  tools: toOpenAIAgentsTools(tools, { cwd: process.cwd() }),
})
const { finalOutput } = await run(agent, process.argv[2] ?? 'Which files are here?', {
  toolNotFoundBehavior: 'return_error_to_model', // without it a tool that does not exist ends the program
})
console.log(finalOutput)
