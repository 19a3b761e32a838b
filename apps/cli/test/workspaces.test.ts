import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf } from './delta.js'

test('runs that start at once without -w each get a workspace of their own', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const args = ['run', '--agent', agent.path, '-m', 'Go', '--no-sync']
  const results = await Promise.all(Array.from({ length: 4 }, () => delta(args)))
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0])
  expect((await readdir(join(agent.path, 'workspaces'))).sort()).toEqual([
    'LAST_USED',
    ...['W001', 'W002', 'W003', 'W004'],
  ])
  for (const name of ['W001', 'W002', 'W003', 'W004'])
    expect((await journalOf(join(agent.path, 'workspaces', name))).at(-1)).toMatchObject({
      status: 'COMPLETED',
    })
})

test('without -w, one line on stderr says where the agent works and that -w . means here; not with -q', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const args = ['run', '--agent', agent.path, '-m', 'Go']
  const said = (await delta(args)).stderr.split('\n').filter((line) => line.startsWith('New workspace'))
  expect(said).toEqual([
    `New workspace ${agent.path}/workspaces/W001: the agent works there. With -w . it works here.`,
  ])
  expect((await delta([...args, '-w', 'here'], { cwd: agent.path })).stderr).not.toContain('orkspace')
  expect((await delta([...args, '-q'])).stderr).toBe('')
})

test('the names of the directories that -w makes are on the disk before the first command starts, unless --no-sync is given', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', exec: 'true' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  await using directory = await temporaryWorkspace({
    'spy.cjs': `const fs = require('node:fs'), child = require('node:child_process')
      const { openSync, fsyncSync } = fs, { spawn } = child, names = new Map(), synced = []
      fs.openSync = (name, ...rest) => {
        const file = openSync(name, ...rest)
        names.set(file, name)
        return file
      }
      fs.fsyncSync = (file) => (synced.push(names.get(file)), fsyncSync(file))
      child.spawn = (...rest) => (fs.writeFileSync(process.cwd() + '/synced', synced.join('\\n')), spawn(...rest))`,
  })
  const syncedBy = async (...args: string[]) => {
    const env = { NODE_OPTIONS: `--require ${join(directory.path, 'spy.cjs')}` }
    const run = ['run', '-q', '--agent', agent.path, '-m', 'Go', ...args]
    expect(await delta(run, { cwd: directory.path, env })).toMatchObject({ exitCode: 0 })
    return (await directory.read('synced')).split('\n')
  }
  expect(await syncedBy('-w', 'a/b')).toEqual(
    expect.arrayContaining([directory.path, join(directory.path, 'a'), join(directory.path, 'a/b')]),
  )
  expect(await syncedBy('-w', 'c/d', '--no-sync')).not.toContain(join(directory.path, 'c'))
})

test('a file called workspaces holds none', async () => {
  await using directory = await temporaryWorkspace({ workspaces: '' })
  const { exitCode, stderr } = await delta(['show'], { cwd: directory.path })
  expect(stderr).toBe(`Error: No runs in ${directory.path}. Choose another workspace with -w.\n`)
  expect(exitCode).toBe(2)
})

test('an installed agent gets its workspaces under the current directory', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({ 'node_modules/keep': '' })
  await cp(agent.path, join(directory.path, 'node_modules/some-agent'), { recursive: true })
  const args = ['run', '--agent', 'node_modules/some-agent', '-m', 'Go']
  expect((await delta(args, { cwd: directory.path })).exitCode).toBe(0)
  expect(directory.has('workspaces/some-agent/W001/.delta/LATEST')).toBe(true)
  expect(directory.has('node_modules/some-agent/workspaces')).toBe(false)
})

test('where no workspace can be made without -w, that is said, and nothing is begun', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await agent.write('workspaces', '')
  expect(await delta(['run', '--agent', agent.path, '-m', 'Go'])).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: `Error: ${agent.path}/workspaces: it is a file, not a directory, or is below a file (ENOTDIR).
Name a workspace that can be written: -w <directory>
`,
  })
})

test('run -w makes a directory that is missing, with those above it', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', 'a/b/c']
  expect((await delta(args, { cwd: directory.path })).exitCode).toBe(0)
  expect(directory.has('a/b/c/.delta/LATEST')).toBe(true)
})

test('a "~" that no shell replaced names no workspace, and nothing is made', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({})
  const named = (workDir: string) =>
    delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workDir], { cwd: directory.path })
  const refused = await named('~/foo')
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^Error: -w ~\/foo: the shell did not expand the "~"/)
  expect(await readdir(directory.path)).toEqual([])
  expect((await named('./~/foo')).exitCode).toBe(0)
})

test.each([['.delta'], ['.delta/done'], ['.delta/done/new']])(
  '%s is no workspace: it belongs to the records of one, which is named',
  async (inside) => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
    await using workspace = await temporaryWorkspace({})
    await mkdir(join(workspace.path, '.delta/done'), { recursive: true })
    for (const command of [['run', '--agent', agent.path, '-m', 'Go'], ['show'], ['continue', '-m', 'On']]) {
      const refused = await delta([...command, '-w', inside], { cwd: workspace.path })
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
      expect(refused.stderr).toContain(`-w ${inside}: it is not a workspace: `)
      expect(refused.stderr).toContain(`Name the workspace itself: -w ${workspace.path}\n`)
    }
    expect(await readdir(join(workspace.path, '.delta/done'))).toEqual([])
  },
)

test('a file is no workspace', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({ file: '' })
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', 'file']
  const result = await delta(args, { cwd: directory.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('-w file: a file of that name is in the way (EEXIST).')
})

test.each([
  ['none is named', [], 'workspaces'],
  ['one is named', ['-w', 'a/b/c'], 'a'],
])('a run that is refused leaves no directory that was made for it, where %s', async (_, where, made) => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const refused = ['run', '-m', 'Go', '--run-id', 'no/id', ...where]
  expect((await delta(refused, { cwd: agent.path })).exitCode).toBe(2)
  expect(agent.has(made)).toBe(false)
})

test('a run that is refused leaves the workspaces there are', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await mkdir(join(agent.path, 'workspaces/W001'), { recursive: true })
  expect((await delta(['run', '-m', 'Go', '--run-id', 'no/id'], { cwd: agent.path })).exitCode).toBe(2)
  expect(await readdir(join(agent.path, 'workspaces'))).toEqual(['W001'])
})
