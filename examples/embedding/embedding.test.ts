import { execFileSync } from 'node:child_process'
import { open, readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import {
  runProcess,
  type ScriptedTurn,
  startProcess,
  startScriptedServer,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const CALLS = [
  { name: 'count_words', arguments: { file: 'a b.txt' } },
  { name: 'count_words', arguments: { file: 'missing.txt' } },
  { name: 'count_words', arguments: {} },
  { name: 'count_words', arguments: { file: [1] } },
  { name: 'count_words', arguments: '{"file": "a b' },
  { name: 'word_count', arguments: { file: 'a b.txt' } },
]
/** Each framework says it in its own words. */
const REFUSED = /error|no tool|not found|unavailable/i
const TURNS = [{ tool_calls: CALLS }, { content: 'Two words.' }, { content: 'Two.' }]

/** Runs an example as its reader would, in a directory with one file; resolves with what it printed. */
async function runExample(name: string, turns: readonly ScriptedTurn[] = TURNS) {
  const server = await startScriptedServer(turns)
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
  '%s.mjs runs every command the model asks for, answers refused arguments, broken JSON and an unknown tool, and goes on',
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
    const results = second?.messages.filter(({ role }) => role === 'tool') ?? []
    const answers = Object.fromEntries(results.map(({ tool_call_id, content }) => [tool_call_id, content]))
    expect(results).toHaveLength(CALLS.length)
    expect(answers).toEqual({
      call_1_1: expect.stringContaining('2 a b.txt'),
      call_1_2: expect.stringMatching(/exit code 1.*missing\.txt/s),
      call_1_3: expect.stringMatching(REFUSED),
      call_1_4: expect.stringMatching(REFUSED),
      call_1_5: expect.stringMatching(REFUSED),
      call_1_6: expect.stringMatching(REFUSED),
    })
  },
)

test('engine.mjs says why a run failed, and fails', async () => {
  const { exitCode, stdout, requests } = await runExample('engine', [
    { status: 401, message: 'No such key.' },
  ])
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/^FAILED .*No such key\./)
  expect(requests).toHaveLength(1) // nothing goes on with it
})

test('mcp-server.mjs ends on SIGTERM, and what runs is ended with it', async () => {
  const workspace = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  execFileSync('mkfifo', ['endless'], { cwd: workspace.path })
  const server = startProcess([process.execPath, `${HERE}mcp-server.mjs`], {
    cwd: workspace.path,
    env: { PATH: process.env.PATH },
    interactive: true,
  })
  const request = (method: string, params: object) =>
    server.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}\n`)
  const clientInfo = { name: 'test', version: '1' }
  request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  request('tools/call', { name: 'count_words', arguments: { file: 'endless' } })
  const reader = await open(`${workspace.path}/endless`, 'w') // opens once the command reads
  server.kill('SIGTERM')
  expect((await server.result).exitCode).toBe(0)
  await expect(reader.write('nobody reads')).rejects.toThrow('EPIPE')
  await reader.close()
})

test('each example is under 40 lines, and the README says when to take it', async () => {
  const readme = await readFile(`${HERE}README.md`, 'utf8')
  const names = (await readdir(HERE)).filter((name) => name.endsWith('.mjs'))
  expect(names).toHaveLength(8)
  for (const name of names) {
    expect((await readFile(`${HERE}${name}`, 'utf8')).split('\n').length, name).toBeLessThan(40)
    expect(readme).toContain(`](${name})`)
  }
})
