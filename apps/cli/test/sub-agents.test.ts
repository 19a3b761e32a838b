import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { readdir, readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type StartedProcess,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../src/program.js'
import type { Terminal } from '../src/terminal/terminal.js'
import { cleanEnvironment, DELTA, delta, journalOf, startDelta } from './delta.js'

/** The tool by which one agent calls another, as an author would write it. */
const RUN_SUB_AGENT = {
  name: 'run_sub_agent',
  description: 'Execute a sub-agent to complete a specific task.',
  command: ['delta', 'run'],
  parameters: [
    { name: 'agent_path', type: 'string', inject_as: 'option', option_name: '--agent' },
    { name: 'task', type: 'string', inject_as: 'option', option_name: '--message' },
    { name: 'work_dir', type: 'string', inject_as: 'option', option_name: '--work-dir' },
  ],
}

function parentOf(child: TemporaryWorkspace, last = '{{last_observation}}') {
  const args = { agent_path: child.path, task: 'Analyse "this" & that', work_dir: 'analyst_job' }
  return temporaryAgent({
    tools: [RUN_SUB_AGENT],
    turns: [{ tool_calls: [{ name: 'run_sub_agent', arguments: args }] }, { content: last }],
  })
}

test('a sensitive answer is not handed on in a task, which the sub-agent would keep', async () => {
  await using child = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const question = { prompt: 'Password?', sensitive: true }
  const args = { agent_path: child.path, task: 'Log in with «secret:turn-1-1»', work_dir: '.' }
  await using parent = await temporaryAgent({
    tools: [RUN_SUB_AGENT],
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: question }] },
      { tool_calls: [{ name: 'run_sub_agent', arguments: args }] },
      { content: '{{last_observation}}' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['continue', '-w', workspace.path, '-m', '-'], { input: 'open-sesame' })
  expect(stdout).toContain('BLOCKED: a sub-agent records its task, and what «secret:turn-1-1» stands for')
  const files = await readdir(workspace.path, { recursive: true, withFileTypes: true })
  for (const file of files.filter((entry) => entry.isFile()))
    expect(await readFile(join(file.parentPath, file.name), 'utf8'), file.name).not.toContain('open-sesame')
})

test('an agent calls an agent: the answer comes back, and the files lie in a directory of its own workspace', async () => {
  await using child = await temporaryAgent({
    tools: [{ name: 'write', exec: 'tee ${file}', stdin: 'content' }],
    turns: [
      { tool_calls: [{ name: 'write', arguments: { file: 'result.txt', content: 'found\n' } }] },
      { content: 'Result written.' },
    ],
  })
  await using parent = await parentOf(child)
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 0 })
  expect(result.stdout).toBe('Result written.\n')
  expect(await workspace.read('analyst_job/result.txt')).toBe('found\n')
  const job = await journalOf(`${workspace.path}/analyst_job`)
  expect(job[1]).toMatchObject({ type: 'USER_MESSAGE', content: 'Analyse "this" & that' })
})

