import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, eventTypes, journalOf } from './delta.js'

/** Runs an agent with the tool `note` against a server that sends these bodies, one a request. */
async function runAgainst(bodies: (string | Buffer)[]) {
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
  const result = await delta(['run', '--agent', directory.path, '-w', workspace, '-m', 'Go'])
  return { result, workspace }
}

const completion = (message: object) => JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] })
const done = completion({ content: 'Done.' })

test('an answer with bytes that are no text is not run with replacement characters, but asked for again', async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'note', arguments: '{"text":"caf\xe9"}' } }
  const latin1 = Buffer.from(completion({ content: null, tool_calls: [call] }), 'latin1')
  const { result, workspace } = await runAgainst([latin1, done])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(result.stderr).toContain('answered with bytes that are no UTF-8 text')
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
