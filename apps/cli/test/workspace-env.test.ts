import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ScriptedServer, startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf, KEY, startDelta } from './delta.js'
import { deltaOnTerminal, hasTerminal, shellOnTerminal } from './terminal.js'

/** An agent of a model, and a cloned repository `ws` whose `.env` names the model's server. */
async function clone(turns: Parameters<typeof startScriptedServer>[0] = [{ content: 'Done.' }], more = '') {
  const server = await startScriptedServer(turns)
  const agent = await temporaryAgent({ agent: { llm: { model: 'scripted' } } })
  const home = await temporaryWorkspace({ 'ws/.git/HEAD': '' })
  onTestFinished(async () => {
    await Promise.all([server, agent, home].map((each) => each[Symbol.asyncDispose]()))
  })
  const env = { ...KEY, DELTA_STATE_DIR: join(home.path, 'state') }
  const file = join(home.path, 'ws/.env')
  await writeFile(file, `${more}OPENAI_BASE_URL=${server.baseUrl}\n`)
  return { server, agent, home, file, at: { cwd: home.path, env } }
}

const run = (agent: { path: string }, ...more: string[]) => [
  'run',
  ...['--agent', agent.path, '-w', 'ws', '-m', 'Go', '-q'],
  ...more,
]

const refusalOf = ({ baseUrl }: ScriptedServer, where: string) => `Error: ${where}: The endpoint ${baseUrl} \
(OPENAI_BASE_URL) is not used, because anyone who can write to the workspace can set it.
Move the line to the agent's .env, or trust this file.\nTo allow it: --trust-workspace-env
`

test("K3, W1: an endpoint in the workspace's .env is refused, on this machine and with a key beside it, too", async () => {
  for (const more of ['', 'OPENAI_API_KEY=theirs\n']) {
    const { server, agent, file, home, at } = await clone(undefined, more)
    const place = `${file}:${more === '' ? 1 : 2}:1`
    const refused = { exitCode: 2, stdout: '', stderr: refusalOf(server, place) }
    expect(await delta(run(agent), at)).toMatchObject(refused)
    const config = ['config', '--agent', agent.path, '-w', 'ws']
    expect(await delta(config, at)).toMatchObject(refused)
    const here = await delta(['run', '--agent', agent.path, '-w', '.', '-m', 'Go', '-q'], {
      ...at,
      cwd: join(home.path, 'ws'),
    })
    expect(here).toMatchObject(refused)
    expect(server.requests()).toHaveLength(0)
    expect(await home.files()).not.toContainEqual(expect.stringContaining('.delta'))
  }
})

test('K3, K9: --trust-workspace-env uses it, and a line on stderr names the endpoint and the file; a key alone needs no flag', async () => {
  const { server, agent, file, at } = await clone()
  expect(await delta(run(agent, '--trust-workspace-env'), at)).toMatchObject({
    exitCode: 0,
    stdout: 'Done.\n',
    stderr: `${file}:1:1: The model's endpoint ${server.baseUrl} is from this file.\n`,
  })
  await writeFile(file, 'OPENAI_API_KEY=test-key-of-theirs\n')
  const env = { ...at.env, DELTA_BASE_URL: server.baseUrl }
  expect(await delta(run(agent, '--new'), { ...at, env })).toMatchObject({
    exitCode: 0,
    stderr: `${file}:1:1: The model's key is from this file, in place of DELTA_API_KEY of the environment.\n`,
  })
})

