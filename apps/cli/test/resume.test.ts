import { rm } from 'node:fs/promises'
import { temporaryAgent } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, scene, served } from './delta.js'

/** A workspace whose run "first" with the task "Go" was killed while its model was thinking. */
async function killed(...flags: string[]) {
  const at = await served([{ content: 'Done.', hold: 'thinking' }, { content: 'Again.' }], {
    tools: [{ name: 'say', exec: 'echo ${text}' }],
  })
  const engine = at.start('--run-id', 'first', ...flags)
  await at.server.waitForRequests(1)
  engine.kill('SIGKILL')
  await engine.result
  at.server.release('thinking')
  const isLatest = () => at.workspace.write('.delta/LATEST', 'first\n')
  const models = () => at.server.requests().map(({ body }) => JSON.parse(body).model)
  return { ...at, isLatest, models }
}

test('the same command resumes a killed run and says so; another task, agent or workspace, --new and an id of its own do not', async () => {
  const { run, words, at, agent, workspace, isLatest, events } = await killed()
  const other = await temporaryAgent({ onCleanup: onTestFinished })
  const elsewhere = words('run').filter((word) => word !== '-w' && word !== workspace.path)
  const starts = (args: string[], env = {}) => delta(args, { env: { ...KEY, ...env } })
  const another = () => run('-m', 'Something else')
  for (const start of [
    another,
    () => run('--new'),
    () => run('--run-id', 'second'),
    () => starts(words('run'), { DELTA_NEW: '1' }),
    () => run('--agent', other.path),
    () => starts(elsewhere),
  ]) {
    await isLatest()
    const { exitCode, stderr } = await start()
    expect(exitCode).toBe(0)
    expect(stderr).not.toContain('Resuming')
    if (start === another)
      expect(stderr).toContain(
        `Run first (INTERRUPTED) is not resumed, because the message differs. Go on with it: delta continue -w ${workspace.path} --run-id first\n`,
      )
    else expect(stderr).not.toContain('first')
  }
  expect(agent.has('workspaces/W001/.delta/LATEST')).toBe(true)

  await isLatest()
  const resumed = await run()
  expect(resumed).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(resumed.stderr).toMatch(/^Resuming run first \(INTERRUPTED\)\. --new starts another one\.$/m)
  expect(await events('USER_MESSAGE')).toHaveLength(1)
  expect((await run()).stderr).not.toContain('Resuming') // it is completed
  const runs = JSON.parse((await at('list-runs', '--json')).stdout)
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(Array(7).fill('COMPLETED'))
})

test('a changed agent begins a new run; a line names the interrupted one, what has changed, and how to go on with it', async () => {
  const { run, at, agent, workspace, isLatest } = await killed('--set', 'llm.stream=false')
  const advice = `Go on with it: delta continue -w ${workspace.path} --run-id first\n`
  const notResumed = (changed: string) =>
    `Run first (INTERRUPTED) is not resumed, because this has changed since it was last started: ${changed}. ${advice}`
  await agent.write('system_prompt.md', 'Another.\n')
  const edited = await run('--set', 'max_iterations=4', '--format', 'json')
  const said = notResumed('system_prompt.md; agent.yaml: max_iterations')
  expect(edited.stderr).toContain(said)
  const begun = JSON.parse(edited.stdout)
  const warnings = [said.trimEnd()]
  expect(begun).toMatchObject({ status: 'COMPLETED', resumed: false, changed_files: [], warnings })
  expect(begun.run_id).not.toBe('first')

  await isLatest()
  const { tools: _, ...rest } = JSON.parse(await agent.read('agent.yaml'))
  const withoutTools = JSON.stringify(rest)
  await agent.write('agent.yaml', withoutTools)
  await run()
  const onward = await at('continue', '--run-id', 'first', '--format', 'json')
  expect(onward.stderr).toContain(
    'Changed since this run was last started: system_prompt.md; agent.yaml: tools\n',
  )
  expect(JSON.parse(onward.stdout)).toMatchObject({
    run_id: 'first',
    resumed: true,
    changed_files: ['system_prompt.md', 'agent.yaml'],
  })
})

test('a killed run is not resumed for another agent where its own is gone', async () => {
  const { run, agent } = await killed()
  await rm(agent.path, { recursive: true })
  const other = await temporaryAgent({ turns: [{ content: 'Other.' }], onCleanup: onTestFinished })
  expect((await run('--agent', other.path)).stdout).toBe('Other.\n')
})

test('the same command resumes a waiting run: it asks again, or takes response.txt, whatever the message', async () => {
  const { run, workspace } = await scene({
    turns: [calls('ask_human', { prompt: 'Which colour?' }), { content: 'You like {{last_observation}}.' }],
  })
  await run('--run-id', 'first')
  const again = await run()
  expect(again.exitCode).toBe(101)
  expect(again.stderr).toContain('Resuming run first (WAITING_FOR_INPUT).')
  expect((await run('-m', 'Something else')).stderr).not.toContain('Resuming')

  await workspace.write('.delta/LATEST', 'first\n')
  await workspace.write('.delta/first/interaction/response.txt', 'blue')
  const { stdout, stderr } = await run('-m', 'Go on then')
  expect(stdout).toBe('You like blue.\n')
  expect(stderr).toMatch(
    /^Resuming run first .*; response.txt answers its question, so -m is not used\. --new/m,
  )
  expect(workspace.has('.delta/first/interaction')).toBe(false)
})

