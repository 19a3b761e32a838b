import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import {
  fixtures,
  type TemporaryWorkspace,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '@delta/testkit'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, startDelta } from './delta.js'

const PRINT_ARGV = `'${fixtures.printArgv.replaceAll("'", "'\\''")}'`
const TOOLS = [
  { name: 'argv', description: 'Prints its arguments', exec: `${PRINT_ARGV} \${text}` },
  { name: 'here', description: 'Says where it runs', exec: 'pwd', effects: { filesystem: { write: false } } },
  { name: 'fail', description: 'Fails', shell: 'echo noise; echo oops >&2; exit 3' },
  { name: 'hang', description: 'Takes too long', exec: 'sleep 600', timeout_ms: 100 },
  { name: 'wait', description: 'Takes long', command: [fixtures.ignoreSigterm, '600', 'started'] },
  { name: 'wipe', description: 'Wipes', exec: 'touch wiped', effects: { destructive: true } },
  { name: 'keys', description: 'Shows keys', shell: 'echo "key: $OPENAI_API_KEY"' },
  {
    name: 'slow',
    description: 'Slow',
    exec: 'echo ${text}',
    parameters: [{ name: 'text', pattern: '(a+)+' }],
  },
]

async function filesOf(document: object): Promise<TemporaryWorkspace> {
  return temporaryWorkspace(
    { 'tools.yaml': JSON.stringify(document), 'files/here.txt': '' },
    { onCleanup: onTestFinished },
  )
}

/** The official client, with the installed command as its server. */
async function connect(files: TemporaryWorkspace, args: string[] = ['-w', 'files']) {
  const env = {
    ...(cleanEnvironment({ OPENAI_API_KEY: 'secret-key', GATEWAY_KEY: 'secret-gateway' }) as Record<
      string,
      string
    >),
  }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [DELTA, 'mcp', 'serve', 'tools.yaml', ...args],
    cwd: files.path,
    env,
    stderr: 'pipe',
  })
  const client = new Client({ name: 'tester', version: '1.0.0' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return client
}

const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text

async function waitStarted(files: TemporaryWorkspace): Promise<number> {
  const text = await waitForFile(join(files.path, 'files/started'), /started \d+/)
  return Number(text.split(' ')[1])
}

const HOSTILE = ['$(touch pwned)', '`id`\n|| true', '*', 'it\'s "quoted"', '${CWD}', 'ünïcödé 🦆', '']

test('an MCP client sees the tools of a file, with hints from their effects, and every argument arrives as it is', async () => {
  const files = await filesOf({ name: 'mine', version: '1.2.3', tools: TOOLS })
  const client = await connect(files)
  expect(client.getServerVersion()).toMatchObject({ name: 'mine', version: '1.2.3' })
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(TOOLS.map(({ name }) => name))
  expect(tools[0]).toMatchObject({
    description: 'Prints its arguments',
    inputSchema: { properties: { text: { type: 'string' } }, required: ['text'] },
  })
  expect(tools[1]?.annotations).toEqual({ readOnlyHint: true })
  expect(tools[5]?.annotations).toEqual({ destructiveHint: true })
  for (const text of HOSTILE) {
    const result = await client.callTool({ name: 'argv', arguments: { text } })
    expect(result).toMatchObject({ isError: false })
    expect(JSON.parse(textOf(result) ?? '')).toEqual([text])
  }
  expect(await files.files()).toEqual(['files/here.txt', 'tools.yaml'])
})

test('commands run in the current directory, or where -w says, and never see the API keys', async () => {
  const files = await filesOf(TOOLS)
  const [there, here] = await Promise.all([connect(files), connect(files, [])])
  expect(textOf(await there.callTool({ name: 'here' }))).toBe(`${files.path}/files\n`)
  expect(textOf(await here.callTool({ name: 'here' }))).toBe(`${files.path}\n`)
  expect(textOf(await here.callTool({ name: 'keys' }))).toBe('key: \n')
})

test('the key that llm.api_key_env of the same file names is withheld like the known ones', async () => {
  const [known, own] = ['OPENAI_API_KEY', 'GATEWAY_KEY'].map((name) => `\${${name}-withheld}`)
  const tools = [{ name: 'keys', description: 'Shows keys', shell: `echo "${known} ${own}"` }]
  const client = await connect(await filesOf({ llm: { api_key_env: 'GATEWAY_KEY' }, tools }))
  expect(textOf(await client.callTool({ name: 'keys' }))).toBe('withheld withheld\n')
})

test.each([
  ['ask_human', /needs a person's approval/],
  ['deny', /destructive/],
])('the policy of the file counts: on_confirmation %s', async (answer, reason) => {
  const files = await filesOf({ policy: { on_confirmation: answer }, tools: TOOLS })
  const result = await (await connect(files)).callTool({ name: 'wipe' })
  expect(result).toMatchObject({ isError: true })
  expect(textOf(result)).toMatch(reason)
  expect(files.has('files/wiped')).toBe(false)
})

const HELLO = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
const lines = (...messages: object[]) => messages.map((message) => `${JSON.stringify(message)}\n`).join('')

test('stdout holds nothing but the protocol, whatever comes in; the rest is on stderr', async () => {
  const files = await filesOf([{ ...TOOLS[2], timeout_mss: 5 }])
  const server = startDelta(['mcp', 'serve', 'tools.yaml'], { cwd: files.path, interactive: true })
  server.write(`${lines(HELLO)}this is no JSON\n[1, 2]\n"text"\n\n`)
  server.write(lines(call(2, 'fail'), { jsonrpc: '2.0', id: 3, method: 'no/such' }))
  server.write(lines({ jsonrpc: '2.0', id: 4, method: 'tools/call', params: { name: 7, arguments: 'x' } }))
  await server.waitForOutput((text) => text.trimEnd().split('\n').length === 4)
  server.endInput()
  const { exitCode, stdout, stderr } = await server.result
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4])
  expect(
    answers
      .filter(({ error }) => error)
      .map(({ id }) => id)
      .sort(),
  ).toEqual([3, 4])
  expect(exitCode).toBe(0)
  expect(stderr).toContain(`1 tool over stdin and stdout, in ${files.path}\n`)
  expect(stderr).toMatch(/tools\.yaml:1:\d+: .*timeout_mss/)
  expect(stderr.match(/^Not accepted: .*$/gm)).toEqual([
    expect.stringContaining('is not valid JSON'),
    ...Array(2).fill('Not accepted: a line that is not a JSON-RPC message'),
    expect.any(String),
  ])
})

