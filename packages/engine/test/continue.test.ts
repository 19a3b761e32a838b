import { writeFileSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadAgent } from '@delta/config-loader'
import { readRequest } from '@delta/journal/runs'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { type ContinueRunOptions, findRun } from '../src/index.js'
import { eventsOf, eventsOfType, hooks, scene } from './run.js'

test('a relative workspace is refused: commands would run elsewhere after a change of directory', async () => {
  const { run, resume } = await scene({})
  const refusal = { code: 'ERR_ENGINE_USAGE', message: 'workDirectory work is not an absolute path.' }
  await expect(run({ workDirectory: 'work' })).rejects.toMatchObject(refusal)
  await expect(resume({ workDirectory: 'work' })).rejects.toMatchObject(refusal)
})

test('a run without trusted: true is not continued: its journal names the agent that runs', async () => {
  const { resume } = await scene({})
  await expect(resume({ trusted: undefined as never })).rejects.toMatchObject({
    code: 'ERR_ENGINE_USAGE',
    message: expect.stringContaining('Pass trusted: true if you started the run'),
  })
})

test('a run that another engine completes while this one prepares is not continued', async () => {
  const { run, resume, load } = await scene({ turns: [{ content: 'Done.' }] })
  const result = await run()
  const path = join(result.runDirectory, 'journal.jsonl')
  const whole = await readFile(path, 'utf8')
  const interrupted = whole.split('\n').slice(0, 2).join('\n')
  await writeFile(path, `${interrupted}\n`)

  const { llm, ...agent } = await load()
  const settings = {
    ...llm,
    get provider() {
      writeFileSync(path, whole) // the model is made after the run was looked at, and before it is taken
      return llm.provider
    },
  }
  const resumed = resume({ agent: { ...agent, llm: settings } })
  await expect(resumed).rejects.toMatchObject({ code: 'ERR_ENGINE_MESSAGE_REQUIRED' })
  const types = (await eventsOf(result)).map(({ type }) => type)
  expect(types).toEqual(['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ENGINE_END'])
})

test('runs may be kept outside the workspace, and continue there', async () => {
  const { run, resume, workspace } = await scene({
    tools: [{ name: 'where', shell: 'echo "$RUN_DIR $DELTA_RUNS_DIR"' }],
    turns: [
      { tool_calls: [{ name: 'where', arguments: {} }] },
      { content: '{{last_observation}}' },
      { content: 'More.' },
    ],
  })
  const elsewhere = await temporaryWorkspace({})
  onTestFinished(() => elsewhere.remove())
  const runsDirectory = join(elsewhere.path, 'runs')
  const allowed = { importRoots: ['/common'] }
  const sources = { origins: [], workspaceEnvDigest: '0a' }
  const result = await run({ runsDirectory, allowed, sources })
  expect(result.answer).toBe(`${result.runDirectory} ${runsDirectory}`)
  expect(dirname(result.runDirectory)).toBe(runsDirectory)

  const onward = await resume({ runsDirectory, message: 'On', runId: result.runId })
  expect(onward).toMatchObject({ status: 'COMPLETED', answer: 'More.', runDirectory: result.runDirectory })
  expect(await eventsOfType(onward, 'ENGINE_START')).toMatchObject([
    { allowed: { import_roots: ['/common'], workspace_env_digest: '0a', runs_dir: runsDirectory } },
    { resumed: true, work_dir: workspace.path },
  ])
  expect((await eventsOfType(onward, 'ENGINE_START'))[1]).not.toHaveProperty('allowed')
  expect(await readdir(workspace.path)).toEqual([])

  await expect(findRun(workspace.path)).rejects.toMatchObject({ code: 'ERR_ENGINE_RUN_NOT_FOUND' })
  await expect(findRun(elsewhere.path, result.runId, { runsDirectory })).rejects.toMatchObject({
    code: 'ERR_ENGINE_OTHER_WORKSPACE',
  })
})

test('a runsDirectory in the workspace is refused, and nothing is created', async () => {
  const { run, resume, workspace } = await scene({})
  const runsDirectory = join(workspace.path, 'runs')
  for (const start of [run({ runsDirectory }), resume({ runsDirectory })])
    await expect(start).rejects.toMatchObject({ code: 'ERR_RUNS_DIRECTORY' })
  expect(await readdir(workspace.path)).toEqual([])
})

test('a run keeps the overrides of its agent: continueRun loads the agent with them', async () => {
  const { agentFiles, workspace, run, resume } = await scene({
    turns: [{ content: 'One.' }, { content: 'Two.' }],
  })
  const overrides = ['max_iterations=7', 'context.sources.system_prompt=']
  const { agent } = await loadAgent(agentFiles.path, { env: {}, overrides })
  await run({ agent })
  const result = await resume({ agent: undefined, message: 'More' })
  expect(await eventsOfType(result, 'ENGINE_START')).toMatchObject([
    { overrides, max_iterations: 7 },
    { overrides, max_iterations: 7 },
  ])
  expect((await eventsOfType(result, 'ENGINE_START'))[1]).not.toHaveProperty('changed_files')
  expect(await findRun(workspace.path)).toMatchObject({ overrides, model: 'script' })
})

