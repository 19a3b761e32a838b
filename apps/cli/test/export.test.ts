import { cp, mkdir, readdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  findExportProblem,
  runProcess,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, killOnce, scene, served } from './delta.js'
import { oldRun } from './older-runs.js'

const FORMATS = ['atif', 'otlp', 'hf', 'sft'] as const
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const USAGE = { prompt_tokens: 900, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 800 } }
const prices = [{ match: 'scripted', input: 2, cache_read: 0.2, output: 10 }]

const PROMISE = /Nothing else is promised: read it before you share it, or use --redact\.\n$/

type Ran = Awaited<ReturnType<typeof scene>>

/** The latest run in each format that its readers take; one that the format does not take is undefined. */
async function exported({ at }: Pick<Ran, 'at'>) {
  const documents = new Map<string, string>()
  for (const format of FORMATS)
    for (const more of format === 'otlp' ? [[], ['--content']] : [[]]) {
      const { stdout, stderr, exitCode } = await at('export', '--format', format, ...more)
      expect({ format, exitCode }).toEqual({ format, exitCode: stdout === '' ? 1 : 0 })
      const last = stdout === '' ? /^1 of 1 run left out: sft takes runs that ended answered/ : PROMISE
      expect(stderr).toMatch(last)
      if (stdout !== '')
        expect([format, await findExportProblem(format, stdout)]).toEqual([format, undefined])
      documents.set([format, ...more].join(' '), stdout)
    }
  const lines = (format: string) => (documents.get(format) ?? '').trimEnd().split('\n')
  return {
    atif: JSON.parse(documents.get('atif') ?? ''),
    hf: lines('hf').map((line) => JSON.parse(line)),
    sft: documents.get('sft') === '' ? undefined : JSON.parse(documents.get('sft') ?? ''),
    spans: spansIn(documents.get('otlp') ?? ''),
    spansWithContent: spansIn(documents.get('otlp --content') ?? ''),
    all: [...documents.values()].join(''),
  }
}

interface Span {
  name: string
  spanId: string
  parentSpanId?: string
  status?: { code: number; message?: string }
  attributes: Record<string, unknown>
}

function spansIn(document: string): Span[] {
  const { resourceSpans } = JSON.parse(document, (key, value) =>
    key === 'attributes'
      ? Object.fromEntries(
          value.map((each: { key: string; value: object }) => [each.key, ...Object.values(each.value)]),
        )
      : value,
  )
  return resourceSpans.flatMap((each: { scopeSpans: { spans: Span[] }[] }) => each.scopeSpans[0]?.spans)
}

