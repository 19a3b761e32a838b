import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { areInstalled, startScriptedServer, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf, KEY } from './delta.js'

const AGENT = {
  'agent.yaml': `name: reader
llm: { provider: command, model: small, command: [sh, model.sh] }
tools:
  - { name: look, description: Looks., exec: 'cat \${file}' }
`,
  'context.yaml': `sources:
  - { type: file, id: prompt, path: '\${AGENT_HOME}/prompt.md' }
  - { type: journal, id: conversation }
`,
  'prompt.md': 'You read files.',
  // answers by how often it has answered
  'model.sh': `cat answer-$(grep -o '"role":"assistant"' | wc -l | tr -d ' ').json\n`,
  'answer-0.json': call('I look.', 'a.txt'),
  'answer-1.json': call('Again.', 'b.txt'),
  'answer-2.json': JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'Done.' } }] }),
}

function call(content: string, file: string, name = 'look'): string {
  const args = name === 'look' ? { file } : {}
  const calls = [{ id: `c-${file}`, type: 'function', function: { name, arguments: JSON.stringify(args) } }]
  return JSON.stringify({ choices: [{ message: { role: 'assistant', content, tool_calls: calls } }] })
}

type Difference = { cause: string; step: number; at: string; where: string; byte?: number }

/** Runs the agent in two workspaces, the second time with a change, and compares. */
async function compared(change: {
  /** Of both agents. */
  agent?: Record<string, string>
  files?: Record<string, string>
  workspace?: Record<string, string>
  flags?: string[]
  message?: string
}) {
  const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  for (const side of ['one', 'two']) {
    const [agent, workspace] = [`${side}-agent`, `${side}`]
    const isChanged = side === 'two'
    const files = { ...AGENT, ...change.agent, ...(isChanged && change.files) }
    for (const [name, text] of Object.entries(files)) await write(join(agent, name), text)
    const data = { 'a.txt': 'alpha', 'b.txt': 'beta in 1.1s', ...(isChanged && change.workspace) }
    for (const [name, text] of Object.entries(data)) await write(join(workspace, name), text)
    const flags = isChanged ? (change.flags ?? []) : []
    const message = isChanged ? (change.message ?? 'Go') : 'Go'
    await delta(['run', '--agent', agent, '-w', workspace, '-m', message, '-q', ...flags], { cwd: path })
  }
  const diff = (...flags: string[]) => delta(['diff', 'one', 'two', ...flags], { cwd: path })
  const json = await diff('--json')
  return { path, diff, exitCode: json.exitCode, ...JSON.parse(json.stdout) } as {
    path: string
    diff: typeof diff
    exitCode: number
    same: boolean
    first: Difference | null
    also: { where: string; left: string | null; right: string | null; visible_from: number | null }[]
  }
}

test('two runs of one agent in two workspaces are the same, whatever their paths, ids and times', async () => {
  const looks = AGENT['agent.yaml'].replace("'cat ${file}'", "'ls ${CWD}/${file}'")
  const { exitCode, same, first } = await compared({ files: {} })
  expect({ exitCode, same, first }).toEqual({ exitCode: 0, same: true, first: null })
  const listed = await compared({ files: { 'agent.yaml': looks } })
  expect(listed).toMatchObject({
    exitCode: 3,
    first: { cause: 'configuration', at: 'call', where: 'tools.look' },
  })
})

