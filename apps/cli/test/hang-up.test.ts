import { isAlive, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf } from './delta.js'
import { hangUpAt, hasTerminal } from './terminal.js'

test.skipIf(!hasTerminal)(
  'a terminal that is closed while a tool runs interrupts the run in order, with 129, and continue goes on',
  async () => {
    await using agent = await temporaryAgent({
      tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
      turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    expect(await hangUpAt('sleep 300', args)).toBe(129)
    expect((await journalOf(workspace.path)).at(-1)).toMatchObject({
      type: 'ENGINE_END',
      status: 'INTERRUPTED',
      reason: 'SIGHUP',
    })
    // the signal may come before the tool has said who it is
    const pid = workspace.has('pid.txt') ? Number(await workspace.read('pid.txt')) : 0
    if (pid > 0) expect(isAlive(pid)).toBe(false)
    expect((await delta(['continue', '-w', workspace.path])).stdout).toBe('Done.\n')
  },
)

test.skipIf(!hasTerminal).each([
  ['visible', {}],
  ['hidden', { input_type: 'password' }],
])('a terminal that is closed at a %s prompt leaves the question to be answered later', async (_, kind) => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Name?', ...kind } }] },
      { content: 'Thanks.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  // the end of input and the signal come in any order
  expect([101, 129]).toContain(await hangUpAt('Name?', args))
  const asked = await delta(['continue', '-w', workspace.path])
  expect(asked.exitCode).toBe(101)
  expect((await delta(['continue', '-w', workspace.path, '-m', 'Ada'])).stdout).toBe('Thanks.\n')
})
