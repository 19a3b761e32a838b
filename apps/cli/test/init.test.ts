import { join } from 'node:path'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

test.each(['minimal', 'hello-world'])(
  'init -t %s makes an agent that runs at once, without a key',
  async (template) => {
    await using workspace = await temporaryWorkspace({ 'notes.txt': 'one two three\n' })
    const agent = join(workspace.path, 'made')

    const made = await delta(['init', agent, '-t', template])
    expect({ exitCode: made.exitCode, stdout: made.stdout }).toEqual({ exitCode: 0, stdout: `${agent}\n` })

    const run = await delta(['run', '--agent', agent, '-m', 'What is here?', '--no-sync'])
    expect(run.stderr).toContain(' of made in ')
    expect(run.exitCode).toBe(0)
  },
)