test.each<[what: string, change: Parameters<typeof compared>[0], first: Partial<Difference>]>([
  [
    'a byte of the prompt',
    { files: { 'prompt.md': 'You read filez.' } },
    { cause: 'context', step: 1, at: 'request', where: 'prompt', byte: 13 },
  ],
  [
    'the message',
    { message: 'Go on' },
    { cause: 'intervention', step: 1, at: 'said', where: 'USER_MESSAGE' },
  ],
  [
    'what a file holds',
    { workspace: { 'b.txt': 'betas' } },
    { cause: 'environment', step: 2, at: 'result', where: 'look (call 1 of 1)' },
  ],
  [
    'what the model said',
    { files: { 'answer-1.json': call('Again!', 'b.txt') } },
    { cause: 'model', step: 2, at: 'answer', where: 'answer' },
  ],
  [
    'which call it made',
    { files: { 'answer-1.json': call('Again.', 'a.txt') } },
    { cause: 'model', step: 2, at: 'answer', where: 'call 1 of 1' },
  ],
  [
    'the description of a tool',
    { files: { 'agent.yaml': AGENT['agent.yaml'].replace('Looks.', 'Looks!') } },
    { cause: 'configuration', step: 1, at: 'request', where: 'tools.look.description' },
  ],
  [
    'a parameter of the model',
    { flags: ['--set', 'llm.temperature=0'] },
    { cause: 'configuration', step: 1, at: 'request', where: 'llm.temperature' },
  ],
  [
    'the header of a source',
    { files: { 'context.yaml': `header: '# \${id}'\n${AGENT['context.yaml']}` } },
    { cause: 'configuration', step: 1, at: 'request', where: 'context.yaml' },
  ],
  [
    'the role of a source',
    { files: { 'context.yaml': AGENT['context.yaml'].replace('id: prompt', 'id: prompt, role: user') } },
    { cause: 'configuration', step: 1, at: 'request', where: 'context.yaml' },
  ],
  [
    'where a conversation is cut',
    {
      files: {
        'context.yaml': AGENT['context.yaml'].replace('conversation', 'conversation, max_iterations: 1'),
      },
    },
    { cause: 'configuration', step: 3, at: 'request', where: 'context.yaml' },
  ],
  [
    'the role of a source',
    { flags: ['--set', 'context.sources.prompt.role=user'] },
    { cause: 'configuration', step: 1, at: 'request', where: 'context.yaml' },
  ],
  [
    'a limit',
    { flags: ['--max-iterations', '1'] },
    { cause: 'configuration', step: 1, at: 'end', where: 'ENGINE_END' },
  ],
  [
    'why an answer ended',
    {
      files: {
        'answer-2.json': AGENT['answer-2.json'].replace('{"message"', '{"finish_reason":"length","message"'),
      },
    },
    { cause: 'model', step: 3, at: 'end', where: 'ENGINE_END' },
  ],
])('a difference in %s is found at its iteration, with its cause', async (_, change, first) => {
  const { exitCode, same, ...found } = await compared(change)
  expect({ exitCode, same }).toEqual({ exitCode: 3, same: false })
  expect(found.first).toMatchObject(first)
})

test.each([
  { provider: 'openai', model: 'any' },
  { provider: 'openai', api: 'responses', model: 'any' },
  { provider: 'anthropic', model: 'any', max_tokens: 1000 },
])(
  'whichever API was asked, paths do not count, and a source is named with the byte of its own text: %j',
  async (llm) => {
    const server = await startScriptedServer([
      { ...calls('look', { file: 'a.txt' }), message: { reasoning_content: 'Hm.' } },
      { content: 'Done.' },
    ])
    onTestFinished(() => server.close())
    const base_url = llm.provider === 'anthropic' ? server.baseUrl.replace(/\/v1$/, '') : server.baseUrl
    const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
    const sources = [
      { type: 'file', id: 'prompt', path: '${AGENT_HOME}/prompt.md' },
      { type: 'text', id: 'place', text: 'You are in ${CWD}.' },
      { type: 'journal', id: 'conversation' },
    ]
    const tools = [{ name: 'look', exec: 'cat ${CWD}/${file}' }]
    for (const [side, prompt] of Object.entries({ one: 'You look.', two: 'You look.', three: 'You look!' })) {
      await write(`${side}-agent/agent.yaml`, JSON.stringify({ name: 'x', llm: { ...llm, base_url }, tools }))
      await write(`${side}-agent/context.yaml`, JSON.stringify({ sources }))
      await write(`${side}-agent/prompt.md`, prompt)
      await write(`${side}/a.txt`, 'alpha')
      const run = ['run', '--agent', `${side}-agent`, '-w', side, '-m', `Go to ${path}/${side}.`, '-q']
      expect(await delta(run, { cwd: path, env: { ...KEY, ANTHROPIC_API_KEY: 'k' } })).toMatchObject({
        exitCode: 0,
      })
    }
    const diff = async (other: string) =>
      JSON.parse((await delta(['diff', 'one', other, '--json'], { cwd: path })).stdout)
    expect(await diff('two')).toMatchObject({ same: true, first: null, also: [] })
    expect((await diff('three')).first).toEqual({
      cause: 'context',
      step: 1,
      at: 'request',
      where: 'prompt',
      byte: 8,
      left: 'You look.',
      right: 'You look!',
    })
  },
)

