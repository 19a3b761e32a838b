import {
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { delta, startDelta } from './delta.js'

const SAY = { name: 'say', description: 'Says.', exec: 'echo ${text}' }
const CALL = { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] }

/** A recipe whose first source is another one in every iteration: it prints how long the journal is. */
const CHANGING_FIRST = `total_max_tokens: 5000
sources:
  - type: computed_file
    id: length
    generator: { command: [sh, -c, 'wc -l < "$JOURNAL_PATH"'] }
    output_path: "\${RUN_DIR}/length.txt"
  - { type: file, id: system_prompt, path: "\${AGENT_HOME}/system_prompt.md", max_tokens: 200 }
  - { type: file, id: guide, path: "\${CWD}/DELTA.md", on_missing: skip }
  - { type: journal, id: conversation }
`
const PROMPT = 'You are a test. '.repeat(100)

function changingAgent(): Promise<TemporaryWorkspace> {
  const turns = [CALL, CALL, { content: 'Done.' }]
  const files = { 'context.yaml': CHANGING_FIRST, 'system_prompt.md': PROMPT }
  return temporaryAgent({ tools: [SAY], turns, files })
}

test('context build prints the very request that continuing with that message sends', async () => {
  await using server = await startScriptedServer([{ content: 'First.' }, { content: 'Second.' }])
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY] })
  await using workspace = await temporaryWorkspace({})
  const where = ['-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', ...where, '-q'], { env })
  const before = await workspace.files()

  const built = await delta(['context', 'build', ...where, '-m', 'On'], { env })
  expect(built).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await workspace.files()).toEqual(before)
  expect(server.requests()).toHaveLength(1)

  await delta(['continue', ...where, '-m', 'On', '-q'], { env })
  expect(JSON.parse(built.stdout)).toEqual(JSON.parse(server.requests()[1]?.body ?? ''))
})

test('context build without a run prints what a new one sends first, and says when the message is missing', async () => {
  await using agent = await temporaryAgent({ tools: [SAY] })
  await using workspace = await temporaryWorkspace({})
  const build = ['context', 'build', '--agent', agent.path, '-w', workspace.path]
  const { stdout, stderr } = await delta([...build, '-m', 'Go'])
  expect(stderr).toBe('')
  expect(JSON.parse(stdout).messages).toEqual([
    { role: 'system', content: expect.stringContaining('You are a test.') },
    { role: 'user', content: 'Go' },
  ])
  expect(JSON.parse(stdout).tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
    'say',
    'ask_human',
  ])
  expect(await workspace.files()).toEqual([])

  const silent = await delta(build)
  expect(silent.stderr).toMatch(/^There is no run yet: /)
  expect(JSON.parse(silent.stdout).messages).toHaveLength(1)
})

test('context build shows a call without a result as interrupted, and says so', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  const { stdout, stderr } = await delta(['context', 'build', '-w', workspace.path])
  expect(stderr).toMatch(/^1 call has no result yet and is shown as interrupted; /)
  expect(JSON.parse(stdout).messages.at(-1)).toMatchObject({ role: 'tool' })
})

test('context explain prints messages, bytes and tokens of each source, what was cut and what was left out', async () => {
  await using agent = await changingAgent()
  await using workspace = await temporaryWorkspace({})
  const explain = ['context', 'explain', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  const { stdout, exitCode } = await delta(explain)
  expect(exitCode).toBe(0)
  const lines = stdout.trimEnd().split('\n')
  expect(lines[0]).toBe('The first iteration of a new run, as it would be sent now:')
  expect(lines[1]).toMatch(/^SOURCE +TYPE +MESSAGES +BYTES +TOKENS +NOTE$/)
  expect(lines[2]).toMatch(/^length +computed_file +1 +\d+ +\d+$/)
  expect(lines[3]).toMatch(/^system_prompt +file +1 +\d+ +(1\d\d|200) +.*cut/)
  expect(lines[4]).toMatch(/^guide +file +0 +0 +0 +left out: missing$/)
  expect(lines[5]).toMatch(/^conversation +journal +1 +\d+ +\d+$/)
  expect(lines[6]).toMatch(/^all +3 +\d+ +\d+ +of at most 5000 tokens$/)
  expect(lines).toHaveLength(7)
})

test('context explain says for each request which source broke the cache, and what it cost', async () => {
  await using agent = await changingAgent()
  await using workspace = await temporaryWorkspace({})
  const where = ['-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', ...where, '--run-id', 'one', '-q'])
  const { stdout } = await delta(['context', 'explain', ...where])
  expect(stdout).toMatch(/^Iteration 4 of run one, as it would be sent now:$/m)
  for (const iteration of [2, 3, 4])
    expect(stdout).toMatch(
      new RegExp(
        `^  iteration ${iteration}: \`length\` changed at byte \\d+: \\d+ tokens after it cannot be`,
        'm',
      ),
    )
  expect(stdout).toContain('Put a source that changes often after those that do not.')

  const json = JSON.parse((await delta(['context', 'explain', ...where, '--json'])).stdout)
  expect(json).toMatchObject({ run_id: 'one', iteration: 4, total: { limit_tokens: 5000 } })
  expect(json.sources.map((source: { source_id: string }) => source.source_id)).toEqual([
    'length',
    'system_prompt',
    'guide',
    'conversation',
  ])
  expect(json.cache_breaks[0]).toMatchObject({
    iteration: 2,
    source: 'length',
    tokens_after: expect.any(Number),
  })
})

