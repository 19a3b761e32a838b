import { isKnownEvent } from '@delta/journal/runs'
import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { delta, journalOf } from './delta.js'

const TOOLS = [
  { name: 'read', description: 'Reads.', exec: 'cat ${file}' },
  { name: 'count', description: 'Counts.', shell: 'grep ${pattern} ${file} | wc -l' },
  { name: 'save', description: 'Saves.', exec: 'tee ${file}', stdin: 'content' },
  {
    name: 'legacy',
    description: 'Prints.',
    command: ['printf', '%s'],
    parameters: [{ name: 'text', description: 'What to print', inject_as: 'argument', position: 0 }],
  },
]

const CALLS = [
  { name: 'save', arguments: { file: 'a b.txt', content: '"; $(x)\n${CWD}\n' } },
  { name: 'read', arguments: { file: 'a b.txt' } },
  { name: 'count', arguments: { pattern: '$', file: 'a b.txt' } },
  { name: 'legacy', arguments: { text: '${AGENT_HOME}' } },
  { name: 'read', arguments: { file: '--help' } },
]

/** The argv and observation of every call, in order. */
async function behaviour(agent: TemporaryWorkspace): Promise<unknown[]> {
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--no-sync'])
  const events = await journalOf(workspace.path)
  return events.filter(isKnownEvent).flatMap((event): unknown[] => {
    if (event.type === 'ACTION_REQUEST') return [event.argv]
    return event.type === 'ACTION_RESULT' ? [event.observation_content] : []
  })
}

test('what tool expand prints loads again, expands to itself and behaves identically', async () => {
  const turns = [{ tool_calls: CALLS }, { content: 'Done.' }]
  await using written = await temporaryAgent({ tools: TOOLS, turns })
  const expanded = await delta(['tool', 'expand', written.path])
  expect(expanded.exitCode).toBe(0)

  await using full = await temporaryAgent({ turns, files: { 'agent.yaml': expanded.stdout } })
  expect((await delta(['tool', 'expand', full.path])).stdout).toBe(expanded.stdout)
  const calls = await behaviour(written)
  expect(calls).toHaveLength(2 * CALLS.length)
  expect(await behaviour(full)).toEqual(calls)
})

test('tool expand keeps the rest of the document and resolves imports away', async () => {
  await using agent = await temporaryAgent({
    agent: { description: 'Kept.', imports: ['tools/more.yaml'] },
    tools: [TOOLS[0] as object],
    files: {
      'tools/more.yaml': 'tools:\n  - name: list\n    description: Lists.\n    exec: ls ${directory}\n',
    },
  })
  const { stdout } = await delta(['tool', 'expand', agent.path])
  const document = parse(stdout)
  expect(document).toMatchObject({ name: 'test-agent', description: 'Kept.' })
  expect(document.imports).toBeUndefined()
  expect(document.tools.map((tool: { name: string }) => tool.name)).toEqual(['list', 'read'])
  expect(document.tools[0]).toMatchObject({
    description: 'Lists.',
    command: ['ls'],
    parameters: [{ name: 'directory', type: 'string', inject_as: 'argument', position: 0 }],
    __meta: expect.anything(),
  })
})

test('tool expand takes a tools file or a bare list, prints JSON with --json and one tool with --tool', async () => {
  const list = '- name: one\n  exec: echo ${a}\n- name: two\n  exec: echo ${b}\n'
  await using files = await temporaryWorkspace({ 'list.yaml': list, 'tools.yaml': `tools:\n${list}` })
  const bare = await delta(['tool', 'expand', 'list.yaml', '--json'], { cwd: files.path })
  expect(JSON.parse(bare.stdout)).toMatchObject([{ name: 'one' }, { name: 'two' }])

  const one = await delta(['tool', 'expand', 'tools.yaml', '--tool', 'two'], { cwd: files.path })
  expect(parse(one.stdout)).toMatchObject({ tools: [{ name: 'two', command: ['echo'] }] })

  const none = await delta(['tool', 'expand', 'tools.yaml', '--tool', 'three'], { cwd: files.path })
  expect(none).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --tool three: no such tool. There are: one, two\n',
  })
})

test('delta tool:expand still works', async () => {
  await using files = await temporaryWorkspace({ 'list.yaml': '- name: one\n  exec: echo ${a}\n' })
  const [old, now] = await Promise.all(
    [['tool:expand'], ['tool', 'expand']].map((words) => delta([...words, 'list.yaml'], { cwd: files.path })),
  )
  expect(old).toEqual(now)
})

