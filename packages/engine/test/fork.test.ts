import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadAgent } from '@delta/config-loader'
import { verifyRun } from '@delta/journal/internal'
import { listRuns, readRequest, readRun, type StoredEvent } from '@delta/journal/runs'
import {
  areInstalled,
  runProcess,
  startScriptedServer,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { forkRun } from '../src/index.js'
import { original, stateOf, TOOLS, TURNS } from './forking.js'
import { calls, eventsOf, eventsOfType, hooks, output, scene } from './run.js'

function linesOf(directory: string): string[] {
  return readFileSync(join(directory, 'journal.jsonl'), 'utf8').split(/(?<=\n)/)
}

test('a fork has the iterations up to one as its own, goes on from there, and leaves the run and its workspace as they were', async () => {
  const { result, workspace, fork, goOn } = await original()
  const before = await stateOf(workspace.path)
  for (const at of [0, 1, 2, 3]) {
    const made = await fork({ at })
    const [lines, inherited] = [linesOf(result.runDirectory), linesOf(made.directory).slice(0, -1)]
    expect(inherited).toEqual(
      lines.slice(0, made.parent.seq).map((line) => line.replace(/\}\n$/, ',"inherited":true}\n')),
    )
    expect(made.parent).toEqual({
      run_id: result.runId,
      directory: result.runDirectory,
      iteration: at,
      seq: inherited.length,
      sha256: createHash('sha256').update(lines.slice(0, made.parent.seq).join('')).digest('hex'),
      snapshot_id: null,
    })
    expect(await readRun(made.directory)).toMatchObject({ status: 'INTERRUPTED', lastIteration: at })

    const ended = await goOn(made)
    expect(ended).toMatchObject({ status: 'COMPLETED', answer: 'The end.', iterations: 4 })
    expect(ended.totals.own.requests).toBe(4 - at)
    expect(await eventsOfType(ended, 'ENGINE_START')).toMatchObject([
      { inherited: true },
      { resumed: true, parent: made.parent, work_dir: made.workDirectory, run_id: made.runId },
      { resumed: true },
    ])
    expect(verifyRun(made.directory)).toMatchObject({ ok: true, findings: [] })
  }
  expect(await stateOf(workspace.path)).toBe(before)
})

