import { cp, mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, delta, journalOf, scene } from './delta.js'

test('without -w each run gets a workspace of its own beside the agent, also when several start at once; one line says so', async () => {
  const { agent } = await scene()
  const args = ['run', '--agent', agent.path, '-m', 'Go', '--no-sync']
  const results = await Promise.all(Array.from({ length: 4 }, () => delta(args)))
  const names = ['W001', 'W002', 'W003', 'W004']
  expect(results.map(({ stderr }) => /^New workspace .*$/m.exec(stderr)?.[0]).sort()).toEqual(
    names.map(
      (name) =>
        `New workspace ${agent.path}/workspaces/${name}: the agent works there. With -w . it works here.`,
    ),
  )
  expect((await readdir(join(agent.path, 'workspaces'))).sort()).toEqual(['LAST_USED', ...names])
  for (const name of names)
    expect((await journalOf(join(agent.path, 'workspaces', name))).at(-1)).toMatchObject({
      status: 'COMPLETED',
    })
  expect((await delta([...args, '-q'])).stderr).toBe('')
  expect(await agent.read('workspaces/LAST_USED')).toBe('W005\n')
})

test('the names of the directories that -w makes are on the disk before the first command starts, unless --no-sync is given', async () => {
  const { agent, workspace: directory } = await scene(
    { tools: [{ name: 'work', exec: 'true' }], turns: [calls('work'), { content: 'Done.' }] },
    {
      files: {
        'spy.cjs': `const fs = require('node:fs'), child = require('node:child_process')
      const { openSync, fsyncSync } = fs, { spawn } = child, names = new Map(), synced = []
      fs.openSync = (name, ...rest) => {
        const file = openSync(name, ...rest)
        names.set(file, name)
        return file
      }
      fs.fsyncSync = (file) => (synced.push(names.get(file)), fsyncSync(file))
      child.spawn = (...rest) => (fs.writeFileSync(process.cwd() + '/synced', synced.join('\\n')), spawn(...rest))`,
      },
    },
  )
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

test('an installed agent gets its workspaces under the current directory', async () => {
  const { agent, workspace: directory } = await scene()
  await cp(agent.path, join(directory.path, 'node_modules/some-agent'), { recursive: true })
  const args = ['run', '--agent', 'node_modules/some-agent', '-m', 'Go']
  expect((await delta(args, { cwd: directory.path })).exitCode).toBe(0)
  expect(directory.has('workspaces/some-agent/W001/.delta/LATEST')).toBe(true)
  expect(directory.has('node_modules/some-agent/workspaces')).toBe(false)
})

test('where no workspace can be made without -w, that is said, and nothing is begun', async () => {
  const { agent } = await scene()
  await agent.write('workspaces', '')
  expect(await delta(['run', '--agent', agent.path, '-m', 'Go'])).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: `Error: ${agent.path}/workspaces: it is a file, not a directory, or is below a file (ENOTDIR).
Name a workspace that can be written: -w <directory>
`,
  })
})

test('a "~" that no shell replaced names no workspace, and nothing is made', async () => {
  const { words, workspace: directory } = await scene()
  const named = (workDir: string) => delta(words('run', '-w', workDir), { cwd: directory.path })
  const refused = await named('~/foo')
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toMatch(/^Error: -w ~\/foo: the shell did not expand the "~"/)
  expect(await readdir(directory.path)).toEqual([])
  expect((await named('./~/foo')).exitCode).toBe(0)
})

test('a link as workspace that leads nowhere is called that, and nothing is made', async () => {
  const { words, workspace } = await scene()
  await symlink('gone', join(workspace.path, 'link'))
  for (const command of ['run', 'continue', 'list-runs']) {
    const refused = await delta(words(command, '-w', 'link'), { cwd: workspace.path })
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr:
        'Error: -w link: it is a link to gone, which does not exist. Create that directory, or name another one.\n',
    })
  }
  expect(await readdir(workspace.path)).toEqual(['link'])
})

test('a directory in .delta is not a workspace: the message names the one that it belongs to', async () => {
  const { words, workspace } = await scene()
  await mkdir(join(workspace.path, '.delta/done'), { recursive: true })
  for (const [command, inside] of [
    ['run', '.delta/done/new'],
    ['show', '.delta/done'],
    ['continue', '.delta'],
  ] as const) {
    const refused = await delta(words(command, '-w', inside), { cwd: workspace.path })
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain(`-w ${inside}: it is not a workspace: `)
    expect(refused.stderr).toContain(`Name the workspace itself: -w ${workspace.path}\n`)
  }
  expect(await readdir(join(workspace.path, '.delta/done'))).toEqual([])
})

test('a run that is refused leaves no directory that was made for it, and those there are', async () => {
  const { agent } = await scene()
  const refused = (...flags: string[]) =>
    delta(['run', '-m', 'Go', '--run-id', 'no/id', ...flags], { cwd: agent.path })
  for (const where of [[], ['-w', 'a/b/c']]) expect((await refused(...where)).exitCode).toBe(2)
  expect([agent.has('workspaces'), agent.has('a')]).toEqual([false, false])
  await mkdir(join(agent.path, 'workspaces/W001'), { recursive: true })
  expect((await refused()).exitCode).toBe(2)
  expect(await readdir(join(agent.path, 'workspaces'))).toEqual(['W001'])
})

test('a workspace whose name holds control characters is shown without them in commands that still work when pasted', async () => {
  const { agent, workspace: home } = await scene({
    turns: [calls('ask_human', { prompt: 'Which?' }), { content: 'So be it.' }],
  })
  const workspace = `${home.path}/red \u001b[31m'x'\r\u202e\u2066`
  const asked = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace])
  const shown = await delta(['show', '-w', workspace])
  for (const { stderr } of [asked, shown]) expect(stderr).not.toMatch(/[\u001b\r\u202e\u2066]/)
  const [, example] = /^Answer with: delta (.*) -m "my answer"$/m.exec(asked.stderr) ?? []
  // without --norc, bash takes a socket, which this stdin is, for a login from afar and runs the tester's own .bashrc
  const pasted = await runProcess(['bash', '--norc', '-c', `"$NODE" "$DELTA" ${example} -i`], {
    env: cleanEnvironment({ NODE: process.execPath, DELTA }),
    input: 'green\n',
  })
  expect(pasted, pasted.stderr).toMatchObject({ exitCode: 0, stdout: 'So be it.\n' })
})

test.each([
  [['run', '--\u001b]0;x\u0007'], "Error: unknown option '--\\x1b]0;x\\x07'\n"],
  [['run', '--agent', 'a\u202eb', '-m', 'x'], 'Error: a\\u{202e}b: '],
  [['sessions', '\u001b[2J\u202e'], 'There is no command "\\u{1b}[2J\\u{202e}"'],
])('what was typed is echoed with its control characters made visible: %j', async (words, echoed) => {
  const directory = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const { exitCode, stderr } = await delta(words, { cwd: directory.path })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(echoed)
  expect(stderr).not.toMatch(/[\u001b\u0007\u202e]/)
})
