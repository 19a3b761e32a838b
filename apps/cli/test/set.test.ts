import { readFile, rm, writeFile } from 'node:fs/promises'
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
import { SAY } from './two-runs.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

function afterTest<T extends AsyncDisposable>(held: T): T {
  onTestFinished(() => held[Symbol.asyncDispose]())
  return held
}

interface Scene {
  agent: TemporaryWorkspace
  workspace: TemporaryWorkspace
  server: ScriptedServer
  run(...more: string[]): ReturnType<typeof delta>
  goOn(...more: string[]): ReturnType<typeof delta>
  models(): Promise<unknown[]>
}

/** An agent of a server, and a workspace whose run "first" was begun with these flags and killed while its model was thinking. */
async function killed(...flags: string[]): Promise<Scene> {
  const server = afterTest(
    await startScriptedServer([
      { content: 'Done.', hold: 'thinking' },
      { content: 'Done anew.' },
      { content: 'Again.' },
      { content: 'Once more.' },
    ]),
  )
  const agent = afterTest(await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY] }))
  const workspace = afterTest(await temporaryWorkspace({}))
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  const engine = startDelta([...args, '--run-id', 'first', ...flags], { env: KEY })
  await server.waitForRequests(1)
  engine.kill('SIGKILL')
  await engine.result
  await server.release('thinking')
  return {
    agent,
    workspace,
    server,
    run: (...more) => delta([...args, ...more], { env: KEY }),
    goOn: (...more) => delta(['continue', '-w', workspace.path, ...more], { env: KEY }),
    models: async () => server.requests().map(({ body }) => JSON.parse(body).model),
  }
}

async function starts(workspace: TemporaryWorkspace): Promise<Record<string, unknown>[]> {
  const events = (await journalOf(workspace.path)) as unknown as Record<string, unknown>[]
  return events.filter(({ type }) => type === 'ENGINE_START')
}

test('run --set and --model change the agent for one run, and its journal says how', async () => {
  const server = afterTest(await startScriptedServer([{ content: 'Done.' }]))
  const agent = afterTest(await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY] }))
  const workspace = afterTest(await temporaryWorkspace({}))
  const set = ['--set', 'llm.temperature=0.2', '--set', 'tools.say.timeout_ms=5', '--model', 'other']
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', ...set]
  expect(await delta(args, { env: KEY })).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(JSON.parse(server.requests()[0]?.body ?? '')).toMatchObject({ model: 'other', temperature: 0.2 })
  expect(await starts(workspace)).toMatchObject([
    {
      overrides: ['llm.temperature=0.2', 'tools.say.timeout_ms=5', 'llm.model=other'],
      config: { llm: { model: 'other', temperature: 0.2 }, tools: [{ name: 'say', timeout_ms: 5 }] },
    },
  ])
  expect(JSON.parse(await readFile(join(agent.path, 'agent.yaml'), 'utf8')).llm.model).toBe('scripted')
})

test('a run that was killed keeps its model: continue sets what was set before, and says so in one line', async () => {
  const { goOn, models, workspace } = await killed('--model', 'other', '--set', 'max_iterations=3')
  const { exitCode, stderr } = await goOn()
  expect(exitCode).toBe(0)
  expect(stderr).toContain('Set for this run: --set max_iterations=3 --set llm.model=other\n')
  expect(stderr).not.toContain('Changed since')
  expect(await models()).toEqual(['other', 'other'])

  const more = await goOn('-m', 'More', '--set', 'llm.model=third', '--set', 'llm.temperature=0')
  expect(more.stderr).toContain(
    'Set for this run: --set max_iterations=3 --set llm.model=third --set llm.temperature=0\n',
  )
  await goOn('-m', 'More')
  expect(await models()).toEqual(['other', 'other', 'third', 'third'])
  expect((await starts(workspace)).map(({ overrides }) => overrides)).toEqual([
    ['max_iterations=3', 'llm.model=other'],
    ['max_iterations=3', 'llm.model=other'],
    ['max_iterations=3', 'llm.model=third', 'llm.temperature=0'],
    ['max_iterations=3', 'llm.model=third', 'llm.temperature=0'],
  ])
})

test('run resumes a killed run with what was set for it; with something else set, it starts another', async () => {
  const { run, models, workspace } = await killed('--model', 'other')
  const _other = await run('--model', 'third')
  expect(await models()).toEqual(['other', 'third'])

  await writeFile(join(workspace.path, '.delta/LATEST'), 'first\n')
  const same = await run()
  expect(same.stderr).toContain('Resuming run first (INTERRUPTED). --new starts another one.\n')
  expect(same.stderr).toContain('Set for this run: --set llm.model=other\n')
  expect(await models()).toEqual(['other', 'third', 'other'])
})

