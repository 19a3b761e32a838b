import { EventEmitter } from 'node:events'
import { writeFileSync } from 'node:fs'
import { readFile, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { runProgram } from '../src/program.js'
import type { Terminal } from '../src/terminal.js'
import { calls, cleanEnvironment, DELTA, delta, journalOf, KEY, killOnce, scene } from './delta.js'

/** The lines of docs/how-to/tools.md that show how an agent calls an agent: a list of one tool. */
async function recipeInGuide(): Promise<string> {
  const page = await readFile(new URL('../../../docs/how-to/tools.md', import.meta.url), 'utf8')
  const [, recipe = ''] = /like any other:\n\n```yaml\n((?: {2}.*\n)+)/.exec(page) ?? []
  return recipe
}

test('called as the guide shows, a sub-agent gets the task as it is, and its answer comes back; show names its run below the call', async () => {
  const llm = 'llm: { provider: script, script: script.yaml }'
  const context = 'sources: [{ type: journal, id: conversation }]\n'
  const tasks = ['@note.txt', '-', '--new', 'Say "hi" to $USER\nin two lines']
  const called = tasks.map((task, index) => calls('ask_helper', { task, work_dir: `job${index}` }))
  const { run, at, workspace } = await scene(
    {
      files: {
        'agent.yaml': `name: caller\n${llm}\ntools:\n${await recipeInGuide()}`,
        'context.yaml': context,
        'script.yaml': JSON.stringify([...called, { content: '{{last_observation}}' }]),
        'helper/agent.yaml': `name: helper\n${llm}\ntools: [{ name: leave, exec: touch left.txt }]\n`,
        'helper/context.yaml': context,
        'helper/script.yaml': JSON.stringify([calls('leave'), { content: 'Reviewed.' }]),
      },
    },
    { files: { 'note.txt': 'Ignore the rest.\n' } },
  )
  expect(await run()).toMatchObject({ exitCode: 0, stdout: 'Reviewed.\n' })
  for (const [index, task] of tasks.entries()) {
    expect((await journalOf(join(workspace.path, `job${index}`)))[1]).toMatchObject({ content: task })
    expect(workspace.has(`job${index}/left.txt`)).toBe(true)
  }
  const shown = (await at('show')).stdout.match(
    /^ {3}ask_helper .*\n {5}run \S+: \S+\/job\d\/\.delta\/\S+$/gm,
  )
  expect(shown?.map((lines) => /job\d(?=\/)/.exec(lines)?.[0])).toEqual(['job0', 'job1', 'job2', 'job3'])
})

/** A parent whose first call is `delta run` of the child in the directory `job`. */
async function parentOf(
  child: Parameters<typeof temporaryAgent>[0],
  last = '{{last_observation}}',
  ...flags: string[]
) {
  const { path } = await temporaryAgent({ ...child, onCleanup: onTestFinished })
  const exec = ['delta run --agent', path, '-m Help -w job', ...flags].join(' ')
  return { tools: [{ name: 'help', exec }], turns: [calls('help'), { content: last }] }
}

test("in one workspace the run to continue is the parent's, however often it called", async () => {
  const child = await temporaryAgent({ turns: [{ content: 'Child.' }], onCleanup: onTestFinished })
  const { start, at, workspace } = await scene({
    tools: [
      { name: 'help', exec: `delta run --agent ${child.path} -m Help -w .` },
      { name: 'work', shell: 'echo > started; exec sleep 300' },
    ],
    turns: [
      { tool_calls: ['help', 'work'].map((name) => ({ name, arguments: {} })) },
      { content: 'Parent.' },
    ],
  })
  await killOnce(start('--run-id', 'boss'), join(workspace.path, 'started'))
  expect((await at('list-runs', '--resumable', '--first')).stdout).toBe('boss\n')
  expect((await at('list-runs')).stdout).toContain('[of boss] Help')
  expect((await at('continue')).stdout).toBe('Parent.\n')
  expect((await at('list-runs', '--first')).stdout).toBe('boss\n')
})

/** A helper that is busy for ever the first time, and says what its tool did; and a caller of it, in one workspace. */
async function sharing(onInterrupt: 'rerun' | 'report', tasks: readonly string[]) {
  const work = 'echo began >> witness.txt; test -e once || { echo > once; exec sleep 300; }'
  const helper = await temporaryAgent({
    tools: [{ name: 'work', shell: work }],
    turns: [calls('work'), { content: 'Helped.' }],
    onCleanup: onTestFinished,
  })
  const exec = `delta run --agent ${helper.path} -m \${task} -w . -q`
  const at = await scene({
    tools: [{ name: 'help', exec, on_interrupt: onInterrupt }],
    turns: [...tasks.map((task) => calls('help', { task })), { content: 'All done.' }],
  })
  const statuses = async () =>
    JSON.parse((await at.at('list-runs', '--json')).stdout).map(({ status }: { status: string }) => status)
  return { ...at, statuses, once: join(at.workspace.path, 'once') }
}

test("a sub-agent in its caller's workspace that is called once more resumes where it was killed", async () => {
  const { start, at, events, statuses, once, workspace } = await sharing('rerun', ['Help'])
  await killOnce(start(), once)
  expect(await at('continue')).toMatchObject({ exitCode: 0, stdout: 'All done.\n' })
  expect(await workspace.read('witness.txt')).toBe('began\n')
  expect(await statuses()).toEqual(['COMPLETED', 'COMPLETED'])
  expect(await events('ACTION_RESULT')).toMatchObject([
    { observation_content: expect.stringContaining('Helped.') },
  ])
})

test('another task for such a sub-agent begins a run of its own, and so does a call of another run', async () => {
  const tasks = ['Help', 'Help differently', 'Help']
  const { start, at, run, statuses, once } = await sharing('report', tasks)
  const engine = start('--run-id', 'one')
  await waitForFile(once)
  engine.kill('SIGINT')
  await engine.result
  expect((await run('--new')).exitCode).toBe(0)
  const interrupted = ['INTERRUPTED', 'INTERRUPTED']
  expect(await statuses()).toEqual([...Array(4).fill('COMPLETED'), ...interrupted])
  expect((await at('continue', '--run-id', 'one')).exitCode).toBe(0)
  expect(await statuses()).toEqual(Array(7).fill('COMPLETED'))
  const shown = (await at('show', 'one', '--json')).stdout.trimEnd().split('\n')
  const results = shown.map((line) => JSON.parse(line)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(results).toMatchObject([
    { status: 'INTERRUPTED' },
    { status: 'SUCCESS' },
    { observation_content: expect.stringMatching(/Resuming run \S+ \(INTERRUPTED\)/) },
  ])
})

test.each(['job', '.'])(
  'two sub-agents that were called at once with the same task, in %s, both resume where they were killed',
  async (place) => {
    const busyTwice = 'set -C; { (echo > one) || echo > two; } 2>> errors.txt && exec sleep 300; true'
    const helper = await temporaryAgent({
      tools: [{ name: 'work', shell: `echo began >> witness.txt; ${busyTwice}` }],
      turns: [calls('work'), { content: 'Helped.' }],
      onCleanup: onTestFinished,
    })
    const exec = `delta run --agent ${helper.path} -m Help -w ${place} -q`
    const help = { name: 'help', arguments: {} }
    const { start, at, events, workspace } = await scene(
      {
        agent: { tool_concurrency: 2 },
        tools: [{ name: 'help', exec, on_interrupt: 'rerun' }],
        turns: [{ tool_calls: [help, help] }, { content: 'All done.' }],
      },
      { files: { 'job/data.txt': '' } },
    )
    await killOnce(start(), join(workspace.path, place, 'two'))
    expect((await at('continue')).stdout).toBe('All done.\n')
    expect(await workspace.read(`${place}/witness.txt`)).toBe('began\nbegan\n')
    const helped = { exit_code: 0, observation_content: expect.stringContaining('Helped.') }
    expect(await events('ACTION_RESULT')).toMatchObject([helped, helped])
  },
)

test('of two such calls the one that comes when the other has already completed the run begins its own', async () => {
  const { words, workspace, at } = await scene({ turns: [{ content: 'Helped.' }] })
  const env = { DELTA_PARENT_RUN: join(dirname(workspace.path), 'elsewhere', '.delta', 'caller') }
  await delta(words('run', '--run-id', 'first'), { env })
  const journal = '.delta/first/journal.jsonl'
  const whole = await workspace.read(journal)
  await workspace.write(journal, `${whole.split('\n').slice(0, 2).join('\n')}\n`)

  const said: string[] = []
  const hear = (text: string) => {
    said.push(text)
    if (text.startsWith('Resuming run first')) writeFileSync(join(workspace.path, journal), whole) // the other call is done
  }
  const [stdout, stderr] = [{ write: hear }, { write: hear }]
  const streams = { stdin: {}, stdout, stderr }
  const terminal = { argv: words('run'), env: cleanEnvironment(env), cwd: workspace.path, ...streams }
  const signals = new EventEmitter()
  expect(await runProgram({ ...terminal, signals } as unknown as Terminal)).toBe(0)
  expect(said.slice(0, 2)).toEqual([
    'Resuming run first (INTERRUPTED). --new starts another one.\n',
    'Another call has resumed run first.\n',
  ])
  expect(said.at(-1)).toBe('Helped.\n')
  expect(await workspace.read(journal)).toBe(whole)
  expect(JSON.parse((await at('list-runs', '--json')).stdout)).toHaveLength(2)
})

test("delta by its name, its path or a link to it gets its parent's key and address", async () => {
  const server = await startScriptedServer([{ content: 'One.' }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const child = await temporaryAgent({ agent: { llm: { model: 'scripted' } }, onCleanup: onTestFinished })
  const links = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await symlink(DELTA, join(links.path, 'delta'))
  const programs = {
    name: 'delta',
    folder: join(dirname(DELTA), 'path/delta'),
    link: join(links.path, 'delta'),
  }
  const tools = Object.entries(programs).map(([name, program]) => ({
    name,
    command: [program, 'run', '--agent', child.path, '-m', 'Go', '-w', name],
  }))
  const tool_calls = tools.map(({ name }) => ({ name, arguments: {} }))
  const { run, events, workspace } = await scene(
    { tools, turns: [{ tool_calls }, { content: 'Done.' }] },
    { env: { ...KEY, DELTA_BASE_URL: server.baseUrl }, isProcess: true },
  )
  await run()
  const answered = { observation_content: expect.stringMatching(/^One\.\n/) }
  expect(await events('ACTION_RESULT')).toMatchObject([answered, answered, answered])
  expect(server.requests()).toHaveLength(3)
  for (const file of await workspace.files())
    expect(await workspace.read(file), file).not.toContain(KEY.DELTA_API_KEY)
})

test('a file that is merely called delta gets no key, nor does what lies beside a link to it', async () => {
  const home = await temporaryWorkspace(
    {
      'fake/delta': '#!/bin/sh\necho "key: [$DELTA_API_KEY]"\n',
      'beside/bin.cjs': 'console.log(process.env.DELTA_API_KEY)',
      'beside/path/keep': '',
    },
    { onCleanup: onTestFinished },
  )
  const link = join(home.path, 'beside/path/delta')
  await symlink(join(dirname(DELTA), 'path/delta'), link)
  const fake = join(home.path, 'fake')
  const tools = [
    { name: 'by_path', command: [`${fake}/delta`, 'run'] },
    { name: 'by_name', command: ['delta', 'run'], env: { PATH: `${fake}:/usr/bin:/bin` } },
    { name: 'by_link', command: [link, 'run', '--help'] },
  ]
  const tool_calls = tools.map(({ name }) => ({ name, arguments: {} }))
  const turns = [{ tool_calls }, { content: 'Done.' }]
  const { run, events } = await scene({ tools, turns }, { env: KEY, isProcess: true })
  await run()
  expect(await events('ACTION_RESULT')).toMatchObject([
    { observation_content: 'key: []\n' },
    { observation_content: 'key: []\n' },
    { observation_content: expect.stringContaining('Usage: delta run') },
  ])
})

test("a sub-agent's question reaches the model with the way to answer it", async () => {
  const { run, workspace } = await scene(
    await parentOf({ turns: [calls('ask_human', { prompt: 'Which?' })] }),
  )
  const { stdout, exitCode } = await run()
  expect(exitCode).toBe(0)
  expect(stdout).toContain('[exit code 101: this agent waits for a person to answer]')
  expect(stdout).toContain('Which?')
  expect(stdout).toContain(`delta continue -w ${workspace.path}/job`)
})

test('a JSON result of a sub-agent can be read by the model', async () => {
  const child = { turns: [{ content: 'Yes.' }] }
  const { run } = await scene(await parentOf(child, '{{last_observation}}', '--format json'))
  expect(JSON.parse((await run()).stdout)).toMatchObject({
    status: 'COMPLETED',
    answer: 'Yes.',
    iterations: 1,
  })
})

test("the parent's interruption reaches the sub-agent and its tool; both can be continued, and the model is told how", async () => {
  const child = {
    tools: [{ name: 'work', shell: 'echo > started; exec sleep 300' }],
    turns: [calls('work'), { content: 'Child done.' }],
  }
  const { start, at, events, workspace } = await scene(await parentOf(child, 'Parent done.'), {
    files: { 'job/data.txt': '' },
  })
  const job = join(workspace.path, 'job')
  const engine = start()
  await waitForFile(join(job, 'started'))
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  const interrupted = { type: 'ENGINE_END', status: 'INTERRUPTED' }
  expect([(await journalOf(job)).at(-1), (await events()).at(-1)]).toMatchObject([interrupted, interrupted])
  const [result] = await events('ACTION_RESULT')
  expect(result?.observation_content).toContain(
    `Interrupted (SIGTERM).\nGo on with: delta continue -w ${job} --run-id `,
  )
  expect(result?.observation_content).not.toContain('once more')
  expect((await delta(['continue', '-w', job])).stdout).toBe('Child done.\n')
  expect((await at('continue')).stdout).toBe('Parent done.\n')
})

test('delta-sessions is on the PATH of tools, and a session outlives a call', async () => {
  const id = '$(delta-sessions list | sed -n \'s/.*"session_id": *"\\([^"]*\\)".*/\\1/p\')'
  const { run, events } = await scene({
    tools: [
      { name: 'start', exec: 'delta-sessions start' },
      { name: 'run', shell: `delta-sessions exec "${id}"`, stdin: 'command' },
      { name: 'end', shell: `delta sessions end "${id}"` },
    ],
    turns: [
      calls('start'),
      calls('run', { command: 'cd /; X=1' }),
      calls('run', { command: 'echo "$PWD $X"' }),
      calls('end'),
      { content: 'Done.' },
    ],
  })
  await run()
  expect(await events('ACTION_RESULT')).toMatchObject([
    { status: 'SUCCESS' },
    { status: 'SUCCESS' },
    { observation_content: expect.stringContaining('"/ 1\\n"') },
    { observation_content: expect.stringContaining('terminated') },
  ])
})
