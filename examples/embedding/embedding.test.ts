import { execFileSync } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess, startProcess, startScriptedServer, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const CALLS = [
  { name: 'count_words', arguments: { file: 'a b.txt' } },
  { name: 'count_words', arguments: { file: 'missing.txt' } },
]
const TURNS = [{ tool_calls: CALLS }, { content: 'Two words.' }, { content: 'Two.' }]

/** Runs an example as its reader would, in a directory with one file; resolves with what it printed. */
async function runExample(name: string) {
  const server = await startScriptedServer(TURNS)
  onTestFinished(() => server.close())
  const workspace = await temporaryWorkspace({ 'a b.txt': 'two words\n' }, { onCleanup: onTestFinished })
  const { PATH, HOME } = process.env
  const result = await runProcess([process.execPath, `${HERE}${name}.mjs`, 'How many words?'], {
    cwd: workspace.path,
    env: { PATH, HOME, OPENAI_API_KEY: 'test-key-not-real', OPENAI_BASE_URL: server.baseUrl },
  })
  return { ...result, requests: server.requests() }
}

test.each([
  ['openai', 'Two words.\n'],
  ['ai-sdk', 'Two words.\n'],
  ['openai-agents', 'Two words.\n'],
  ['langchain', 'Two words.\n'],
  ['mcp-client', 'Two words.\n'],
  ['engine', 'COMPLETED Two words.\nCOMPLETED Two.\n'],
])(
  '%s.mjs runs every command the model asks for, and the model reads what each did',
  async (name, printed) => {
    const { exitCode, stdout, stderr, requests } = await runExample(name)
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: printed })
    const [first, second] = requests.map(({ json }) => json)
    // the engine has tools of its own after these
    expect(first?.tools).toMatchObject({
      0: { function: { name: 'list_files' } },
      1: { function: { name: 'count_words', parameters: { required: ['file'] } } },
    })
    expect(JSON.stringify(first?.messages)).toContain('How many words?')
    const observations = second?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(observations).toEqual([
      expect.stringContaining('2 a b.txt'),
      expect.stringMatching(/exit code 1.*missing\.txt/s),
    ])
  },
)

const REQUESTS = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  },
  { id: 2, method: 'tools/call', params: { name: 'count_words', arguments: { file: 'pipe' } } },
]

test.each(['SIGTERM', 'SIGINT'] as const)(
  'on %s, mcp-server.mjs ends the command that runs, and itself',
  async (signal) => {
    const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const pipe = join(workspace.path, 'pipe')
    execFileSync('mkfifo', [pipe])
    const argv = [process.execPath, `${HERE}mcp-server.mjs`]
    const server = startProcess(argv, { cwd: workspace.path, interactive: true })
    for (const request of REQUESTS) server.write(`${JSON.stringify({ jsonrpc: '2.0', ...request })}\n`)
    const writer = await open(pipe, 'w') // opens once the command reads
    onTestFinished(() => writer.close())
    server.kill(signal)
    expect(await server.result).toMatchObject({ exitCode: 0, stderr: '' })
    await expect(writer.write('x')).rejects.toThrow('EPIPE')
  },
)

test('each example is under 40 lines, and the README says when to take it', async () => {
  const readme = await readFile(`${HERE}README.md`, 'utf8')
  const names = (await readdir(HERE)).filter((name) => name.endsWith('.mjs'))
  expect(names).toHaveLength(8)
  for (const name of names) {
    expect((await readFile(`${HERE}${name}`, 'utf8')).split('\n').length, name).toBeLessThan(40)
    expect(readme).toContain(`](${name})`)
  }
})