test('context build shows what a run would send with what was set for it', async () => {
  const { workspace, agent } = await killed('--set', 'context.sources.system_prompt=')
  const { stdout } = await delta(['context', 'build', '-w', workspace.path])
  expect(stdout).not.toContain('You are a test.')
  const plain = await delta(['context', 'build', '--agent', agent.path], { cwd: agent.path })
  expect(plain.stdout).toContain('You are a test.')
})

test.each([
  [
    ['--set', 'max_iteration=5'],
    '--set max_iteration=5: unknown key "max_iteration".\nDid you mean "max_iterations"?',
  ],
  [['--set', 'tools.sya.timeout_ms=1'], '--set tools.sya.timeout_ms=1: no tool "sya".\nTools: say.'],
  [['--set', 'llm.model'], '--set llm.model: no value.\nWrite --set llm.model=VALUE.'],
  [['--set', 'llm.api_key=sk-1'], '--set llm.api_key=…: keys are never recorded.\nUse DELTA_API_KEY.'],
  [['--set', ''], "option '--set <path=value>' argument '' is invalid. It is empty."],
])('%j is refused before anything is made', async (flags, said) => {
  const agent = afterTest(await temporaryAgent({ tools: [SAY] }))
  const workspace = afterTest(await temporaryWorkspace({}))
  const into = join(workspace.path, 'w')
  const refused = await delta(['run', '--agent', agent.path, '-w', into, '-m', 'Go', ...flags])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain(`Error: ${said}`)
  await expect(readFile(join(into, '.delta/LATEST'))).rejects.toThrow()
})

test('the name of a model is taken as it is, also where YAML would read something else', async () => {
  const agent = afterTest(await temporaryAgent())
  const workspace = afterTest(await temporaryWorkspace({}))
  for (const name of ['@cf/meta/llama', '4', 'a: b', 'qwen3:8b'])
    await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '--model', name])
  const { stdout } = await delta(['list-runs', '-w', workspace.path, '--json'])
  const models = JSON.parse(stdout).map(({ model }: { model: string }) => model)
  expect(models.toReversed()).toEqual(['@cf/meta/llama', '4', 'a: b', 'qwen3:8b'])
})

test('a tool cannot get the key by setting something in another agent', async () => {
  const agent = afterTest(
    await temporaryAgent({ tools: [{ name: 'publish', exec: 'publish', pass_env: ['OPENAI_API_KEY'] }] }),
  )
  const workspace = afterTest(await temporaryWorkspace({}))
  const env = { ...KEY, DELTA_PARENT_RUN: '/elsewhere/.delta/20261120_093000_a1b2c3' }
  const run = (set: string) =>
    delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '--set', set], { env })
  expect((await run('tools.publish.exec=env')).stderr).toContain(
    'OPENAI_API_KEY is not passed on here: a tool of another run may have set it.',
  )
  expect(
    (await run('llm={ provider: openai, model: x, base_url: https://example.com/v1 }')).stderr,
  ).toContain('llm.base_url would send a key from elsewhere to an address that a tool may have written here.')
  expect(await run('max_iterations=2')).toMatchObject({ exitCode: 0 })
})

test('show says what has changed in the agent since the run was started, as continue does', async () => {
  const agent = afterTest(await temporaryAgent({ turns: [{ content: 'Done.' }, { content: 'More.' }] }))
  const workspace = afterTest(await temporaryWorkspace({}))
  const args = ['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '--set', 'max_iterations=3']
  await delta(args)
  const show = async (...more: string[]) => (await delta(['show', '-w', workspace.path, ...more])).stderr
  expect(await show()).toBe('')
  await writeFile(join(agent.path, 'system_prompt.md'), 'Another.\n')
  expect(await show()).toBe('Changed since this run was last started: system_prompt.md\n')
  expect(await show('--json')).toBe('')
  const goOn = await delta(['continue', '-w', workspace.path, '-m', 'More'])
  expect(goOn.stderr).toContain('Changed since this run was last started: system_prompt.md\n')
  expect(await show()).toBe('')
  await writeFile(join(agent.path, 'agent.yaml'), 'name: [')
  expect(await show()).toContain(
    `The agent of this run does not load any more: ${join(agent.path, 'agent.yaml')}:1:`,
  )
  await rm(agent.path, { recursive: true })
  expect(await show()).toBe('')
})
