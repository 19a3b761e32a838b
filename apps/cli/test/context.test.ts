import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, KEY, scene, served, startDelta } from './delta.js'

const SAY = { name: 'say', description: 'Says.', exec: 'echo ${text}' }
const CALL = calls('say', { text: 'hi' })

test('context build prints the very request that continuing with that message sends, and changes nothing', async () => {
  const { run, at, server, workspace } = await served([{ content: 'First.' }, { content: 'Second.' }], {
    tools: [SAY],
  })
  await run('-q')
  const before = await workspace.files()
  const built = await at('context build', '-m', 'On')
  expect(built).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await workspace.files()).toEqual(before)
  expect(server.requests()).toHaveLength(1)
  await at('continue', '-m', 'On', '-q')
  expect(JSON.parse(built.stdout)).toEqual(server.requests()[1]?.json)
})

test('context build without a run prints what a new one sends first, and says when the message is missing', async () => {
  const { at, agent, workspace } = await scene({ tools: [SAY] })
  const { stdout, stderr } = await at('context build', '--agent', agent.path, '-m', 'Go')
  expect(stderr).toBe('')
  const { messages, tools } = JSON.parse(stdout)
  expect(messages).toEqual([
    { role: 'system', content: expect.stringContaining('You are a test.') },
    { role: 'user', content: 'Go' },
  ])
  expect(tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual([
    'say',
    'ask_human',
  ])
  expect(await workspace.files()).toEqual([])
  const silent = await at('context build', '--agent', agent.path)
  expect(silent.stderr).toMatch(/^There is no run yet: /)
  expect(JSON.parse(silent.stdout).messages).toHaveLength(1)
})

test('context build shows a call without a result as interrupted, and says so', async () => {
  const { run, at } = await scene({ turns: [calls('ask_human', { prompt: 'Which?' })] })
  await run('-q')
  const { stdout, stderr } = await at('context build')
  expect(stderr).toMatch(/^1 call has no result yet and is shown as interrupted; /)
  expect(JSON.parse(stdout).messages.at(-1)).toMatchObject({ role: 'tool' })
})

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

test('context explain prints the size of each source, what was cut or left out, and which source broke the cache', async () => {
  const { run, at, agent } = await scene({
    tools: [SAY],
    turns: [CALL, CALL, { content: 'Done.' }],
    files: { 'context.yaml': CHANGING_FIRST, 'system_prompt.md': 'You are a test. '.repeat(100) },
  })
  const { stdout } = await at('context explain', '--agent', agent.path, '-m', 'Go')
  expect(stdout.trimEnd().split('\n')).toEqual([
    'The first iteration of a new run, as it would be sent now:',
    expect.stringMatching(/^SOURCE +TYPE +MESSAGES +BYTES +TOKENS +NOTE$/),
    expect.stringMatching(/^tools +tools +0 +\d+ +\d+$/),
    expect.stringMatching(/^length +computed_file +1 +\d+ +\d+$/),
    expect.stringMatching(/^system_prompt +file +1 +\d+ +(1\d\d|200) +.*cut/),
    expect.stringMatching(/^guide +file +0 +0 +0 +left out: missing$/),
    expect.stringMatching(/^conversation +journal +1 +\d+ +\d+$/),
    expect.stringMatching(/^all +3 +\d+ +\d+ +of at most 5000 tokens$/),
  ])

  await run('--run-id', 'one', '-q')
  const explained = (await at('context explain')).stdout
  expect(explained).toMatch(/^Iteration 4 of run one, as it would be sent now:$/m)
  for (const iteration of [2, 3, 4])
    expect(explained).toMatch(
      new RegExp(
        `^  iteration ${iteration}: \`length\` changed at byte \\d+: \\d+ tokens after it cannot be`,
        'm',
      ),
    )
  expect(explained).toContain('Put it after the sources that do not change.')
  const json = JSON.parse((await at('context explain', '--json')).stdout)
  expect(json).toMatchObject({ run_id: 'one', iteration: 4, total: { limit_tokens: 5000 } })
  expect(json.sources.map((source: { source_id: string }) => source.source_id)).toEqual([
    'tools',
    'length',
    'system_prompt',
    'guide',
    'conversation',
  ])
  const step = (await at('show', '--step', '2')).stdout
  expect(step).toMatch(/^ {3}tools: \d+ bytes, about \d+ tokens\n {3}length: 1 message, /m)
  expect(json.cache_breaks).toHaveLength(3)
  expect(json.cache_breaks[0]).toMatchObject({
    iteration: 2,
    source: 'length',
    tokens_after: expect.any(Number),
  })
})

test('context explain shows what each source costs also where the budget is too small for what must stay, with the figures of the error', async () => {
  const context = `sources:
  - { type: file, id: guide, path: '\${AGENT_HOME}/guide.md', max_tokens: 50 }
  - { type: journal, id: conversation }
total_max_tokens: 1
`
  const files = { 'context.yaml': context, 'guide.md': 'Be a test. '.repeat(100) }
  const { at, agent } = await scene({ files })
  const { stdout, stderr, exitCode } = await at('context explain', '--agent', agent.path, '-m', 'Go')
  expect(stdout).toMatch(/^conversation +journal +1 /m)
  const [, tokens] = /^guide +file +1 +\d+ +(\d+) +cut from/m.exec(stdout) ?? []
  expect(Number(tokens)).toBeLessThanOrEqual(50)
  const [, ofTools] = /^tools +tools +0 +\d+ +(\d+)$/m.exec(stdout) ?? []
  expect(stderr).toContain(`must stay: the tools ${ofTools}, "guide" ${tokens}, "conversation" at least `)
  expect(exitCode).not.toBe(0)
})

test('context explain says what to do about a conversation that drops an iteration each time', async () => {
  const { run, at } = await scene({
    tools: [SAY],
    turns: [CALL, CALL, CALL, { content: 'Done.' }],
    files: { 'context.yaml': 'sources: [{ type: journal, id: talk, max_iterations: 2 }]\n' },
  })
  await run('-q')
  const { stdout } = await at('context explain')
  expect(stdout).toMatch(
    /^ {2}iteration 4: `talk` changed at byte \d+: \d+ tokens after it cannot be cached$/m,
  )
  expect(stdout).toMatch(
    /max_iterations drops one each time: with drop_to it drops many at once, and then none for a while\.\n$/,
  )
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
  const { run, at, server, workspace } = await served([CALL, CALL, { content: 'Done.' }], {
    tools: [SAY],
    files: { 'context.yaml': MERGED, 'system_prompt.md': 'You say.\n' },
  })
  await run('--run-id', 'one', '-q')
  const bodies = server.requests().map(({ body }) => body)
  const system = `== system_prompt.md ==\n\nYou say.\n\nWork in ${workspace.path}.`
  const contents = JSON.parse(bodies[2] ?? '').messages.map(({ content }: { content: string }) => content)
  expect(contents).toEqual([system, '== example ==\n\nGröße zählt.', 'Go', '[1 left out]', null, 'hi\n'])
  expect((await at('show', '--request', '3')).stdout.trimEnd()).toBe(bodies[2])

  const record = (await workspace.files()).find((file) => /invocations\/.*_3\.json$/.test(file)) ?? ''
  const { blocks, request } = JSON.parse(await workspace.read(record))
  const sent = blocks.slice(1, 4).map((block: { message: number; from: number; to: number }) => {
    const bytes = Buffer.from(request.messages[block.message].content)
    return bytes.toString('utf8', block.from, block.to)
  })
  expect(sent).toEqual([
    '== system_prompt.md ==\n\nYou say.\n',
    `Work in ${workspace.path}.`,
    '== example ==\n\nGröße zählt.',
  ])
  expect((await at('show', '--step', '3')).stdout).toMatch(
    /^ +rules: 1 message, \d+ bytes, .* \(in one message with system_prompt\.md\)$/m,
  )
  const { stdout } = await at('context explain')
  expect(stdout).toMatch(/^rules +text +1 +\d+ +\d+ +in one message with system_prompt\.md$/m)
  const { messages, tools } = JSON.parse((await at('context build')).stdout)
  const [, count, bytes] = /^all +(\d+) +(\d+)/m.exec(stdout) ?? []
  const sizes = [tools, ...messages].map((message: object) => Buffer.byteLength(JSON.stringify(message)))
  expect([Number(count), Number(bytes)]).toEqual([
    messages.length,
    sizes.reduce((sum: number, size: number) => sum + size),
  ])
})

test('a source that is missing fails context as a run: 1 for one of the workspace, 2 for one of the agent', async () => {
  const sources = (path: string) =>
    `sources: [{ type: file, id: plan, path: "${path}" }, { type: journal }]\n`
  for (const [path, code] of [
    ['${CWD}/PLAN.md', 1],
    ['${AGENT_HOME}/PLAN.md', 2],
  ] as const) {
    const { at, agent } = await scene({ files: { 'context.yaml': sources(path) } })
    for (const command of ['context build', 'context explain', 'run']) {
      const { exitCode, stdout, stderr } = await at(command, '--agent', agent.path)
      expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' })
      expect(stderr).toContain('PLAN.md does not exist.')
      expect(stderr).toContain('Create the file, or say that it may be missing: on_missing: skip')
    }
  }
})

test('Ctrl+C while a generator of context build runs stops it with 130; once more, ends it at once', async () => {
  const stubborn = (ignored: string) => `sources:
  - type: computed_file
    id: slow
    generator: { command: [sh, -c, 'trap "" ${ignored}; echo > "$CWD/begun"; while :; do sleep 1; done'] }
    output_path: "\${CWD}/slow.txt"
  - { type: journal, id: conversation }
`
  const { agent, words, workspace } = await scene({ files: { 'context.yaml': stubborn('HUP') } })
  const begin = async () => {
    await rm(join(workspace.path, 'begun'), { force: true })
    const build = startDelta(words('context build', '--agent', agent.path), { env: KEY })
    await waitForFile(join(workspace.path, 'begun'))
    build.kill('SIGINT')
    return build
  }
  expect(await (await begin()).result).toMatchObject({
    exitCode: 130,
    stdout: '',
    stderr: expect.stringContaining(
      'SIGINT: stopping; once more to stop at once.\nError: Stopped (SIGINT).\n',
    ),
  })
  await agent.write('context.yaml', stubborn('INT TERM'))
  const build = await begin()
  await build.waitForOutput('once more', { stream: 'stderr' })
  build.kill('SIGINT')
  const { exitCode, stderr } = await build.result
  expect(exitCode).toBe(130)
  expect(stderr).toMatch(/once more to stop at once\.\nStopped at once\.\n$/)
})