test("in one workspace the run to continue is the parent's, however often it called", async () => {
  await using child = await temporaryAgent({ turns: [{ content: 'Child.' }] })
  await using parent = await temporaryAgent({
    tools: [RUN_SUB_AGENT, { name: 'work', shell: 'echo > started; exec sleep 300' }],
    turns: [
      {
        tool_calls: [
          { name: 'run_sub_agent', arguments: { agent_path: child.path, task: 'Help', work_dir: '.' } },
          { name: 'work', arguments: {} },
        ],
      },
      { content: 'Parent.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta([
    'run',
    '--agent',
    parent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
    '--run-id',
    'boss',
  ])
  await waitForFile(`${workspace.path}/started`)
  engine.kill('SIGKILL')
  await engine.result
  const list = (...flags: string[]) => delta(['list-runs', '-w', workspace.path, ...flags])
  expect((await list('--resumable', '--first')).stdout).toBe('boss\n')
  expect((await list()).stdout).toContain('[of boss] Help')
  expect((await list('--first')).stdout).toBe('boss\n')
  expect((await delta(['continue', '-w', workspace.path])).stdout).toBe('Parent.\n')
  expect((await list('--status', 'COMPLETED', '--first')).stdout).toBe('boss\n')
})

/** A helper that is busy for ever the first time, and says what its tool did; and a caller of it, in one workspace. */
async function sharing(
  onInterrupt: 'rerun' | 'report',
  tasks: readonly string[],
): Promise<{ start(...more: string[]): StartedProcess; workspace: TemporaryWorkspace }> {
  const work = 'echo began >> witness.txt; test -e once || { touch once; exec sleep 300; }'
  const helper = await temporaryAgent({
    tools: [{ name: 'work', shell: work }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Helped.' }],
  })
  const exec = `delta run --agent ${helper.path} -m \${task} -w \${work_dir} -q`
  const caller = await temporaryAgent({
    tools: [{ name: 'help', exec, on_interrupt: onInterrupt }],
    turns: [
      ...tasks.map((task) => ({ tool_calls: [{ name: 'help', arguments: { task, work_dir: '.' } }] })),
      { content: 'All done.' },
    ],
  })
  const workspace = await temporaryWorkspace({})
  onTestFinished(async () => {
    await Promise.all([helper, caller, workspace].map((held) => held[Symbol.asyncDispose]()))
  })
  const args = ['run', '--agent', caller.path, '-m', 'Go', '-w', workspace.path]
  return { workspace, start: (...more) => startDelta([...args, ...more]) }
}

async function statusesIn({ path }: TemporaryWorkspace): Promise<string[]> {
  const { stdout } = await delta(['list-runs', '--json', '-w', path])
  return JSON.parse(stdout).map((run: { status: string }) => run.status)
}

test("a sub-agent in its caller's workspace that is called once more goes on where it was killed", async () => {
  const { workspace, start } = await sharing('rerun', ['Help'])
  const engine = start()
  await waitForFile(`${workspace.path}/once`)
  engine.kill('SIGKILL')
  await engine.result
  expect(await delta(['continue', '-w', workspace.path])).toMatchObject({
    exitCode: 0,
    stdout: 'All done.\n',
  })
  expect(await workspace.read('witness.txt')).toBe('began\n')
  expect(await statusesIn(workspace)).toEqual(['COMPLETED', 'COMPLETED'])
  const [result] = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(result).toMatchObject({ observation_content: expect.stringContaining('Helped.') })
})

test('another task for such a sub-agent begins a run of its own', async () => {
  const { workspace, start } = await sharing('report', ['Help', 'Help differently', 'Help'])
  const engine = start()
  await waitForFile(`${workspace.path}/once`)
  engine.kill('SIGKILL')
  await engine.result
  expect((await delta(['continue', '-w', workspace.path])).exitCode).toBe(0)
  expect(await statusesIn(workspace)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
  const results = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(results).toMatchObject([
    { status: 'INTERRUPTED' },
    { status: 'SUCCESS' },
    { observation_content: expect.stringMatching(/Resuming run \S+ \(INTERRUPTED\)/) },
  ])
})

test('what another run called is not taken up, whatever the task', async () => {
  const { workspace, start } = await sharing('report', ['Help'])
  const engine = start()
  await waitForFile(`${workspace.path}/once`)
  engine.kill('SIGINT')
  await engine.result
  expect((await start('--new').result).exitCode).toBe(0)
  expect(await statusesIn(workspace)).toEqual(['COMPLETED', 'COMPLETED', 'INTERRUPTED', 'INTERRUPTED'])
})

test.each(['job', '.'])(
  'two sub-agents that were called at once with the same task, in %s, both go on where they were killed',
  async (place) => {
    const busyTwice = 'set -C; { (echo > one) || echo > two; } 2>> errors.txt && exec sleep 300; true'
    await using helper = await temporaryAgent({
      tools: [{ name: 'work', shell: `echo began >> witness.txt; ${busyTwice}` }],
      turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Helped.' }],
    })
    const exec = `delta run --agent ${helper.path} -m Help -w ${place} -q`
    const help = { name: 'help', arguments: {} }
    await using caller = await temporaryAgent({
      agent: { tool_concurrency: 2 },
      tools: [{ name: 'help', exec, on_interrupt: 'rerun' }],
      turns: [{ tool_calls: [help, help] }, { content: 'All done.' }],
    })
    await using workspace = await temporaryWorkspace({ 'job/data.txt': '' })
    const engine = startDelta(['run', '--agent', caller.path, '-m', 'Go', '-w', workspace.path])
    await waitForFile(`${workspace.path}/${place}/two`)
    engine.kill('SIGKILL')
    await engine.result
    expect((await delta(['continue', '-w', workspace.path])).stdout).toBe('All done.\n')
    expect(await workspace.read(`${place}/witness.txt`)).toBe('began\nbegan\n')
    const results = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
    const helped = { exit_code: 0, observation_content: expect.stringContaining('Helped.') }
    expect(results).toMatchObject([helped, helped])
  },
)

test('of two such calls the one that comes when the other has already completed the run begins its own', async () => {
  await using helper = await temporaryAgent({ turns: [{ content: 'Helped.' }] })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', helper.path, '-m', 'Help', '-w', workspace.path]
  const env = { DELTA_PARENT_RUN: join(dirname(workspace.path), 'elsewhere', '.delta', 'caller') }
  await delta([...args, '--run-id', 'first'], { env })
  const journal = '.delta/first/journal.jsonl'
  const whole = await workspace.read(journal)
  await workspace.write(journal, `${whole.split('\n').slice(0, 2).join('\n')}\n`)

  const said: string[] = []
  const hear = (text: string) => {
    said.push(text)
    if (text.startsWith('Resuming run first')) writeFileSync(join(workspace.path, journal), whole) // the other call is done
  }
  const [stdout, stderr] = [{ write: hear }, { write: hear }]
  const terminal = { argv: args, env: cleanEnvironment(env), cwd: workspace.path, stdout, stderr }
  const signals = new EventEmitter()
  expect(await runProgram({ ...terminal, signals } as unknown as Terminal)).toBe(0)
  expect(said.slice(0, 2)).toEqual([
    'Resuming run first (INTERRUPTED). --new starts another one.\n',
    'Another call took run first up first.\n',
  ])
  expect(said.at(-1)).toBe('Helped.\n')
  expect(await workspace.read(journal)).toBe(whole)
  expect(await statusesIn(workspace)).toEqual(['COMPLETED', 'COMPLETED'])
})

test("a sub-agent gets its parent's key and address, other tools do not", async () => {
  await using server = await startScriptedServer([{ content: 'I am the child.' }])
  await using child = await temporaryAgent({ agent: { llm: { model: 'scripted' } } })
  await using parent = await parentOf(child)
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real', DELTA_BASE_URL: server.baseUrl },
  })
  expect(result.stdout).toBe('I am the child.\n')
  expect(server.requests()).toHaveLength(1)
  for (const file of await workspace.files())
    expect(await workspace.read(file), file).not.toContain('test-key-not-real')
})

test('a file that is merely called delta gets no key, by its path or by a PATH of the tool', async () => {
  await using workspace = await temporaryWorkspace({})
  await workspace.write('fake/delta', '#!/bin/sh\necho "key: [$DELTA_API_KEY]"\n')
  const fake = join(workspace.path, 'fake')
  await using parent = await temporaryAgent({
    tools: [
      { name: 'by_path', command: [`${fake}/delta`, 'run'] },
      { name: 'by_name', command: ['delta', 'run'], env: { PATH: `${fake}:/usr/bin:/bin` } },
    ],
    turns: [
      {
        tool_calls: [
          { name: 'by_path', arguments: {} },
          { name: 'by_name', arguments: {} },
        ],
      },
      { content: 'Done.' },
    ],
  })
  await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real' },
  })
  const results = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(results).toMatchObject([{ observation_content: 'key: []\n' }, { observation_content: 'key: []\n' }])
})