test('a setting that no request shows is named beside the first difference', async () => {
  const { diff, also } = await compared({
    workspace: { 'a.txt': 'alphas' },
    flags: ['--set', 'tool_concurrency=2'],
  })
  expect(also).toEqual([
    { cause: 'configuration', where: 'tool_concurrency', left: null, right: '2', visible_from: null },
  ])
  const { stdout } = await diff()
  expect(stdout).toContain(
    'first divergence: iteration 1, ENVIRONMENT: look (call 1 of 1)\n  - alpha\n  + alphas\n',
  )
  expect(stdout).toContain('also different: tool_concurrency none -> 2 (no request shows it)\n')
  expect(stdout).toMatch(/^2 {2}look: cat b.txt \(exit 0\) {2}= {2}2 {2}look: cat b.txt \(exit 0\)$/m)
})

test.each([
  ['header', 'header: false', 'system: prompt (header) | conversation', 'system: prompt | conversation'],
  ['order', 'after', 'system: prompt (header) | conversation', 'conversation | system: prompt (header)'],
])('what context.yaml makes of the same texts is shown by its layout: %s', async (_, how, left, right) => {
  const [first = '', prompt = '', journal = ''] = AGENT['context.yaml'].split('\n')
  const lines =
    how === 'after' ? [first, journal, prompt] : [first, prompt.replace(' }', `, ${how} }`), journal]
  const { first: found } = await compared({ files: { 'context.yaml': lines.join('\n') } })
  expect(found).toMatchObject({ cause: 'configuration', step: 1, where: 'context.yaml', left, right })
})

test('after the first difference only what did or answered the same stands beside each other', async () => {
  const [said, answer] = ['I see.', 'Nothing.'].map((content) => ({ role: 'assistant', content }))
  const { diff } = await compared({
    agent: {
      'agent.yaml': AGENT['agent.yaml'].replace("'cat ${file}'", 'cat, stdin: file'),
      'answer-2.json': call('Once more.', 'c.txt'),
      'answer-3.json': JSON.stringify({ choices: [{ message: said }] }),
    },
    files: {
      'answer-0.json': call('I see.', 'a.txt'),
      'answer-2.json': call('Once more.', 'd.txt'),
      'answer-3.json': JSON.stringify({ choices: [{ message: answer }] }),
    },
  })
  expect(JSON.parse((await diff('--json')).stdout).steps).toEqual([
    { a: 1, b: 1, same: false },
    { a: 2, b: 2, same: true },
    { a: 3, b: null, same: false },
    { a: 4, b: null, same: false },
    { a: null, b: 3, same: false },
    { a: null, b: 4, same: false },
  ])
})

test('a call is shown as its tool says, also when its engine had started long before', async () => {
  const shown = AGENT['agent.yaml'].replace('Looks.,', "Looks., display: 'look at ${file}',")
  const { diff } = await compared({ files: { 'agent.yaml': shown }, workspace: { 'b.txt': 'betas' } })
  const { stdout } = await diff()
  expect(stdout).toMatch(/^2 {2}look: cat b.txt \(exit 0\) {2}~ {2}2 {2}look at b.txt \(exit 0\)$/m)
})

test('masked text does not count, and it is said how much was masked', async () => {
  const { diff } = await compared({ workspace: { 'b.txt': 'beta in 2.64s' } })
  const { exitCode, stdout } = await diff('--mask', 'in [\\d.]+s')
  expect({ exitCode, stdout }).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/same: 3 iterations\.\n\d+ texts masked\./),
  })
})

test.each<[what: string, damage: (run: string) => Promise<void>]>([
  ['missing', (run) => rm(join(run, 'io/invocations'), { recursive: true })],
  ['damaged', async (run) => rewrite(await recordsOf(run), (text) => text.slice(0, 100))],
  ['without what they were made of', (run) => rewrite([join(run, 'io/parts.jsonl')], () => '')],
])(
  'where records are %s, a difference of the answer has no cause, and what was sent counts as the same',
  async (_, damage) => {
    const { path, diff } = await compared({
      files: { 'answer-1.json': call('Again!', 'b.txt'), 'prompt.md': 'You read filez.' },
    })
    await damage(await latestRun(join(path, 'one')))
    const { first, also } = JSON.parse((await diff('--json')).stdout)
    expect(first).toMatchObject({ cause: 'unknown', step: 2, at: 'answer', where: 'answer' })
    expect(also).toEqual([])
  },
)