test("an endpoint in the project's .env is refused wherever the workspace lies; with the flag the run keeps it, and a key needs none", async () => {
  const { server, agent, home, file, at } = await clone([{ content: 'Done.' }, { content: 'More.' }])
  const hi = 'ws/agents/hi'
  for (const name of ['agent.yaml', 'context.yaml', 'system_prompt.md'])
    await home.write(`${hi}/${name}`, await agent.read(name))
  const inside = ['run', '--agent', hi, '-m', 'Go', '-q']
  for (const where of [['-w', 'ws/src'], ['-w', 'elsewhere'], ['-y']]) {
    const refused = await delta([...inside, ...where], at)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toBe(refusalOf(server, `${file}:1:1`).replace('the workspace', 'the project'))
  }
  expect(server.requests()).toHaveLength(0)
  const trusted = await delta([...inside, '-w', 'ws/src', '--trust-workspace-env'], at)
  expect(trusted).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const onward = await delta(['continue', '-w', 'ws/src', '-m', 'More', '-q'], at)
  expect(onward).toMatchObject({ exitCode: 0, stdout: 'More.\n' })

  await writeFile(file, 'OPENAI_API_KEY=test-key-of-project\n')
  const env = { ...at.env, DELTA_BASE_URL: server.baseUrl }
  expect(await delta([...inside, '-w', 'ws/src', '--new'], { ...at, env })).toMatchObject({
    exitCode: 0,
    stderr: `${file}:1:1: The model's key is from this file, in place of DELTA_API_KEY of the environment.\n`,
  })
  expect(server.requests().at(-1)?.headers.authorization).toBe('Bearer test-key-of-project')
})

test('no piped line is a yes, nor is one typed at a terminal that does not show the question', async () => {
  const { server, agent, at } = await clone()
  for (const more of [[], ['-i']]) {
    const piped = await delta(run(agent, ...more), { ...at, input: 'yes\nyes\n' })
    expect(piped.exitCode).toBe(2)
  }
  if (hasTerminal) {
    const screen = shellOnTerminal('"$@" 2>said; echo "code $?"', run(agent), at)
    screen.write('yes\n')
    expect((await screen.result).stdout).toContain('code 2')
  }
  expect(server.requests()).toHaveLength(0)
})

test('K3, T6: a run goes on with the file that it was started with, and refuses another content', async () => {
  const { server, agent, file, at } = await clone([{ content: 'Done.' }, { content: 'More.' }])
  expect((await delta(run(agent, '--trust-workspace-env'), at)).exitCode).toBe(0)
  const [start] = await journalOf(join(at.cwd, 'ws'))
  expect(start).toMatchObject({ allowed: { workspace_env_digest: expect.stringMatching(/^[0-9a-f]{64}$/) } })
  const onward = ['continue', '-w', 'ws', '-m', 'More', '-q']
  await rename(join(at.cwd, 'ws'), join(at.cwd, 'moved'))
  await rename(join(at.cwd, 'moved'), join(at.cwd, 'ws'))
  expect(await delta(onward, at)).toMatchObject({ exitCode: 0, stdout: 'More.\n' })

  await writeFile(file, `${await readFile(file, 'utf8')}# changed by a tool\n`)
  expect(await delta(onward, at)).toMatchObject({ exitCode: 2, stderr: refusalOf(server, `${file}:1:1`) })
  expect((await delta(run(agent, '--new'), at)).exitCode).toBe(2)
})

