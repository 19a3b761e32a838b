import { join } from 'node:path'
import { waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, delta, killOnce, scene, startDelta } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

const ASK = { policy: { on_confirmation: 'ask_human' } }
const DELETE = { name: 'delete', exec: 'rm ${file}', effects: { destructive: true } }
const OLD = { files: { 'old.txt': '' } }

/** An agent that wants to delete a file, and may not without a person. */
const careful = () =>
  scene(
    {
      agent: ASK,
      tools: [DELETE],
      turns: [calls('delete', { file: 'old.txt' }), { content: '{{last_observation}}|' }],
    },
    OLD,
  )

type Careful = Awaited<ReturnType<typeof careful>>

async function requestIds({ events }: Pick<Careful, 'events'>): Promise<string[]> {
  return (await events('HUMAN_INPUT_REQUEST')).map(({ request_id }) => String(request_id))
}

test('a waiting command is named in JSON; neither a message, response.txt nor another id allows it, and --deny tells the model what was said', async () => {
  const at = await careful()
  const { stdout } = await at.run('--format', 'json', '--run-id', 'one')
  const [id = ''] = await requestIds(at)
  expect(JSON.parse(stdout).question).toMatchObject({
    request_id: id,
    input_type: 'confirmation',
    command: 'rm old.txt',
    tool: 'delete',
    reasons: [expect.any(String)],
  })
  await at.workspace.write('.delta/one/interaction/response.txt', 'yes\n')
  for (const flags of [[], ['-m', 'yes'], ['--approve', 'another-id']])
    expect((await at.at('continue', ...flags)).exitCode).not.toBe(0)
  const shown = (await at.at('show')).stdout
  expect(shown).toContain('> yes\n   (a message, which approves nothing)\n')
  const denied = await at.at('continue', '--deny', id.slice(0, 8), '-m', 'use a trash directory')
  expect(denied).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('said no') })
  expect((await at.at('show', '--request', '2')).stdout).toContain('use a trash directory')
  expect(at.workspace.has('old.txt')).toBe(true)
  expect((await at.at('continue', '--approve', id)).stderr).toContain('No command waits for approval.')
})

/** What the screen shows when a person types each of `keys` at a question of its own. */
async function atTerminal(args: string[], keys: readonly string[], env: Record<string, string> = {}) {
  const started = deltaOnTerminal(args, { env: { TERM: 'dumb', ...env } })
  for (const [index, key] of keys.entries()) {
    await started.waitForOutput((text) => text.split('[yes/no/always] ').length === index + 2)
    started.write(key)
  }
  const { exitCode, stdout } = await started.result
  return { exitCode, screen: stdout.replaceAll('\r', '') }
}

test.skipIf(!hasTerminal)(
  '-i at a terminal asks at once, and again until the answer is yes or no',
  async () => {
    for (const [answers, isThere] of [
      [['yes'], false],
      [['maybe', 'yes, but not today', 'no'], true],
    ] as const) {
      const { words, workspace } = await careful()
      const keys = answers.map((answer) => `${answer}\n`)
      const { exitCode, screen } = await atTerminal(words('run', '-i'), keys)
      expect(exitCode).toBe(0)
      const asked = `
  rm old.txt
Effects it declares: destructive
always: any later call of delete in this run, with any arguments, is not asked about.
Allow delete? [yes/no/always] ${answers[0]}
`
      const again = answers
        .slice(1)
        .map((answer) => `Please answer yes, no or always.\nAllow delete? [yes/no/always] ${answer}\n`)
      expect(screen).toContain(`${asked}${again.join('')}   > `)
      expect(workspace.has('old.txt')).toBe(isThere)
    }
  },
)