test('after an iteration whose record is damaged the next one decides', async () => {
  const { path, diff } = await compared({ files: { 'answer-1.json': call('Again!', 'b.txt') } })
  const [first = ''] = await recordsOf(await latestRun(join(path, 'two')))
  await rewrite([first], () => '{"iteration": 1, ')
  expect(JSON.parse((await diff('--json')).stdout).first).toMatchObject({
    cause: 'model',
    step: 2,
    where: 'answer',
  })
})

const SAFE = { destructive: false, network: false, filesystem: { write: false, delete: false } }

test('an image that a tool printed counts, and so does what a person said to a command', async () => {
  const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const at = { cwd: path, env: { DELTA_STATE_DIR: join(path, 'state') } }
  const tools = [
    { name: 'shot', shell: 'base64 -d picture', output: 'image', effects: SAFE },
    { name: 'risky', shell: 'echo risked', effects: { destructive: true } },
  ]
  const turns = [calls('shot'), calls('risky'), { content: 'Done.' }]
  const agent = { name: 'x', llm: { provider: 'script', script: 'script.json' }, tools }
  await write('agent/agent.yaml', JSON.stringify({ ...agent, policy: { on_confirmation: 'ask_human' } }))
  await write('agent/context.yaml', 'sources: [{ type: journal }]')
  await write('agent/script.json', JSON.stringify(turns))
  for (const [side, pixel, decision] of [
    ['one', 'Nk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', '--approve'],
    ['two', 'P8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==', '--approve'],
    ['three', 'Nk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', '--deny'],
  ] as const) {
    await write(`${side}/picture`, `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42m${pixel}`)
    await delta(['run', '--agent', 'agent', '-w', side, '-m', 'Go', '-q'], at)
    const asked = (await journalOf(join(path, side))).findLast(({ type }) => type === 'HUMAN_INPUT_REQUEST')
    const { request_id = '' } = Object(asked) as { request_id?: string }
    await delta(['continue', '-w', side, '-q', decision, request_id], at)
  }
  const first = async (other: string) =>
    JSON.parse((await delta(['diff', 'one', other, '--json'], at)).stdout).first
  expect(await first('two')).toMatchObject({
    cause: 'environment',
    step: 1,
    at: 'result',
    where: 'shot (call 1 of 1)',
  })
  expect(await first('three')).toMatchObject({
    cause: 'intervention',
    step: 2,
    where: 'approval of risky',
    left: 'yes',
    right: 'no',
  })
})

test('a hook that passes results on hides only what it replaces', async () => {
  const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const io = '"$DELTA_HOOK_IO_PATH'
  for (const [name, text] of Object.entries({
    ...AGENT,
    'hooks.yaml': `post_tool_execution: { command: [sh, '\${AGENT_HOME}/hook.sh'] }\n`,
    'hook.sh': `sed 's/[0-9]/#/g' ${io}/input/payload.dat" > ${io}/output/payload_override.dat"\n`,
  }))
    await write(`agent/${name}`, text)
  for (const [side, text] of Object.entries({ one: 'took 1 s', two: 'took 2 s', three: 'lost 1 s' })) {
    await write(`${side}/a.txt`, text)
    await delta(['run', '--agent', 'agent', '-w', side, '-m', 'Go', '-q'], { cwd: path })
  }
  const first = async (other: string) =>
    JSON.parse((await delta(['diff', 'one', other, '--json'], { cwd: path })).stdout).first
  expect(await first('two')).toBeNull()
  expect(await first('three')).toMatchObject({ cause: 'environment', step: 1, where: 'look (call 1 of 1)' })
})

async function latestRun(workspace: string): Promise<string> {
  const id = await readFile(join(workspace, '.delta/LATEST'), 'utf8')
  return join(workspace, '.delta', id.trim())
}

/** The records of its requests, in order. */
async function recordsOf(run: string): Promise<string[]> {
  const names = await readdir(join(run, 'io/invocations'))
  return names.sort().map((name) => join(run, 'io/invocations', name))
}

async function rewrite(paths: readonly string[], change: (text: string) => string): Promise<void> {
  for (const path of paths) await writeFile(path, change(await readFile(path, 'utf8')))
}

