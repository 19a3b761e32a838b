import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ScriptedTurn,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, eventTypes, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }
const isRoot = process.getuid?.() === 0
if (isRoot)
  console.warn('SKIPPED: root may write everywhere, so directories without permission are not tested.')

// Exit 0 only for a completed run

test.each([
  ['a refused key', [{ status: 401 }], 'Once that is mended, retry with'],
  ['an unknown model', [{ status: 404 }], 'Once that is mended, retry with'],
  ['HTML instead of JSON, again and again', [{ fault: 'html' }], 'Retry with'],
  ['an answer that is cut off, again and again', [{ fault: 'truncated' }], 'Retry with'],
] satisfies [string, ScriptedTurn[], string][])(
  '%s is a failed run: exit code 1, the cause on stderr, nothing on stdout',
  async (_, turns, retry) => {
    await using server = await startScriptedServer(turns)
    await using agent = await temporaryAgent({
      baseUrl: server.baseUrl,
      agent: { llm: { model: 'scripted', base_url: server.baseUrl, max_attempts: 1 } },
    })
    await using workspace = await temporaryWorkspace({})
    const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
    expect(result).toMatchObject({ exitCode: 1, stdout: '' })
    expect(result.stderr).toContain('Error: the run failed: ')
    expect(result.stderr).toContain(`\n${retry}: delta continue -w ${workspace.path} --run-id `)
    expect(result.stderr).not.toMatch(/^\s+at /m)
    expect(result.stderr).not.toContain('test-key-not-real')
    expect((await journalOf(workspace.path)).at(-1)).toMatchObject({ status: 'FAILED' })
  },
)

