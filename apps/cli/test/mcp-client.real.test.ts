import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import {
  isPartThere,
  runProcess,
  startProcess,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, scene } from './delta.js'
import { atDesk, imported, processesOf } from './mcp-client.js'

const REPOSITORY = resolve(import.meta.dirname, '../../..')
const require = createRequire(import.meta.url)

/** The program of a package, by its manifest. */
function programOf(manifest: string): string[] {
  const { bin } = require(manifest) as { bin: string | Record<string, string> }
  return [process.execPath, join(dirname(manifest), Object.values(bin)[0] ?? '')]
}

test('every tool of a public server is called by an agent, and its image reaches the model', async () => {
  const file = await imported(
    [...programOf(require.resolve('@modelcontextprotocol/server-everything/package.json')), 'stdio'],
    'ev',
  )
  const all: [name: string, args: object, seen: RegExp][] = [
    ['echo', { message: 'hello' }, /^Echo: hello$/],
    [
      'get-annotated-message',
      { messageType: 'success', includeImage: true },
      /completed successfully\n\[image image\/png/,
    ],
    ['get-env', {}, /^\{\n {2}"/],
    ['get-resource-links', { count: 2 }, /\[link: .*\]\n.*\[link: /s],
    [
      'get-resource-reference',
      { resourceType: 'Text', resourceId: 1 },
      /Resource 1: This is a plaintext resource/,
    ],
    ['get-structured-content', { location: 'Chicago' }, /"temperature":/],
    ['get-sum', { a: 2, b: 3 }, /^The sum of 2 and 3 is 5\.$/],
    ['get-tiny-image', {}, /\[image image\/png 20x20, \d+ kB\]/],
    [
      'gzip-file-as-resource',
      { name: 'x.gz', data: 'data:text/plain,hello', outputType: 'resource' },
      /\[file application\/\S+ x\.gz, /,
    ],
    ['toggle-simulated-logging', {}, /simulated/i],
    ['toggle-subscriber-updates', {}, /simulated/i],
    [
      'trigger-long-running-operation',
      { duration: 1, steps: 2 },
      /completed\. Duration: 1 seconds, Steps: 2\.$/,
    ],
  ]
  const agent = await scene({
    agent: { imports: ['./ev.yaml'] },
    files: { 'ev.yaml': file },
    turns: [...all.map(([name, args]) => calls(`ev_${name}`, args)), { content: 'Done.' }],
  })
  expect(await agent.run()).toMatchObject({ exitCode: 0 })
  const results = await agent.events('ACTION_RESULT')
  expect(results.map(({ tool_name: name, status }) => [name, status])).toEqual(
    all.map(([name]) => [`ev_${name}`, 'SUCCESS']),
  )
  for (const [index, [, , seen]] of all.entries()) expect(results[index]?.observation_content).toMatch(seen)
  expect(file.match(/x-mcp:/g)).toHaveLength(all.length)
})

test('a server of files works in the workspace', async () => {
  const file = await imported(
    [...programOf(require.resolve('@modelcontextprotocol/server-filesystem/package.json')), '${CWD}'],
    'fs',
  )
  const agent = await scene({
    agent: { imports: ['./fs.yaml'], policy: { tools: { fs_write_file: 'allow' } } },
    files: { 'fs.yaml': file },
    turns: [
      calls('fs_write_file', { path: 'note.txt', content: 'one\n' }),
      calls('fs_read_text_file', { path: '/etc/passwd' }),
      { content: 'Done.' },
    ],
  })
  expect(await agent.run()).toMatchObject({ exitCode: 0 })
  expect(await agent.workspace.read('note.txt')).toBe('one\n')
  const results = await agent.events('ACTION_RESULT')
  expect(results.map(({ status }) => status)).toEqual(['SUCCESS', 'FAILED'])
  expect(results[1]?.observation_content).toContain('Access denied')
})

const bwrap = await runProcess(['bwrap', '--ro-bind', '/', '/', '--unshare-net', 'true']).catch((error) => ({
  exitCode: 1,
  stderr: String(error),
}))
const hasSandbox = isPartThere('bubblewrap', bwrap.exitCode === 0, bwrap.stderr)

test.each([
  ['', false],
  [' in a sandbox', true],
])('thirty calls reach one server process%s, and none is left', async (_, isConfined) => {
  if (isConfined && !hasSandbox) return
  const sandbox = `stdin: json\n    sandbox: { read: ["${REPOSITORY}"] }`
  const turns = [...Array.from({ length: 30 }, () => calls('desk_count')), calls('desk_structured')]
  const desk = await atDesk([...turns, { content: 'Done.' }], (file) => {
    const [first = '', last = ''] = file.split('name: desk_structured')
    return isConfined ? `${first.replaceAll('stdin: json', sandbox)}name: desk_structured${last}` : file
  })
  expect(await desk.run()).toMatchObject({ exitCode: 0 })
  const results = await desk.events('ACTION_RESULT')
  const counted = results.slice(0, 30).map(({ observation_content: text }) => text)
  expect(counted).toEqual(Array.from({ length: 30 }, (_, index) => `call ${index + 1}`))
  // a tool that asks for another sandbox than the server has does not get the server
  expect(results[30]).toMatchObject({ exit_code: isConfined ? 9 : 0 })
  const { servers, keeper, seen } = await processesOf(desk)
  expect(servers).toHaveLength(1)
  expect(servers[0] === seen).toBe(!isConfined) // a sandbox counts its processes anew
  for (const pid of [keeper, seen]) await waitForExit(pid)
})

test('of an engine that is killed neither server nor keeper is left, and the next engine starts another server', async () => {
  const desk = await atDesk([
    calls('desk_count'),
    calls('desk_wait'),
    calls('desk_count'),
    { content: 'Done.' },
  ])
  const engine = desk.start()
  await waitForFile(join(desk.workspace.path, 'server.log'), 'waiting')
  const before = await processesOf(desk)
  engine.kill('SIGKILL')
  for (const pid of [...before.servers, before.keeper]) await waitForExit(pid)

  expect(await desk.at('continue')).toMatchObject({ exitCode: 0 })
  const results = await desk.events('ACTION_RESULT')
  expect(results.map(({ status }) => status)).toEqual(['SUCCESS', 'INTERRUPTED', 'SUCCESS'])
  expect(results[2]?.observation_content).toBe(
    '[server desk was restarted; what it held in memory is gone]\ncall 1',
  )
  expect((await processesOf(desk)).servers).toHaveLength(2)
})

test('a call that is stopped is cancelled, and the server goes on', async () => {
  const desk = await atDesk(
    [calls('desk_count'), calls('desk_wait'), calls('desk_count'), { content: 'Done.' }],
    (file) => file.replace(/(call \S+ wait\n)/, '$1    timeout_ms: 1500\n'),
  )
  expect(await desk.run()).toMatchObject({ exitCode: 0 })
  const results = await desk.events('ACTION_RESULT')
  expect(results.map(({ status }) => status)).toEqual(['SUCCESS', 'TIMEOUT', 'SUCCESS'])
  expect(results[2]?.observation_content).toBe('call 2')
  await waitForFile(join(desk.workspace.path, 'server.log'), 'cancelled')

  const { path: cwd } = await temporaryWorkspace(
    { 'desk.yaml': await desk.agent.read('servers/desk.yaml') },
    { onCleanup: onTestFinished },
  )
  const cold = startProcess([process.execPath, DELTA, 'mcp', 'call', 'desk.yaml', 'wait'], {
    cwd,
    env: cleanEnvironment(),
  })
  await waitForFile(join(cwd, 'server.log'), 'waiting')
  cold.kill('SIGTERM')
  expect(await cold.result).toMatchObject({ exitCode: 143 })
  expect(await waitForFile(join(cwd, 'server.log'), 'cancelled')).toContain('start')
})

/** Each scenario of the conformance suite that concerns tools, and the commands that play it. */
const SCENARIOS = [
  ['initialize', ''],
  ['tools_call', '&& delta mcp call x.yaml add_numbers < args.json'],
  ['sse-retry', '&& delta mcp call x.yaml test_reconnection'],
]

test.each(SCENARIOS)('conformance of the client: %s', async (scenario, call) => {
  const { path: cwd, write } = await temporaryWorkspace(
    { 'args.json': '{"a":5,"b":3}' },
    { onCleanup: onTestFinished },
  )
  await write(
    'client.sh',
    [
      '#!/bin/sh',
      `delta() { '${process.execPath}' '${DELTA}' "$@"; }`,
      `cd '${cwd}'`,
      `delta mcp import -o x.yaml --name x "$1" ${call} < args.json`,
      '',
    ].join('\n'),
  )
  const { exitCode, stdout, stderr } = await runProcess(
    [
      ...programOf(require.resolve('@modelcontextprotocol/conformance/package.json')),
      'client',
      '--command',
      join(cwd, 'client.sh'),
      '--scenario',
      scenario,
      '-o',
      cwd,
    ],
    { cwd, env: cleanEnvironment() },
  )
  const said = stdout + stderr
  expect(said).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/)
  expect(exitCode).toBe(0)
})