test('a run with parallel calls, failed and refused ones, reasoning and a retry says the same in every format', async () => {
  const play = await served(
    [
      {
        before: [{ status: 429, retryAfter: '0' }],
        content: 'Both.',
        message: { reasoning_content: 'I need two.' },
        tool_calls: [
          { name: 'say', arguments: { text: 'one' } },
          { name: 'say', arguments: '{"text": ' },
          { name: 'fail' },
          { name: 'nothing' },
        ],
        usage: USAGE,
      },
      { content: 'Done \ud83d.', usage: USAGE },
    ],
    {
      agent: { prices },
      tools: [
        { name: 'say', exec: 'echo ${text}' },
        { name: 'fail', shell: 'echo no >&2; exit 3' },
      ],
    },
  )
  expect((await play.run()).exitCode).toBe(0)
  const { atif, hf, sft, spans, spansWithContent } = await exported(play)

  const times = atif.steps.map(({ timestamp }: { timestamp: string }) => timestamp)
  expect(times).toEqual(times.toSorted())
  const [system, user, agent, answer] = atif.steps
  expect(atif.steps).toHaveLength(4)
  expect([system, user]).toMatchObject([
    { source: 'system', message: expect.stringContaining('You are a test.') },
    { source: 'user', message: 'Go' },
  ])
  expect(agent).toMatchObject({
    message: 'Both.',
    reasoning_content: 'I need two.',
    model_name: 'scripted',
    llm_call_count: 2,
    metrics: { prompt_tokens: 900, completion_tokens: 20, cached_tokens: 800, cost_usd: 0.00056 },
  })
  expect(agent.tool_calls.map((call: { arguments: object }) => call.arguments)).toEqual([
    { text: 'one' },
    { _raw: '{"text": ' },
    {},
    {},
  ])
  expect(agent.observation.results.map((each: { extra: object }) => each.extra)).toEqual([
    { status: 'SUCCESS', exit_code: 0 },
    { status: 'ERROR' },
    { status: 'FAILED', exit_code: 3 },
    { status: 'ERROR' },
  ])
  expect(answer).toMatchObject({ message: 'Done \ufffd.', llm_call_count: 1 })
  expect(atif.final_metrics).toMatchObject({
    total_prompt_tokens: 1800,
    total_cost_usd: 0.00112,
    total_steps: 4,
  })

  const messages = hf.slice(1).map(({ message }) => message)
  expect(messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    ...Array(4).fill('tool'),
    'assistant',
  ])
  expect(messages[2]).toMatchObject({ reasoningContent: 'I need two.', model: 'scripted' })
  expect(messages[2].toolCalls[1].function.arguments).toBe('{"text": ')
  expect(messages[3]).toMatchObject({ toolCallId: agent.tool_calls[0].tool_call_id, content: 'one\n' })

  expect(sft.messages.map(({ role }: { role: string }) => role)).toEqual(messages.map(({ role }) => role))
  expect(sft.messages[2]).toMatchObject({ reasoning_content: 'I need two.' })
  expect(sft.messages[2].tool_calls[1].function.arguments).toEqual({ malformed_arguments: '{"text": ' }) // as it was sent
  expect(sft.tools.map((tool: { function: { name: string } }) => tool.function.name)).toContain('say')
  expect(sft.metadata).toMatchObject({ agent: 'test-agent', model: 'scripted', reason_code: 'answered' })

  const [root, ...others] = spans
  expect(root).toMatchObject({ name: 'invoke_agent test-agent', status: { code: 1 } })
  expect(others.map(({ name }) => name)).toEqual([
    'chat scripted',
    ...['say', 'say', 'fail', 'nothing'].map((name) => `execute_tool ${name}`),
    'chat scripted',
  ])
  for (const { parentSpanId } of others) expect(parentSpanId).toBe(root?.spanId)
  expect(others[0]?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': '900',
    'gen_ai.usage.cache_read.input_tokens': '800',
    'delta.cost_usd': 0.00056,
  })
  expect(others[3]).toMatchObject({
    status: { code: 2, message: 'FAILED' },
    attributes: { 'delta.exit_code': '3' },
  })
  expect(JSON.stringify(spans)).not.toContain('Both.')
  const texts = spansWithContent[1]?.attributes as Record<string, string>
  expect(JSON.parse(texts['gen_ai.input.messages'] ?? '')).toMatchObject([
    { role: 'system' },
    { role: 'user' },
  ])
  expect(JSON.parse(texts['gen_ai.output.messages'] ?? '')[0].parts.slice(0, 2)).toEqual([
    { type: 'reasoning', content: 'I need two.' },
    { type: 'text', content: 'Both.' },
  ])
})

test.each([
  ['Responses', { provider: 'openai', api: 'responses', model: 'm' }],
  ['Messages', { provider: 'anthropic', model: 'm', max_tokens: 1000 }],
])('what was sent in the words of %s is a chat for fine-tuning all the same', async (_, llm) => {
  const server = await startScriptedServer([
    { ...calls('say', { text: 'one' }), message: { reasoning_content: 'I need one.' } },
    { content: 'Done.', message: { reasoning_content: 'That was it.' } },
  ])
  onTestFinished(() => server.close())
  const tools = [{ name: 'say', exec: 'echo ${text}', description: 'Says it.' }]
  const agent = { llm: { ...llm, base_url: server.baseUrl } }
  const play = await scene({ agent, tools }, { env: KEY })
  await play.run()
  const { sft } = await exported(play)
  expect(sft.messages).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'Go' },
    {
      role: 'assistant',
      reasoning_content: 'I need one.',
      tool_calls: [{ function: { name: 'say', arguments: { text: 'one' } } }],
    },
    { role: 'tool', content: 'one\n' },
    { role: 'assistant', content: 'Done.', reasoning_content: 'That was it.' },
  ])
  expect(sft.tools[0]).toMatchObject({
    function: { name: 'say', description: 'Says it.', parameters: { type: 'object' } },
  })
  expect(JSON.stringify(sft)).not.toMatch(/encrypted|signature/)
})