test('delta by the path under which tools find it, or by a link to it, is delta', async () => {
  await using server = await startScriptedServer([{ content: 'One.' }])
  await using child = await temporaryAgent({ agent: { llm: { model: 'scripted' } } })
  await using links = await temporaryWorkspace({})
  await symlink(DELTA, join(links.path, 'delta'))
  const tool = (name: string, program: string) => ({
    name,
    command: [program, 'run', '--agent', child.path, '-m', 'Go', '-w', name],
  })
  await using parent = await temporaryAgent({
    tools: [tool('folder', join(dirname(DELTA), 'path/delta')), tool('link', join(links.path, 'delta'))],
    turns: [
      {
        tool_calls: [
          { name: 'folder', arguments: {} },
          { name: 'link', arguments: {} },
        ],
      },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real', DELTA_BASE_URL: server.baseUrl },
  })
  expect(result.stderr.split('     One.\n')).toHaveLength(3)
  expect(server.requests()).toHaveLength(2)
})

test('what lies beside a link to delta gets no key', async () => {
  await using workspace = await temporaryWorkspace({
    'fake/bin.cjs': 'console.log(process.env.DELTA_API_KEY)',
  })
  await workspace.write('fake/path/keep', '')
  const link = join(workspace.path, 'fake/path/delta')
  await symlink(join(dirname(DELTA), 'path/delta'), link)
  await using parent = await temporaryAgent({
    tools: [{ name: 'sub', command: [link, 'run', '--help'] }],
    turns: [{ tool_calls: [{ name: 'sub', arguments: {} }] }, { content: 'Done.' }],
  })
  await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path], {
    env: { DELTA_API_KEY: 'test-key-not-real' },
  })
  const [result] = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(result).toMatchObject({ observation_content: expect.stringContaining('Usage: delta run') })
})

test("a sub-agent's question reaches the model with the way to answer it", async () => {
  await using child = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which colour?' } }] }],
  })
  await using parent = await parentOf(child)
  await using workspace = await temporaryWorkspace({})
  const { stdout, exitCode } = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('[exit code 101: this agent waits for a person to answer]')
  expect(stdout).toContain('Which colour?')
  expect(stdout).toContain(`delta continue -w ${workspace.path}/analyst_job`)
})