test('a client that sends everything at once and closes the input gets an answer to each call', async () => {
  const server = serve(await filesOf(TOOLS))
  server.write(lines(HELLO, call(2, 'fail'), call(3, 'here')))
  server.endInput()
  const { exitCode, stdout } = await server.result
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3])
  expect(textOf(answers.find(({ id }) => id === 2).result)).toContain('oops')
  expect(exitCode).toBe(0)
})

function serve(files: TemporaryWorkspace) {
  return startDelta(['mcp', 'serve', 'tools.yaml', '-w', 'files'], { cwd: files.path, interactive: true })
}

test.each<[string, number[], string, (server: ReturnType<typeof serve>) => unknown]>([
  ['its input ends', [0], '', (server) => server.endInput()],
  ['SIGTERM comes', [143], '', (server) => server.kill('SIGTERM')],
  ['a second signal comes', [130, 143], '', (server) => [server.kill('SIGTERM'), server.kill('SIGINT')]], // in any order
  [
    'a message is longer than 10 MB',
    [1],
    'The server has ended: a message may have 10 MB at most.',
    (server) => server.write('x'.repeat(11 * 1024 * 1024)),
  ],
])('when %s, the server ends the command that runs, and itself', async (_, codes, said, end) => {
  const files = await filesOf(TOOLS)
  const server = serve(files)
  server.write(lines(HELLO, call(2, 'wait')))
  const pid = await waitStarted(files)
  end(server)
  const { exitCode, stderr } = await server.result
  expect(codes).toContain(exitCode)
  expect(stderr).toContain(said)
  await waitForExit(pid)
})

test('when nobody reads its output any more, it ends as well, and the command that runs with it', async () => {
  const files = await filesOf(TOOLS)
  const argv = [DELTA, 'mcp', 'serve', 'tools.yaml', '-w', 'files']
  const server = spawn(process.execPath, argv, { cwd: files.path, env: cleanEnvironment() })
  onTestFinished(() => void server.kill('SIGKILL'))
  const exited = once(server, 'exit')
  server.stdin.write(lines(HELLO, call(2, 'wait')))
  const pid = await waitStarted(files)
  server.stdout.destroy()
  server.stdin.write(lines({ jsonrpc: '2.0', id: 3, method: 'ping' }))
  expect(await exited).toEqual([0, null])
  await waitForExit(pid)
})

test.each([
  [['missing.yaml'], /missing\.yaml.*does not exist/],
  [['broken.yaml'], /broken\.yaml:1:\d+/],
  [['policy.yaml'], /there is no rule "allow_destruction"; it would protect nothing/],
])('mcp serve %j does not start, says why on stderr and exits with 2', async (args, reason) => {
  await using files = await temporaryWorkspace({
    'broken.yaml': '- exec: a | b\n',
    'policy.yaml': 'policy: { allow_destruction: false }\ntools: [{ name: one, exec: echo }]\n',
  })
  const result = await delta(['mcp', 'serve', ...args], { cwd: files.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toMatch(reason)
})
