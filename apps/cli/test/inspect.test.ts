import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { delta, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }
const SAY = { name: 'say', description: 'Says.', exec: 'echo ${text}' }

/** A workspace with a completed run "done" and a waiting run "asks". */
async function twoRuns(): Promise<TemporaryWorkspace> {
  const workspace = await temporaryWorkspace({})
  await using done = await temporaryAgent({
    tools: [SAY],
    turns: [
      { content: 'I say it.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      { content: 'Said.' },
    ],
  })
  await using asks = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }],
  })
  for (const [agent, id] of [
    [done, 'done'],
    [asks, 'asks'],
  ] as const) {
    await delta([
      'run',
      '--agent',
      agent.path,
      '-m',
      `Task ${id}`,
      '-w',
      workspace.path,
      '--run-id',
      id,
      '-q',
    ])
  }
  return workspace
}

test('list-runs shows each run with status, age, iterations and task, newest first', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['list-runs', '-w', workspace.path])
  const [header, ...rows] = stdout.trimEnd().split('\n')
  expect(header).toMatch(/^RUN\s+STATUS\s+AGE\s+ITERATIONS\s+TASK$/)
  expect(rows).toEqual([
    expect.stringMatching(/^asks\s+WAITING_FOR_INPUT\s+\d+s\s+1\s+Task asks$/),
    expect.stringMatching(/^done\s+COMPLETED\s+\d+s\s+2\s+Task done$/),
  ])
})

test('list-runs --resumable --first prints one id for a script, and exits with 1 when there is none', async () => {
  await using workspace = await twoRuns()
  expect(await delta(['list-runs', '--resumable', '--first', '-w', workspace.path])).toMatchObject({
    exitCode: 0,
    stdout: 'asks\n',
    stderr: '',
  })
  expect(await delta(['list-runs', '--status', 'FAILED', '--first', '-w', workspace.path])).toMatchObject({
    exitCode: 1,
    stdout: '',
  })
  expect((await delta(['list-runs', '--status', 'DONE', '-w', workspace.path])).exitCode).toBe(2)
})

test('list-runs --json has every field of metadata.json, and a workspace without runs is an empty list', async () => {
  await using workspace = await twoRuns()
  const runs = JSON.parse((await delta(['list-runs', '--json', '-w', workspace.path])).stdout)
  expect(runs[1]).toMatchObject({
    run_id: 'done',
    status: 'COMPLETED',
    initial_message: 'Task done',
    iterations: 2,
    run_directory: join(workspace.path, '.delta/done'),
  })
  await using empty = await temporaryWorkspace({})
  expect((await delta(['list-runs', '--json', '-w', empty.path])).stdout).toBe('[]\n')
})

test('a run that is damaged or cannot be read keeps no other from being listed, and stderr says what is wrong with it', async () => {
  await using workspace = await twoRuns()
  const journal = join(workspace.path, '.delta/asks/journal.jsonl')
  await rm(journal)
  await mkdir(journal) // nobody can read a directory as a file, not even root
  const problem = `${journal}: Could not be read: it is a directory, not a file (EISDIR).`

  const listed = await delta(['list-runs', '-w', workspace.path])
  expect(listed.exitCode).toBe(0)
  expect(listed.stdout).toMatch(/^done\s+COMPLETED\s.*\nasks\s+DAMAGED\s+0$/m)
  expect(listed.stderr).toBe(
    `Run asks is damaged: ${problem}\nPut back the file that was there, or delete the run.\n`,
  )
  const runs = JSON.parse((await delta(['list-runs', '--json', '-w', workspace.path])).stdout)
  expect(runs).toMatchObject([
    { run_id: 'done', status: 'COMPLETED' },
    { run_id: 'asks', status: 'DAMAGED', problem: expect.stringContaining(problem) },
  ])

  const shown = await delta(['show', 'asks', '-w', workspace.path])
  expect(shown).toMatchObject({ exitCode: 1, stdout: '' })
  expect(shown.stderr).toContain(`Error: ${problem}\n`)
})

