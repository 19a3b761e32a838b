import { mkdir, symlink } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineTool, executeTool, prepareCall, type Tool, type WrittenTool } from '../src/index.js'
import { workspace } from './workspace.js'

const toolAt = (home: string | undefined, definition: Partial<WrittenTool>): Tool => ({
  ...defineTool({ name: 'tool', exec: 'ls ${TOOL_HOME}', ...definition } as WrittenTool),
  ...(home !== undefined && { home }),
})

function prepare(home: string | undefined, definition: Partial<WrittenTool> = {}, variables = {}) {
  const call = { name: 'tool', arguments: {} }
  const places = { AGENT_HOME: '/agent', CWD: '/work', ...variables }
  const prepared = prepareCall(new Map([['tool', toolAt(home, definition)]]), call, { variables: places })
  if (prepared.decision === 'refuse') throw new Error(prepared.observation)
  return prepared.argv
}

test.each([
  [undefined, '/agent'],
  ['', '/agent'],
  ['tools/deep', '/agent/tools/deep'],
  ['/pack', '/pack'],
])('${TOOL_HOME} of a tool at %s is %s', (home, path) => {
  expect(prepare(home)).toEqual(['ls', path])
})

test('a tool starts in it, and has it in its variables', async () => {
  const { path } = await workspace({ 'pack/x': '', 'work/x': '' })
  const tool = toolAt(join(path, 'pack'), {
    exec: undefined,
    command: ['sh', '-c', 'pwd; echo "$LIB"'],
    cwd: '${TOOL_HOME}',
    env: { LIB: '${TOOL_HOME}/lib' },
  })
  const context = { cwd: join(path, 'work'), env: process.env }
  const { observation } = await executeTool([tool], { name: 'tool', arguments: {} }, context)
  expect(observation).toBe(`${path}/pack\n${path}/pack/lib\n`)
})

test('in a sandbox it can be read wherever it lies, and is read-only where a writable path holds it', async () => {
  const { path } = await workspace({ 'node_modules/kit/a.yaml': '', 'bot/x': '' })
  await mkdir(join(path, 'other'))
  await symlink(join(path, 'node_modules/kit'), join(path, 'other/kit'))
  const lines = (home: string | undefined, write = ['CWD']) =>
    prepare(home, { sandbox: { write } }, { AGENT_HOME: join(path, 'bot'), CWD: path }).join(' ')
  const kit = join(path, 'node_modules/kit')
  expect(lines(kit)).toContain(`--bind ${path} ${path} `)
  expect(lines(kit).lastIndexOf(`--ro-bind ${kit} ${kit}`)).toBeGreaterThan(lines(kit).lastIndexOf('--bind '))
  expect(lines('/opt/kit')).toContain('--ro-bind /opt/kit /opt/kit')
  expect(lines('lib')).toBe(lines(undefined).replace(/ls .*$/, `ls ${path}/bot/lib`)) // the agent's directory holds it
  expect(lines(homedir())).not.toContain(`--ro-bind ${homedir()} `)
})
