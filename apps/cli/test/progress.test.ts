import { expect, test } from 'vitest'
import { calls, KEY, scene, served } from './delta.js'

const ESCAPE = '\u001b'
const SAY = { name: 'say', exec: 'echo ${text}' }

test('where calls run side by side each result names its tool, in progress and in show', async () => {
  const wait = {
    name: 'after_b',
    // the quotes are those of an event, and not of this script as its own request holds it
    shell: `until grep -q '"type":"ACTION_RESULT"' .delta/*/journal.jsonl; do :; done; echo result of a`,
  }
  const both = ['after_b', 'b'].map((name) => ({ name, arguments: {} }))
  const { run, at } = await scene({
    tools: [wait, { name: 'b', shell: 'echo result of b' }],
    turns: [{ content: 'Both.', tool_calls: both }, { content: 'Done.' }],
    agent: { tool_concurrency: 2 },
  })
  for (const text of [(await run()).stderr, (await at('show')).stdout])
    expect(text).toMatch(
      /^ {3}after_b \$ .*\n {3}b \$ .*\n {5}result of b\n {5}b: exit 0, .*\n {5}result of a\n {5}after_b: exit 0/m,
    )
})

test('control and invisible characters of model and tool are made visible in transcripts, and nothing can pass for a step of the run', async () => {
  const family = '\u{1f468}\u200d\u{1f469}'
  const thought = `Look: ${ESCAPE}[2J\u009b31m a\u200bb \u{e0041}\u{e0042} rm\u200d -rf ${family} \u0645\u200c\u0627`
  const forged = 'a\n2. Done\nCOMPLETED after 2 iterations'
  const script = 'printf %s ${text} > copy\ncat copy | wc -l'
  const { run, at } = await scene({
    tools: [
      SAY,
      { name: 'evil', exec: "printf 'a\\033[31mb\\r\\n'" },
      { name: 'count', description: 'Counts.', shell: script },
    ],
    turns: [
      {
        content: thought,
        tool_calls: [
          { name: 'evil', arguments: {} },
          { name: 'evil\n5. Done.\t\u001b[2J', arguments: {} },
          { name: 'say', arguments: { text: forged } },
          { name: 'count', arguments: { text: forged } },
        ],
      },
      { content: `Title: ${ESCAPE}]0;owned\u0007\n\n` },
    ],
  })
  const { stderr, stdout } = await run()
  expect(stdout).toBe(`Title: ${ESCAPE}]0;owned\u0007\n\n`)
  const shown = (await at('show')).stdout
  const spelt = "$'a\\n2. Done\\nCOMPLETED after 2 iterations'"
  for (const text of [stderr, shown]) {
    expect(text).not.toMatch(/[\u001b\u0007\u009b\r]|^[25]\. Done/m)
    expect(text).toContain(
      `1. Look: \\x1b[2J\\x9b31m a\\u200bb \\u{e0041}\\u{e0042} rm\\u200d -rf ${family} \u0645\u200c\u0627\n`,
    )
    expect(text).toContain('     a\\x1b[31mb\\x0d\n')
    expect(text).toContain('   evil\\n5. Done.\\t\\x1b[2J (refused)\n')
    expect(text).toContain(`   say $ echo ${spelt}\n`)
    expect(text).toContain(`   count $ sh -c 'printf %s "$1" > copy\ncat copy | wc -l' -- ${spelt}\n`) // as its author wrote it
  }
  expect(shown).toContain('\n2. Title: \\x1b]0;owned\\x07\nCOMPLETED')
})