test('a damaged run is not offered to a script that resumes runs', async () => {
  await using workspace = await twoRuns()
  const path = join(workspace.path, '.delta/asks/journal.jsonl')
  await writeFile(path, `${await readFile(path, 'utf8')}no event\n{"seq":99}\n`)
  const result = await delta(['list-runs', '--resumable', '--first', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
})

test('a time that is none is a question mark in list-runs, and no number', async () => {
  await using workspace = await twoRuns()
  const path = join(workspace.path, '.delta/done/journal.jsonl')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/"timestamp":"[^"]*"(?=[^\n]*\n$)/, '"timestamp":"yesterday"'))
  const { stdout } = await delta(['list-runs', '-w', workspace.path])
  expect(stdout).toMatch(/^done\s+COMPLETED\s+\?\s+2\s+Task done$/m)
})

test('show prints the latest run as a transcript, or the one that is named', async () => {
  await using workspace = await twoRuns()
  const latest = await delta(['show', '-w', workspace.path])
  expect(latest.stdout).toContain('   ? Which?\n')
  const { stdout } = await delta(['show', 'done', '-w', workspace.path])
  expect(stdout.split('\n').slice(1)).toEqual([
    '> Task done',
    '1. I say it.',
    '   $ echo hi',
    '     hi',
    expect.stringMatching(/^ {5}exit 0, \d+ ms$/),
    '2. Said.',
    'COMPLETED after 2 iterations',
    '',
  ])
})

test('show --step prints one iteration and what the model saw before it', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['show', 'done', '--step', '2', '-w', workspace.path])
  const whole = `delta show done -w ${workspace.path} --request 2`
  expect(stdout).toContain(`The model saw (all of it: ${whole}):\n   system_prompt: 1 message`)
  const inside = await delta(['show', '--step', '1'], { cwd: workspace.path })
  expect(inside.stdout).toContain('The model saw (all of it: delta show --request 1):\n')
  expect(stdout).toMatch(/^2\. Said\.$/m)
  expect(stdout).not.toContain('I say it.')

  const beyond = await delta(['show', 'done', '--step', '3', '-w', workspace.path])
  expect(beyond).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --step 3: run done has the iterations 1 to 2.\n',
  })
})

test.each([
  ['--step', '1', '--follow'],
  ['--request', '1', '--follow'],
  ['--step', '1', '--request', '1'],
])('show refuses %s %s %s: each says what is to be shown', async (...flags) => {
  await using workspace = await twoRuns()
  const result = await delta(['show', 'done', '-w', workspace.path, ...flags])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toMatch(/^Error: --\S+ and --\S+ exclude each other: .* Leave one out\.\n$/)
})

test('show --request of an iteration that is not there names those that are', async () => {
  await using workspace = await twoRuns()
  const beyond = await delta(['show', 'done', '--request', '99', '-w', workspace.path])
  expect(beyond).toMatchObject({ exitCode: 2, stdout: '' })
  expect(beyond.stderr).toBe(
    'Error: --request 99: There is no request of iteration 99. There are those of the iterations 1 to 2.\n',
  )
})

test('show --request prints the body that was sent, byte for byte', async () => {
  await using server = await startScriptedServer([
    { content: null, tool_calls: [{ name: 'say', arguments: { text: 'ü "quoted" \u2028' } }] },
    { content: 'Done.' },
  ])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], { env: KEY })
  for (const [index, request] of server.requests().entries()) {
    const shown = await delta(['show', '--request', String(index + 1), '-w', workspace.path])
    expect(shown.stdout).toBe(request.body)
  }
  const missing = await delta(['show', '--request', '9', '-w', workspace.path])
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
})

test('show --follow prints what comes until the run ends', async () => {
  await using server = await startScriptedServer([{ content: 'The end.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)
  const follower = startDelta(['show', '--follow', '-w', workspace.path])
  await follower.waitForOutput('> Go\n')
  await server.release('thinking')
  const { stdout, exitCode } = await follower.result
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/1\. The end\.\nCOMPLETED after 1 iteration.*\n$/)
  await engine.result
})

test('show --json prints the journal lines as they are', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['show', 'done', '--json', '-w', workspace.path])
  expect(stdout).toBe(await workspace.read('.delta/done/journal.jsonl'))
})

test.each([['show'], ['list-runs']])(
  '%s of a workspace that is not there is a usage error',
  async (command) => {
    await using workspace = await temporaryWorkspace({})
    const result = await delta([command, '-w', 'a/b'], { cwd: workspace.path })
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toBe(
      `Error: -w a/b: there is no such directory. The nearest that exists is ${workspace.path}\n`,
    )
  },
)

test('show and continue of a run that is not there name the command that lists the others', async () => {
  await using workspace = await twoRuns()
  const shown = await delta(['show', 'nope', '-w', workspace.path])
  expect(shown).toMatchObject({ exitCode: 2, stdout: '' })
  expect(shown.stderr).toBe(
    `Error: No run nope in ${workspace.path}. There are others: delta list-runs -w ${workspace.path}\n`,
  )
  expect(await delta(['continue', '--run-id', 'nope', '-w', workspace.path])).toEqual(shown)
})

