import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadAgent } from '../src/index.js'
import { agentOf, complaintAbout, MINIMAL } from './agents.js'

const RISKY = {
  'agent.yaml': `name: child
llm: { provider: command, command: [python3, model.py] }
tools:
  - { name: publish, exec: publish, pass_env: [OPENAI_API_KEY] }
`,
  'hooks.yaml': 'on_run_end: { command: [x], pass_env: [DELTA_API_KEY] }\n',
  'context.yaml': `${MINIMAL['context.yaml']}  - type: computed_file
    output_path: \${CWD}/x.md
    generator: { command: [x], pass_env: [OPENAI_API_KEY] }
`,
}

test('an agent in the workspace of another run may not ask for credentials or choose the model’s program', async () => {
  const home = await agentOf(RISKY)
  const env = { DELTA_PARENT_RUN: join(home, '.delta/20261120_093000_a1b2c3') }
  const lines = (await complaintAbout(home, { env })).split('\n').filter((line) => line.startsWith('agent/'))
  const reason = "this agent lies in another run's workspace, where its tools may have written it."
  expect(lines).toEqual([
    `agent/agent.yaml:2:18: llm.provider: "command" is not accepted here: ${reason}`,
    `agent/agent.yaml:4:47: tools[0].pass_env: OPENAI_API_KEY is not passed on here: ${reason}`,
    `agent/hooks.yaml:1:39: on_run_end.pass_env: DELTA_API_KEY is not passed on here: ${reason}`,
    `agent/context.yaml:6:42: sources[2].generator.pass_env: OPENAI_API_KEY is not passed on here: ${reason}`,
  ])
})

test('an agent in the workspace of any run above is no better', async () => {
  const home = await agentOf(RISKY)
  const env = {
    DELTA_PARENT_RUN: '/elsewhere/.delta/20261120_093000_a1b2c3',
    DELTA_CALLS: `\ncall_1 ${join(home, '.delta/20261120_093000_d4e5f6')}\n`,
  }
  expect(await complaintAbout(home, { env })).toContain('DELTA_API_KEY is not passed on here')
})

test('nor is one in the workspace of a run that is kept elsewhere, which its journal names', async () => {
  const home = await agentOf(RISKY)
  const runs = await mkdtemp(join(tmpdir(), 'runs-'))
  onTestFinished(() => rm(runs, { recursive: true }))
  const env = { DELTA_PARENT_RUN: join(runs, '20261120_093000_a1b2c3') }
  await mkdir(env.DELTA_PARENT_RUN)
  const journal = join(env.DELTA_PARENT_RUN, 'journal.jsonl')
  await writeFile(journal, `${JSON.stringify({ type: 'ENGINE_START', work_dir: dirname(home) })}\n{"ty`)
  expect(await complaintAbout(home, { env })).toContain('DELTA_API_KEY is not passed on here')
})

test('nor is one below a run whose beginning cannot be read, or is longer than a settings file', async () => {
  const home = await agentOf(RISKY)
  const run = await mkdtemp(join(tmpdir(), 'runs-'))
  onTestFinished(() => rm(run, { recursive: true }))
  const env = { DELTA_PARENT_RUN: run }
  expect(await complaintAbout(home, { env })).toContain('DELTA_API_KEY is not passed on here')
  const start = { type: 'ENGINE_START', task: 'x'.repeat(3_000_000), work_dir: dirname(home) }
  await writeFile(join(run, 'journal.jsonl'), `${JSON.stringify(start)}\n`)
  expect(await complaintAbout(home, { env })).toContain('DELTA_API_KEY is not passed on here')
})

test('K4: nor may it list the key that the run above has by a name of its own, or DELTA_CREDENTIALS as a key', async () => {
  const tools = 'tools:\n  - { name: leak, exec: env, pass_env: [GATEWAY_KEY] }\n'
  const home = await agentOf({ ...MINIMAL, 'agent.yaml': `${MINIMAL['agent.yaml']}${tools}` })
  const above = { pairs: [{ vendor: 'GATEWAY_KEY', key: 'k' }], env: {} }
  const env = {
    DELTA_PARENT_RUN: join(home, '.delta/20261120_093000_a1b2c3'),
    DELTA_CREDENTIALS: JSON.stringify(above),
  }
  expect(await complaintAbout(home, { env })).toContain('GATEWAY_KEY is not passed on here')
  const named = await agentOf({
    ...MINIMAL,
    'agent.yaml': 'name: a\nllm: { model: m, api_key_env: DELTA_CREDENTIALS }\n',
  })
  expect(await complaintAbout(named, { env: {} })).toContain('api_key_env: must be the name of a variable')
})

test('K4: nor may what an agent elsewhere imports from that workspace', async () => {
  const leak = 'tools:\n  - { name: leak, exec: env, pass_env: [OPENAI_API_KEY] }\n'
  const made = await agentOf({ ...MINIMAL, 'more.yaml': leak })
  const path = join(made, 'more.yaml')
  const home = await agentOf({ ...MINIMAL, 'agent.yaml': `${MINIMAL['agent.yaml']}imports: ['${path}']\n` })
  const env = { DELTA_PARENT_RUN: join(made, '.delta/20261120_093000_a1b2c3') }
  const options = { importRoots: [made] }
  expect(await complaintAbout(home, { ...options, env })).toContain('OPENAI_API_KEY is not passed on here')
  const elsewhere = { DELTA_PARENT_RUN: '/elsewhere/.delta/20261120_093000_a1b2c3' }
  const plain = await agentOf(MINIMAL)
  const set = { ...options, env: elsewhere, overrides: [`imports=['${path}']`] }
  expect(await complaintAbout(plain, set)).toContain('OPENAI_API_KEY is not passed on here')
})

test.each(['delta', '/usr/bin/delta', '${AGENT_HOME}/delta'])(
  'such an agent starts %s, which gets the credentials, with no variables of its own',
  async (program) => {
    const tool = `{ name: x, command: ['${program}', run], env: { NODE_OPTIONS: --require=x.cjs } }`
    const home = await agentOf({ 'agent.yaml': `${MINIMAL['agent.yaml']}tools:\n  - ${tool}\n` })
    const env = { DELTA_PARENT_RUN: join(home, '.delta/20261120_093000_a1b2c3') }
    expect(await complaintAbout(home, { env })).toContain(
      'tools[0].env: delta gets no variables of its own here: this agent lies in',
    )
    expect((await loadAgent(home, { env: {} })).agent.tools.get('x')).toBeDefined()
  },
)

test('the same agent outside of that workspace is as good as any', async () => {
  const home = await agentOf(RISKY)
  for (const DELTA_PARENT_RUN of ['/elsewhere/.delta/20261120_093000_a1b2c3', undefined]) {
    const { agent } = await loadAgent(home, { env: { DELTA_PARENT_RUN } })
    expect(agent.tools.get('publish')?.settings.passEnv).toEqual(['OPENAI_API_KEY'])
  }
})
