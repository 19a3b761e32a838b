import { openSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeWorkspace, nextCommands, playDemo } from '../demo.mjs'
import { testEnvironment } from '../lib/environment.mjs'
import { makeScratchCheckout } from '../lib/scratch.mjs'
import { capture } from '../lib/step.mjs'
import { temporaryTree } from './temporary.mjs'

test('every demo gets a workspace of its own', () => {
  const parent = temporaryTree({})
  expect([makeWorkspace(parent), makeWorkspace(parent)]).toEqual(['demo-001', 'demo-002'])
})

test('every command that the demo proposes works', async () => {
  const clone = join(temporaryTree({}), 'a clone')
  makeScratchCheckout(clone)
  const workspace = `workspaces/${makeWorkspace(join(clone, 'workspaces'))}`
  const played = openSync(join(clone, 'played'), 'a')
  expect(await playDemo(workspace, { cwd: clone, secondsPerFile: 1, output: played })).toBe(0)

  for (const { command } of nextCommands(workspace)) {
    const result = await capture(['sh', '-c', command], { cwd: clone, env: testEnvironment() })
    expect({ command, ...result }).toMatchObject({ command, code: 0 })
  }
})
