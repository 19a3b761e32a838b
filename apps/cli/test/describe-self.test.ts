import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { leavesOf, toOpenAI } from '@delta/atip'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

test('delta --agent describes every command of the reference page in ATIP, as it is, with what it does to the world', async () => {
  const check = [process.execPath, `${ROOT}scripts/describe-commands.mjs`, '--check']
  expect(await runProcess(check)).toMatchObject({ exitCode: 0, stderr: '' })
  const { stdout, stderr, exitCode } = await delta(['--agent'])
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
  const tool = JSON.parse(stdout)
  expect(tool).toMatchObject({ atip: '0.6', name: 'delta', version: expect.any(String) })
  const leaves = leavesOf(tool)
  const page = await readFile(`${ROOT}docs/cli.md`, 'utf8')
  const commands = [...page.matchAll(/^### delta (.*)$/gm)].map(([, name]) => name)
  expect(leaves.map(({ path }) => path.join(' ')).sort()).toEqual(commands.sort())
  for (const { path, effects } of leaves) expect([path, Object.keys(effects)]).not.toEqual([path, []])
  expect(toOpenAI(tool)).toHaveLength(leaves.length)

  const options = (name: string) => tool.commands[name].options as { name: string }[]
  const option = (command: string, name: string) => options(command).find((known) => known.name === name)
  expect(option('run', 'message')).toMatchObject({ flags: ['-m', '--message'], type: 'string' })
  expect(option('run', 'agent')).toMatchObject({ flags: ['--agent'], type: 'directory', default: '.' })
  expect(option('run', 'max-iterations')).toMatchObject({ type: 'integer', required: false })
  expect(option('run', 'format')).toMatchObject({ type: 'enum', default: 'text' })
  expect(option('run', 'no-sync')).toMatchObject({ flags: ['--no-sync'], type: 'boolean' })
  expect(option('run', 'import-root')).toMatchObject({ variadic: true })
  expect(option('run', 'task')).toBeUndefined()
  expect(option('continue', 'work-dir')).toMatchObject({ required: true })
  expect(tool.commands.init.arguments).toMatchObject([{ name: 'name', required: false, default: 'my-agent' }])
  expect(tool.commands.sessions.arguments).toMatchObject([{ name: 'words', variadic: true }])
})