test('a run or a workspace that is not there is named', async () => {
  await using workspace = await twoRuns()
  const none = await delta(['show', 'nope', '-w', workspace.path])
  expect(none).toMatchObject({ exitCode: 2, stdout: '' })
  expect(none.stderr).toContain(`No run nope in ${workspace.path}`)
  const nowhere = await delta(['show', '-w', '/nowhere/at/all'])
  expect(nowhere).toMatchObject({ exitCode: 2, stdout: '' })
  expect(nowhere.stderr).toContain(
    '-w /nowhere/at/all: there is no such directory. The nearest that exists is /\n',
  )
  await using empty = await temporaryWorkspace({})
  expect((await delta(['show', '-w', empty.path])).stderr).toContain(`No runs in ${empty.path}`)
  const outside = await delta(['show', '../../etc', '-w', workspace.path])
  expect(outside).toMatchObject({ exitCode: 2, stdout: '' })
})

test('config prints the resolved agent and where settings come from, never a secret', async () => {
  await using agent = await temporaryAgent({
    agent: { imports: ['more.yaml'], llm: { model: 'gpt-4o', api_key_hint: 'x' } },
    tools: [SAY],
    files: {
      'more.yaml': 'tools:\n  - name: list\n    exec: ls\n',
      '.env': 'DELTA_API_KEY=test-key-not-real\n',
    },
  })
  await using workspace = await temporaryWorkspace({})
  const { stdout, exitCode } = await delta(['config', '--agent', agent.path, '-w', workspace.path])
  expect(exitCode).toBe(0)
  expect(stdout).not.toContain('test-key-not-real')
  const shown = parse(stdout)
  expect(shown.settings).toEqual([{ name: 'DELTA_API_KEY', from: join(agent.path, '.env') }])
  expect(shown.agent.tools.map((tool: { name: string }) => tool.name)).toEqual(['list', 'say'])
  expect(shown.context.sources).toHaveLength(2)
  const json = await delta(['config', '--agent', agent.path, '-w', workspace.path, '--json'])
  expect(JSON.parse(json.stdout)).toEqual(shown)
})

test('journal verify finds nothing wrong with a healthy journal and exits with 0', async () => {
  await using workspace = await twoRuns()
  const { exitCode, stdout } = await delta(['journal', 'verify', 'done', '-w', workspace.path])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('7 events.\nThe journal can be read and continued.\n')
})

test('a damaged line stops continue with file and line, verify names it, repair sets it aside, and the run goes on', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'First.' }, { content: 'Second.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  const path = join(workspace.path, '.delta/one/journal.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  const damaged = [...lines.slice(0, 2), '{"seq":2,"type"', ...lines.slice(2)].join('\n')
  await writeFile(path, damaged)

  const refused = await delta(['continue', '-w', workspace.path, '-m', 'On'])
  expect(refused.exitCode).not.toBe(0)
  expect(refused.stderr).toMatch(/journal\.jsonl:3/)
  expect(refused.stderr).toContain('delta journal repair')
  expect(await readFile(path, 'utf8')).toBe(damaged)

  const found = await delta(['journal', 'verify', '-w', workspace.path, '--json'])
  expect(found.exitCode).toBe(1)
  expect(JSON.parse(found.stdout)).toMatchObject({ ok: false, findings: [{ kind: 'damage', line: 3 }] })
  expect((await delta(['list-runs', '-w', workspace.path])).stdout).toMatch(/^one\s+DAMAGED/m)

  const repaired = await delta(['journal', 'repair', '-w', workspace.path])
  expect(repaired.exitCode).toBe(0)
  expect(repaired.stdout).toContain('The journal as it was is kept, whole, in ')
  expect(await readFile(path, 'utf8')).toBe(lines.join('\n'))
  expect(await delta(['continue', '-w', workspace.path, '-m', 'On'])).toMatchObject({
    exitCode: 0,
    stdout: 'Second.\n',
  })
})

test.each([
  ['emptied', () => ''],
  ['removed', () => undefined],
  ['without its first line', (text: string) => text.slice(text.indexOf('\n') + 1)],
])(
  'a journal that was %s is a finding, and repair says that the run cannot be continued',
  async (_, change) => {
    await using workspace = await twoRuns()
    const path = join(workspace.path, '.delta/done/journal.jsonl')
    const changed = change(await readFile(path, 'utf8'))
    if (changed === undefined) await rm(path)
    else await writeFile(path, changed)

    const found = await delta(['journal', 'verify', 'done', '-w', workspace.path])
    expect(found.exitCode).toBe(1)
    expect(found.stdout).toContain(
      'It has no ENGINE_START, which names the agent: the run cannot be continued.',
    )
    expect(found.stdout).not.toContain('can be read and continued')
    const repaired = await delta(['journal', 'repair', 'done', '-w', workspace.path])
    expect(repaired.exitCode).toBe(1)
    expect(repaired.stdout).toContain('the run cannot be continued.\nPut the journal back from a copy')
    const refused = await delta(['continue', '-w', workspace.path, '--run-id', 'done', '-m', 'On'])
    expect(refused.exitCode).not.toBe(0)
  },
)