test('the model reads the new workspace in what is inherited, and nothing of the old one', async () => {
  const { result, workspace, fork, goOn } = await original({}, { message: `Work` })
  const made = await fork({ at: 2 })
  const ended = await goOn(made)
  const request = await readRequest(ended.runDirectory, 3)
  expect(request).toContain(`in ${made.workDirectory}`)
  expect(request).not.toContain(workspace.path)
  const told = (await eventsOf(ended)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(told[0]).toMatchObject({ observation_content: expect.stringContaining(workspace.path) })
  expect(await readRequest(ended.runDirectory, 2)).toBe(await readRequest(result.runDirectory, 2))
})

test('a workspace that a link leads to is that of the fork by either name', async () => {
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  mkdirSync(join(elsewhere.path, 'real'))
  symlinkSync('real', join(elsewhere.path, 'link'))
  const shell = 'pwd -P; echo "$(pwd -P)/.delta/$DELTA_RUN_ID/io"'
  const turns = [calls('where'), { content: 'The end.' }]
  const options = { tools: [{ name: 'where', shell }], turns }
  const { fork, goOn } = await original(options, { workDirectory: join(elsewhere.path, 'link') })
  const made = await fork({ at: 1 })
  await goOn(made)
  const { messages } = JSON.parse(await readRequest(made.directory, 2))
  expect(messages.at(-1).content).toContain(`${made.workDirectory}\n${made.directory}/io\n`)
})

test('what the inherited events name is copied, and nothing later, no lease, no owner and no other file', async () => {
  const { result, fork } = await original({ files: hooks({ post_tool_execution: 'true' }) })
  writeFileSync(join(result.runDirectory, 'owner'), 'x')
  mkdirSync(join(result.runDirectory, 'secrets'))
  symlinkSync('/etc/passwd', join(result.runDirectory, 'configuration', '0'))
  const { directory } = await fork({ at: 2 })
  expect(readdirSync(directory).sort()).toEqual([
    'configuration',
    'io',
    'journal.jsonl',
    'lease',
    'metadata.json',
  ])
  expect(readdirSync(join(directory, 'configuration'))).toEqual(['1'])
  expect(readdirSync(join(directory, 'io/invocations'))).toHaveLength(2)
  expect(readdirSync(join(directory, 'io/tool_executions'))).toHaveLength(4)
  expect(readdirSync(join(directory, 'io/blobs'))).toHaveLength(1)
  expect(readdirSync(join(directory, 'io/hooks'))).toHaveLength(6)
  const { stdout } = await runProcess(['find', directory, '-type', 'f', '-links', '+1'])
  expect(stdout).toBe('')
})

test('a message of the fork comes after what is inherited; later messages of the run do not come along', async () => {
  const { fork, goOn, resume, result } = await original({ turns: [...TURNS, { content: 'More.' }] })
  await resume({ message: 'And then?' })
  await expect(fork({ at: 4 })).rejects.toMatchObject({
    code: 'ERR_ENGINE_FORK_AT',
    message: '--at 4 is the answer; say what comes next with -m.',
  })
  const made = await fork({ at: 4, message: 'Say it again.' })
  const said = (await eventsOf({ runDirectory: made.directory })).filter(
    ({ type }) => type === 'USER_MESSAGE',
  )
  expect(said).toMatchObject([
    { content: 'Go', inherited: true },
    { content: 'Say it again.', seq: made.parent.seq + 2 },
  ])
  expect(said[1]).not.toHaveProperty('inherited')
  expect((await goOn(made)).answer).toBe('More.')
  expect(result.runId).not.toBe(made.runId)
})

test('inherited iterations count for max_iterations: a fork at 2 of 3 has one left', async () => {
  const { fork, goOn, result } = await original({ agent: { max_iterations: 3 } })
  expect(result.reasonCode).toBe('limit_iterations')
  const ended = await goOn(await fork({ at: 2 }))
  expect(ended).toMatchObject({ reasonCode: 'limit_iterations', iterations: 3 })
  const onward = await goOn(await fork({ at: 3 }), { maxIterations: 9 })
  expect(onward).toMatchObject({ status: 'COMPLETED', iterations: 4 })
})

test('a fork of a fork keeps its lineage, and the model reads the last workspace', async () => {
  const { fork, goOn, result, workspace } = await original()
  const first = await fork({ at: 1 })
  await goOn(first)
  const second = await fork({ at: 2, run: first.directory })
  const ended = await goOn(second)
  expect(ended.status).toBe('COMPLETED')
  const starts = (await eventsOfType(ended, 'ENGINE_START')) as (StoredEvent & { parent?: object })[]
  expect(starts.flatMap(({ parent }) => parent ?? [])).toMatchObject([
    { directory: result.runDirectory, iteration: 1 },
    { directory: first.directory, iteration: 2 },
  ])
  const request = await readRequest(ended.runDirectory, 3)
  expect(request).toContain(`in ${second.workDirectory}`)
  for (const old of [workspace.path, first.workDirectory]) expect(request).not.toContain(old)
  expect(verifyRun(second.directory).ok).toBe(true)
  expect(await readRun(second.directory)).toMatchObject({
    metadata: { run_id: second.runId, work_dir: second.workDirectory },
  })
})

test('a fork may be kept with other runs, and one of a run that is kept so', async () => {
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const runsDirectory = join(elsewhere.path, 'runs')
  const { fork, goOn, result } = await original({}, { runsDirectory })
  const made = await fork({ at: 2, runsDirectory })
  expect(made.directory).toBe(join(runsDirectory, made.runId))
  const listed = await listRuns(made.workDirectory, { runsDirectory })
  expect(listed.map(({ runId }) => runId)).toEqual([made.runId])
  expect((await goOn(made, { runsDirectory })).status).toBe('COMPLETED')
  expect(readdirSync(made.workDirectory)).toEqual(['noted.txt'])
  const inside = await fork({ at: 1 })
  expect(inside.directory).toBe(join(inside.workDirectory, '.delta', inside.runId))
  expect(result.runDirectory.startsWith(runsDirectory)).toBe(true)
})

test('a fork of a fork reads its own directory in the place of each one before, however it is named', async () => {
  const tools = [{ name: 'note', shell: 'echo "$DELTA_RUN_DIR and .delta/$DELTA_RUN_ID/io"' }]
  const { fork, goOn } = await original({
    tools,
    turns: [calls('note'), calls('note'), { content: 'The end.' }],
  })
  const first = await fork({ at: 2 })
  await goOn(first)
  const second = await fork({ run: first.directory, at: 1 })
  await goOn(second)
  const request = await readRequest(second.directory, 2)
  expect(request).toContain(`${second.directory} and .delta/${second.runId}/io`)
})

test('a run that goes on is forked without a trace in it', async () => {
  const turns = [calls('note'), calls('wait'), { content: 'The end.' }]
  const wait = { name: 'wait', shell: 'touch waiting; while [ ! -e go ]; do sleep 0.02; done' }
  const play = await scene({ turns, tools: [...TOOLS, wait] })
  const running = play.run()
  await waitForFile(join(play.workspace.path, 'waiting'))
  const [run] = await listRuns(play.workspace.path)
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const options = { run: run?.directory ?? '', files: 'without' as const, agent: await play.load() }
  const made = await forkRun({ ...options, at: 1, into: join(elsewhere.path, 'a') })
  await expect(forkRun({ ...options, at: 2, into: join(elsewhere.path, 'b') })).rejects.toThrow(
    '--at 2: call 1 of iteration 2 has no result; --at 1 is complete.',
  )
  expect(readdirSync(elsewhere.path)).toEqual(['a'])
  await play.workspace.write('go', '')
  expect((await running).status).toBe('COMPLETED')
  expect(made.parent.iteration).toBe(1)
  expect(verifyRun(made.directory).ok).toBe(true)
})

test('of a run that waits for a person the iterations before are forked, and once it is answered that one, too', async () => {
  const ask = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }
  const { fork, goOn, resume, result } = await original({ turns: [calls('note'), ask, { content: 'Done.' }] })
  expect(result.status).toBe('WAITING_FOR_INPUT')
  await expect(fork({ at: 2 })).rejects.toThrow('call 1 of iteration 2 has no result; --at 1 is complete.')
  expect((await goOn(await fork({ at: 1 }))).status).toBe('WAITING_FOR_INPUT')
  await resume({ message: 'Yes' })
  expect((await goOn(await fork({ at: 2 }))).answer).toBe('Done.')
})

