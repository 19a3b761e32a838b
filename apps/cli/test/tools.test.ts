import { isKnownEvent } from '@delta/journal/runs'
import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { calls, delta, journalOf, scene } from './delta.js'

const TOOLS = [
  { name: 'read', description: 'Reads.', exec: 'cat ${file}', output: 'auto' },
  { name: 'count', description: 'Counts.', shell: 'grep ${pattern} ${file} | wc -l' },
  { name: 'save', description: 'Saves.', exec: 'tee ${file}', stdin: 'content' },
  {
    name: 'json',
    description: 'Prints.',
    exec: 'cat',
    stdin: 'json',
    parameters: [{ name: 'edits', type: 'array' }],
  },
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
  { name: 'json', arguments: { edits: [{ new: '- c', old: '-b "\n' }] } },
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

test('what tool expand prints loads again, expands to itself and behaves identically; imports are resolved away', async () => {
  const turns = [{ tool_calls: CALLS }, { content: 'Done.' }]
  const [first, ...others] = TOOLS
  const written = await temporaryAgent({
    agent: { description: 'Kept.', imports: ['tools/more.yaml'] },
    tools: others,
    turns,
    files: { 'tools/more.yaml': JSON.stringify({ tools: [first] }) },
    onCleanup: onTestFinished,
  })
  const expanded = await delta(['tool', 'expand', written.path])
  expect(expanded.exitCode).toBe(0)
  const document = parse(expanded.stdout)
  expect(document).toMatchObject({ name: 'test-agent', description: 'Kept.' })
  expect(document.imports).toBeUndefined()
  expect(document.tools.map((tool: { name: string }) => tool.name)).toEqual(TOOLS.map(({ name }) => name))
  expect(document.tools[0]).toMatchObject({
    command: ['cat'],
    parameters: [{ name: 'file', type: 'string', inject_as: 'argument', position: 0 }],
    __meta: expect.anything(),
  })

  const full = await temporaryAgent({
    turns,
    files: { 'agent.yaml': expanded.stdout },
    onCleanup: onTestFinished,
  })
  expect((await delta(['tool', 'expand', full.path])).stdout).toBe(expanded.stdout)
  const done = await behaviour(written)
  expect(done).toHaveLength(2 * CALLS.length)
  expect(await behaviour(full)).toEqual(done)
})

test('tool expand takes a tools file or a bare list, prints JSON with --json and one tool with --tool; tool:expand still works', async () => {
  const list = '- name: one\n  exec: echo ${a}\n- name: two\n  exec: echo ${b}\n'
  const files = { 'list.yaml': list, 'tools.yaml': `tools:\n${list}` }
  const { path } = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const expand = (...words: string[]) => delta(['tool', 'expand', ...words], { cwd: path })
  const bare = await expand('list.yaml', '--json')
  expect(JSON.parse(bare.stdout)).toMatchObject([{ name: 'one' }, { name: 'two' }])
  expect(await delta(['tool:expand', 'list.yaml', '--json'], { cwd: path })).toEqual(bare)
  const one = await expand('tools.yaml', '--tool', 'two')
  expect(parse(one.stdout)).toMatchObject({ tools: [{ name: 'two', command: ['echo'] }] })
  expect(await expand('tools.yaml', '--tool', 'three')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --tool three: no such tool. There are: one, two\n',
  })
})

test('tool lint points into the template, of imported tools too, and goes on when a tool does not load', async () => {
  const files = {
    'agent.yaml': `imports: [more/tools.yaml]
tools:
  - name: broken
    exec: a | b
  - name: raw
    description: Lists.
    shell: ls \${flags:raw}
    parameters: [{ name: flags, tpye: string, description: Flags }]
  - { name: gone, exec: no-such-program }
`,
    'more/tools.yaml': '# shared\ntools:\n- name: shared\n  exec: ls\n',
    'clean.yaml':
      '- { name: one, description: Says it., exec: "echo ${a}", parameters: [{ name: a, description: What }] }\n',
  }
  const { path } = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const lint = (...words: string[]) => delta(['tool', 'lint', ...words], { cwd: path })
  const result = await lint('agent.yaml')
  expect(result.exitCode).toBe(2)
  expect(result.stderr).toMatch(/agent\.yaml:4:\d+: .*Shell metacharacter '\|'/)
  expect(result.stdout).toMatch(
    /agent\.yaml:8:\d+: .*parameters\[0\]: unknown key "tpye"[\s\S]*Did you mean "type"\?/,
  )
  expect(result.stdout).toContain('more/tools.yaml:3: shared: description: ')
  expect(result.stdout).toContain(
    [
      'agent.yaml:5: raw: shell: The shell splits and globs what the model sends for flags. (raw)',
      '  shell: "ls ${flags:raw}"',
      '             ^',
      'Remove :raw if the value is one argument.',
      '',
    ].join('\n'),
  )
  const json = JSON.parse((await lint('agent.yaml', '--json')).stdout)
  for (const finding of [
    { tool: 'raw', rule: 'raw', path: 'shell', column: 4 },
    { tool: 'gone', rule: 'command-not-found' },
    { rule: 'does-not-load' },
    { tool: 'shared', defined_at: 'more/tools.yaml:3' },
  ])
    expect(json).toContainEqual(expect.objectContaining(finding))
  expect(await lint('clean.yaml')).toMatchObject({ exitCode: 0, stdout: '', stderr: '1 tool, 0 findings\n' })
})