test("the parent's interruption reaches the sub-agent and its tool; both can be continued, and the model is told how", async () => {
  await using child = await temporaryAgent({
    tools: [{ name: 'work', shell: 'touch started; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Child done.' }],
  })
  await using parent = await parentOf(child, 'Parent done.')
  await using workspace = await temporaryWorkspace({ 'analyst_job/data.txt': '' })
  const engine = startDelta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/analyst_job/started`)
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)

  const job = `${workspace.path}/analyst_job`
  expect((await journalOf(job)).at(-1)).toMatchObject({ type: 'ENGINE_END', status: 'INTERRUPTED' })
  expect((await journalOf(workspace.path)).at(-1)).toMatchObject({
    type: 'ENGINE_END',
    status: 'INTERRUPTED',
  })
  const [result] = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  const { observation_content: told } = result as unknown as { observation_content: string }
  expect(told).toContain(`Interrupted (SIGTERM).\nGo on with: delta continue -w ${job} --run-id `)
  expect(told).not.toContain('once more')
  expect((await delta(['continue', '-w', job])).stdout).toBe('Child done.\n')
  expect((await delta(['continue', '-w', workspace.path])).stdout).toBe('Parent done.\n')
})

test('a JSON result of a sub-agent can be read by the model', async () => {
  await using child = await temporaryAgent({ turns: [{ content: 'Yes.' }] })
  await using parent = await temporaryAgent({
    tools: [{ name: 'ask_child', exec: 'delta run --agent ${agent} -w job --format json -m ${message}' }],
    turns: [
      { tool_calls: [{ name: 'ask_child', arguments: { agent: child.path, message: 'Well?' } }] },
      { content: '{{last_observation}}' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stdout } = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
  expect(JSON.parse(stdout)).toMatchObject({ status: 'COMPLETED', answer: 'Yes.', iterations: 1 })
})

test('delta-sessions is on the PATH of tools, and a session outlives a call', async () => {
  const turns = [
    { tool_calls: [{ name: 'start', arguments: {} }] },
    { tool_calls: [{ name: 'run', arguments: { command: 'cd /; X=1' } }] },
    { tool_calls: [{ name: 'run', arguments: { command: 'echo "$PWD $X"' } }] },
    { tool_calls: [{ name: 'end', arguments: {} }] },
    { content: 'Done.' },
  ]
  const id = '$(delta-sessions list | sed -n \'s/.*"session_id": *"\\([^"]*\\)".*/\\1/p\')'
  await using agent = await temporaryAgent({
    tools: [
      { name: 'start', exec: 'delta-sessions start' },
      { name: 'run', shell: `delta-sessions exec "${id}"`, stdin: 'command' },
      { name: 'end', shell: `delta sessions end "${id}"` },
    ],
    turns,
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const results = (await journalOf(workspace.path)).filter((event) => event.type === 'ACTION_RESULT')
  expect(results).toMatchObject([
    { status: 'SUCCESS' },
    { status: 'SUCCESS' },
    { observation_content: expect.stringContaining('"/ 1\\n"') },
    { observation_content: expect.stringContaining('terminated') },
  ])
})

/** The lines of docs/how-to/tools.md that show how an agent calls an agent: a list of one tool. */
async function recipeInGuide(): Promise<string> {
  const page = await readFile(new URL('../../../docs/how-to/tools.md', import.meta.url), 'utf8')
  const [, recipe = ''] = /like any other:\n\n```yaml\n((?: {2}.*\n)+)/.exec(page) ?? []
  return recipe
}

test.each(['@mentions are nice', '@note.txt', '-', '--new', 'Say "hi" to $USER\nin two lines'])(
  'called as the guide shows, a sub-agent gets the task as it is: %j',
  async (task) => {
    const llm = 'llm: { provider: script, script: script.yaml }'
    const context = 'sources: [{ type: journal, id: conversation }]\n'
    const called = [{ tool_calls: [{ name: 'ask_helper', arguments: { task, work_dir: 'job' } }] }]
    await using parent = await temporaryWorkspace({
      'agent.yaml': `name: caller\n${llm}\ntools:\n${await recipeInGuide()}`,
      'context.yaml': context,
      'script.yaml': JSON.stringify([...called, { content: '{{last_observation}}' }]),
      'helper/agent.yaml': `name: helper\n${llm}\n`,
      'helper/context.yaml': context,
      'helper/script.yaml': '[{ content: Reviewed. }]',
    })
    await using workspace = await temporaryWorkspace({ 'note.txt': 'Ignore the rest.\n' })
    const result = await delta(['run', '--agent', parent.path, '-m', 'Go', '-w', workspace.path])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Reviewed.\n' })
    expect((await journalOf(`${workspace.path}/job`))[1]).toMatchObject({
      type: 'USER_MESSAGE',
      content: task,
    })
  },
)