test('what a hook put in the place of a result is inherited, and no hook runs again', async () => {
  const script = `echo x >> ran.txt; ${output('observation_override.txt', 'overridden')}`
  const { fork, goOn, workspace } = await original({ files: hooks({ post_tool_execution: script }) })
  const told = async (made: { directory: string }) => await eventsOf({ runDirectory: made.directory })
  const made = await fork({ at: 2 })
  expect((await told(made)).filter(({ type }) => type === 'HOOK_EXECUTION_AUDIT')).toHaveLength(3)
  await goOn(made)
  expect(readFileSync(join(made.workDirectory, 'ran.txt'), 'utf8')).toBe('x\n')
  expect(await workspace.read('ran.txt')).toBe('x\nx\nx\nx\n')
})

test('signed reasoning goes back as it came, and with another API the conversation goes on there', async () => {
  await using server = await startScriptedServer([
    {
      content: 'I look.',
      message: { reasoning_content: 'Where am I?', reasoning_details: [{ signature: 'sig/=' }] },
      tool_calls: [{ name: 'note', arguments: {} }],
    },
    { content: 'The end.' },
  ])
  const llm = { provider: 'openai', model: 'm', base_url: server.baseUrl }
  const { fork, goOn, agentFiles, env } = await original({ agent: { llm }, baseUrl: server.baseUrl })
  const credentials = { apiKey: 'test-key-not-real', baseUrl: server.baseUrl }
  await goOn(await fork({ at: 1 }), { credentials })
  const [, first, again] = server.requests().map(({ body }) => JSON.parse(body).messages.at(-2))
  expect(again).toEqual(first)
  expect(again).toMatchObject({ reasoning_details: [{ signature: 'sig/=' }] })

  const overrides = ['llm.provider=anthropic', 'llm.max_tokens=1000']
  const { agent } = await loadAgent(agentFiles.path, { env, overrides })
  const made = await fork({ at: 1, agent })
  expect(await goOn(made, { agent, credentials })).toMatchObject({ status: 'COMPLETED', answer: 'The end.' })
  const { messages } = JSON.parse(server.requests().at(-1)?.body ?? '{}')
  expect(messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(messages[1].content).toMatchObject([
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', name: 'note' },
  ])
})

test('what cannot be forked is refused, and nothing is made', async () => {
  const { fork, elsewhere, result, workspace } = await original()
  const name = result.runId.split('_').at(-1)
  const full = await temporaryWorkspace({ 'a.txt': '' }, { onCleanup: onTestFinished })
  const refused = async (given: Parameters<typeof fork>[0], code: string, message: string) =>
    expect(fork(given)).rejects.toMatchObject({ code: `ERR_ENGINE_FORK_${code}`, message })
  await refused({ at: 15 }, 'AT', `--at 15: ${name} has 4 iterations.`)
  await refused({ at: -1 }, 'AT', '--at -1: give a whole number, 0 for the task alone.')
  const inside = `--into is inside the workspace of ${name} (or contains it).`
  for (const into of [workspace.path, join(workspace.path, 'sub'), join(workspace.path, '..')])
    await refused({ at: 1, into }, 'INTO', inside)
  await refused(
    { at: 1, into: full.path, files: 'require' },
    'INTO',
    `--into ${full.path}: the directory is not empty. A fork never writes into existing files.`,
  )
  await refused(
    { at: 1, files: 'require' },
    'FILES',
    `${name} has no files of iteration 1: it ran with snapshots: off.`,
  )
  expect(readdirSync(elsewhere.path)).toEqual([])
  expect(readdirSync(full.path)).toEqual(['a.txt'])
  await expect(fork({ at: 1, run: join(elsewhere.path, 'gone') })).rejects.toMatchObject({
    code: 'ERR_RUN_NOT_FOUND',
  })
  await expect(fork({ at: 1, into: 'relative' })).rejects.toMatchObject({ code: 'ERR_ENGINE_USAGE' })
})

test('of a run that another program recorded the agent must be named', async () => {
  const { fork, result, load } = await original()
  const path = join(result.runDirectory, 'journal.jsonl')
  const text = readFileSync(path, 'utf8')
  writeFileSync(path, text.replace('"run_id"', '"imported":{"format":"x","sha256":"0"},"run_id"'))
  await expect(fork({ at: 1 })).rejects.toMatchObject({ code: 'ERR_ENGINE_NO_AGENT' })
  await expect(fork({ at: 1, agent: await load(), files: 'require' })).rejects.toThrow(': it was imported.')
  const made = await fork({ at: 1, agent: await load() })
  expect(await readRun(made.directory)).not.toHaveProperty('imported')
})

test('killed after any change of the disk, a fork is not there or is whole, with its snapshots; the run is as it was', async () => {
  const files = areInstalled('git') ? 'require' : 'without'
  const agent = { snapshots: files === 'require' ? 'every_iteration' : 'off' }
  const { result, elsewhere, agentFiles, workspace, goOn, fork } = await original({ agent })
  const program = fileURLToPath(new URL('./fork-process.mjs', import.meta.url))
  const preload = fileURLToPath(new URL('../../journal/test/kill-after.mjs', import.meta.url))
  const before = await stateOf(workspace.path)
  const step = process.env.DELTA_TESTS === 'real' ? 1 : 11
  const found = new Set<string>()
  for (let changes = 1; ; changes += step) {
    const into = join(elsewhere.path, `killed-${changes}`)
    const words = [agentFiles.path, result.runDirectory, '2', into, files]
    const forking = await runProcess([process.execPath, '--import', preload, program, ...words], {
      env: { PATH: process.env.PATH ?? '', KILL_AFTER: String(changes) },
    })
    const runs = await listRuns(into)
    for (const run of runs) {
      expect(run.problem).toBeUndefined()
      found.add(run.status)
      if (run.status === 'EMPTY') continue
      await fork({ at: 1, run: run.directory, files })
      expect(await goOn({ workDirectory: into, runId: run.runId })).toMatchObject({ status: 'COMPLETED' })
      expect(verifyRun(run.directory).ok).toBe(true)
    }
    if (forking.signal === null) {
      expect(forking, forking.stderr).toMatchObject({ exitCode: 0 })
      break
    }
  }
  expect([...found].sort()).toEqual(['EMPTY', 'INTERRUPTED'])
  expect(await stateOf(workspace.path)).toBe(before)
})