test.skipIf(!hasTerminal)(
  'what was typed before a question answers nothing, with or without Enter, and one answer is for one question',
  async () => {
    const shell = 'echo > started; until [ -e go ]; do sleep 0.05; done'
    const wait = { name: 'wait', shell, effects: { destructive: false } }
    const files = ['a', 'b', 'c']
    const { words, workspace, events } = await scene(
      {
        agent: ASK,
        tools: [DELETE, wait],
        turns: [
          calls('wait'),
          { tool_calls: files.map((file) => ({ name: 'delete', arguments: { file } })) },
        ],
      },
      { files: Object.fromEntries(files.map((file) => [file, ''])) },
    )
    const screen = deltaOnTerminal(words('run', '-i'), { env: { TERM: 'dumb' } })
    await waitForFile(join(workspace.path, 'started'))
    screen.write('yes\nalways\nye')
    await workspace.write('go', '')
    const asked = (count: number) =>
      screen.waitForOutput((text) => text.split('[yes/no/always] ').length === count + 1)
    await asked(1)
    screen.write('yes\nyes\nyes\n') // the first is for this question
    await asked(2)
    screen.write('no\n')
    await asked(3)
    screen.write('\u0004')
    expect((await screen.result).exitCode).toBe(101)
    const answers = (await events('HUMAN_INPUT_RECEIVED')).map(({ response }) => response)
    expect(answers).toEqual(['yes', 'no'])
    expect(files.map((file) => workspace.has(file))).toEqual([false, true, true])
  },
)

test('a piped line answers a question of the model with -i, and no approval: that waits, as without -i', async () => {
  const at = await scene(
    {
      agent: ASK,
      tools: [DELETE],
      turns: [
        calls('ask_human', { prompt: 'Which file?' }),
        calls('delete', { file: 'old.txt' }),
        { content: 'Done.' },
      ],
    },
    OLD,
  )
  const asked = await delta(at.words('run', '-i'), { input: `old.txt\n${'yes\n'.repeat(9)}` })
  expect(asked.exitCode).toBe(101)
  expect(asked.stderr).toContain('Which file? \n')
  expect(asked.stderr).not.toContain('[yes/no/always]')
  const [, id = ''] = await requestIds(at)
  expect(asked.stderr).toContain('A command waits for approval (exit code 101):\n  rm old.txt\n')
  expect((await delta(at.words('continue', '-i'), { input: 'always\n' })).exitCode).toBe(101)
  expect(at.workspace.has('old.txt')).toBe(true)
  expect((await at.at('continue', '--approve', id)).stdout).toBe('Done.\n')
  expect(at.workspace.has('old.txt')).toBe(false)
})

test.skipIf(!hasTerminal)(
  'a command that a run has started approves nothing, neither by --approve nor at a terminal; it may refuse',
  async () => {
    const at = await careful()
    const env = { DELTA_PARENT_RUN: '/some/.delta/run' }
    const { exitCode, screen } = await atTerminal(at.words('run', '-i'), [], env)
    expect(exitCode).toBe(101)
    expect(screen).not.toContain('[yes/no/always]')
    const [id = ''] = await requestIds(at)
    const refused = await delta(at.words('continue', '--approve', id), { env })
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('--approve is for a person')
    expect((await delta(at.words('continue', '--deny', id), { env })).stdout).toContain('said no')
    expect(at.workspace.has('old.txt')).toBe(true)
  },
)

test('a model that is a command approves nothing either', async () => {
  const at = await careful()
  await at.run()
  const [id = ''] = await requestIds(at)
  const approve = `delta continue -w ${at.workspace.path} --approve ${id} 2>&1`
  const script = `said=$(${approve} | head -n 1); printf '{"content":"%s"}' "$said"`
  const other = await scene({ agent: { llm: { provider: 'command', command: ['sh', '-c', script] } } })
  expect((await other.run()).stdout).toMatch(
    /^Error: --approve is for a person, and this was started by a run /,
  )
  expect(at.workspace.has('old.txt')).toBe(true)
})