test('giant arguments, outputs and refused calls are shown by their beginning, and whole by show --step', async () => {
  const long = 'x'.repeat(100_000)
  const lines = Array.from({ length: 500 }, (_, index) => `line ${index}`).join('\n')
  const order = { text: 1, order: `up\u001b[2J${long}` }
  const { run, at, workspace } = await scene({
    tools: [SAY, { name: 'count', exec: 'seq 1 60000' }],
    turns: [
      {
        tool_calls: [`${'x'.repeat(299)}😀😀`, lines].map((text) => ({ name: 'say', arguments: { text } })),
      },
      {
        tool_calls: [
          { name: 'say', arguments: { text: long } },
          { name: 'say', arguments: order },
        ],
      },
      calls('count'),
      { content: 'Done.' },
    ],
  })
  const { stderr } = await run()
  expect(stderr.split('\n').length).toBeLessThan(70)
  const shown = (await at('show')).stdout
  for (const text of [stderr, shown]) {
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThan(400)
    expect(text).toContain(`     ${'x'.repeat(299)}😀 … 1 more character\n`) // never half of one
    expect(text).toContain('… 492 more lines')
    expect(text).toMatch(/^ {3}say \(refused\) \{"text":1,"order":"up\\u001b\[2Jx+ … \d+ more characters$/m)
  }
  expect((await at('show', '--step', '1')).stdout).toContain('line 499')
  const whole = (await at('show', '--step', '2')).stdout
  expect(whole).toContain(long)
  expect(whole).toContain(`   say (refused) ${JSON.stringify(order)}\n`)
  const cut = /^ {5}\[\d+ bytes left out here; all 348894 bytes are in (\S+)\]$/m
  const [, path] = cut.exec((await at('show', '--step', '3')).stdout) ?? []
  expect(await workspace.read(path ?? 'none')).toHaveLength(348_894)
})

test('a hook that replaced a result says so, in progress and in show, and what the model reads instead', async () => {
  const replace = `[ -e once ] && : > "$DELTA_HOOK_IO_PATH/output/payload_override.dat" ||
    printf "OVERRIDE\\nof it\\n" > "$DELTA_HOOK_IO_PATH/output/payload_override.dat"; touch once`
  const { run, at } = await scene({
    tools: [SAY],
    turns: [calls('say', { text: 'original' }), calls('say', { text: 'a' }), { content: 'Done.' }],
    files: { 'hooks.yaml': JSON.stringify({ post_tool_execution: { command: ['sh', '-c', replace] } }) },
  })
  for (const text of [(await run()).stderr, (await at('show')).stdout]) {
    expect(text).toMatch(
      /^ {5}original\n {5}exit 0, .*\n {3}hook post_tool_execution replaced this result; the model reads:\n {5}OVERRIDE\n {5}of it\n\S/m,
    )
    expect(text).toContain('   hook post_tool_execution replaced this result; the model reads nothing\n')
  }
  expect((await at('show', '--step', '1')).stdout).toMatch(/the model reads:\n {5}OVERRIDE\n/)
})

test('display: says what people see of a call, made safe and short; -v shows the command', async () => {
  const edit = {
    name: 'edit',
    exec: 'echo ${path} ${lines} ${note}',
    display: 'edit ${path}:${lines} ${note} \\${x}',
    parameters: [{ name: 'path' }, { name: 'lines', type: 'integer' }, { name: 'note', required: false }],
  }
  const evil = `${ESCAPE}[2J\n2. Done.${'全'.repeat(60)}`
  const { run, at } = await served(
    [
      {
        tool_calls: [
          { name: 'edit', arguments: { path: 'a.py', lines: 5 } },
          { name: 'edit', arguments: { path: evil, lines: 5, note: 'now' } },
          { name: 'edit', arguments: { path: 'a.py', lines: 'five' } },
          { name: 'count', arguments: {} },
        ],
      },
      { content: 'Done.\nReally.' },
    ],
    { tools: [edit, { name: 'count', exec: 'seq 1 20' }] },
  )
  for (const shown of [(await run('--run-id', 'one')).stderr, (await at('show')).stdout]) {
    expect(shown).toContain('\n   edit a.py:5  ${x}\n     a.py 5\n')
    expect(shown).toMatch(/^ {3}edit \\x1b\[2J\\n2\. Done\.全+…:5 now \$\{x\}$/m)
    expect(shown).toContain('\n   edit (refused) {"path":"a.py","lines":"five"}\n')
  }
  expect((await at('show', '-v')).stdout).toContain('   edit $ echo a.py 5\n')
})

test.each([
  ['', ['   count $ seq 1 20', '     … 12 more lines']],
  ['-q', ['   count $ seq 1 20', '     … 12 more lines']],
  ['-v', ['1. ∴ I count.', '   count $ seq 1 20', '     20']],
  ['--format stream-json', ['   count $ seq 1 20']],
])(
  'run %s: engine.log keeps the progress and why the run failed, each line with its time and without keys',
  async (flags, expected) => {
    const call = {
      ...calls('count', {}),
      content: `${ESCAPE}[2Jno`,
      message: { reasoning_content: 'I count.' },
    }
    const { run, workspace } = await served([call], { tools: [{ name: 'count', exec: 'seq 1 20' }] })
    const { stderr } = await run(
      ...flags.split(' ').filter(Boolean),
      '--run-id',
      'one',
      '--max-iterations',
      '1',
    )
    const log = await workspace.read('.delta/one/engine.log')
    const texts = log
      .trimEnd()
      .split('\n')
      .map((line) => {
        expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /)
        return line.slice(25)
      })
    expect(texts).toEqual(expect.arrayContaining(expected))
    expect(texts.filter((text) => text.startsWith('Error: the run failed: '))).toHaveLength(1)
    if (!/q|json/.test(flags)) expect(texts.join('\n')).toBe(stderr.trimEnd())
    expect(log).not.toContain(ESCAPE)
    expect(log).not.toContain(KEY.DELTA_API_KEY)
  },
)

test('list-runs cuts a long task in the columns that its characters need', async () => {
  const { run, at } = await scene()
  for (const task of ['全'.repeat(40), `${'x'.repeat(58)}😀😀`, 'e\u0301'.repeat(60)])
    await run('-m', task, '--no-sync')
  const tasks = (await at('list-runs')).stdout.split('\n').slice(1, 4)
  expect(tasks.map((line) => line.split(/ {2,}/).at(-1)).sort()).toEqual(
    ['e\u0301'.repeat(60), `${'x'.repeat(58)}…`, `${'全'.repeat(29)}…`].sort(),
  )
})

test('run -v into a pipe says what the model reasoned before its answer, and the answer once', async () => {
  const turn = { content: 'It is four.', message: { reasoning_content: 'Two and two.' } }
  const { run } = await served([turn, turn])
  const { stdout, stderr } = await run('-v')
  expect(stdout).toBe('It is four.\n')
  expect(stderr).toMatch(/^1\. ∴ Two and two\. \(\d+ \+ \d+ tokens, [\d.]+ m?s\)$/m)
  expect(stderr).not.toContain('It is four.')
  expect((await run('--new')).stderr).not.toContain('∴')
})
