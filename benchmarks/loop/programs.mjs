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

/** Arguments for node, from a workspace; what they know of the others is the server alone. */
export async function programsFor(baseUrl, cycles) {
  const settings = { baseUrl, tools: TOOLS, agent: { max_iterations: cycles + 1 } }
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
  const script = (name) => (workspace) => [here(name), baseUrl, workspace, String(cycles + 1)]
  return {
    argv: {
      'durable floor': script('floor.mjs'),
      delta: run(whole),
      'delta, `max_iterations: 20`': run(window),
      'AI SDK 6, nothing kept': script('ai-sdk.mjs'),
      'OpenAI Agents, nothing kept': script('openai-agents.mjs'),
    },
    async remove() {
      await whole.remove()
      await window.remove()
    },
  }
}