test('context explain says what to do about a conversation that drops an iteration each time', async () => {
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [CALL, CALL, CALL, { content: 'Done.' }],
    files: { 'context.yaml': 'sources: [{ type: journal, id: talk, max_iterations: 2 }]\n' },
  })
  await using workspace = await temporaryWorkspace({})
  const where = ['-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', ...where, '-q'])
  const { stdout } = await delta(['context', 'explain', ...where])
  expect(stdout).toMatch(
    /^ {2}iteration 4: `talk` changed at byte \d+: \d+ tokens after it cannot be cached$/m,
  )
  expect(stdout).toMatch(/max_iterations does so each time, a token limit in large steps\.\n$/)
  expect(stdout).not.toContain('A source that often changes')
})

const MERGED = `header: "== \${id} =="
merge: true
sources:
  - { type: file, path: "\${AGENT_HOME}/system_prompt.md" }
  - { type: text, id: rules, text: "Work in \${CWD}.", header: false }
  - { type: text, id: example, text: "Größe zählt.", role: user }
  - { type: journal, max_iterations: 1, dropped: "[\${count} left out]" }
`

test('an agent owns every byte of its prompt, and each source of a merged message is accounted for', async () => {
  await using server = await startScriptedServer([CALL, CALL, { content: 'Done.' }])
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const files = { 'context.yaml': MERGED, 'system_prompt.md': 'You say.\n' }
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY], files })
  await using workspace = await temporaryWorkspace({})
  const where = ['-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', ...where, '--run-id', 'one', '-q'], { env })
  const bodies = server.requests().map(({ body }) => body)
  const system = `== system_prompt.md ==\n\nYou say.\n\nWork in ${workspace.path}.`
  const contents = JSON.parse(bodies[2] ?? '').messages.map(({ content }: { content: string }) => content)
  expect(contents).toEqual([system, '== example ==\n\nGröße zählt.', 'Go', '[1 left out]', null, 'hi\n'])

  const shown = await delta(['show', ...where, '--request', '3'])
  expect(shown.stdout.trimEnd()).toBe(bodies[2])
  const record = (await workspace.files()).find((file) => /invocations\/.*_3\.json$/.test(file)) ?? ''
  const { blocks, request } = JSON.parse(await workspace.read(record))
  const sent = blocks.slice(0, 3).map((block: { message: number; from: number; to: number }) => {
    const bytes = Buffer.from(request.messages[block.message].content)
    return bytes.toString('utf8', block.from, block.to)
  })
  expect(sent).toEqual([
    '== system_prompt.md ==\n\nYou say.\n',
    `Work in ${workspace.path}.`,
    '== example ==\n\nGröße zählt.',
  ])
  expect(blocks.map((block: { header_bytes?: number }) => block.header_bytes)).toEqual([24, 0, 15, undefined])

  const step = await delta(['show', ...where, '--step', '3'])
  expect(step.stdout).toMatch(
    /^ +rules: 1 message, \d+ bytes, .* \(in one message with system_prompt\.md\)$/m,
  )
  const { stdout } = await delta(['context', 'explain', ...where], { env })
  expect(stdout).toMatch(/^rules +text +1 +\d+ +\d+ +in one message with system_prompt\.md$/m)
  const built = await delta(['context', 'build', ...where], { env })
  const { messages } = JSON.parse(built.stdout)
  expect(messages[0]).toEqual({ role: 'system', content: system })
  const [, count, bytes] = /^all +(\d+) +(\d+)/m.exec(stdout) ?? []
  const sizes = messages.map((message: object) => Buffer.byteLength(JSON.stringify(message)))
  expect([Number(count), Number(bytes)]).toEqual([
    messages.length,
    sizes.reduce((sum: number, size: number) => sum + size),
  ])
})

