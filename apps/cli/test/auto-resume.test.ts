import { cp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ScriptedServer,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

interface Scene {
  agent: TemporaryWorkspace
  workspace: TemporaryWorkspace
  server: ScriptedServer
  run(...more: string[]): ReturnType<typeof delta>
}

/** A workspace whose latest run, "first" with the message "Go", was killed while its model was thinking. */
async function killed(): Promise<Scene> {
  const server = await startScriptedServer([
    { content: 'Done.', hold: 'thinking' },
    { content: 'Done anew.' },
  ])
  const agent = await temporaryAgent({ baseUrl: server.baseUrl })
  const workspace = await temporaryWorkspace({})
  onTestFinished(async () => {
    await Promise.all([server, agent, workspace].map((held) => held[Symbol.asyncDispose]()))
  })
  const args = ['run', '--agent', agent.path, '-w', workspace.path]
  const engine = startDelta([...args, '-m', 'Go', '--run-id', 'first'], { env: KEY })
  await server.waitForRequests(1)
  engine.kill('SIGKILL')
  await engine.result
  await server.release('thinking')
  return { agent, workspace, server, run: (...more) => delta([...args, ...more], { env: KEY }) }
}

/** A workspace whose latest run, "first" with the message "Go", waits for an answer. */
async function waiting(): Promise<Omit<Scene, 'server'>> {
  const agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which colour?' } }] },
      { content: 'You like {{last_observation}}.' },
    ],
  })
  const workspace = await temporaryWorkspace({})
  onTestFinished(async () => {
    await Promise.all([agent, workspace].map((held) => held[Symbol.asyncDispose]()))
  })
  const run: Scene['run'] = (...more) => delta(['run', '--agent', agent.path, '-w', workspace.path, ...more])
  await run('-m', 'Go', '--run-id', 'first')
  return { agent, workspace, run }
}

async function runsIn(workspace: TemporaryWorkspace): Promise<string[]> {
  const { stdout } = await delta(['list-runs', '--json', '-w', workspace.path])
  return JSON.parse(stdout).map((run: { run_id: string; status: string }) => run.status)
}

test('a killed run is resumed by the same command, and one line says so', async () => {
  const { workspace, run } = await killed()
  const result = await run('-m', 'Go')
  expect(result).toMatchObject({ exitCode: 0 })
  expect(result.stderr).toMatch(/^Resuming run first \(INTERRUPTED\)\. --new starts another one\.$/m)
  expect(await runsIn(workspace)).toEqual(['COMPLETED'])
  expect((await journalOf(workspace.path)).filter((event) => event.type === 'USER_MESSAGE')).toHaveLength(1)
})

test('another message starts a new run', async () => {
  const { workspace, run } = await killed()
  const result = await run('-m', 'Something else')
  expect(result.exitCode).toBe(0)
  expect(await runsIn(workspace)).toEqual(['COMPLETED', 'INTERRUPTED'])
})

test.each([['--new'], ['--run-id', 'second']])(
  'with %s the same message starts a new run',
  async (...flags) => {
    const { workspace, run } = await killed()
    expect((await run('-m', 'Go', ...flags)).exitCode).toBe(0)
    expect(await runsIn(workspace)).toEqual(['COMPLETED', 'INTERRUPTED'])
  },
)

test('DELTA_NEW=1 starts a new run', async () => {
  const { agent, workspace } = await killed()
  await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go'], {
    env: { ...KEY, DELTA_NEW: '1' },
  })
  expect(await runsIn(workspace)).toEqual(['COMPLETED', 'INTERRUPTED'])
})

test.each(['is there', 'was removed'])(
  "another agent's run is not taken up: that agent %s",
  async (state) => {
    const { workspace, agent } = await killed()
    if (state === 'was removed') await rm(agent.path, { recursive: true })
    await using other = await temporaryAgent({ turns: [{ content: 'Other.' }] })
    const result = await delta(['run', '--agent', other.path, '-w', workspace.path, '-m', 'Go'])
    expect(result.stdout).toBe('Other.\n')
    expect(await runsIn(workspace)).toEqual(['COMPLETED', 'INTERRUPTED'])
  },
)

test('the workspace must be named: without -w a new one is used', async () => {
  const { agent } = await killed()
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go'], { env: KEY })
  expect(result.stderr).toContain(`New workspace ${join(agent.path, 'workspaces/W001')}`)
  expect(result.stderr).not.toContain('Resuming')
})

test('a completed run is never taken up', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  await delta(args)
  expect((await delta(args)).stderr).not.toContain('Resuming')
  expect(await runsIn(workspace)).toEqual(['COMPLETED', 'COMPLETED'])
})

test('a run that is being written is left alone: a second one runs beside it', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  const first = startDelta(args, { env: KEY })
  await server.waitForRequests(1)
  const second = startDelta(args, { env: KEY })
  await server.waitForRequests(2)
  await server.release('thinking')
  expect([(await first.result).exitCode, (await second.result).exitCode]).toEqual([0, 0])
  expect(await runsIn(workspace)).toEqual(['COMPLETED', 'COMPLETED'])
})

test('a waiting run that is still unanswered asks again and exits with 101', async () => {
  const { workspace, run } = await waiting()
  const again = await run('-m', 'Go')
  expect(again.exitCode).toBe(101)
  expect(again.stderr).toContain('It asks: Which colour?')
  expect(await runsIn(workspace)).toEqual(['WAITING_FOR_INPUT'])
})

test('an answer in response.txt is taken up by delta run', async () => {
  const { workspace, run } = await waiting()
  await workspace.write('.delta/first/interaction/response.txt', 'green\n')
  expect(await run('-m', 'Go')).toMatchObject({ exitCode: 0, stdout: 'You like green.\n' })
  expect(workspace.has('.delta/first/interaction')).toBe(false)
})

test('an answer in response.txt counts whatever the message, and a line says that the message does not', async () => {
  const { workspace, run } = await waiting()
  await workspace.write('.delta/first/interaction/response.txt', 'blue')
  const { stdout, stderr } = await run('-m', 'Go on then')
  expect(stdout).toBe('You like blue.\n')
  expect(stderr).toMatch(
    /^Resuming run first .*; response.txt answers its question, so -m is not used\. --new/m,
  )
})

test('another message to a waiting run without an answer starts a new run', async () => {
  const { workspace, run } = await waiting()
  const other = await run('-m', 'Something else')
  expect(other.exitCode).toBe(101)
  expect(await runsIn(workspace)).toEqual(['WAITING_FOR_INPUT', 'WAITING_FOR_INPUT'])
})

test('an agent that was moved is the same one: its run is taken up where --agent last said it is', async () => {
  const { agent, workspace, run } = await waiting()
  await using moved = await temporaryWorkspace({})
  await cp(agent.path, `${moved.path}/agent`, { recursive: true })
  await rm(agent.path, { recursive: true })
  await delta(['continue', '-w', workspace.path, '--agent', `${moved.path}/agent`])
  const again = await run('-m', 'Go', '--agent', `${moved.path}/agent`)
  expect(again.stderr).toContain('Resuming run first (WAITING_FOR_INPUT).')
})
