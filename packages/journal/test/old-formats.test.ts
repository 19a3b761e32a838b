import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { migrateRun } from '../src/migrate.js'
import { afterTest, firstEvents, journalFile, readText, temporaryDirectory, toLines } from './helpers.js'
import {
  createRun,
  isKnownEvent,
  journalPath,
  latestRunId,
  listRuns,
  openRun,
  readJournal,
  readRequest,
  readRun,
  readTail,
  runDirectory,
  streamJournal,
  verifyJournal,
} from './of-runs.js'

const at = (second: number) => `2025-10-01T12:00:${String(second).padStart(2, '0')}.000Z`
const envelope = (seq: number, type: string, payload: object) => ({ seq, timestamp: at(seq), type, payload })
const openAiCall = (id: string, name: string, text: string) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
})

/** As the public implementation writes it: envelopes, calls in OpenAI's spelling, bare references. */
const publicJournal = [
  envelope(1, 'RUN_START', { run_id: 'old', task: 'list the files', agent_ref: '/agents/lister' }),
  envelope(2, 'USER_MESSAGE', { content: 'list the files' }),
  envelope(3, 'THOUGHT', {
    content: '',
    llm_invocation_ref: '1b4e28ba-2fa1-41d2-883f-0016d3cca427',
    tool_calls: [openAiCall('call_0', 'ls', '{"directory":"."}'), openAiCall('call_1', 'cat', '{}')],
  }),
  envelope(4, 'ACTION_REQUEST', {
    action_id: 'call_0',
    tool_name: 'ls',
    tool_args: { directory: '.' },
    resolved_command: 'ls .',
  }),
  envelope(5, 'ACTION_RESULT', {
    action_id: 'call_0',
    status: 'SUCCESS',
    observation_content: 'a\n',
    execution_ref: 'call_0',
  }),
  envelope(6, 'HOOK_EXECUTION_AUDIT', {
    hook_name: 'pre_llm_req',
    status: 'SUCCESS',
    io_path_ref: 'runtime_io/hooks/001_pre_llm_req/',
  }),
  envelope(7, 'ACTION_REQUEST', {
    action_id: 'call_1',
    tool_name: 'cat',
    tool_args: {},
    resolved_command: 'cat',
  }),
  envelope(8, 'ACTION_RESULT', {
    action_id: 'call_1',
    status: 'FAILED',
    observation_content: 'no',
    execution_ref: '../../etc',
  }),
  envelope(9, 'THOUGHT', {
    content: 'again',
    llm_invocation_ref: '6fa459ea-ee8a-3ca4-894e-db77e160355e',
    tool_calls: [openAiCall('call_0', 'ls', '{}')],
  }),
]

test('envelopes are read as the events of today, with the iterations, attempts and references they lack', async () => {
  const { events, warnings } = await readJournal(journalFile(toLines(publicJournal)))
  expect(warnings).toEqual([])
  expect(events.every(isKnownEvent)).toBe(true)
  expect(events[0]).toEqual({
    seq: 1,
    timestamp: at(1),
    type: 'ENGINE_START',
    run_id: 'old',
    task: 'list the files',
    agent_ref: '/agents/lister',
    agent_home: '/agents/lister',
    agent_name: 'lister',
    resumed: false,
  })
  expect(events[2]).toMatchObject({
    iteration: 1,
    llm_invocation_ref: 'io/invocations/1b4e28ba-2fa1-41d2-883f-0016d3cca427',
    tool_calls: [
      { id: 'call_0', action_id: 'call_0', name: 'ls', arguments: '{"directory":"."}' },
      { id: 'call_1', action_id: 'call_1', name: 'cat', arguments: '{}' },
    ],
  })
  expect(events[3]).toMatchObject({ iteration: 1, action_id: 'call_0', attempt: 1, resolved_command: 'ls .' })
  expect(events[4]).toMatchObject({
    iteration: 1,
    tool_name: 'ls',
    execution_ref: 'io/tool_executions/call_0',
  })
  expect(events[5]).toMatchObject({ io_path_ref: 'io/hooks/001_pre_llm_req/' })
  expect(events[7]).toMatchObject({ tool_name: 'cat', execution_ref: '../../etc' })
})

