import { formatReport, loadAgent } from '@delta/config-loader'
import { executeTool } from '@delta/executor'

const { agent, warnings } = await loadAgent('reader', { env: process.env })
for (const warning of warnings) console.log(formatReport([warning]))

console.log(agent.name, agent.llm.model, [...agent.tools.keys()])
const call = { name: 'count_words', arguments: { text: 'it was a dark night' } }
const context = { cwd: process.cwd(), env: process.env }
console.log((await executeTool([...agent.tools.values()], call, context)).observation)