test('tool list says what the policy would do with each tool, and why; an unknown rule is refused by each command', async () => {
  const effects = { network: true, destructive: true }
  const agent = await temporaryAgent({
    agent: { policy: { allow_destructive: false } },
    tools: [
      { name: 'push', exec: 'git push', effects },
      { name: 'look', exec: 'ls', effects: { destructive: false, interactive: { stdin: 'none' } } },
      { name: 'ask', exec: 'vi', effects: { destructive: false, interactive: { tty: true } } },
      { name: 'quiet', exec: 'true' },
    ],
    onCleanup: onTestFinished,
  })
  const list = async () => (await delta(['tool', 'list', agent.path])).stdout
  expect((await list()).split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '))).toEqual([
    'TOOL | MODE | POLICY | EFFECTS | DESCRIPTION',
    'push() | exec | ask: destructive | network, destructive',
    'look() | exec | allow | none of note',
    'ask() | exec | deny: interactive | interactive',
    'quiet() | exec | ask: destructive (not declared) | -',
    '',
  ])
  const main = JSON.parse(await agent.read('agent.yaml'))
  await agent.write(
    'agent.yaml',
    JSON.stringify({ ...main, policy: { ...main.policy, tools: { push: 'allow' } } }),
  )
  expect(await list()).toMatch(/^push\(\) +exec +allow: policy\.tools +network, destructive$/m)
  await agent.write('agent.yaml', JSON.stringify({ ...main, policy: { allow_destructiv: false } }))
  for (const word of ['list', 'expand', 'lint']) {
    const refused = await delta(['tool', word, agent.path])
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain('policy: there is no rule "allow_destructiv"; it would protect nothing.')
    expect(refused.stderr).toContain('Did you mean "allow_destructive"?')
  }
})

test('the author hears once a run, on stderr, what to change for values that begin with a dash', async () => {
  const { run, events } = await scene({
    tools: [{ name: 'add', exec: 'echo ${text}' }],
    turns: [calls('add', { text: '-a' }), calls('add', { text: '--b' }), { content: 'Done.' }],
  })
  const advice =
    'add: a value of "text" that begins with "-" was refused. If such values are right, use stdin: json, put -- before it, or set allow_dash: true.'
  expect((await run('-q')).stderr).toBe(`note: ${advice}\n`)
  expect((await events()).at(-1)).toMatchObject({ type: 'ENGINE_END', warnings: [advice] })
})

// The nineteen tests of the tool syntax's own specification (v1.7, section 10), by their numbers, through two whole
// runs. 3.3 and 5.1 expect what really happens: docs/decisions/0010-what-raw-opens.md.

const ARGUMENT = '; rm -rf marker; echo done'
const HELLO = [{ name: 'msg', description: 'Message to print', default: 'hello' }]

