import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { delta } from './delta.js'

export const SAY = { name: 'say', description: 'Says.', exec: 'echo ${text}' }

/** A workspace with a completed run "done" and a waiting run "asks". */
export async function twoRuns(): Promise<TemporaryWorkspace> {
  const workspace = await temporaryWorkspace({})
  await using done = await temporaryAgent({
    tools: [SAY],
    turns: [
      { content: 'I say it.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      { content: 'Said.' },
    ],
  })
  await using asks = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }],
  })
  for (const [agent, id] of [
    [done, 'done'],
    [asks, 'asks'],
  ] as const) {
    await delta([
      'run',
      '--agent',
      agent.path,
      '-m',
      `Task ${id}`,
      '-w',
      workspace.path,
      '--run-id',
      id,
      '-q',
    ])
  }
  return workspace
}