test('tool lint finds nothing in a clean file and exits with 0', async () => {
  await using files = await temporaryWorkspace({
    'list.yaml':
      '- name: one\n  description: Says it.\n  exec: echo ${a}\n  parameters: [{ name: a, description: What to say }]\n',
  })
  expect(await delta(['tool', 'lint', 'list.yaml'], { cwd: files.path })).toMatchObject({
    exitCode: 0,
    stdout: '',
    stderr: '1 tool, 0 findings\n',
  })
})

test('tool lint names unknown keys with file and line, what a reviewer would ask, and exits with 1', async () => {
  await using files = await temporaryWorkspace({
    'list.yaml': '- name: one\n  exec: no-such-program-anywhere ${a}\n  timeout_mss: 5\n',
  })
  const found = await delta(['tool', 'lint', 'list.yaml'], { cwd: files.path })
  expect(found.exitCode).toBe(1)
  expect(found.stdout).toMatch(/list\.yaml:3:\d+: .*timeout_mss/)
  expect(found.stdout).toContain('timeout_ms')
  expect(found.stdout).toContain('one: description: ')
  expect(found.stdout).toContain('(command-not-found)')

  const json = await delta(['tool', 'lint', 'list.yaml', '--json'], { cwd: files.path })
  expect(JSON.parse(json.stdout)).toContainEqual(
    expect.objectContaining({ tool: 'one', rule: 'command-not-found' }),
  )
})

test('tool lint of a file that does not load exits with 2 and says why', async () => {
  await using files = await temporaryWorkspace({ 'list.yaml': '- name: one\n  exec: a | b\n' })
  const result = await delta(['tool', 'lint', 'list.yaml'], { cwd: files.path })
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toMatch(/list\.yaml:2:\d+: .*Shell metacharacter '\|'/)
})

test('tool lint points into the template, and goes on when a tool does not load', async () => {
  await using files = await temporaryWorkspace({
    'list.yaml':
      '- name: broken\n  exec: a | b\n- name: raw\n  description: Lists.\n  shell: ls ${flags:raw}\n  parameters: [{ name: flags, tpye: string, description: Flags }]\n',
  })
  const result = await delta(['tool', 'lint', 'list.yaml'], { cwd: files.path })
  expect(result.exitCode).toBe(2)
  expect(result.stderr).toMatch(/list\.yaml:2:\d+: .*Shell metacharacter '\|'/)
  expect(result.stdout).toMatch(
    /list\.yaml:6:\d+: .*parameters\[0\]: unknown key "tpye"[\s\S]*Did you mean "type"\?/,
  )
  expect(result.stdout).toContain(
    [
      'list.yaml:3: raw: shell: The shell splits and globs what the model sends for flags. (raw)',
      '  shell: "ls ${flags:raw}"',
      '             ^',
      'Remove :raw if the value is one argument.',
      '',
    ].join('\n'),
  )
  const json = JSON.parse((await delta(['tool', 'lint', 'list.yaml', '--json'], { cwd: files.path })).stdout)
  expect(json).toContainEqual(expect.objectContaining({ tool: 'raw', rule: 'raw', path: 'shell', column: 4 }))
  expect(json).toContainEqual(expect.objectContaining({ rule: 'does-not-load' }))
})

test('tool lint says in which file and line a tool is defined, of an imported one too', async () => {
  await using files = await temporaryWorkspace({
    'agent.yaml': 'imports: [more/tools.yaml]\ntools:\n  - { name: own, exec: ls }\n',
    'more/tools.yaml': 'tools:\n  - name: shared\n    exec: ls\n',
  })
  const { stdout } = await delta(['tool', 'lint', 'agent.yaml'], { cwd: files.path })
  expect(stdout).toContain('agent.yaml:3: own: description: ')
  expect(stdout).toContain('more/tools.yaml:2: shared: description: ')
  const json = JSON.parse((await delta(['tool', 'lint', 'agent.yaml', '--json'], { cwd: files.path })).stdout)
  expect(json).toContainEqual(expect.objectContaining({ tool: 'shared', defined_at: 'more/tools.yaml:2' }))
})

test('an unknown key of a parameter is a warning for tool expand, and an error with --strict for an agent', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'one', exec: 'echo ${a}', parameters: [{ name: 'a', tpye: 'string' }] }],
    turns: [{ content: 'Done.' }],
  })
  const loaded = await delta(['tool', 'expand', agent.path])
  expect(loaded).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Did you mean "type"?') })
  const strict = await delta(['run', '--agent', agent.path, '-m', 'Go', '--strict'], { cwd: agent.path })
  expect(strict).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('parameters[0]: unknown key "tpye"'),
  })
})