test('out of iterations is exit code 1, and the way on is said', async () => {
  const call = { tool_calls: [{ name: 'none', arguments: {} }] }
  await using agent = await temporaryAgent({ turns: [call, call, { content: 'At last.' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--max-iterations', '2']
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
  expect(result.stderr).toContain('MAX_ITERATIONS (no answer after 2 iterations)')
  expect(await delta(['continue', '-w', workspace.path, '-m', 'Go on'])).toMatchObject({
    stdout: 'At last.\n',
  })
})

test('a failed run is retried with a message once its cause is mended', async () => {
  await using server = await startScriptedServer([{ before: [{ status: 401 }], content: 'Back again.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const failed = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  expect(failed.exitCode).toBe(1)
  const refused = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toBe(
    `Error: Run is FAILED. To continue, provide a message using -m/--message\nExample: delta continue -w ${workspace.path} -m "Try again"\n`,
  )
  const retried = await delta(['continue', '-w', workspace.path, '-m', 'Try again'], { env: KEY })
  expect(retried).toMatchObject({ exitCode: 0, stdout: 'Back again.\n' })
})

test('what a broken model sends never crashes the command line', async () => {
  const calls = [
    { name: 'say', arguments: '{"text": broken' },
    { name: 'say', arguments: '[]' },
    { name: 'say', arguments: 'null' },
    { name: 'unknown', arguments: {} },
    { name: '../../escape', arguments: {} },
    { id: '../../escape', name: 'say', arguments: { text: 'fine' } },
    { id: 'x'.repeat(300), name: 'say', arguments: { text: 'fine' } },
    { name: 'say', arguments: '{"__proto__": {"x": 1}, "text": "fine"}' },
    { name: 'say', arguments: { text: 'x'.repeat(200_000) } },
  ]
  await using server = await startScriptedServer([{ tool_calls: calls }, { content: 'Done.' }])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'say', exec: 'echo ${text}' }],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const events = await journalOf(workspace.path)
  expect(events.filter((event) => event.type === 'ACTION_RESULT')).toHaveLength(calls.length)
  expect((await workspace.files()).every((file) => file.startsWith('.delta/'))).toBe(true)
})

// The disk

test.skipIf(isRoot)('a workspace that cannot be written is named, and no tool is started', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  await chmod(workspace.path, 0o500)
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await chmod(workspace.path, 0o700)
  expect(result.exitCode).not.toBe(0)
  expect(result.stderr).toContain(workspace.path)
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test.skipIf(isRoot)(
  'a run whose files may not be written any more is not failed: it goes on once they may',
  async () => {
    await using agent = await temporaryAgent({
      tools: [{ name: 'close', shell: 'chmod 500 .delta/one/io/tool_executions' }],
      turns: [{ tool_calls: [{ name: 'close', arguments: {} }] }, { content: 'Done.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
    const closed = await delta(['run', ...args])
    await chmod(join(workspace.path, '.delta/one/io/tool_executions'), 0o700)
    expect(closed).toMatchObject({ exitCode: 1, stdout: '' })
    expect(closed.stderr).toMatch(/^Error: \/.*: Could not be written: permission denied \(EACCES\)\.$/m)
    expect(closed.stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id one\n`)
    expect(await delta(['continue', '-w', workspace.path])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  },
)

test('a disk that may only be read is named, and nothing is started', async () => {
  await using agent = await temporaryAgent({})
  await using disk = await smallDisk()
  if (!disk.mounted) return
  spawnSync('mount', ['-o', 'remount,ro', disk.path])
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path])
  expect(result.exitCode).not.toBe(0)
  expect(result.stdout).toBe('')
  expect(result.stderr).toMatch(/^Error: .*EROFS/m)
  expect(result.stderr).toContain(disk.path)
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test('a workspace that is a file, or cannot be made, is one clear message and exit code 2', async () => {
  await using agent = await temporaryAgent({})
  await using directory = await temporaryWorkspace({ file: '' })
  for (const path of ['file', 'file/below']) {
    const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', join(directory.path, path)])
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(`Error: -w ${join(directory.path, path)}: `)
    expect(result.stderr).not.toMatch(/^\s+at /m)
  }
})

test('a .delta that is no directory is one clear message', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({ '.delta': '' })
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result.exitCode).not.toBe(0)
  expect(result.stderr).toContain('.delta')
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test('a workspace deleted under a run ends it with the cause, not with a stack trace', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)
  await rm(workspace.path, { recursive: true })
  await server.release('thinking')
  const result = await engine.result
  expect(result.exitCode).not.toBe(0)
  expect(result.stdout).toBe('')
  expect(result.stderr).toContain('Error: ')
  expect(result.stderr).not.toMatch(/^\s+at /m)
})

test('a full disk ends a run with the cause, starts no further tool, and the run goes on once there is room', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'fill', arguments: {} }] },
    { tool_calls: [{ name: 'after', arguments: {} }] },
    { content: 'Done.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [
      { name: 'fill', shell: 'head -c 2000000 /dev/zero > big' },
      { name: 'after', shell: 'touch ran' },
    ],
  })
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const failed = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path], { env: KEY })
  expect(failed.exitCode).not.toBe(0)
  expect(failed.stderr).toContain('ENOSPC')
  expect(failed.stderr).not.toMatch(/^\s+at /m)
  expect(existsSync(join(disk.path, 'ran'))).toBe(false)

  await rm(join(disk.path, 'big'))
  const result = await delta(['continue', '-w', disk.path, '-m', 'There is room again'], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a disk on which no file can be made leaves the run to be continued without a message, and says what is lost', async () => {
  await using agent = await temporaryAgent({
    tools: [
      { name: 'fill', shell: 'n=0; while touch x$n; do n=$((n+1)); done 2>/dev/null' },
      { name: 'after', exec: 'echo ran' },
    ],
    turns: [
      { tool_calls: [{ name: 'fill', arguments: {} }] },
      { tool_calls: [{ name: 'after', arguments: {} }] },
      { content: 'Done.' },
    ],
  })
  await using disk = await smallDisk('size=4m,nr_inodes=60')
  if (!disk.mounted) return
  const full = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path, '--run-id', 'one'])
  expect(full).toMatchObject({ exitCode: 1, stdout: '' })
  expect(full.stderr).toMatch(
    /^Error: \/.*: Could not be written: no space is left on the disk \(ENOSPC\)\.$/m,
  )
  expect(full.stderr).toContain('Free some space, then continue the run.\n')
  expect(full.stderr).toContain(`\nGo on with: delta continue -w ${disk.path} --run-id one\n`)

  for (const file of await readdir(disk.path)) if (file.startsWith('x')) await rm(join(disk.path, file))
  const result = await delta(['continue', '-w', disk.path, '--run-id', 'one'])
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('what a command printed onto a full disk is said to be lost in part', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'fill', shell: 'head -c 9000000 /dev/zero > big' }],
    turns: [{ tool_calls: [{ name: 'fill', arguments: {} }] }, { content: 'Done.' }],
  })
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path])
  expect(stderr).toContain('[exit code 1; the disk is full: what it printed may be lost in part]')
})

test('a tool whose record finds no room is not started, and runs once when there is room again', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'note', arguments: {} }], hold: 'full' },
    { content: 'Done.' },
  ])
  const tools = [{ name: 'note', shell: 'echo ran >> "$AGENT_HOME/witness"' }]
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools })
  await using disk = await smallDisk()
  if (!disk.mounted) return
  const run = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', disk.path], { env: KEY })
  await server.waitForRequests(1)
  spawnSync('sh', ['-c', 'head -c 9000000 /dev/zero > big'], { cwd: disk.path })
  server.release('full')
  const full = await run.result
  expect(full).toMatchObject({ exitCode: 1, stdout: '' })
  expect(full.stderr).toMatch(
    /io\/tool_executions\/\w+\.json: Could not be written: no space is left on the disk \(ENOSPC\)/,
  )
  expect(full.stderr).not.toContain('is not recorded')
  expect(await eventTypes(disk.path)).not.toContain('ACTION_REQUEST')

  await rm(join(disk.path, 'big'))
  const result = await delta(['continue', '-w', disk.path], { env: KEY })
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await agent.read('witness')).toBe('ran\n')
})

/** A disk of 400 KB, where one can be mounted; otherwise that is said. */
async function smallDisk(options = 'size=400k') {
  const directory = await temporaryWorkspace({})
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', directory.path]).status === 0
  if (!mounted) console.warn('SKIPPED: no file system can be mounted here, so a full disk is not tested.')
  return {
    mounted,
    path: directory.path,
    async [Symbol.asyncDispose]() {
      if (mounted) spawnSync('umount', [directory.path])
      await directory.remove()
    },
  }
}

test('an agent directory behind a symbolic link is the same agent', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using directory = await temporaryWorkspace({})
  const link = join(directory.path, 'link')
  await symlink(agent.path, link)
  const workspace = join(directory.path, 'work')
  await mkdir(workspace)
  await delta(['run', '--agent', link, '-m', 'Go', '-w', workspace])
  expect((await journalOf(workspace))[0]).toMatchObject({ agent_home: agent.path })
})

test('a run killed in the middle of a journal line goes on, and says what it set aside', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo started >> witness; sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'The end.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const engine = startDelta(args)
  await waitForFile(join(workspace.path, 'witness'))
  engine.kill('SIGKILL')
  await engine.result
  const journal = await workspace.read('.delta/one/journal.jsonl')
  await workspace.write('.delta/one/journal.jsonl', `${journal}{"seq":99,"type":"ACTION_RES`)
  const result = await delta(['continue', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  expect(result.stderr).toContain('journal.torn-')
  expect(await workspace.read('witness')).toBe('started\n')
})
