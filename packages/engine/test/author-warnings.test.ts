import { expect, test } from 'vitest'
import type { EngineEvent } from '../src/index.js'
import { eventsOfType, scene } from './run.js'

const LONG = 'x'.repeat(200_000)

test("what a tool's author can fix is a notice once a run, and a warning in ENGINE_END", async () => {
  const find = (text: string) => ({ name: 'find_text', arguments: { text } })
  const { run } = await scene({
    tools: [{ name: 'find_text', exec: 'printf %s ${text}' }],
    turns: [
      { tool_calls: [find('- a'), find('-x'), find('--y')] },
      { tool_calls: [find(LONG), find(LONG)] },
      { content: 'Done.' },
    ],
  })
  const notices: string[] = []
  const onEvent = (event: EngineEvent) => {
    if (event.kind === 'notice') notices.push(event.message)
  }
  const result = await run({ onEvent })
  const warnings = [
    'find_text: a value of "text" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.',
    'find_text: its arguments are longer than the system passes. Large values belong on standard input: let the tool take this parameter with stdin:, or all with stdin: json.',
  ]
  expect(notices).toEqual(warnings)
  expect(await eventsOfType(result, 'ENGINE_END')).toMatchObject([{ status: 'COMPLETED', warnings }])
  const results = await eventsOfType(result, 'ACTION_RESULT')
  expect(results).toMatchObject([
    { status: 'SUCCESS' },
    {
      status: 'ERROR',
      observation_content: expect.stringContaining(
        "If this value is right, the tool's author must set allow_dash or stdin: json.",
      ),
    },
    ...Array(3).fill({ status: 'ERROR' }),
  ])
})
