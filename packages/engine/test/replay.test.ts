import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scene } from './run.js'

const ECHO = { name: 'say', exec: 'echo ${text}' }
const TURNS = [
  { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
  { content: 'Said {{last_observation}}' },
]

test('a recorded run replays against its own requests, and a changed tool is the first difference', async () => {
  const { run, agentFiles } = await scene({ turns: TURNS, tools: [ECHO] })
  const recorded = await run()
  const replay = async (exec: string) => {
    const agent = {
      name: 'a',
      llm: { provider: 'replay', script: recorded.runDirectory },
      system_prompt: 'system_prompt.md',
      tools: [{ ...ECHO, exec }],
    }
    await writeFile(join(agentFiles.path, 'agent.yaml'), JSON.stringify(agent))
    return run()
  }
  const same = await replay('echo ${text}')
  expect(same.reason).toBeUndefined()
  expect(same.answer).toBe(recorded.answer)

  const changed = await replay('printf %s: ${text}')
  expect(changed.status).toBe('FAILED')
  expect(changed.reason).toContain('recorded:')
})
