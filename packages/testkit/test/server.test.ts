import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { runProcess, startProcess, temporaryWorkspace, waitForExit } from '../src/index.js'

const PROGRAM = fileURLToPath(new URL('../dist/server.js', import.meta.url))

test.each([
  ['a script', '{"turns": [{"content": "Hello.", "hold": "x"}]}'],
  ['a list of turns', '[{"content": "Hello.", "hold": "x"}]'],
])(
  'started by hand with %s it prints its base URL, logs to the named file, and ends on SIGTERM',
  async (_, script) => {
    await using directory = await temporaryWorkspace({ 'script.json': script })
    const server = startProcess([process.execPath, PROGRAM, 'script.json', '0', 'log.jsonl'], {
      cwd: directory.path,
    })
    onTestFinished(() => server.kill('SIGKILL'))
    const baseUrl = (await server.waitForOutput('/v1\n')).trim()

    expect((await fetch(baseUrl.replace('/v1', '/release/x'), { method: 'POST' })).status).toBe(200)
    const response = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      body: '{"model":"m","messages":[{"role":"user","content":"Hi"}]}',
    })
    expect(await response.text()).toContain('Hello.')
    expect(await directory.read('log.jsonl')).toContain('"outcome":"answer"')

    server.kill('SIGTERM')
    expect((await server.result).signal).toBe('SIGTERM')
  },
)

test('without a script it says how it is used', async () => {
  const { exitCode, stderr } = await runProcess([process.execPath, PROGRAM])
  expect(exitCode).toBe(2)
  expect(stderr).toMatch(/^usage: node packages\/testkit\/dist\/server\.js <script\.json>/)
})

test.each(['{"turn": []}', '{"turns": {}}', 'null'])(
  'a script without turns is refused: %s',
  async (script) => {
    await using directory = await temporaryWorkspace({ 'script.json': script })
    const { exitCode, stderr } = await runProcess([process.execPath, PROGRAM, 'script.json'], {
      cwd: directory.path,
    })
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^script\.json: write a list of turns/)
  },
)

test('it ends with the process that started it, even if that one was killed', async () => {
  await using directory = await temporaryWorkspace({
    'parent.mjs': `
      import { startScriptedServer } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)}
      const server = await startScriptedServer([])
      console.log('server ' + server.pid)
      setInterval(() => {}, 1000)
    `,
  })
  const env = { ...process.env, TMPDIR: directory.path } // what is killed leaves its temporary files
  const parent = startProcess([process.execPath, 'parent.mjs'], { cwd: directory.path, env })
  const pid = Number((await parent.waitForOutput(/server \d+\n/)).match(/\d+/)?.[0])
  parent.kill('SIGKILL')
  await waitForExit(pid)
})