test('a server that takes one system message is answered by merge: true, as its error says', async () => {
  const refusal = { status: 400, message: 'System message must be at the beginning.' }
  await using server = await startScriptedServer([{ before: [refusal], content: 'Done.' }])
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const sources = MERGED.slice(MERGED.indexOf('sources:'))
  const files = { 'context.yaml': sources, 'system_prompt.md': 'You say.\n' }
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, files })
  await using workspace = await temporaryWorkspace({})
  const run = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--new']
  const refused = await delta(run, { env })
  expect(refused.exitCode).toBe(1)
  expect(refused.stderr).toContain('Write merge: true in context.yaml: they are then sent as one message.')

  await agent.write('context.yaml', `merge: true\n${sources}`)
  expect(await delta(run, { env })).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const systems = server.requests().map(({ body }) => body.split('"role":"system"').length - 1)
  expect(systems).toEqual([2, 1])
})

test('a wrong header and the role of a journal are refused with their place', async () => {
  const recipe = 'header: 5\nsources:\n  - { type: journal, role: user }\n'
  await using agent = await temporaryAgent({ files: { 'context.yaml': recipe } })
  await using workspace = await temporaryWorkspace({})
  const ran = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(ran.exitCode).toBe(2)
  expect(ran.stderr).toContain(
    'context.yaml:1:9: header: must be true, false or a string with ${id}, got 5.\n  header: 5\n          ^\n',
  )
  expect(ran.stderr).toContain(
    'context.yaml:3:22: sources[0]: unknown key "role".\n  - { type: journal, role: user }\n                     ^\nKnown here: type, max_iterations,',
  )
})

