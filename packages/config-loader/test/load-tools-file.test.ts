import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { loadToolsFile } from '../src/index.js'
import { agentOf, directoryOf, MINIMAL } from './agents.js'

const EXPANDED = {
  name: 'count',
  command: ['sh', '-c', 'cat "$1" | wc -l', '--'],
  parameters: [
    { name: 'file', type: 'string', inject_as: 'argument', position: 0, required: true, allow_dash: false },
  ],
  __meta: { syntax: 'shell', template: 'cat ${file} | wc -l' },
  timeout_ms: 5000,
}
const WRITTEN = '{ name: count, shell: "cat ${file} | wc -l", timeout_ms: 5000 }'

test('an agent, its directory, a tools file and a bare list all have tools', async () => {
  const home = await agentOf({
    'agent.yaml': `${MINIMAL['agent.yaml']}tools:\n  - ${WRITTEN}\n`,
    'tools.yaml': `tools:\n  - ${WRITTEN}\n`,
    'list.yaml': `- ${WRITTEN}\n`,
  })
  const load = async (path: string) => (await loadToolsFile(path, { env: {} })).document
  const agent = { name: 'tester', llm: { model: 'gpt-4o' }, tools: [EXPANDED] }
  expect(await load(home)).toEqual(agent)
  expect(await load(join(home, 'agent.yaml'))).toEqual(agent)
  expect(await load(join(home, 'tools.yaml'))).toEqual({ tools: [EXPANDED] })
  expect(await load(join(home, 'list.yaml'))).toEqual([EXPANDED])
})

test('what is printed loads again, and expands to itself', async () => {
  const home = await directoryOf({ 'tools.yaml': `tools:\n  - ${WRITTEN}\n` })
  const once = await loadToolsFile(join(home, 'tools.yaml'), { env: {} })
  const again = await directoryOf({ 'tools.yaml': stringify(once.document) })
  const twice = await loadToolsFile(join(again, 'tools.yaml'), { env: {} })
  expect(twice.document).toEqual(once.document)
  expect(twice.warnings).toEqual([])
  expect(parse(stringify(twice.document))).toEqual(once.document)
})

test('an agent that cannot run yet has tools to look at all the same', async () => {
  const home = await directoryOf({ 'agent.yaml': `tools:\n  - ${WRITTEN}\n` })
  expect((await loadToolsFile(home, { env: {} })).document).toEqual({ tools: [EXPANDED] })
})

test('a file without tools, and one that is not there, are explained', async () => {
  const home = await directoryOf({ 'notes.yaml': 'a: 1\n' })
  const failure = (path: string) => loadToolsFile(path, { env: {} }).catch((error: Error) => error.message)
  expect(await failure(join(home, 'notes.yaml'))).toContain('notes.yaml:1:1: There are no tools here.')
  expect(await failure('no/such.yaml')).toBe('no/such.yaml: does not exist.')
})

test('a path that leads nowhere for another reason is explained, too', async () => {
  const home = await directoryOf({ 'a.txt': '' })
  await symlink('loop', join(home, 'loop'))
  const failure = (path: string) => loadToolsFile(path, { env: {}, shownAs: 'it' }).catch((error) => error)
  expect(await failure(join(home, 'loop'))).toMatchObject({
    code: 'ERR_CONFIG_NOT_FOUND',
    message: 'it: is a symbolic link that leads to itself.',
  })
  expect(await failure('x'.repeat(5000))).toMatchObject({
    code: 'ERR_CONFIG_NOT_FOUND',
    message: expect.stringMatching(/^it: cannot be read: ENAMETOOLONG/),
  })
})