/** Continues a run, and returns the notices with the events of its starts. */
async function noticesOf(
  resume: Awaited<ReturnType<typeof scene>>['resume'],
  more: Partial<ContinueRunOptions> = {},
) {
  const notices: string[] = []
  const onEvent: ContinueRunOptions['onEvent'] = (event) =>
    event.kind === 'notice' && notices.push(event.message)
  const result = await resume({ message: 'More', onEvent, ...more })
  expect(result).toMatchObject({ resumed: true, warnings: [] })
  const changed = (await eventsOfType(result, 'ENGINE_START')).map((start) => Object(start).changed_files)
  expect(result.changedFiles).toEqual(changed.at(-1) ?? [])
  return { notices, changed }
}

test('after its workspace was moved, the model reads the new path, and one notice says so', async () => {
  const { run, resume, workspace } = await scene({
    tools: [{ name: 'where', shell: 'pwd' }],
    turns: [{ tool_calls: [{ name: 'where', arguments: {} }] }, { content: 'One.' }, { content: 'Two.' }],
  })
  await run({ message: `Work in ${workspace.path}/src` })
  const moved = `${workspace.path}-moved`
  await rename(workspace.path, moved)
  onTestFinished(() => rm(moved, { recursive: true, force: true }))
  const notices: string[] = []
  const onEvent: ContinueRunOptions['onEvent'] = (event) =>
    event.kind === 'notice' && notices.push(event.message)
  const result = await resume({ workDirectory: moved, message: 'More', onEvent })
  expect(notices).toEqual([
    `The workspace was ${workspace.path}, and is now ${moved}: the model reads the new path in what came before.`,
  ])
  const { messages } = JSON.parse(await readRequest(result.runDirectory, 3))
  const said = messages.map(({ content }: { content: string }) => content)
  expect(said).toContain(`Work in ${moved}/src`)
  expect(said).toContain(`${moved}\n`)
  expect((await eventsOfType(result, 'ENGINE_START'))[1]).toMatchObject({ paths: [[workspace.path, moved]] })

  const again = await resume({ workDirectory: moved, message: 'On' })
  expect((await eventsOfType(again, 'ENGINE_START'))[2]).not.toHaveProperty('paths')
})

const THREE_ANSWERS = { turns: [{ content: 'One.' }, { content: 'Two.' }, { content: 'Three.' }] }

test('continueRun names the files of the agent that have changed or are gone: without hooks.yaml there is no guard', async () => {
  const { run, resume, agentFiles } = await scene({
    ...THREE_ANSWERS,
    files: hooks({ pre_tool_execution: 'true' }),
  })
  expect(await run()).toMatchObject({ resumed: false, changedFiles: [], warnings: [] })
  await agentFiles.write('system_prompt.md', 'Another prompt.\n')
  await rm(join(agentFiles.path, 'hooks.yaml'))
  const files = ['system_prompt.md', 'hooks.yaml']
  expect(await noticesOf(resume)).toEqual({
    notices: [`Changed since this run was last started: ${files.join('; ')}`],
    changed: [undefined, files],
  })
  expect((await noticesOf(resume)).changed).toEqual([undefined, files, undefined])
})

test('what has changed in agent.yaml is named by its key, also in an import; the order of keys and of what is set does not count', async () => {
  const tools = (text: string) => `tools:\n  - { name: work, description: ${text}, exec: 'true' }\n`
  const { run, resume, agentFiles } = await scene({
    ...THREE_ANSWERS,
    agent: { imports: ['tools.yaml'] },
    files: { 'tools.yaml': tools('Works.') },
  })
  await run()
  await agentFiles.write('tools.yaml', tools('Still works.'))
  expect((await noticesOf(resume)).notices).toContain(
    'Changed since this run was last started: agent.yaml: tools.work',
  )
  const again = async (...overrides: string[]) => {
    const { agent } = await loadAgent(agentFiles.path, { env: {}, overrides })
    return noticesOf(resume, { agent })
  }
  const set = ['llm.stream=false', 'max_iterations=7']
  expect((await again(...set)).notices).toEqual([
    'Changed since this run was last started: agent.yaml: llm.stream, max_iterations',
  ])
  const { notices, changed } = await again(...set.toReversed())
  expect([notices, changed.at(-1)]).toEqual([[], undefined])
})

test('an unfinished copy of the agent does not count: no file has changed since', async () => {
  const { run, resume, load } = await scene(THREE_ANSWERS)
  const agent = await load()
  const files = { 'no\0name': '', ...agent.snapshot.files } // it cannot be written, and so the others are not
  await expect(run({ agent: { ...agent, snapshot: { ...agent.snapshot, files } } })).rejects.toThrow()
  expect((await noticesOf(resume)).changed).toEqual([undefined, undefined])
})
