import { expect, test } from 'vitest'
import { executeTool, runCommand } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never
const call = { name: 'say', arguments: {} }

test.each([
  ['executeTool: the map of tools', () => executeTool(wrong([]), call, wrong(undefined))],
  ['executeTool: the call', () => executeTool(new Map(), wrong(undefined), wrong(undefined))],
  ['executeTool: the option workDirectory', () => executeTool(new Map(), call, wrong(undefined))],
  ['executeTool: the option environment', () => executeTool(new Map(), call, wrong({ workDirectory: '/' }))],
  ['runCommand: the command', () => runCommand(wrong('ls -l'), { cwd: '/', env: {} })],
  ['runCommand: the option cwd', () => runCommand(['ls'], wrong(undefined))],
  ['runCommand: the option env', () => runCommand(['ls'], wrong({ cwd: '/' }))],
])('what cannot be used is named, and nothing is run: %s', async (what, use) => {
  await expect(use()).rejects.toMatchObject({
    code: 'ERR_EXECUTOR_USAGE',
    message: expect.stringContaining(`${what} is missing, or not what it must be.\nPass `),
  })
})
