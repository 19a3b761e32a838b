// The programs that `loop.mjs` compares: each asks the scripted server at `baseUrl` until it answers, running `echo` between.
import { fileURLToPath } from 'node:url'
import { temporaryAgent } from '../../packages/testkit/dist/index.js'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const DELTA = here('../../apps/cli/bin.cjs')
const TOOLS = [{ name: 'echo', description: 'Says it.', exec: 'echo ${text}' }]
const LAST_TWENTY = `sources:
  - { type: file, id: system_prompt, path: '\${AGENT_HOME}/system_prompt.md' }
  - { type: journal, max_iterations: 20 }
`

/** What the tables call them. */
export const NAMES = {
  floor: 'durable floor',
  recordingFloor: 'durable floor with our records and client',
  delta: 'delta',
  window: 'delta, `max_iterations: 20`',
  aiSdk: 'AI SDK 6, nothing kept',
  openAiAgents: 'OpenAI Agents, nothing kept',
  langGraph: 'LangGraph, kept in SQLite',
}

/** Arguments for node, from a workspace; what they know of the others is the server alone. */
export async function programsFor(baseUrl, iterations) {
  const settings = { baseUrl, tools: TOOLS, agent: { max_iterations: iterations + 1 } }
  const whole = await temporaryAgent(settings)
  const window = await temporaryAgent({ ...settings, files: { 'context.yaml': LAST_TWENTY } })
  const run = (agent) => (workspace) => [
    DELTA,
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace,
    '-q',
  ]
  const script = (name) => (workspace) => [here(name), baseUrl, workspace, String(iterations + 1)]
  return {
    argv: {
      [NAMES.floor]: script('floor.mjs'),
      [NAMES.recordingFloor]: script('recording-floor.mjs'),
      [NAMES.delta]: run(whole),
      [NAMES.window]: run(window),
      [NAMES.aiSdk]: script('ai-sdk.mjs'),
      [NAMES.openAiAgents]: script('openai-agents.mjs'),
      [NAMES.langGraph]: script('langgraph.mjs'),
    },
    async remove() {
      await whole.remove()
      await window.remove()
    },
  }
}