test('a run that is taken up again goes on with it', async () => {
  const { server, agent, at } = await clone([{ content: 'Done.', hold: 'thinking' }])
  const first = startDelta(run(agent, '--trust-workspace-env'), at)
  await server.waitForRequests(1)
  first.kill('SIGKILL')
  await first.result
  server.release('thinking')
  expect(await delta(run(agent), at)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test("K3, K6: a sub-agent does not ask: its workspace's .env may name its caller's endpoint, any other needs the flag", async () => {
  const other = await clone([{ content: 'Helped.' }])
  for (const [isSame, flags, expected] of [
    [true, [], 'Helped.'],
    [false, [], 'To allow it: --trust-workspace-env'],
    [false, ['--trust-workspace-env'], 'Helped.'],
  ] as const) {
    const { server, home, at, file } = await clone([
      calls('help'),
      { content: 'Helped.' },
      { content: 'Helped.' },
    ])
    const command = ['delta', 'run', '--agent', other.agent.path, '-w', 'sub', '-m', 'Help', ...flags]
    await using parent = await temporaryAgent({
      agent: { llm: { model: 'scripted' } },
      tools: [{ name: 'help', command }],
    })
    await writeFile(file, '')
    await home.write('ws/sub/.env', `DELTA_BASE_URL=${(isSame ? server : other.server).baseUrl}\n`)
    const env = { ...at.env, DELTA_BASE_URL: server.baseUrl }
    expect((await delta(run(parent, '--new'), { ...at, env })).exitCode).toBe(0)
    const results = (await journalOf(join(at.cwd, 'ws'))).filter(({ type }) => type === 'ACTION_RESULT')
    expect(results).toMatchObject([{ observation_content: expect.stringContaining(expected) }])
  }
})

describe.skipIf(!hasTerminal)('at a terminal', () => {
  /** Answers the question; the whole screen. */
  async function answering(answer: string, args: string[], at: { cwd: string; env: Record<string, string> }) {
    const screen = deltaOnTerminal(args, at)
    await screen.waitForOutput(/\[yes\/no\]\r\n> $/)
    screen.write(answer)
    return screen.result
  }

  test('K3: the question shows file and endpoint; a yes is remembered for this file with this content', async () => {
    const { server, agent, file, home, at } = await clone()
    const said = (await answering('yes\r', run(agent), at)).stdout
    expect(said.replace(/\s+/g, ' ')).toContain(
      `${file}:1: OPENAI_BASE_URL names the model's endpoint ${server.baseUrl} The key and the whole conversation go there. Anyone who can write to the workspace can set it. Use it? A yes is remembered for this file with this content. [yes/no] > `,
    )
    expect(said).toContain('Done.')
    const [yes = ''] = (await home.files()).filter((name) => name.startsWith('state/env/'))
    expect(JSON.parse(await home.read(yes))).toEqual({ path: file })
    // by anybody who runs it as this user, also without a terminal
    expect(await delta(run(agent), at)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(
      (await delta(run(agent), { ...at, env: { ...at.env, DELTA_STATE_DIR: `${home.path}/else` } })).exitCode,
    ).toBe(2)

    await writeFile(file, `${await readFile(file, 'utf8')}# changed\n`)
    expect((await delta(run(agent), at)).exitCode).toBe(2)
    expect((await answering('y\r', run(agent), at)).stdout).toContain('Done.')
  })

  test('a no, nothing typed and Ctrl+C run nothing and remember nothing', async () => {
    const { server, agent, file, home, at } = await clone()
    for (const answer of ['no\r', 'yes, but not now\r', '\u0004']) {
      const refused = await answering(answer, run(agent), at)
      expect(refused.exitCode).toBe(2)
      expect(refused.stdout.replaceAll('\r', '')).toContain(refusalOf(server, `${file}:1:1`))
    }
    const stopped = await answering('\u0003', run(agent), at)
    expect(stopped).toMatchObject({ exitCode: 130, stdout: expect.stringContaining('Nothing was run.') })
    expect((await home.files()).filter((name) => name.startsWith('state/env/'))).toEqual([])
    expect(server.requests()).toHaveLength(0)
  })

  test('config, context and continue ask the same question', async () => {
    const { agent, at } = await clone()
    await writeFile(join(agent.path, 'context.yaml'), GENERATED)
    const flag = '--trust-workspace-env'
    expect((await delta(run(agent, flag), at)).exitCode).toBe(0)
    await writeFile(join(at.cwd, 'ws/.env'), 'DELTA_BASE_URL=http://127.0.0.1:9/v1\n')
    for (const args of [
      ['config', '--agent', agent.path, '-w', 'ws'],
      ['context', 'build', '-w', 'ws'],
      ['continue', '-w', 'ws', '-m', 'More', '-q'],
    ]) {
      const { exitCode, stdout } = await answering('no\r', args, at)
      expect({ exitCode, said: stdout.includes('http://127.0.0.1:9/v1') }).toEqual({
        exitCode: 2,
        said: true,
      })
    }
  })
})

const GENERATED = `sources:
  - type: computed_file
    id: key
    generator: { command: [sh, -c, 'echo key'], pass_env: [DELTA_API_KEY] }
    output_path: "\${RUN_DIR}/key.md"
  - { type: journal, id: conversation }
`