test('a picture is a file by its path for ATIF, and the picture itself for fine-tuning', async () => {
  const play = await served([calls('shot'), { content: 'Done.' }], {
    tools: [{ name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' }],
  })
  await play.run()
  const { atif, hf, sft } = await exported(play)
  const { content } = atif.steps[2].observation.results[0]
  expect(content).toEqual([{ type: 'image', source: { media_type: 'image/png', path: expect.any(String) } }])
  expect((await readFile(content[0].source.path)).toString('base64')).toBe(PNG)
  expect(hf[4].message).toMatchObject({ role: 'tool', content: '[image image/png 1x1, 70 bytes]\n' })
  expect(JSON.stringify(sft.messages)).toContain(`data:image/png;base64,${PNG}`)
})

test('a run that waits for a person, and one whose policy refused a call, are exported as they stand', async () => {
  const waiting = await scene({ turns: [calls('ask_human', { prompt: 'Which?' }), { content: 'Done.' }] })
  expect((await waiting.run()).exitCode).toBe(101)
  const open = await exported(waiting)
  expect(open.atif.steps.at(-1)).not.toHaveProperty('observation')
  expect(open.atif.extra).toMatchObject({ status: 'WAITING_FOR_INPUT', reason_code: 'question' })
  expect(open.sft).toBeUndefined()
  await waiting.at('continue', '-m', 'The first.')
  const { atif } = await exported(waiting)
  expect(atif.steps[2].observation.results[0].content).toContain('The first.')

  const refused = await scene({
    agent: { policy: { allow_network: false } },
    tools: [{ name: 'work', exec: 'touch done', effects: { network: true, destructive: false } }],
    turns: [calls('work'), { content: 'Done.' }],
  })
  await refused.run()
  const blocked = await exported(refused)
  expect(blocked.atif.steps[2].observation.results[0].extra).toEqual({ status: 'BLOCKED' })
  expect(blocked.spans[2]?.status).toEqual({ code: 2, message: 'BLOCKED' })
})

test('a run that was killed in a call has the call and no result; what it says after it went on is there, too', async () => {
  const play = await scene({
    tools: [{ name: 'work', shell: 'echo > started; exec sleep 300' }],
    turns: [calls('work'), { content: 'Done.' }],
  })
  await killOnce(play.start(), join(play.workspace.path, 'started'))
  const { atif, hf, spans } = await exported(play)
  expect(atif.steps.at(-1)).toMatchObject({ tool_calls: [{ function_name: 'work' }] })
  expect(atif.steps.at(-1)).not.toHaveProperty('observation')
  expect(atif.extra).toMatchObject({ status: 'INTERRUPTED', reason_code: 'killed' })
  expect(hf.at(-1).message.role).toBe('assistant')
  expect(spans.at(-1)?.status).toEqual({ code: 2, message: 'no result' })
  await play.at('continue')
  const later = await exported(play)
  expect(later.atif.steps.at(-1).message).toBe('Done.')
  expect(later.atif.steps.at(-2).observation.results[0].extra).toEqual({ status: 'INTERRUPTED' })
})

/** A parent whose call runs a child in the directory `job`. */
async function tree(): Promise<Ran> {
  const child = await temporaryAgent({
    agent: { name: 'child' },
    turns: [{ content: 'Child.' }],
    onCleanup: onTestFinished,
  })
  const play = await scene({
    tools: [{ name: 'help', exec: `delta run --agent ${child.path} -m Help -w job` }],
    turns: [calls('help'), { content: 'Parent.' }],
  })
  await play.run('--run-id', 'boss')
  return play
}

test('with --sub-agents the runs that calls started stand beside it, and each call names the file', async () => {
  const { at, workspace } = await tree()
  for (const format of ['atif', 'hf'] as const) {
    const directory = join(workspace.path, format)
    const { exitCode, stdout } = await at(
      'export',
      'boss',
      '--format',
      format,
      '--sub-agents',
      '-o',
      directory,
    )
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    const names = await readdir(directory)
    expect(names).toHaveLength(2)
    for (const name of names)
      expect(await findExportProblem(format, await readFile(join(directory, name), 'utf8'))).toBeUndefined()
  }
  const boss = JSON.parse(await workspace.read('atif/boss.json'))
  const [{ trajectory_path: path }] = boss.steps[2].observation.results[0].subagent_trajectory_ref
  const child = JSON.parse(await workspace.read(`atif/${path}`))
  expect(child).toMatchObject({
    session_id: 'boss',
    trajectory_id: path.replace('.json', ''),
    agent: { name: 'child' },
    extra: { parent_run: 'boss' },
  })
  const alone = JSON.parse((await at('export', 'boss', '--format', 'atif')).stdout)
  expect(alone.steps[2].observation.results[0].extra.child_runs).toMatchObject([{ status: 'COMPLETED' }])
})

test('spans of sub-agents are in the document of their caller, below the call', async () => {
  const { at } = await tree()
  const { stdout } = await at('export', 'boss', '--format', 'otlp', '--sub-agents')
  expect(await findExportProblem('otlp', stdout)).toBeUndefined()
  const spans = spansIn(stdout)
  const call = spans.find(({ name }) => name === 'execute_tool help')
  const child = spans.find(({ name }) => name === 'invoke_agent child')
  expect(child?.parentSpanId).toBe(call?.spanId)
})

test('--redact replaces what looks like a secret, and the home and work directories', async () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  const play = await scene({
    tools: [{ name: 'look', shell: `pwd; echo "$HOME/notes ${token} $HOME""lessly"` }],
    turns: [calls('look'), { content: 'Done.' }],
  })
  await play.run()
  const { all } = await exported(play)
  expect(all).toContain(token)
  for (const format of FORMATS) {
    const content = format === 'otlp' ? ['--content'] : []
    const { stdout, stderr } = await play.at('export', '--format', format, '--redact', ...content)
    expect(await findExportProblem(format, stdout)).toBeUndefined()
    expect(stdout).not.toContain(token)
    expect(stdout).not.toContain(play.workspace.path)
    expect(stdout).toContain(String.raw`.\n~/notes [REDACTED] ${process.env.HOME}lessly`)
    expect(stderr).toContain('what looks like one was replaced, with the home and work directories')
  }
})

test('several runs, or those of a workspace, need a directory but for lines of fine-tuning; mistakes are named', async () => {
  const { run, at, workspace } = await scene({ turns: [{ content: 'Done.' }] })
  await run('--run-id', 'one')
  await run('--run-id', 'two', '--new')
  const said = async (...flags: string[]) => {
    const { exitCode, stderr } = await at('export', ...flags)
    return { exitCode, stderr }
  }
  expect(await said('one', 'two', '--format', 'atif')).toEqual({
    exitCode: 2,
    stderr: 'Error: 2 runs: give -o DIR, or name one run.\n',
  })
  expect(await said('--format', 'otel')).toEqual({
    exitCode: 2,
    stderr: 'Error: --format otel: choose one of atif, otlp, hf, sft.\n',
  })
  expect(await said()).toEqual({
    exitCode: 2,
    stderr: 'Error: --format: choose one of atif, otlp, hf, sft.\n',
  })
  expect(await said('--format', 'hf', '--content')).toEqual({
    exitCode: 2,
    stderr: 'Error: --content is for --format otlp. hf always holds what was said.\n',
  })
  await writeFile(join(workspace.path, 'file'), '')
  expect(await said('one', '--format', 'atif', '-o', join(workspace.path, 'file/out'))).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(
      /^Error: -o \S+\/file\/out: it is a file, not a directory, or is below a file \(ENOTDIR\)/,
    ),
  })
  const { stdout } = await at('export', 'one', 'two', '--format', 'sft')
  expect(stdout.trimEnd().split('\n')).toHaveLength(2)
  await mkdir(join(workspace.path, '.delta/empty'))
  const whole = await at('export', workspace.path, '--format', 'sft')
  expect(whole.stdout.trimEnd().split('\n').sort()).toEqual(stdout.trimEnd().split('\n').sort())
  const { path: elsewhere } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await cp(join(workspace.path, '.delta/one'), join(elsewhere, '.delta/one'), { recursive: true })
  const out = join(elsewhere, 'out')
  expect(await said(workspace.path, elsewhere, '--format', 'hf', '-o', out)).toEqual({
    exitCode: 2,
    stderr: expect.stringMatching(
      /^Error: Two runs have the id one, and would be one file: \S+\/one and \S+\/one\. Export them into two directories\.\n$/,
    ),
  })
  expect(await readdir(elsewhere)).toEqual(['.delta'])
  await mkdir(join(workspace.path, 'out'))
  await at('export', 'one', 'two', '--format', 'hf', '-o', join(workspace.path, 'out'))
  expect(await readdir(join(workspace.path, 'out'))).toEqual(['one.jsonl', 'two.jsonl'])
  await at('export', 'one', '--format', 'hf', '-o', join(workspace.path, 'one.jsonl'))
  expect(await workspace.read('one.jsonl')).toBe(await workspace.read('out/one.jsonl'))
})