test('an id that a server used twice gets a second action id, so that every action id is unique', async () => {
  const { events } = await readJournal(journalFile(toLines(publicJournal)))
  expect(events[8]).toMatchObject({ iteration: 2, tool_calls: [{ id: 'call_0', action_id: '2-1' }] })
})

test('without calls in its thoughts a v1.1 journal is completed from the requests that follow', async () => {
  const lines = [
    envelope(1, 'RUN_START', { run_id: 'old', task: 't', agent_ref: '/a' }),
    envelope(2, 'THOUGHT', { content: 'look', llm_invocation_ref: 'ref' }),
    envelope(3, 'ACTION_REQUEST', {
      action_id: 'u1',
      tool_name: 'ls',
      tool_args: { d: 1 },
      resolved_command: 'ls',
    }),
    envelope(4, 'ACTION_RESULT', {
      action_id: 'u1',
      status: 'ERROR',
      observation_content: '',
      execution_ref: 'u1',
    }),
    envelope(5, 'RUN_END', { status: 'FAILED' }),
  ]
  const { events } = await readJournal(journalFile(toLines(lines)))
  expect(events[1]).toMatchObject({
    tool_calls: [{ id: 'u1', action_id: 'u1', name: 'ls', arguments: '{"d":1}' }],
  })
  expect(events[3]).toMatchObject({ tool_name: 'ls', status: 'ERROR' })
  expect(events[4]).toMatchObject({ type: 'ENGINE_END', run_id: 'old', status: 'FAILED', final_iteration: 1 })
})

test('the flat examples of v1.9, without numbers, ids or status, are read too', async () => {
  const lines = [
    { type: 'ENGINE_START', run_id: 'x', timestamp: at(1), agent_home: '/a', work_dir: '/w', config: {} },
    { type: 'THOUGHT', iteration: 1, timestamp: at(2), content: 'look' },
    {
      type: 'ACTION_REQUEST',
      iteration: 1,
      timestamp: at(3),
      tool_name: 'ls',
      tool_args: { directory: '.' },
    },
    {
      type: 'ACTION_RESULT',
      iteration: 1,
      timestamp: at(4),
      tool_name: 'ls',
      observation_content: 'a',
      exit_code: 1,
    },
    { type: 'ENGINE_END', run_id: 'x', timestamp: at(5), status: 'COMPLETED', final_iteration: 1 },
  ]
  const { events } = await readJournal(journalFile(toLines(lines)))
  expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5])
  expect(events[1]).toMatchObject({
    tool_calls: [{ action_id: '1-1', name: 'ls', arguments: '{"directory":"."}' }],
  })
  expect(events[2]).toMatchObject({ action_id: '1-1', attempt: 1 })
  expect(events[3]).toMatchObject({ action_id: '1-1', status: 'FAILED' })
})

test('every way of reading understands an old journal', async () => {
  const path = journalFile(toLines(publicJournal))
  const streamed = []
  for await (const event of streamJournal(path)) streamed.push(event)
  const { events } = await readJournal(path)
  expect(streamed).toEqual(events)
  expect((await readTail(path, { iterations: 1 })).events).toEqual([events[8]])
  expect(verifyJournal(path)).toMatchObject({ ok: true, events: 9 })
  expect(verifyJournal(path).text).toContain('An older version wrote this journal')
})

test('an old thought with a call that is not an object is damage, named by its line', async () => {
  const path = journalFile(toLines([...publicJournal, envelope(10, 'THOUGHT', { tool_calls: [null] })]))
  await expect(readJournal(path)).rejects.toMatchObject({ code: 'ERR_JOURNAL_CORRUPT', line: 10 })
  expect(verifyJournal(path).findings).toContainEqual(expect.objectContaining({ kind: 'damage', line: 10 }))
})

test('a numbered line of today that lost a field is damage, not an old format', async () => {
  const line = { seq: 1, timestamp: at(1), type: 'THOUGHT', iteration: 1, content: 'x' }
  await expect(readJournal(journalFile(toLines([line])))).rejects.toThrow(
    'THOUGHT: "tool_calls" is not a valid array',
  )
})