test('run --set and --model change the agent for one run, and its journal says how', async () => {
  const { run, events, server, agent } = await served([{ content: 'Done.' }], {
    tools: [{ name: 'say', exec: 'echo ${text}' }],
  })
  const set = ['--set', 'llm.temperature=0.2', '--set', 'tools.say.timeout_ms=5', '--model', 'other']
  expect(await run(...set)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(server.requests()[0]?.json).toMatchObject({ model: 'other', temperature: 0.2 })
  expect(await events('ENGINE_START')).toMatchObject([
    {
      overrides: ['llm.temperature=0.2', 'tools.say.timeout_ms=5', 'llm.model=other'],
      config: { llm: { model: 'other', temperature: 0.2 }, tools: [{ name: 'say', timeout_ms: 5 }] },
    },
  ])
  expect(JSON.parse(await agent.read('agent.yaml')).llm.model).toBe('scripted')
})

test('continue, run and context build keep what was set for a run, add to it, and say so in one line', async () => {
  const { run, at, models, isLatest, events } = await killed('--model', 'other', '--set', 'max_iterations=3')
  await run('--model', 'third') // something else is set: another run
  expect(models()).toEqual(['other', 'third'])
  await isLatest()
  expect((await at('context build')).stdout).toContain('"model": "other"')
  const { stderr } = await run()
  expect(stderr).toContain('Resuming run first (INTERRUPTED). --new starts another one.\n')
  expect(stderr).toContain('Set for this run: --set max_iterations=3 --set llm.model=other\n')
  expect(stderr).not.toContain('Changed since')

  const more = await at('continue', '-m', 'More', '--set', 'llm.model=fourth', '--set', 'llm.temperature=0')
  expect(more.stderr).toContain(
    'Set for this run: --set max_iterations=3 --set llm.model=fourth --set llm.temperature=0\n',
  )
  expect(models()).toEqual(['other', 'third', 'other', 'fourth'])
  expect((await events('ENGINE_START')).map(({ overrides }) => overrides)).toEqual([
    ['max_iterations=3', 'llm.model=other'],
    ['max_iterations=3', 'llm.model=other'],
    ['max_iterations=3', 'llm.model=fourth', 'llm.temperature=0'],
  ])
})

test('what cannot be set is refused before anything is made', async () => {
  const { run, workspace } = await scene({ tools: [{ name: 'say', exec: 'echo ${text}' }] })
  for (const [set, said] of [
    ['tools.sya.timeout_ms=1', '--set tools.sya.timeout_ms=1: no tool "sya".\nTools: say.'],
    ['llm.api_key=sk-1', '--set llm.api_key=…: keys are never recorded.\nUse DELTA_API_KEY.'],
    ['', "option '--set <path=value>' argument '' is invalid. It is empty."],
  ] as const) {
    const refused = await run('--set', set)
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain(`Error: ${said}`)
  }
  expect(await workspace.files()).toEqual([])
})

test('--model takes a name as it is, also where YAML would read something else', async () => {
  const { run, at } = await scene()
  const names = ['@cf/meta/llama', '4']
  for (const name of names) await run('--model', name)
  const runs = JSON.parse((await at('list-runs', '--json')).stdout)
  expect(runs.map(({ model }: { model: string }) => model)).toEqual(names.toReversed())
})

test('a tool cannot get the key by setting something in another agent', async () => {
  const env = { ...KEY, DELTA_PARENT_RUN: '/elsewhere/.delta/20261120_093000_a1b2c3' }
  const publish = { name: 'publish', exec: 'publish', pass_env: ['OPENAI_API_KEY'] }
  const { run } = await scene({ tools: [publish] }, { env })
  expect((await run('--set', 'tools.publish.exec=env')).stderr).toContain(
    'OPENAI_API_KEY is not passed on here: a tool of another run may have set it.',
  )
  const llm = 'llm={ provider: openai, model: x, base_url: https://example.com/v1 }'
  expect((await run('--set', llm)).stderr).toContain(
    'llm.base_url would send a key from elsewhere to an address that a tool may have written here.',
  )
  expect(await run('--set', 'max_iterations=2')).toMatchObject({ exitCode: 0 })
})

test('continue says what has changed in the agent since the run was started, and show where it did', async () => {
  const { run, at, agent } = await scene({ turns: [{ content: 'Done.' }, { content: 'More.' }] })
  await run()
  await agent.write('system_prompt.md', 'Another.\n')
  const changed = 'Changed since this run was last started: system_prompt.md\n'
  expect((await at('continue', '-m', 'More')).stderr).toContain(changed)
  expect((await at('show')).stdout).toContain(' (changed since its last start: system_prompt.md)\n> More')
})
