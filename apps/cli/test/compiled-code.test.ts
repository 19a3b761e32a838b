import { readdir, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

const COMPILED = fileURLToPath(new URL('../compiled', import.meta.url))

async function kept(): Promise<string[]> {
  const names = (await readdir(COMPILED)).filter((name) => /^(run|main|program)-/.test(name)).sort()
  return Promise.all(names.map(async (name) => `${name} ${(await stat(`${COMPILED}/${name}`)).mtimeMs}`))
}

test('a run with commands leaves compiled code that the next one can use', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'say', exec: 'echo ${text}' }],
    turns: [{ tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const run = () => delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--new'])

  expect(await run()).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const first = await kept()
  expect(await run()).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await kept()).toEqual(first)
})