test.skipIf(!hasTerminal)(
  'an approval outlives the engine that asked for it, killed while it waited',
  async () => {
    const at = await careful()
    const screen = deltaOnTerminal(at.words('run', '-i'))
    await screen.waitForOutput('[yes/no/always]')
    const [start] = await at.events()
    process.kill(Object(start).engine.pid, 'SIGKILL')
    await screen.result
    const [id = ''] = await requestIds(at)
    expect((await at.at('continue', '--approve', id)).exitCode).toBe(0)
    expect(at.workspace.has('old.txt')).toBe(false)
  },
)

test.each(['ask', 'rerun'])(
  'an approved command with on_interrupt: %s that was killed runs again after one further approval',
  async (onInterrupt) => {
    const shell = 'echo started >> witness.txt; test -e done || { echo > done; exec sleep 300; }'
    const work = { name: 'work', shell, effects: { destructive: true }, on_interrupt: onInterrupt }
    const at = await scene({ agent: ASK, tools: [work], turns: [calls('work'), { content: 'Done.' }] })
    await at.run()
    const [first = ''] = await requestIds(at)
    await killOnce(startDelta(at.words('continue', '--approve', first)), join(at.workspace.path, 'done'))
    expect((await at.at('continue')).exitCode).toBe(101)
    const [, second = '', ...more] = await requestIds(at)
    expect(more).toEqual([])
    const { stdout, stderr } = await at.at('continue', '--approve', second, '-m', 'be quick')
    expect([stdout, stderr]).toEqual([
      'Done.\n',
      expect.stringContaining('cut off before it had a result; it is run again:\n   work $ '),
    ])
    expect(await at.workspace.read('witness.txt')).toBe('started\nstarted\n')
    expect((await at.at('show', '--request', '2')).stdout).toContain('be quick')
  },
)

test.skipIf(!hasTerminal)(
  'always allows the tool, and no other, until this process ends; the journal says so, and grants nothing',
  async () => {
    const turns = [
      calls('delete', { file: 'a' }),
      calls('delete', { file: 'b' }),
      calls('empty', { file: 'c' }),
      calls('delete', { file: 'a' }),
      { content: 'Done.' },
    ]
    const empty = { name: 'empty', exec: 'truncate -s 0 ${file}', effects: { destructive: true } }
    const files = { a: '', b: '', c: 'text' }
    const { words, workspace, events } = await scene({ agent: ASK, tools: [DELETE, empty], turns }, { files })
    const { screen, exitCode } = await atTerminal(words('run', '-i'), ['always\n', '\u0004'])
    expect(exitCode).toBe(101)
    expect([workspace.has('a'), workspace.has('b'), await workspace.read('c')]).toEqual([
      false,
      false,
      'text',
    ])
    expect(screen).toMatch(/^ {3}> always\n {3}delete \$ rm a\n/m)
    expect(screen.match(/^Allow \S+\?/gm)).toEqual(['Allow delete?', 'Allow empty?'])
    expect(await events('HUMAN_INPUT_RECEIVED')).toMatchObject([{ response: 'yes', remember: 'process' }])

    await workspace.write('a', '')
    const later = await atTerminal(words('continue', '-i'), ['yes\n', '\u0004'])
    expect(later.exitCode).toBe(101)
    expect(later.screen.match(/^Allow \S+\?/gm)).toEqual(['Allow empty?', 'Allow delete?'])
    expect(workspace.has('a')).toBe(true)
  },
)

test('of a tool in a sandbox people see the command inside, and who approves it also what is started', async () => {
  const write = {
    name: 'write',
    exec: 'tee ${path}',
    stdin: 'text',
    sandbox: true,
    effects: { destructive: true },
  }
  const turns = [calls('write', { path: 'draft.txt', text: 'hi' }), { content: 'Done.' }]
  const { run } = await scene({ agent: ASK, tools: [write], turns })
  expect((await run()).stderr).toMatch(
    /\n {2}printf %s hi \| tee draft\.txt\nStarted in a sandbox, as:\n {2}bwrap .* -- tee draft\.txt\n/,
  )
})
