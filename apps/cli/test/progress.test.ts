import { startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

const ESCAPE = '\u001b'
const SAY = { name: 'say', exec: 'echo ${text}' }
const KEY = { DELTA_API_KEY: 'test-key-not-real' }

test('without a terminal progress is plain lines: no colours, no spinner, nothing that moves', async () => {
  const turns = [
    { content: 'I say it.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
    { content: 'Done.' },
  ]
  await using agent = await temporaryAgent({ tools: [SAY], turns })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(stderr).not.toContain(ESCAPE)
  expect(stderr).not.toContain('\r')
  expect(stderr.split('\n')).toEqual([
    expect.stringMatching(/^run \S+ of test-agent in /),
    '1. I say it.',
    '   say $ echo hi',
    '     hi',
    expect.stringMatching(/^ {5}exit 0, \d+ ms$/),
    'COMPLETED after 2 iterations',
    '',
  ])
})

test('where calls run side by side each result names its tool, in progress and in show', async () => {
  const wait = {
    name: 'after_b',
    // the quotes are those of an event, and not of this script as its own request holds it
    shell: `until grep -q '"type":"ACTION_RESULT"' .delta/*/journal.jsonl; do :; done; echo result of a`,
  }
  const make = { name: 'b', shell: 'echo result of b' }
  const turns = [
    {
      content: 'Both.',
      tool_calls: [
        { name: 'after_b', arguments: {} },
        { name: 'b', arguments: {} },
      ],
    },
    { content: 'Done.' },
  ]
  await using agent = await temporaryAgent({ tools: [wait, make], turns, agent: { tool_concurrency: 2 } })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const shown = await delta(['show', '-w', workspace.path])
  for (const text of [stderr, shown.stdout])
    expect(text).toMatch(
      /^ {3}after_b \$ .*\n {3}b \$ .*\n {5}result of b\n {5}b: exit 0, .*\n {5}result of a\n {5}after_b: exit 0/m,
    )
})

test('a result that comes after a resume stands under its command', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'die', shell: 'kill -9 $PPID\necho gone' }],
    turns: [{ tool_calls: [{ name: 'die', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stderr } = await delta(['continue', '-w', workspace.path])
  expect(stderr).toMatch(
    /^resuming .*\n(?:note: .*\n)* {3}die \$ sh -c 'kill -9 \$PPID\necho gone' --\n {5}\[interrupted/,
  )
})

test('-q prints the answer and nothing else', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  await using workspace = await temporaryWorkspace({})
  expect(await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])).toMatchObject({
    stdout: 'Done.\n',
    stderr: '',
  })
})

test('a dozen calls at once, each behind a hook, are no reason for a warning', async () => {
  const meet = {
    name: 'meet',
    shell: 'touch here.${n}; until [ "$(ls here.* | wc -l)" -ge 12 ]; do sleep 0.02; done',
  }
  const calls = Array.from({ length: 12 }, (_, n) => ({ name: 'meet', arguments: { n: String(n) } }))
  await using agent = await temporaryAgent({
    tools: [meet],
    turns: [{ tool_calls: calls }, { content: 'Done.' }],
    agent: { tool_concurrency: 12 },
    files: { 'hooks.yaml': 'pre_tool_execution: { command: ["true"] }\n' },
  })
  await using workspace = await temporaryWorkspace({})
  expect(await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])).toMatchObject({
    stdout: 'Done.\n',
    stderr: '',
  })
})

test('control sequences of model and tool are made visible in progress, and never reach a terminal', async () => {
  const turns = [
    { content: 'Look: \u001b[2J\u009b31m', tool_calls: [{ name: 'evil', arguments: {} }] },
    { content: 'Title: \u001b]0;owned\u0007' },
  ]
  await using agent = await temporaryAgent({
    tools: [{ name: 'evil', exec: "printf 'a\\033[31mb\\r\\n'" }],
    turns,
  })
  await using workspace = await temporaryWorkspace({})
  const piped = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(piped.stderr).not.toMatch(/[\u001b\u0007\u009b\r]/)
  expect(piped.stderr).toContain('1. Look: \\x1b[2J\\x9b31m')
  expect(piped.stdout).toBe('Title: \u001b]0;owned\u0007\n')
})

