import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runProcess, temporaryAgent, temporaryWorkspace } from '../src/index.js'

test('a workspace is made from literals and can be looked at', async () => {
  await using workspace = await temporaryWorkspace({ 'b/c.txt': 'deep', 'a.txt': 'one\n' })
  await workspace.write('d/e.bin', new Uint8Array([0, 255]))

  expect(await workspace.files()).toEqual(['a.txt', 'b/c.txt', 'd/e.bin'])
  expect(await workspace.read('b/c.txt')).toBe('deep')
  expect([workspace.has('a.txt'), workspace.has('b.txt')]).toEqual([true, false])
})

test('a file that starts with #! can be executed', async () => {
  await using workspace = await temporaryWorkspace({ 'run.sh': '#!/bin/sh\necho ran\n', 'plain.txt': 'x' })
  expect((await runProcess([join(workspace.path, 'run.sh')])).stdout).toBe('ran\n')
  expect(statSync(join(workspace.path, 'plain.txt')).mode & 0o111).toBe(0)
})

test('a workspace goes away with its scope, or through the clean-up that the test runner was given', async () => {
  let path: string
  {
    await using workspace = await temporaryWorkspace({ 'a.txt': 'x' })
    path = workspace.path
    expect(existsSync(path)).toBe(true)
  }
  expect(existsSync(path)).toBe(false)

  const cleanups: (() => Promise<void>)[] = []
  const other = await temporaryWorkspace({}, { onCleanup: (remove) => cleanups.push(remove) })
  await cleanups[0]?.()
  expect(existsSync(other.path)).toBe(false)
})

test('a workspace that nobody removed goes away with the process', async () => {
  const kit = JSON.stringify(new URL('../dist/index.js', import.meta.url).href)
  const program = `const { temporaryWorkspace } = await import(${kit})
    console.log((await temporaryWorkspace({ 'a.txt': 'x' })).path)`
  const { stdout } = await runProcess([process.execPath, '--input-type=module', '-e', program])
  expect(stdout.trim()).toMatch(/delta-test-/)
  expect(existsSync(stdout.trim())).toBe(false)
})

test('an agent is a workspace with a model that answers, and can be changed in every part', async () => {
  await using agent = await temporaryAgent()
  expect(await agent.files()).toEqual(['agent.yaml', 'context.yaml', 'script.yaml', 'system_prompt.md'])
  expect(JSON.parse(await agent.read('script.yaml'))).toEqual([{ content: 'Done.' }])

  await using other = await temporaryAgent({
    baseUrl: 'http://127.0.0.1:1/v1',
    agent: { max_iterations: 3 },
    tools: [{ name: 'echo', exec: 'echo ${text}' }],
    files: { 'system_prompt.md': 'Short.' },
  })
  expect(await other.files()).toEqual(['agent.yaml', 'context.yaml', 'system_prompt.md'])
  expect(JSON.parse(await other.read('agent.yaml'))).toEqual({
    name: 'test-agent',
    llm: { provider: 'openai', model: 'scripted', base_url: 'http://127.0.0.1:1/v1' },
    tools: [{ name: 'echo', exec: 'echo ${text}' }],
    max_iterations: 3,
  })
  expect(await other.read('system_prompt.md')).toBe('Short.')
})