test('what forks and moved runs inherited names other paths: they are compared as if they had always been where they are', async () => {
  const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const at = { cwd: path, env: { DELTA_STATE_DIR: join(path, 'state') } }
  const agent = {
    ...AGENT,
    'agent.yaml': `${AGENT['agent.yaml']}  - { name: where, exec: 'sh \${AGENT_HOME}/where.sh' }\n`,
    'where.sh': 'echo "$PWD $RUN_DIR $0"',
    'answer-1.json': call('Where?', '', 'where'),
    'answer-3.json': AGENT['answer-2.json'],
  }
  const copies = ['first', 'second', 'third']
  for (const copy of copies) {
    for (const [name, text] of Object.entries(agent)) await write(join(copy, 'agent', name), text)
    await write(join(copy, 'task/a.txt'), 'alpha')
    const flags = ['--agent', `${copy}/agent`, '-m', `Look into ${path}/${copy}/task`]
    expect(await delta(['run', ...flags, '-w', `${copy}/task`, '-q'], at)).toMatchObject({ exitCode: 0 })
  }
  for (const [of, into] of [
    ['first/task', 'fork-1'],
    ['second/task', 'elsewhere/fork-2'],
    ['fork-1', 'fork-of-fork'],
  ] as const) {
    const flags = ['--at', '2', '--into', into, '--without-files', '-q']
    expect(await delta(['fork', of, ...flags], at)).toMatchObject({ stdout: 'Done.\n' })
  }
  const isSame = async (one: string, other: string, count: number) => {
    const { stdout } = await delta(['diff', one, other], at)
    expect(stdout, `${one} and ${other}`).toContain(`same: ${count} iterations.`)
  }
  const { stdout } = await delta(['diff', 'first/task', 'fork-1'], at)
  expect(stdout).toContain('/fork-1, fork of A at 2\n')
  await isSame('fork-1', 'elsewhere/fork-2', 3)
  await isSame('fork-1', 'second/task', 3)
  await isSame('fork-of-fork', 'elsewhere/fork-2', 3)
  await isSame('third/task', 'fork-of-fork', 3)

  await rename(join(path, 'third/task'), join(path, 'moved'))
  for (const workspace of ['moved', 'fork-of-fork'])
    await delta(['continue', '-w', workspace, '-m', 'More', '-q', '--trust-run'], at)
  await isSame('moved', 'fork-of-fork', 4)
})

test('mistakes are named: one run, a mask that is not a regular expression', async () => {
  const { path } = await compared({})
  const at = async (...flags: string[]) => {
    const { exitCode, stderr } = await delta(['diff', ...flags], { cwd: path })
    return { exitCode, stderr }
  }
  expect(await at('one')).toEqual({ exitCode: 2, stderr: 'Error: diff compares two runs: delta diff A B.\n' })
  expect(await at('one', 'two', '--mask', '(')).toEqual({
    exitCode: 2,
    stderr: 'Error: --mask "(": not a regular expression: Unterminated group.\n',
  })
})

test.skipIf(!areInstalled('git'))(
  'beside a command that printed something else stands whether the files were the same before it',
  async () => {
    const kept = `${AGENT['agent.yaml']}snapshots: { every: iteration, wait_ms: 10000 }\n`
    const first = async (workspace: Record<string, string>) => {
      const { path, write } = await temporaryWorkspace({}, { onCleanup: onTestFinished })
      for (const [name, text] of Object.entries({ ...AGENT, 'agent.yaml': kept }))
        await write(`agent/${name}`, text)
      for (const side of ['one', 'two']) {
        const files = { 'a.txt': 'alpha', 'b.txt': 'beta', ...(side === 'two' && workspace) }
        for (const [name, text] of Object.entries(files)) await write(`${side}/${name}`, text)
        await delta(['run', '--agent', 'agent', '-w', side, '-m', 'Go', '-q'], { cwd: path })
      }
      const { stdout } = await delta(['diff', 'one', 'two', '--files'], { cwd: path })
      const short = await delta(['diff', 'one', 'two'], { cwd: path })
      const { first, files } = JSON.parse(
        (await delta(['diff', 'one', 'two', '--json'], { cwd: path })).stdout,
      )
      return { first, files, list: stdout.split('\n\n').at(-1), short: short.stdout.split('\n').at(-2) }
    }
    expect(await first({ 'b.txt': 'betas' })).toEqual({
      first: expect.objectContaining({
        cause: 'environment',
        step: 2,
        evidence: '1 file differed since iteration 1: b.txt',
      }),
      files: [{ path: 'b.txt', kind: 'M' }],
      list: 'different after the last iteration: 1 file\n  M b.txt\n',
      short: 'after the last iteration 1 file differs (M b.txt); --files names them',
    })
    expect(await first({ 'c.txt': 'unseen' })).toMatchObject({
      first: null,
      short: 'warning: after the last iteration 1 file differs (A c.txt); --files names them',
    })
  },
)