test('a pattern that repeats a repeat is a warning of every command that loads it, and a call that takes it long is refused', async () => {
  const parameters = [{ name: 'a', description: 'A word.', pattern: '(a+)+' }]
  const tools = [{ name: 'one', description: 'Prints.', exec: 'echo ${a}', parameters }]
  const turns = [
    { tool_calls: [{ name: 'one', arguments: { a: `${'a'.repeat(60)}!` } }] },
    { content: 'Done.' },
  ]
  await using agent = await temporaryAgent({ tools, turns })
  await using workspace = await temporaryWorkspace({})
  const run = ['run', '--agent', '.', '-m', 'Go', '--no-sync', '-w', workspace.path]
  const ran = await delta(run, { cwd: agent.path })
  expect(ran).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(ran.stderr).toContain('tools[0].parameters[0].pattern: repeats a repeat')
  const results = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(JSON.stringify(results)).toContain('- \\"a\\" took longer than 1000 ms to match its pattern.')
  const lint = await delta(['tool', 'lint', '.'], { cwd: agent.path })
  expect(lint.stdout.match(/repeat/g)).toHaveLength(3) // one warning with its hint, and no finding of the same
})

test('tool list shows each tool with mode, policy, effects and the first line of its description', async () => {
  await using agent = await temporaryAgent({ tools: TOOLS })
  const { stdout } = await delta(['tool', 'list', agent.path])
  expect(stdout).toBe(
    [
      'TOOL                  MODE     POLICY  EFFECTS  DESCRIPTION',
      'read(file)            exec     allow   -        Reads.',
      'count(pattern, file)  shell    allow   -        Counts.',
      'save(file, content)   exec     allow   -        Saves.',
      'legacy(text)          command  allow   -        Prints.',
      '',
    ].join('\n'),
  )
  const json = JSON.parse((await delta(['tool', 'list', agent.path, '--json'])).stdout)
  expect(json[0]).toMatchObject({
    name: 'read',
    mode: 'exec',
    effects: null,
    decision: 'allow',
    reasons: [],
    command: ['cat'],
    parameters: [{ name: 'file' }],
  })
})

test('tool list says what the policy would do with each tool, and why', async () => {
  const effects = { network: true, destructive: true }
  await using agent = await temporaryAgent({
    agent: { policy: { allow_destructive: false } },
    tools: [
      { name: 'push', exec: 'git push', effects },
      { name: 'look', exec: 'ls', effects: { destructive: false, interactive: { stdin: 'none' } } },
      { name: 'ask', exec: 'vi', effects: { destructive: false, interactive: { tty: true } } },
      { name: 'quiet', exec: 'true' },
    ],
  })
  const { stdout } = await delta(['tool', 'list', agent.path])
  expect(stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'TOOL | MODE | POLICY | EFFECTS | DESCRIPTION',
    'push() | exec | ask: destructive | network, destructive',
    'look() | exec | allow | none of note',
    'ask() | exec | deny: interactive | interactive',
    'quiet() | exec | ask: destructive (not declared) | -',
    '',
  ])
  const agentFile = JSON.parse(await agent.read('agent.yaml'))
  agentFile.policy.tools = { push: 'allow' }
  await agent.write('agent.yaml', JSON.stringify(agentFile))
  const consented = (await delta(['tool', 'list', agent.path])).stdout
  expect(consented).toMatch(/^push\(\) +exec +allow: policy\.tools +network, destructive$/m)
  await using wrong = await temporaryAgent({ agent: { policy: { allow_network: 'maybe' } } })
  const refused = await delta(['tool', 'list', wrong.path])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain('policy.allow_network: must be true or false')
})

test('a misspelt rule of a policy is an error wherever tools are looked at, and a misspelt key a warning', async () => {
  await using agent = await temporaryAgent({
    agent: { policy: { allow_destructiv: false } },
    tools: [{ name: 'look', exec: 'ls' }],
  })
  for (const words of [['list'], ['expand'], ['lint']]) {
    const refused = await delta(['tool', ...words, agent.path])
    expect(refused.exitCode).toBe(2)
    if (words[0] !== 'lint') expect(refused.stdout).toBe('') // lint still says what it found in the tools
    expect(refused.stderr).toContain('policy: there is no rule "allow_destructiv"; it would protect nothing.')
    expect(refused.stderr).toContain('Did you mean "allow_destructive"?')
  }
  await using warned = await temporaryAgent({ tools: [{ name: 'look', exec: 'ls', efects: {} }] })
  const listed = await delta(['tool', 'list', warned.path])
  expect(listed.exitCode).toBe(0)
  expect(listed.stderr).toContain('tools[0]: unknown key "efects".')
  expect(listed.stderr).toContain('Did you mean "effects"?')
})