/** `.delta/<id>/` as the public implementation leaves it. */
function publicRun(): { work: string; directory: string } {
  const work = temporaryDirectory()
  const directory = join(work, '.delta', 'old')
  mkdirSync(join(directory, 'io', 'tool_executions', 'call_0'), { recursive: true })
  writeFileSync(join(directory, 'io', 'tool_executions', 'call_0', 'stdout.log'), 'a\n')
  writeFileSync(join(directory, 'journal.jsonl'), `${toLines(publicJournal)}{"torn`)
  writeFileSync(join(directory, 'metadata.json'), '{"run_id":"old"')
  writeFileSync(join(directory, 'engine.log'), 'log')
  const sent = join(directory, 'io', 'invocations', '1b4e28ba-2fa1-41d2-883f-0016d3cca427')
  mkdirSync(sent, { recursive: true })
  writeFileSync(join(sent, 'request.json'), '{\n  "messages": []\n}')
  return { work, directory }
}

/** `.delta/runs/<id>/` as v1.1 lays it out. */
function nestedRun(): { work: string; directory: string } {
  const work = temporaryDirectory()
  const directory = join(work, '.delta', 'runs', '20250926_120006_a1b2c3')
  for (const part of ['execution', 'runtime_io/tool_executions/call_0', 'configuration']) {
    mkdirSync(join(directory, part), { recursive: true })
  }
  writeFileSync(join(directory, 'runtime_io/tool_executions/call_0/stdout.log'), 'a\n')
  writeFileSync(join(directory, 'configuration', 'resolved_config.yaml'), 'name: lister')
  const [start, , ...rest] = publicJournal
  writeFileSync(
    join(directory, 'execution', 'journal.jsonl'),
    toLines([start, ...rest].filter((line) => line !== undefined)),
  )
  writeFileSync(join(work, '.delta', 'runs', 'LATEST'), '20250926_120006_a1b2c3\n')
  return { work, directory }
}

test('runs of both old layouts are listed, found by id, and read where they lie', async () => {
  const { work } = nestedRun()
  expect(await latestRunId(work)).toBe('20250926_120006_a1b2c3')
  const [run] = await listRuns(work)
  expect(run).toMatchObject({
    runId: '20250926_120006_a1b2c3',
    directory: runDirectory(work, '20250926_120006_a1b2c3'),
    status: 'INTERRUPTED',
    pendingCalls: [{ action_id: '2-1', requested: false }],
    metadata: { initial_message: 'list the files', agent_home: '/agents/lister', iterations: 2 },
  })
  expect(journalPath(run?.directory ?? '')).toBe(join(run?.directory ?? '', 'execution', 'journal.jsonl'))
  const { events } = await readJournal(journalPath(run?.directory ?? ''))
  expect(events[3]).toMatchObject({ execution_ref: 'runtime_io/tool_executions/call_0' })
})

test('a run of the public implementation is converted beside the old one when it is continued, and a notice says so', async () => {
  const { directory } = publicRun()
  const before = readText(join(directory, 'journal.jsonl'))
  const run = await openRun(directory)
  afterTest(run.close)
  expect(run.directory).toBe(`${directory}-continued`)
  expect(run.notices).toEqual([
    `The run in ${directory} has an old layout and has been converted; the old one was left as it is. It goes on in ${directory}-continued`,
  ])
  expect(readText(join(directory, 'journal.jsonl'))).toBe(before)
  expect(existsSync(join(directory, 'lease'))).toBe(false)
  const { events } = await readJournal(run.paths.journal)
  expect(events).toHaveLength(9)
  expect(events[0]).toMatchObject({ run_id: 'old-continued', migrated_from: directory })
  expect(readText(join(run.directory, 'io/tool_executions/call_0/stdout.log'))).toBe('a\n')
  expect(statSync(join(run.directory, 'io/tool_executions/call_0/stdout.log')).mode & 0o777).toBe(0o600)
  expect(statSync(join(run.directory, 'io')).mode & 0o777).toBe(0o700)
  expect(readdirSync(dirname(directory)).sort()).toEqual([
    '.gitignore',
    'LATEST',
    'VERSION',
    'old',
    'old-continued',
  ])
})

