import { spawnSync } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { isAlive, isPartThere } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { executeTool, runCommand } from '../src/index.js'
import { agentIn, run, script } from './sandboxed.js'
import { call, workspace } from './workspace.js'

const probe = await runCommand(
  ['bwrap', '--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--proc', '/proc', 'true'],
  {
    cwd: '/',
    env: process.env,
  },
)
const why = (probe.startError?.message ?? probe.stderr.text).trim()
const works = isPartThere('bubblewrap', probe.exitCode === 0, why)

describe.skipIf(!works)('In the sandbox a tool', () => {
  test('works in the workspace, and its exit code and output are its own', async () => {
    const { path, read } = await workspace({ in: 'text' })
    const result = await run('cat in; echo x > out; echo err >&2; exit 3', path)
    expect(result).toMatchObject({
      status: 'FAILED',
      exitCode: 3,
      observation: '[exit code 3]\ntext\n[stderr]\nerr\n',
    })
    expect(await read('out')).toBe('x\n')
  })

  test('writes nowhere else', async () => {
    const outside = await workspace()
    const { path } = await workspace()
    const result = await run(`touch ${outside.path}/x; touch /etc/delta-test; touch /usr/delta-test`, path)
    expect(result.status).toBe('FAILED')
    expect(await outside.files()).toEqual([])
    expect(result.observation).toContain('/etc/delta-test')
  })

  test('reads the directory of its own file wherever that lies, and changes nothing in it', async () => {
    const kit = await workspace({ 'kit/greet.txt': 'hello\n', 'secret.txt': 'no' }) // below /tmp, which is hidden
    const { path } = await workspace()
    const home = join(kit.path, 'kit')
    const text = 'cat "$KIT/greet.txt"; touch "$KIT/x" 2>/dev/null; ls "$KIT/.."'
    const tool = { ...script(text, true, { env: { KIT: '${TOOL_HOME}' } }), home }
    const context = { cwd: path, env: process.env }
    const { observation } = await executeTool([tool], { name: 'tool', arguments: {} }, context)
    expect(observation).toBe('hello\nkit\n')
    expect(await kit.files()).toEqual(['kit/greet.txt', 'secret.txt'])
  })

  test('cannot mount its way out, not even as root', async () => {
    const { path } = await workspace()
    const result = await run(
      'mount -o remount,rw,bind / 2>/dev/null; touch /etc/delta-test && echo escaped',
      path,
    )
    expect(result).toMatchObject({ status: 'FAILED', stdout: { text: '' } })
  })

  test('sees no run that is kept outside the workspace', async () => {
    const [directory, elsewhere] = [
      await workspace({ in: 'text' }),
      await workspace({ 'runs/one/journal.jsonl': 'x' }),
    ]
    const runsDirectory = join(elsewhere.path, 'runs')
    const result = await run(
      `ls -R ${elsewhere.path}; cat in`,
      directory.path,
      { read: [elsewhere.path] },
      { runsDirectory },
    )
    expect(result).toMatchObject({ status: 'SUCCESS' })
    expect(result.observation).toContain('runs')
    expect(result.observation).not.toContain('one')
  })

  test('writes only where it may', async () => {
    const { path, files } = await workspace({ 'out/.keep': '', 'in/x': 'x' })
    await run('touch in/y; touch out/y', path, { write: ['CWD/out'] })
    expect(await files()).toEqual(['in/x', 'out/.keep', 'out/y'])
  })

  test('sees no run’s records, from the workspace upward', async () => {
    const { path } = await workspace({ '.delta/LATEST': 'r1', 'child/.delta/LATEST': 'r2', 'child/x': '' })
    const result = await run('ls -A .delta ../.delta; ls', join(path, 'child'), { read: [path] })
    expect(result.observation).not.toContain('LATEST')
    expect(result.observation).toContain('x\n')
  })

  test('sees no records of a workspace within its own', async () => {
    const { path, read } = await workspace({ 'deep/er/.delta/r1/journal.jsonl': 'events', 'deep/er/x': '' })
    const result = await run(
      'ls -A deep/er/.delta; ls deep/er; rm -rf deep/er/.delta/r1; echo no > deep/er/.delta/r1',
      path,
    )
    expect(result.observation).not.toContain('r1')
    expect(result.observation).toContain('x\n')
    expect(await read('deep/er/.delta/r1/journal.jsonl')).toBe('events')
  })

  test('changes no setting of the kernel', async () => {
    const { path } = await workspace()
    const setting = '/proc/sys/kernel/core_pattern'
    const before = await readFile(setting, 'utf8')
    const result = await run(`printf '%s' '${before.trim()}' > ${setting} && echo written`, path)
    expect(result).toMatchObject({ status: 'FAILED', stdout: { text: '' } })
    expect(result.observation).toMatch(/Read-only file system/)
  })

  test('cannot rewrite its agent, which lies in the workspace', async () => {
    const { path, read } = await workspace({ 'bot/agent.yaml': 'mine', x: '' })
    const result = await run(
      'echo yours > bot/agent.yaml; echo y > x',
      path,
      true,
      agentIn(join(path, 'bot')),
    )
    expect(result.observation).toMatch(/Read-only file system/)
    expect([await read('bot/agent.yaml'), await read('x')]).toEqual(['mine', 'y\n'])

    await run(
      'echo yours > bot/agent.yaml',
      path,
      { write: ['CWD', 'AGENT_HOME'] },
      agentIn(join(path, 'bot')),
    )
    expect(await read('bot/agent.yaml')).toBe('yours\n')
  })

  test('cannot move away the directories above its agent, and put others in their place', async () => {
    const { path, read } = await workspace({ 'agents/deep/bot/agent.yaml': 'mine', 'agents/x': '' })
    const replace = (above: string) =>
      `mv ${above} old; mkdir -p agents/deep/bot && echo yours > agents/deep/bot/agent.yaml; echo y > agents/x`
    for (const above of ['agents', 'agents/deep', 'agents/deep/bot']) {
      const result = await run(replace(above), path, true, agentIn(join(path, 'agents/deep/bot')))
      expect(result.observation).toMatch(/busy|Read-only/)
    }
    expect([await read('agents/deep/bot/agent.yaml'), await read('agents/x')]).toEqual(['mine', 'y\n'])
  })

  test('cannot rewrite what its agent imports from the workspace, or put another in its place', async () => {
    const files = { 'node_modules/kit/tools.yaml': 'mine', 'lib.yaml': 'mine' }
    const { path, read } = await workspace({ ...files, 'bot/agent.yaml': '' })
    const names = Object.keys(files)
    const context = { ...agentIn(join(path, 'bot')), imported: names.map((name) => join(path, name)) }
    const attempts = names.map((name) => `echo yours > ${name}; mv x ${name}; rm -f ${name}`)
    const result = await run(
      `touch x; ${attempts.join('; ')}; mv node_modules old; echo y > x`,
      path,
      true,
      context,
    )
    expect(result.observation).toMatch(/Read-only file system/)
    for (const name of names) expect(await read(name)).toBe('mine')
    expect(await read('x')).toBe('y\n')
  })

  test('cannot rewrite its agent through a workspace that is named by a link', async () => {
    const { path, read } = await workspace({ 'ws/bot/agent.yaml': 'mine' })
    await symlink('ws', join(path, 'link'))
    const result = await run(
      'echo yours > bot/agent.yaml; echo y > x',
      join(path, 'link'),
      true,
      agentIn(join(path, 'ws/bot')),
    )
    expect(result.observation).toMatch(/Read-only file system/)
    expect([await read('ws/bot/agent.yaml'), await read('ws/x')]).toEqual(['mine', 'y\n'])
  })

  test('works in a workspace that lies in its agent’s directory, and sees no other one there', async () => {
    const home = await workspace({
      'agent.yaml': 'mine',
      'workspaces/W001/x': '',
      'workspaces/W002/secret': 's',
    })
    const cwd = join(home.path, 'workspaces/W001')
    const result = await run(
      'echo y > x; ls ..; echo yours > ../../agent.yaml',
      cwd,
      true,
      agentIn(home.path),
    )
    expect(result.observation).toMatch(/W001[\s\S]*Read-only file system/)
    expect(result.observation).not.toContain('W002')
    expect([await home.read('agent.yaml'), await home.read('workspaces/W001/x')]).toEqual(['mine', 'y\n'])
  })

  test('has an empty home directory, /tmp and /run of its own', async () => {
    const { path } = await workspace()
    const other = await workspace({ secret: 's' })
    const result = await run(`ls -A "$HOME" /run; ls ${other.path}; touch /tmp/mine && echo written`, path)
    expect(result.observation).not.toContain('secret')
    expect(result.observation).toContain('written\n')
    expect(result.observation).toMatch(/No such file/)
  })

  test('has no network', async () => {
    const server = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as { port: number }
    const { path } = await workspace()
    const connect = `node -e "fetch('http://127.0.0.1:${port}').then(r => r.text()).then(console.log, () => console.log('none'))"`
    const read = [process.execPath.replace(/\/bin\/node$/, '')]
    expect((await run(connect, path, { read })).observation).toBe('none\n')
    expect((await run(connect, path, { read, network: true })).observation).toBe('reached\n')
  })

  test('sees no process but its own', async () => {
    const { path } = await workspace()
    const result = await run(`cat /proc/${process.pid}/environ 2>&1; ls /proc | grep -c '^[0-9]'`, path)
    expect(result.observation).toContain('No such file')
    expect(Number(result.observation.trim().split('\n').at(-1))).toBeLessThan(6)
  })

  test('ends with its timeout, and everything it started with it', async () => {
    const { path } = await workspace()
    const pids: number[] = []
    const context = { onSpawn: ({ pid }: { pid: number }) => void pids.push(pid) }
    const sleeper = `sleep 61.${process.pid}` // nobody else sleeps so long
    const result = await run(`echo begun; setsid ${sleeper} & ${sleeper}`, path, true, context, {
      timeout_ms: 5000,
    })
    expect(result).toMatchObject({ status: 'TIMEOUT', stdout: { text: 'begun\n' } })
    expect(pids.filter(isAlive)).toEqual([])
    const left = spawnSync('pgrep', ['-f', `^${sleeper}$`], { encoding: 'utf8' }).stdout
    expect(left).toBe('')
  })

  test('gets its stdin', async () => {
    const { path } = await workspace()
    const tool = { exec: 'cat', stdin: 'text', sandbox: true }
    expect((await call(tool, { text: 'hi' }, { cwd: path })).observation).toBe('hi')
  })

  test('that cannot be built is refused with the reason', async () => {
    const { path } = await workspace()
    const result = await run('true', path, { write: ['CWD/missing'] })
    expect(result).toMatchObject({
      status: 'BLOCKED',
      observation: `BLOCKED: the sandbox of "tool" cannot start, and without it the tool is not run. ${path}/missing does not exist. Create it (mkdir -p ${path}/missing), or remove it from sandbox.`,
    })
  })
})