/** Number, tool, arguments and what the model reads. */
const SYNTAX: [string, object, object, unknown][] = [
  ['1.3 exec: prints a hostile value', { exec: 'echo ${v}' }, { v: '; rm -rf marker' }, '; rm -rf marker\n'],
  ['2.1 a semicolon separates nothing', { shell: 'echo ${v}' }, { v: ARGUMENT }, `${ARGUMENT}\n`],
  [
    '2.2 quotes are searched for',
    { shell: 'grep ${p} ${f}' },
    { p: '"test"', f: 'quoted' },
    'a "test" here\n',
  ],
  ['2.2 and not found', { shell: 'grep ${p} ${f}' }, { p: '"test"', f: 'plain' }, '[exit code 1]\n'],
  ['2.3 a substitution stays text', { shell: 'echo ${v}' }, { v: '$(whoami)' }, '$(whoami)\n'],
  ['2.4 a pipe stays text', { shell: 'echo ${v}' }, { v: 'test | grep x' }, 'test | grep x\n'],
  ['3.1 a raw value is several words', { shell: 'echo ${v:raw}' }, { v: '-n one' }, 'one'],
  [
    '3.1 and may be an option',
    { shell: 'echo ${v:raw}' },
    { v: '-e \\nhello' },
    expect.stringContaining('\nhello'),
  ],
  [
    '3.3 a raw value is never a command',
    { shell: 'printf "<%s>" ${v:raw}' },
    { v: '; rm -rf marker mark*' },
    '<;><rm><-rf><marker><marker>',
  ],
  [
    '4.1 quoted text is one argument',
    { exec: 'grep "fixed pattern" ${f}' },
    { f: 'fixed' },
    'x fixed pattern with y\n',
  ],
  [
    '4.2 each placeholder is an argument',
    { exec: 'echo ${a} ${b}' },
    { a: 'first', b: 'second' },
    'first second\n',
  ],
  ['5.1 stdin: is fed byte for byte', { exec: 'wc -l', stdin: 'v' }, { v: 'line1\nline2\nline3' }, /^ *2\n$/],
  [
    '5.2 stdin: feeds a shell: tool',
    { shell: 'grep ${p}', stdin: 'v' },
    { p: 'test', v: 'test1\nfoo\n' },
    'test1\n',
  ],
  [
    '6.1 values stay values on every line',
    { shell: 'echo "Start"\necho ${v}\necho "End"\n' },
    { v: 'test ; echo injected' },
    'Start\ntest ; echo injected\nEnd\n',
  ],
  [
    '6.2 pipes go on across lines',
    { shell: "echo ${v} |\ntr '[:lower:]' '[:upper:]' |\nwc -c\n" },
    { v: 'hello' },
    /^ *6\n$/,
  ],
  ['7.1 a parameter has a default', { exec: 'echo ${msg}', parameters: HELLO }, {}, 'hello\n'],
]

test('the syntax of tools: what the model reads is what its specification says', async () => {
  const tools = SYNTAX.map(([, tool], index) => ({ name: `tool_${index}`, ...tool }))
  const tool_calls = SYNTAX.map(([, , args], index) => ({ name: `tool_${index}`, arguments: { ...args } }))
  const { run, events, workspace } = await scene(
    { tools, turns: [{ tool_calls }, { content: 'Done.' }] },
    {
      files: {
        marker: 'still here\n',
        quoted: 'a "test" here\n',
        plain: 'a test here\n',
        fixed: 'x fixed pattern with y\nfixed other\n',
      },
    },
  )
  expect((await run('--no-sync')).exitCode).toBe(0)
  const read = (await events('ACTION_RESULT')).map(({ observation_content: text }, index) => [
    SYNTAX[index]?.[0],
    text,
  ])
  expect(read).toEqual(
    SYNTAX.map(([name, , , text]) => [name, text instanceof RegExp ? expect.stringMatching(text) : text]),
  )
  expect(workspace.has('marker')).toBe(true)
})

const REFUSED: [string, object, string][] = [
  [
    '1.1 a pipe in exec:',
    { exec: 'cat ${file} | wc -l' },
    "Shell metacharacter '|' not allowed in exec: mode.",
  ],
  [
    '1.2 a redirection in exec:',
    { exec: 'echo ${msg} > f' },
    "Shell metacharacter '>' not allowed in exec: mode.",
  ],
  ['3.2 :raw in exec:', { exec: 'echo ${flags:raw}' }, ':raw modifier is only allowed in shell: mode'],
  [
    '7.2 another injection',
    { shell: 'grep ${pattern} ${file}', parameters: [{ name: 'pattern', inject_as: 'stdin' }] },
    "Cannot override inject_as for parameter 'pattern' (inferred: argument, explicit: stdin)",
  ],
  [
    '7.3 a parameter that does not stand in the template',
    { exec: 'echo ${msg}', parameters: [{ name: 'other' }] },
    "Parameter 'other' not found in template",
  ],
]

test('the syntax of tools: what it refuses is refused with its place before anything runs, all at once', async () => {
  const { run, workspace } = await scene({
    tools: REFUSED.map(([, tool], index) => ({ name: `tool_${index}`, ...tool })),
  })
  const { exitCode, stdout, stderr } = await run()
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
  for (const [index, [name, , message]] of REFUSED.entries()) {
    const problem = stderr.split(/(?=agent\.yaml:\d+:\d+: )/).find((text) => text.includes(`tools[${index}]`))
    expect(problem, name).toContain(message)
  }
  expect(await workspace.files()).toEqual([])
})