test('the requests of an old run are given back as they were kept, where they lie and where they were copied to', async () => {
  const { directory } = publicRun()
  expect(await readRequest(directory, 1)).toBe('{\n  "messages": []\n}')
  const run = await openRun(directory)
  afterTest(run.close)
  expect(await readRequest(run.directory, 1)).toBe('{\n  "messages": []\n}')
  await expect(readRequest(run.directory, 2)).rejects.toMatchObject({ code: 'ERR_REQUEST_NOT_FOUND' })
})

test('once it goes on, LATEST names the new run, and agent and workspace are named by their directories', async () => {
  const { work, directory } = publicRun()
  writeFileSync(join(work, '.delta', 'LATEST'), 'old\n')
  const run = await openRun(directory)
  afterTest(run.close)
  expect(await latestRunId(work)).toBe('old-continued')
  const names = { run_id: 'old-continued', agent_name: 'lister', workspace_id: basename(work) }
  expect(run.summary().metadata).toMatchObject(names)
  expect((await listRuns(work)).map(({ runId }) => runId)).toContain('old-continued')
})

test('an old run whose task only metadata.json names begins with it', async () => {
  const { directory } = publicRun()
  const lines = [envelope(1, 'RUN_START', { run_id: 'old' }), publicJournal[8]]
  writeFileSync(join(directory, 'journal.jsonl'), toLines(lines as object[]))
  writeFileSync(join(directory, 'metadata.json'), '{"initial_message":"list the files"}')
  const run = await openRun(directory)
  afterTest(run.close)
  expect((await run.events())[1]).toMatchObject({ type: 'USER_MESSAGE', content: 'list the files' })
})

test('continued again, it goes on where it was written anew, with the directories that the old run did not have', async () => {
  const { directory } = publicRun()
  rmSync(join(directory, 'io'), { recursive: true })
  const first = await openRun(directory)
  first.journal.append({ type: 'SYSTEM_MESSAGE', level: 'INFO', content: 'hello' })
  first.close()
  const second = await openRun(directory)
  afterTest(second.close)
  expect([second.directory, second.journal.lastSeq]).toEqual([`${directory}-continued`, 10])
  expect(second.notices[0]).toContain('had been converted already')
  for (const path of [second.paths.invocations, second.paths.toolExecutions, second.paths.hooks])
    expect(existsSync(path), path).toBe(true)
})

test('a run of v1.1 keeps its id in the layout of today, its task becomes the first message, its records move along', async () => {
  const { work, directory } = nestedRun()
  const run = await openRun(directory)
  afterTest(run.close)
  expect(run.directory).toBe(join(work, '.delta', '20250926_120006_a1b2c3'))
  expect(runDirectory(work, run.runId)).toBe(run.directory)
  const { events } = await readJournal(run.paths.journal)
  expect(events.slice(0, 3).map((event) => [event.seq, event.type])).toEqual([
    [1, 'ENGINE_START'],
    [2, 'USER_MESSAGE'],
    [3, 'THOUGHT'],
  ])
  expect(events[4]).toMatchObject({ execution_ref: 'io/tool_executions/call_0' })
  expect(readText(join(run.directory, 'io/tool_executions/call_0/stdout.log'))).toBe('a\n')
  expect(readText(join(run.directory, 'configuration/resolved_config.yaml'))).toBe('name: lister')
  expect((await readRun(run.directory)).pendingCalls).toHaveLength(1)
  expect((await listRuns(work)).map((each) => each.directory)).toEqual([run.directory])
  expect(readText(join(work, '.delta', 'VERSION'))).toBe('1.10\n')
})

test.skipIf(process.platform === 'win32')(
  'whether a journal is an old one, its first line tells: a large one is not read into memory for that',
  async () => {
    const run = await createRun(temporaryDirectory(), { events: firstEvents })
    run.close()
    truncateSync(run.paths.journal, 3 * 1024 ** 3) // more than Node reads at once; the rest is a hole
    expect(migrateRun(run.directory)).toBeUndefined()
  },
)