test('characters that nobody sees are made visible in transcripts, and emoji and scripts that need a joiner stay whole', async () => {
  const family = '\u{1f468}\u200d\u{1f469}'
  const content = `a\u200bb \u{e0041}\u{e0042} rm\u200d -rf ${family} \u0645\u200c\u0627`
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [
      { content, tool_calls: [{ name: 'say', arguments: { text: 'x\ufeffy' } }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const text of [stderr, stdout]) {
    expect(text).toContain(`a\\u200bb \\u{e0041}\\u{e0042} rm\\u200d -rf ${family} \u0645\u200c\u0627`)
    expect(text).toContain('     x\\ufeffy\n')
  }
})

test('whatever a model calls a tool, the name stays on one line, and every character of it can be seen', async () => {
  const turns = [
    { tool_calls: [{ name: 'evil\n5. Done.\t\u001b[2J', arguments: {} }] },
    { content: 'It was refused.' },
  ]
  await using agent = await temporaryAgent({ turns })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const text of [stderr, stdout]) {
    expect(text).toContain('   evil\\n5. Done.\\t\\x1b[2J (refused)\n')
    expect(text).not.toMatch(/^5\. Done/m)
  }
})

test('a line end in an argument begins no line that could pass for a step of the run; the command can be pasted', async () => {
  const text = 'a\n2. Done\nCOMPLETED after 2 iterations'
  const script = 'printf %s ${text} > copy\ncat copy | wc -l'
  await using agent = await temporaryAgent({
    tools: [SAY, { name: 'count', description: 'Counts.', shell: script }],
    turns: [
      { tool_calls: [{ name: 'say', arguments: { text } }] },
      { tool_calls: [{ name: 'count', arguments: { text } }] },
      { content: 'Finished.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  const spelt = "$'a\\n2. Done\\nCOMPLETED after 2 iterations'"
  for (const shown of [stderr, stdout]) {
    expect(shown).toContain(`   say $ echo ${spelt}\n`)
    expect(shown).toContain(`   count $ sh -c 'printf %s "$1" > copy\ncat copy | wc -l' -- ${spelt}\n`) // as its author wrote it
    expect(shown).not.toMatch(/^2\. Done/m)
  }
  const step = await delta(['show', '--step', '2', '-w', workspace.path])
  expect(step.stdout).toContain(`   count $ sh -c 'printf %s "$1" > copy\ncat copy | wc -l' -- ${spelt}\n`)
})

test('a giant argument, and giant or many lines of output, are shown by their beginning, and whole by show --step', async () => {
  const long = 'x'.repeat(100_000)
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n')
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [
      { tool_calls: [{ name: 'say', arguments: { text: long } }] },
      { tool_calls: [{ name: 'say', arguments: { text: lines } }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(stderr).toContain('more characters')
  expect(stderr).toContain('… 492 more lines')
  expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(400)
  expect(stderr.split('\n').length).toBeLessThan(50)
  const step = (number: string) => delta(['show', '-w', workspace.path, '--step', number])
  expect((await step('1')).stdout).toContain(long)
  expect((await step('2')).stdout).toContain('line 499')
})

test('of an output that was cut for the model, progress and show say how much more there is than they have lines of', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'count', exec: 'seq 1 60000' }],
    turns: [{ tool_calls: [{ name: 'count', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const text of [stderr, stdout]) {
    expect(text).toContain('     8\n     … ')
    const more =
      /… (\d+) more lines\n {5}\[(\d+) bytes left out here; all 348894 bytes are in (\S+)\]$/m.exec(text)
    const [, lines, bytes, path] = more ?? []
    const all = await workspace.read(path ?? 'none')
    expect(all).toBe(Array.from({ length: 60_000 }, (_, index) => `${index + 1}\n`).join(''))
    const shownBytes = 16 // eight lines of one digit
    expect(Number(bytes) + shownBytes).toBeLessThan(all.length)
    expect(Number(lines)).toBeLessThan(59_992)
  }
})

test('of a refused call the arguments are shown as the model wrote them, by their beginning; whole by show --step', async () => {
  const order = { text: 1, order: `up\u001b[2J${'x'.repeat(1000)}` }
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [
      { tool_calls: [{ name: 'say', arguments: order }] },
      { tool_calls: [{ name: 'sya', arguments: { text: 'hi' } }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const text of [stderr, stdout]) {
    expect(text).toContain('   say (refused) {"text":1,"order":"up\\u001b[2Jxxx')
    expect(text).toMatch(/^ {3}say \(refused\) .*x … \d+ more characters$/m)
    expect(text).toContain('   sya (refused) {"text":"hi"}\n')
  }
  const step = await delta(['show', '-w', workspace.path, '--step', '1'])
  expect(step.stdout).toContain(`   say (refused) ${JSON.stringify(order)}\n`)
})

test('an answer that ends in line ends leaves no empty line in show', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.\nReally.\n\n' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go\n', '-w', workspace.path])
  const { stdout } = await delta(['show', '-w', workspace.path])
  expect(stdout).toContain('\n> Go\n1. Done.\n   Really.\nCOMPLETED')
})

test('engine.log holds what -v prints: timestamped, whole outputs, no colours, no key', async () => {
  const turns = [
    { content: 'Count.', tool_calls: [{ name: 'count', arguments: {} }] },
    { content: 'Done.\nReally.' },
  ]
  await using server = await startScriptedServer(turns)
  await using agent = await temporaryAgent({
    tools: [{ name: 'count', exec: 'seq 1 20' }],
    baseUrl: server.baseUrl,
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go on', '-w', workspace.path, '--run-id', 'one', '-q']
  await delta(args, { env: KEY })

  const log = await workspace.read('.delta/one/engine.log')
  const lines = log.trimEnd().split('\n')
  for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /)
  const texts = lines.map((line) => line.slice(25))
  expect(texts).toContain('> Go on')
  expect(texts).toContain('   count $ seq 1 20')
  expect(texts).toContain('     20')
  expect(texts).toContainEqual(expect.stringMatching(/^ {3}Really\.(?: \(\d+ \+ \d+ tokens\))?$/))
  expect(texts.at(-1)).toMatch(/^COMPLETED after 2 iterations/)
  expect(log).not.toContain(ESCAPE)
  expect(log).not.toContain('test-key-not-real')
})

test('an engine.log that cannot be written stops nothing', async () => {
  await using agent = await temporaryAgent({ tools: [SAY], turns: [{ content: 'Done.' }] })
  await using workspace = await temporaryWorkspace({ '.delta/one/engine.log/in-the-way': '' })
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(result.stderr.match(/engine\.log is not written/g)).toHaveLength(1)
})

test('a long task or output is cut between two characters, and a task in the columns that they take', async () => {
  await using agent = await temporaryAgent({
    tools: [SAY],
    turns: [
      { tool_calls: [{ name: 'say', arguments: { text: `${'x'.repeat(299)}😀😀` } }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const run = ['run', '--agent', agent.path, '-w', workspace.path, '--no-sync']
  const { stderr } = await delta([...run, '-m', '全'.repeat(40)])
  expect(stderr).toContain(`     ${'x'.repeat(299)}😀 … 1 more character\n`)
  await delta([...run, '-m', `${'x'.repeat(58)}😀😀`])
  await delta([...run, '-m', 'e\u0301'.repeat(60)])
  const tasks = (await delta(['list-runs', '-w', workspace.path])).stdout.split('\n').slice(1, 4)
  expect(tasks.map((line) => line.split(/ {2,}/).at(-1)).sort()).toEqual(
    ['e\u0301'.repeat(60), `${'x'.repeat(58)}…`, `${'全'.repeat(29)}…`].sort(),
  )
})

test('a question that could not be asked is shown as any call that was refused', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'say', exec: 'echo ${text}' }],
    turns: [
      {
        tool_calls: [
          { name: 'say', arguments: { text: 'hi' } },
          { name: 'ask_human', arguments: { prompt: 5 } },
        ],
      },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(stderr).toMatch(
    /exit 0, \d+ ms\n {3}ask_human \(refused\) \{"prompt":5\}\n {5}ask_human needs a "prompt"/,
  )
})

test('a call that is refused says so, with its tool and the reason: unknown, wrong arguments, policy, person', async () => {
  const make = (name: string, effects: object) => ({
    name,
    exec: 'touch ${file}',
    effects: { destructive: false, ...effects },
  })
  await using agent = await temporaryAgent({
    agent: { policy: { allow_network: false } },
    tools: [make('fetch', { network: true }), make('drop', { network: false, destructive: true })],
    turns: [
      {
        tool_calls: ['nope', 'fetch', 'drop'].map((name) => ({ name, arguments: { file: 'x' } })),
      },
      { tool_calls: [{ name: 'drop', arguments: {} }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const asked = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const id = / --approve (\S+)/.exec(asked.stderr)?.[1] ?? ''
  const denied = await delta(['continue', '-w', workspace.path, '--deny', id])
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const shown of [asked.stderr + denied.stderr, stdout]) {
    expect(shown).toContain('   nope (refused) {"file":"x"}\n     ERROR: there is no tool "nope".')
    expect(shown).toContain('   fetch (refused) {"file":"x"}\n     BLOCKED: the policy of this agent')
    expect(shown).toContain('   drop (refused) {"file":"x"}\n     A person was asked and said no.')
    expect(shown).toContain('   drop (refused)\n     ERROR: the arguments of "drop" were not accepted.')
  }
})

test('display: says what people see of a call, made safe and short; -v and engine.log show the command', async () => {
  const edit = {
    name: 'edit',
    exec: 'echo ${path} ${lines} ${note}',
    display: 'edit ${path}:${lines} ${note} \\${x}',
    parameters: [{ name: 'path' }, { name: 'lines', type: 'integer' }, { name: 'note', required: false }],
  }
  const evil = `\u001b[2J\n2. Done.${'全'.repeat(60)}`
  await using agent = await temporaryAgent({
    tools: [edit],
    turns: [
      {
        tool_calls: [
          { name: 'edit', arguments: { path: 'a.py', lines: 5 } },
          { name: 'edit', arguments: { path: evil, lines: 5, note: 'now' } },
          { name: 'edit', arguments: { path: 'a.py', lines: 'five' } },
        ],
      },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const { stderr } = await delta(args)
  const { stdout } = await delta(['show', '-w', workspace.path])
  for (const shown of [stderr, stdout]) {
    expect(shown).toContain('\n   edit a.py:5  ${x}\n     a.py 5\n')
    expect(shown).toMatch(/^ {3}edit \\x1b\[2J\\n2\. Done\.全+…:5 now \$\{x\}$/m)
    expect(shown).toContain('\n   edit (refused) {"path":"a.py","lines":"five"}\n')
  }
  const whole = await delta(['show', '-v', '-w', workspace.path])
  for (const shown of [whole.stdout, await workspace.read('.delta/one/engine.log')])
    expect(shown).toContain('   edit $ echo a.py 5\n')
})

test('display: names parameters of its tool; another name is refused with its place, before anything is run', async () => {
  await using agent = await temporaryAgent({
    files: {
      'agent.yaml': `name: test
llm: { provider: script, script: script.yaml }
tools:
  - { name: list, exec: ls }
  - name: edit
    exec: ed \${path} \${edits}
    display: edit \${file} \${path}
`,
    },
  })
  const { stderr, exitCode } = await delta([
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    `${agent.path}/w`,
  ])
  expect(exitCode).toBe(2)
  expect(stderr).toContain(
    'agent.yaml:7:19: tools[1].display: ${file} is not a parameter of edit (path, edits).\n',
  )
})