test('a run of an old layout is exported like any other', async () => {
  const { path } = await oldRun()
  for (const format of ['atif', 'otlp', 'hf'] as const) {
    const { stdout } = await delta(['export', '-w', join(path, 'workspace'), '--format', format])
    expect([format, await findExportProblem(format, stdout)]).toEqual([format, undefined])
  }
})

test('a damaged run is exported up to the damage, with exit code 1', async () => {
  const { run, at, workspace } = await scene({ turns: [{ content: 'Done.' }] })
  await run('--run-id', 'one')
  const path = join(workspace.path, '.delta/one/journal.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, lines.with(2, 'half a line').join('\n'))
  const { exitCode, stdout, stderr } = await at('export', '--format', 'hf')
  expect(exitCode).toBe(1)
  expect(await findExportProblem('hf', stdout)).toBeUndefined()
  expect(stdout).toContain('"role":"user"')
  expect(stdout).not.toContain('Done.')
  expect(stderr).toContain('journal.jsonl:3: ')
})

test('an imported run is shown, listed and exported again, keeps what was said, and never goes on', async () => {
  const play = await served(
    [
      {
        content: 'First.',
        message: { reasoning_content: 'Hm.' },
        tool_calls: ['one', 'two'].map((text) => ({ name: 'say', arguments: { text } })),
      },
      { content: 'Done.' },
    ],
    { tools: [{ name: 'say', exec: 'echo ${text}' }] },
  )
  await play.run('--run-id', 'one')
  const file = join(play.workspace.path, 'run.json')
  await play.at('export', '--format', 'atif', '-o', file)
  const { exitCode, stdout } = await play.at('import', file, '--format', 'atif')
  expect(exitCode).toBe(0)
  const id = stdout.trimEnd()
  const shown = (await play.at('show', id)).stdout
  expect(shown).toMatch(
    /> Go\n1\. First\. .*\n[\s\S]*one\n[\s\S]*two\n[\s\S]*2\. Done\.\nCOMPLETED after 2 iterations/,
  )
  expect(
    JSON.parse((await play.at('list-runs', '--json')).stdout).map((run: { run_id: string }) => run.run_id),
  ).toContain(id)
  expect((await play.at('show')).stdout).toContain('run one of') // the latest is still the one that was run
  expect(await play.at('continue', '--run-id', id, '-m', 'More', '--trust-run')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: This run was imported and cannot be continued. Start a new one with -m.\n',
  })
  expect(await play.at('say', id, '-m', 'More')).toMatchObject({
    exitCode: 2,
    stderr: `Error: Run ${id.slice(-6)} was imported, and cannot be continued.\n`,
  })
  const again = JSON.parse((await play.at('export', id, '--format', 'atif')).stdout)
  const before = JSON.parse(await readFile(file, 'utf8'))
  const said = ({ steps }: { steps: Record<string, unknown>[] }) =>
    steps.map(({ timestamp: _, ...step }) => ({ ...step, llm_call_count: undefined, metrics: undefined }))
  expect(said(again)).toEqual(said(before))
  await writeFile(file, JSON.stringify(before).replace('"step_id":4', '"step_id":7'))
  expect(await play.at('import', file, '--format', 'atif')).toMatchObject({
    exitCode: 2,
    stderr: `Error: ${file}: not ATIF: step 4 has step_id 7 (must be 4).\n`,
  })
})

