import { readFile } from 'node:fs/promises'
import { leavesOf, toOpenAI } from '@delta/atip'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

async function described() {
  const { stdout, stderr, exitCode } = await delta(['--agent'])
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  return JSON.parse(stdout)
}

test('delta --agent describes every command of the reference page in ATIP, with what it does to the world', async () => {
  const tool = await described()
  expect(tool).toMatchObject({ atip: '0.6', name: 'delta', version: expect.any(String) })
  const leaves = leavesOf(tool)
  const page = await readFile(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
  const commands = [...page.matchAll(/^### delta (.*)$/gm)].map(([, name]) => name)
  expect(leaves.map(({ path }) => path.join(' ')).sort()).toEqual(commands.sort())
  for (const { path, effects } of leaves) expect([path, Object.keys(effects)]).not.toEqual([path, []])
  expect(toOpenAI(tool)).toHaveLength(leaves.length)
})

test('the description of an option has its flags, its type, its choices and its default', async () => {
  const { commands } = await described()
  const options = (name: string) => commands[name].options as { name: string }[]
  const option = (command: string, name: string) => options(command).find((known) => known.name === name)
  expect(option('run', 'message')).toMatchObject({ flags: ['-m', '--message'], type: 'string' })
  expect(option('run', 'agent')).toMatchObject({ flags: ['--agent'], type: 'directory', default: '.' })
  expect(option('run', 'max-iterations')).toMatchObject({ type: 'integer', required: false })
  expect(option('run', 'format')).toMatchObject({ type: 'enum', default: 'text' })
  expect(option('run', 'no-sync')).toMatchObject({ flags: ['--no-sync'], type: 'boolean' })
  expect(option('run', 'import-root')).toMatchObject({ variadic: true })
  expect(option('run', 'task')).toBeUndefined()
  expect(option('continue', 'work-dir')).toMatchObject({ required: true })
  expect(commands.init.arguments).toMatchObject([{ name: 'name', required: false, default: 'my-agent' }])
  expect(commands.sessions.arguments).toMatchObject([{ name: 'words', variadic: true }])
})
