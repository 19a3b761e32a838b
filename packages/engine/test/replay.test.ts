import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRecordedRequests } from '@delta/journal/internal'
import { replayModel } from '@delta/model'
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

test('what a replay reads grows with the run, not with its square', async () => {
  const iterations = 16
  const speak = Array.from({ length: iterations }, (_, index) => ({
    tool_calls: [{ name: 'say', arguments: { text: `number ${index}` } }],
  }))
  const { run } = await scene({
    turns: [...speak, { content: 'Done.' }],
    tools: [ECHO],
    agent: { max_iterations: 99 },
  })
  const recorded = await run()
  const recording = openRecordedRequests(recorded.runDirectory)
  expect(recording.length).toBe(iterations + 1)
  let reads = 0
  const counting = {
    ...recording,
    part: (number: number) => {
      reads++
      return recording.part(number)
    },
  }
  const replayed = await run({ model: replayModel(counting) })
  expect(replayed).toMatchObject({ status: 'COMPLETED', answer: 'Done.' })
  const messages = recording.messageCount(iterations)
  // of each request its parameters and what is made anew each time, as the system prompt; all else once
  expect(reads).toBeLessThanOrEqual(4 * recording.length + messages)
})