const CALL = { tool_call_id: 'a', function_name: 'say', arguments: {} }

/** A trajectory whose agent says one thing. */
const trajectory = (more: string) =>
  `{"schema_version":"ATIF-v1.7","agent":{"name":"a"},"steps":[{"step_id":1,"source":"user","message":"Go"},{"step_id":2,"source":"agent","message":"",${more}}]}`
const COUNT = '(must be a whole number from 0 to 10^12)'

test.each([
  ['half a token', '"metrics":{"prompt_tokens":1.5}', `step 2 has prompt_tokens 1.5 ${COUNT}`],
  [
    'more tokens than can be',
    '"metrics":{"completion_tokens":1e300}',
    `step 2 has completion_tokens 1e+300 ${COUNT}`,
  ],
  ['endless tokens', '"metrics":{"cached_tokens":1e400}', `step 2 has cached_tokens Infinity ${COUNT}`],
  ['tokens as text', '"metrics":{"prompt_tokens":"5"}', `step 2 has prompt_tokens "5" ${COUNT}`],
  [
    'two calls of one id',
    `"tool_calls":${JSON.stringify([CALL, CALL])}`,
    'step 2 has tool_call_id "a", as a call of step 2 has (each needs its own)',
  ],
  [
    'arguments nested 50,000 times',
    `"tool_calls":[{"tool_call_id":"a","function_name":"f","arguments":${'['.repeat(50_000)}${']'.repeat(50_000)}}]`,
    'something in it is nested more than 500 levels deep',
  ],
])('a file with %s is not imported, and leaves no run behind', async (_, more, reason) => {
  const { path } = await temporaryWorkspace({ 'run.json': trajectory(more) }, { onCleanup: onTestFinished })
  expect(await delta(['import', 'run.json', '--format', 'atif'], { cwd: path })).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: `Error: run.json: not ATIF: ${reason}.\n`,
  })
  expect(await readdir(path)).toEqual(['run.json'])
})

test('a pipe, a device and a file of more than 256 MB are not imported, and not read', async () => {
  const { path } = await temporaryWorkspace({ large: '' }, { onCleanup: onTestFinished })
  await runProcess(['mkfifo', join(path, 'pipe')])
  await symlink('/dev/zero', join(path, 'zero'))
  await truncate(join(path, 'large'), 2 ** 28 + 1)
  const said = async (file: string) => {
    const { exitCode, stderr } = await delta(['import', file, '--format', 'atif'], { cwd: path })
    return `${exitCode} ${stderr}`
  }
  expect(await said('pipe')).toBe('2 Error: pipe: is not a file.\n')
  expect(await said('zero')).toBe('2 Error: zero: is not a file.\n')
  expect(await said('large')).toBe('2 Error: large: is larger than 256 MB.\n')
  expect(await said('none')).toBe(
    '2 Error: none: there is no such file or directory (ENOENT).\nCreate it, or name another one.\n',
  )
})
