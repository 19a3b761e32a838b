import { join } from 'node:path'
import { expect, test } from 'vitest'
import { demoCommands, makeWorkspace, nextCommands } from '../demo.mjs'
import { testEnvironment } from '../lib/environment.mjs'
import { makeScratchCheckout } from '../lib/scratch.mjs'
import { capture } from '../lib/step.mjs'
import { temporaryTree } from './temporary.mjs'

test('every demo gets a workspace of its own', () => {
  const parent = temporaryTree({})
  expect([makeWorkspace(parent), makeWorkspace(parent)]).toEqual(['demo-001', 'demo-002'])
})

test('the demo shows thoughts, commands and the answer, and every command it then proposes works', async () => {
  const clone = join(temporaryTree({}), 'a clone')
  makeScratchCheckout(clone)
  const workspace = `workspaces/${makeWorkspace(join(clone, 'workspaces'))}`
  /** @param {string} command */
  const type = (command) => capture(['sh', '-c', command], { cwd: clone, env: testEnvironment() })

  const [agent = '', journal = ''] = demoCommands(workspace)
  const demo = await type(agent)
  expect(demo.output).toContain('First I look at what is in the workspace.')
  expect(demo.output).toContain('$ ls -1 .\n')
  expect(demo.stdout).toMatch(/^Done\. report\.md has \d+ lines/)
  expect(demo.code).toBe(0)
  expect((await type(journal)).stdout).toMatch(/"type":"ENGINE_END".*\n$/)

  const [report, ...others] = nextCommands(workspace)
  expect((await type(report?.command ?? '')).stdout).toContain('trial-2024.txt')
  for (const { command } of others)
    expect({ command, ...(await type(command)) }).toMatchObject({ command, code: 0 })
})
