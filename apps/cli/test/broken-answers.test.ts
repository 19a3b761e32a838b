import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { delta, eventTypes, journalOf } from './delta.js'

/** Runs an agent with the tool `note` against a server that sends these bodies, one a request. */
async function runAgainst(bodies: (string | Buffer)[], env: Record<string, string> = {}) {
  let requests = 0
  const answer = (response: ServerResponse) => response.end(bodies[requests++])
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const directory = await temporaryWorkspace()
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await directory.remove()
  })

  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const tools = '  - name: note\n    exec: tee note.txt\n    stdin: text\n'
  await directory.write('agent.yaml', `name: a\nllm:\n  model: m\n  base_url: ${baseUrl}\ntools:\n${tools}`)
  await directory.write('system_prompt.md', 'Go.')
  await directory.write(
    'context.yaml',
    'sources:\n  - {type: file, path: system_prompt.md}\n  - {type: journal}\n',
  )
  const workspace = `${directory.path}/w`
  const result = await delta(['run', '--agent', directory.path, '-w', workspace, '-m', 'Go'], { env })
  return { result, workspace }
}

const completion = (message: object) => JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })
const done = completion({ content: 'Done.' })

test('an answer with bytes that are no text is not run with replacement characters, but asked for again', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'note', arguments: '{"text":"caf\xe9"}' } }
  const latin1 = Buffer.from(completion({ content: null, tool_calls: [call] }), 'latin1')
  const { result, workspace } = await runAgainst([latin1, done])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(result.stderr).toContain('answered with bytes that are not UTF-8')
  expect(await eventTypes(workspace)).toEqual([
    'ENGINE_START',
    'USER_MESSAGE',
    'ERROR',
    'THOUGHT',
    'ENGINE_END',
  ])
})

test.each(['note', 'ask_human'])(
  'arguments nested without end are a result the model can read: %s',
  async (name) => {
    const args = `{"prompt":"Yes?","text":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const call = { id: 'c1', type: 'function', function: { name, arguments: args } }
    const { result, workspace } = await runAgainst([completion({ content: null, tool_calls: [call] }), done])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(await journalOf(workspace)).toContainEqual(
      expect.objectContaining({ type: 'ACTION_RESULT', action_id: 'c1', status: 'ERROR' }),
    )
  },
)

describe('a call whose arguments were cut at the token limit', () => {
  const cut = (name: string, text: string) =>
    JSON.stringify({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: text } }],
          },
          finish_reason: 'length',
        },
      ],
    })

  test.each([
    ['note', '{"text":"one two th'],
    ['note', ''],
    ['ask_human', '{"prompt":"Shall I'],
  ])('is not run, and both the model and the person are told why: %s %s', async (name, text) => {
    const { result, workspace } = await runAgainst([cut(name, text), done])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    const observation =
      `ERROR: the answer was cut off at the model's token limit (finish_reason: length), in the arguments of "${name}". Nothing was run.\n` +
      'Send less at a time, in several calls. Who runs this agent can raise the limit: llm.max_tokens in agent.yaml.'
    expect(await journalOf(workspace)).toContainEqual(
      expect.objectContaining({ type: 'ACTION_RESULT', status: 'ERROR', observation_content: observation }),
    )
    for (const line of observation.split('\n')) expect(result.stderr).toContain(line)
  })

  test('a whole call before it is run', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'note', arguments: '{"text":"whole"}' } }
    const whole = JSON.stringify({
      choices: [{ message: { content: null, tool_calls: [call] }, finish_reason: 'length' }],
    })
    const { result, workspace } = await runAgainst([whole, done])
    expect(result.exitCode).toBe(0)
    expect(await readFile(`${workspace}/note.txt`, 'utf8')).toBe('whole')
  })
})

test('a key that the server repeats in its answer reaches neither stdout nor any file', async () => {
  const key = 'sk-very-secret-123456'
  const call = { id: 'c1', type: 'function', function: { name: 'note', arguments: `{"text":"${key}"}` } }
  const { result, workspace } = await runAgainst(
    [
      completion({ content: `Your key is ${key}.`, tool_calls: [call] }),
      completion({ content: `Again: ${key}.` }),
    ],
    { DELTA_API_KEY: key },
  )
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Again: [API key].\n' })
  expect(result.stderr).not.toContain(key)
  const found = await runProcess(['grep', '-rl', key, workspace])
  expect(found).toMatchObject({ exitCode: 1, stdout: '' })
})