test('context explain finds nothing to say of a conversation that only grows', async () => {
  await using agent = await temporaryAgent({ tools: [SAY], turns: [CALL, CALL, { content: 'Done.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  const { stdout } = await delta(['context', 'explain', '-w', workspace.path, '--json'])
  expect(JSON.parse(stdout).cache_breaks).toEqual([])
})

test('pass_env gives a generator the key that the run has, also from .env, and context build does the same', async () => {
  const recipe = `sources:
  - type: computed_file
    id: keys
    generator: { command: [sh, -c, 'echo "[$DELTA_API_KEY] [$OPENAI_API_KEY]"'], pass_env: [DELTA_API_KEY] }
    output_path: "\${RUN_DIR}/keys.md"
  - { type: journal, id: conversation }
`
  await using agent = await temporaryAgent({
    turns: [{ content: 'Done.' }],
    files: { 'context.yaml': recipe, '.env': 'DELTA_API_KEY=from-the-agent\n' },
  })
  await using workspace = await temporaryWorkspace({})
  const env = { OPENAI_API_KEY: 'not-asked-for' }
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], { env })
  const sent = await delta(['show', '-w', workspace.path, '--request', '1'])
  const built = await delta(['context', 'build', '-w', workspace.path], { env })
  for (const { stdout } of [sent, built])
    expect(JSON.parse(stdout).messages[0].content).toBe('# Context Block: keys\n\n[[REDACTED]] []\n') // it had the one key
})

test('context build refuses an address of the workspace as run does, and takes it with --trust-workspace-env', async () => {
  const recipe = `sources:
  - type: computed_file
    id: key
    generator: { command: [sh, -c, 'echo "[$DELTA_API_KEY]"'], pass_env: [DELTA_API_KEY] }
    output_path: "\${RUN_DIR}/key.md"
  - { type: journal, id: conversation }
`
  await using agent = await temporaryAgent({
    agent: { llm: { model: 'scripted' } },
    files: { 'context.yaml': recipe },
  })
  await using workspace = await temporaryWorkspace({
    '.env': 'DELTA_BASE_URL=https://elsewhere.example/v1\n',
  })
  const args = ['context', 'build', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const refused = await delta(args, { env })
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain('--trust-workspace-env')
  const trusted = await delta([...args, '--trust-workspace-env'], { env })
  expect(JSON.parse(trusted.stdout).messages[0].content).toContain('[[REDACTED]]')
})

test('context build fails of a source as a run does: 1 for one that is missing then, 2 for an agent that cannot load', async () => {
  const sources = (path: string) =>
    `sources: [{ type: file, id: plan, path: "${path}" }, { type: journal }]\n`
  for (const [path, code] of [
    ['${CWD}/PLAN.md', 1],
    ['${AGENT_HOME}/PLAN.md', 2],
  ] as const) {
    await using agent = await temporaryAgent({ files: { 'context.yaml': sources(path) } })
    await using workspace = await temporaryWorkspace({})
    const where = ['--agent', agent.path, '-w', workspace.path, '-m', 'Go']
    for (const command of [['context', 'build'], ['context', 'explain'], ['run']]) {
      const { exitCode, stdout, stderr } = await delta([...command, ...where])
      expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' })
      expect(stderr).toContain('PLAN.md does not exist.')
      expect(stderr).toContain('Create the file, or say that it may be missing: on_missing: skip')
    }
  }
})

test('context build of a run that is not there, or with a source that is missing, names it', async () => {
  await using agent = await temporaryAgent({
    files: { 'context.yaml': 'sources: [{ type: file, path: "${CWD}/PLAN.md" }, { type: journal }]\n' },
  })
  await using workspace = await temporaryWorkspace({})
  const build = ['context', 'build', '--agent', agent.path, '-w', workspace.path]
  const missing = await delta([...build, '-m', 'Go'])
  expect(missing).toMatchObject({ exitCode: 1, stdout: '' })
  expect(missing.stderr).toContain('PLAN.md')
  const noRun = await delta([...build, '--run-id', 'nope'])
  expect(noRun).toMatchObject({ exitCode: 2, stdout: '' })
  expect(noRun.stderr).toContain('No run nope in ')
})

test('context build and explain refuse a workspace that is not there, also where a token counter would run in it', async () => {
  await using agent = await temporaryAgent({
    files: { 'context.yaml': 'token_counter: { command: [cat] }\nsources: [{ type: journal }]\n' },
  })
  await using workspace = await temporaryWorkspace({})
  for (const command of ['build', 'explain']) {
    const typed = ['context', command, '--agent', agent.path, '-w', 'typo']
    expect(await delta(typed, { cwd: workspace.path })).toMatchObject({
      exitCode: 2,
      stderr: 'Error: -w typo: there is no such directory. Create it, or name another one.\n',
    })
  }
})

describe('Ctrl+C while a generator of context build runs', () => {
  const STUBBORN = (ignored: string) => `sources:
  - type: computed_file
    id: slow
    generator: { command: [sh, -c, 'trap "" ${ignored}; echo > "$CWD/begun"; while :; do sleep 1; done'] }
    output_path: "\${CWD}/slow.txt"
  - { type: journal, id: conversation }
`

  test('stops it, says so, and exits like any command that a signal ended', async () => {
    await using agent = await temporaryAgent({
      turns: [{ content: 'Hi.' }],
      files: { 'context.yaml': STUBBORN('HUP') },
    })
    await using workspace = await temporaryWorkspace({})
    const build = startDelta(['context', 'build', '--agent', agent.path, '-w', workspace.path])
    await waitForFile(`${workspace.path}/begun`)
    build.kill('SIGINT')
    const { exitCode, stdout, stderr } = await build.result
    expect({ exitCode, stdout }).toEqual({ exitCode: 130, stdout: '' })
    expect(stderr).toContain('SIGINT: stopping; once more to stop at once.\nError: Stopped (SIGINT).\n')
  })

  test('and once more, ends it at once', async () => {
    await using agent = await temporaryAgent({
      turns: [{ content: 'Hi.' }],
      files: { 'context.yaml': STUBBORN('INT TERM') },
    })
    await using workspace = await temporaryWorkspace({})
    const build = startDelta(['context', 'build', '--agent', agent.path, '-w', workspace.path])
    await waitForFile(`${workspace.path}/begun`)
    build.kill('SIGINT')
    await build.waitForOutput('once more', { stream: 'stderr' })
    build.kill('SIGINT')
    const { exitCode, stderr } = await build.result
    expect(exitCode).toBe(130)
    expect(stderr).toMatch(/once more to stop at once\.\nStopped at once\.\n$/)
  })
})
