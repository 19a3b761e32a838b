import { hostname } from 'node:os'
import {
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { delta, journalOf, startDelta } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

/** An agent that wants to delete a file, and may not without a person. */
function careful(): Promise<TemporaryWorkspace> {
  return temporaryAgent({
    agent: { policy: { on_confirmation: 'ask_human' } },
    tools: [{ name: 'delete', exec: 'rm ${file}', effects: { destructive: true } }],
    turns: [
      { tool_calls: [{ name: 'delete', arguments: { file: 'old.txt' } }] },
      { content: '{{last_observation}}|' },
    ],
  })
}

async function requestId(workspace: TemporaryWorkspace, index = 0): Promise<string> {
  const asked = (await journalOf(workspace.path)).filter((event) => event.type === 'HUMAN_INPUT_REQUEST')
  return String(Object(asked[index]).request_id)
}

test('a command that needs approval waits with 101, shown as it would be typed, with both ways to decide', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(result.exitCode).toBe(101)
  const id = await requestId(workspace)
  expect(result.stderr).toContain(
    '  rm old.txt\nAsked because of: destructive\nEffects it declares: destructive\n',
  )
  const resume = `delta continue -w ${workspace.path} --run-id ${(await workspace.read('.delta/LATEST')).trim()}`
  expect(result.stderr).toContain(
    `Allow it with: ${resume} --approve ${id}\nTo refuse it, write --deny in place of --approve.\n`,
  )
  expect(workspace.has('old.txt')).toBe(true)
})

test('--approve lets exactly that command run', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const id = await requestId(workspace)
  expect((await delta(['continue', '-w', workspace.path, '--approve', id])).exitCode).toBe(0)
  expect(workspace.has('old.txt')).toBe(false)
})

test('a message to a command that waits approves nothing, and says that it is kept for the agent', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const said = await delta(['continue', '-w', workspace.path, '-m', 'yes'])
  expect(said.exitCode).toBe(101)
  expect(said.stderr).toContain('a message does not approve it: that takes a decision with its request id.\n')
  expect(said.stderr).toContain(
    '\nThe message is kept as a further instruction, which the agent reads after the decision.',
  )
  expect(workspace.has('old.txt')).toBe(true)
  expect(await journalOf(workspace.path)).toContainEqual(
    expect.objectContaining({ type: 'USER_MESSAGE', content: 'yes' }),
  )
})

/** What the model is told and is asked, message by message, in its last request. */
async function lastRequestOf(workspace: TemporaryWorkspace): Promise<string> {
  const { stdout } = await delta(['show', '-w', workspace.path, '--request', '2'])
  return stdout
}

test.each([
  ['--deny', true],
  ['--approve', false],
])('a message beside %s is kept, the model reads it, and no note says what was done', async (flag, there) => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const decide = ['continue', '-w', workspace.path, flag, await requestId(workspace)]
  const decided = await delta([...decide, '-m', 'use a trash directory'])
  expect(decided.exitCode).toBe(0)
  expect(decided.stderr).not.toContain('approves nothing')
  expect(workspace.has('old.txt')).toBe(there)
  expect(await journalOf(workspace.path)).toContainEqual(
    expect.objectContaining({ type: 'USER_MESSAGE', content: 'use a trash directory' }),
  )
  expect(await lastRequestOf(workspace)).toContain('use a trash directory')
})

test('--deny tells the model that a person said no', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const denied = await delta(['continue', '-w', workspace.path, '--deny', await requestId(workspace)])
  expect(denied.stdout).toContain('said no')
  expect(workspace.has('old.txt')).toBe(true)
})

test('neither a message, nor response.txt, nor another id approves a command', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one'])
  await workspace.write('.delta/one/interaction/response.txt', 'yes\n')
  for (const flags of [[], ['-m', 'yes'], ['--approve', 'another-id']])
    expect((await delta(['continue', '-w', workspace.path, ...flags])).exitCode).not.toBe(0)
  expect(workspace.has('old.txt')).toBe(true)
})

test('a decision on another command is a mistake of the command line, and names the one that waits', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  const args = ['continue', '-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const id = await requestId(workspace)
  for (const flag of ['--approve', '--deny']) {
    const result = await delta([...args, flag, 'another-id'])
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toContain(' has no waiting command with the request id another-id. ')
    expect(result.stderr).toContain(`Waiting: ${id}.`)
  }
  await delta([...args, '--deny', id])
  const over = await delta([...args, '--approve', id])
  expect(over).toMatchObject({ exitCode: 2, stdout: '' })
  expect(over.stderr).toContain('No command waits for approval.')
})

/** What the screen shows of a command, line by line as in a file, when a person types each of `keys` at a question of its own. */
async function atTerminal(
  args: string[],
  keys: readonly string[],
  env: Record<string, string> = {},
): Promise<{ exitCode: number | null; screen: string }> {
  const started = deltaOnTerminal(args, { env: { TERM: 'dumb', ...env } })
  for (const [index, key] of keys.entries()) {
    await started.waitForOutput((text) => text.split('[yes/no/always] ').length === index + 2)
    started.write(key)
  }
  const { exitCode, stdout } = await started.result
  return { exitCode, screen: stdout.replaceAll('\r', '') }
}

test.skipIf(!hasTerminal)(
  '-i at a terminal asks at once, and again until the answer is yes, no or always',
  async () => {
    await using agent = await careful()
    for (const [answers, there] of [
      [['yes'], false],
      [['maybe', 'yes, but not today', 'no'], true],
      [['', 'ALWAYS'], false],
    ] as const) {
      await using workspace = await temporaryWorkspace({ 'old.txt': '' })
      const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
      const { exitCode, screen } = await atTerminal(
        args,
        answers.map((answer) => `${answer}\n`),
      )
      expect(exitCode).toBe(0)
      const asked = `\n  rm old.txt\nEffects it declares: destructive\nAllow delete? [yes/no/always] ${answers[0]}\n`
      const again = answers
        .slice(1)
        .map((answer) => `Please answer yes, no or always.\nAllow delete? [yes/no/always] ${answer}\n`)
      expect(screen).toContain(`${asked}${again.join('')}   > `)
      expect(workspace.has('old.txt')).toBe(there)
    }
  },
)

test.skipIf(!hasTerminal)(
  'an approval that nobody gave with -i waits, and both ways to decide are said',
  async () => {
    await using agent = await careful()
    await using workspace = await temporaryWorkspace({ 'old.txt': '' })
    const args = [
      'run',
      '-i',
      '--agent',
      agent.path,
      '-m',
      'Go',
      '-w',
      workspace.path,
      '--run-id',
      'one',
      '-q',
    ]
    const { screen, exitCode } = await atTerminal(args, ['\u0004'])
    expect(exitCode).toBe(101)
    const [id, goOn] = [await requestId(workspace), `delta continue -w ${workspace.path} --run-id one`]
    const ways = `Allow it with: ${goOn} --approve ${id}\nTo refuse it, write --deny in place of --approve.\n`
    expect(screen).toContain(
      'Allow delete? [yes/no/always] \nA command waits for approval (exit code 101):\n  rm old.txt\n',
    )
    expect(screen.endsWith(ways)).toBe(true)
  },
)

test('a piped line answers a question of the model with -i, and no approval: that waits, as without -i', async () => {
  await using agent = await temporaryAgent({
    agent: { policy: { on_confirmation: 'ask_human' } },
    tools: [{ name: 'delete', exec: 'rm ${file}', effects: { destructive: true } }],
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which file?' } }] },
      { tool_calls: [{ name: 'delete', arguments: { file: 'old.txt' } }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const asked = await delta(args, { input: `old.txt\n${'yes\n'.repeat(9)}` })
  expect(asked.exitCode).toBe(101)
  expect(asked.stderr).toContain('Which file? \n')
  expect(asked.stderr).not.toContain('[yes/no/always]')
  const id = await requestId(workspace, 1)
  expect(asked.stderr).toContain('A command waits for approval (exit code 101):\n  rm old.txt\n')
  expect(asked.stderr).toContain(` --approve ${id}\n`)
  const goOn = ['continue', '-w', workspace.path]
  expect((await delta([...goOn, '-i'], { input: 'always\n' })).exitCode).toBe(101)
  expect(workspace.has('old.txt')).toBe(true)
  expect((await delta([...goOn, '--approve', id])).stdout).toBe('Done.\n')
  expect(workspace.has('old.txt')).toBe(false)
})

test.skipIf(!hasTerminal)(
  'a command that a run has started approves nothing, neither by --approve nor at a terminal; it may refuse',
  async () => {
    await using agent = await careful()
    await using workspace = await temporaryWorkspace({ 'old.txt': '' })
    const env = { DELTA_PARENT_RUN: '/some/.delta/run' }
    const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const { exitCode, screen } = await atTerminal(args, [], env)
    expect(exitCode).toBe(101)
    expect(screen).not.toContain('[yes/no/always]')
    const id = await requestId(workspace)
    const refused = await delta(['continue', '-w', workspace.path, '--approve', id], { env })
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('--approve is for a person')
    expect(workspace.has('old.txt')).toBe(true)
    expect((await delta(['continue', '-w', workspace.path, '--deny', id], { env })).stdout).toContain(
      'said no',
    )
    expect(workspace.has('old.txt')).toBe(true)
  },
)

test.skipIf(!hasTerminal)(
  'an approval outlives the engine that asked for it, killed while it waited',
  async () => {
    await using agent = await careful()
    await using workspace = await temporaryWorkspace({ 'old.txt': '' })
    const screen = deltaOnTerminal(['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
    await screen.waitForOutput('[yes/no/always]')
    const [start] = await journalOf(workspace.path)
    process.kill(Object(start).engine.pid, 'SIGKILL')
    await screen.result
    const approve = ['continue', '-w', workspace.path, '--approve', await requestId(workspace)]
    expect((await delta(approve)).exitCode).toBe(0)
    expect(workspace.has('old.txt')).toBe(false)
  },
)

test('a model that is a command approves nothing either', async () => {
  await using agent = await careful()
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const approve = `delta continue -w ${workspace.path} --approve ${await requestId(workspace)} 2>&1`
  const script = `said=$(${approve} | head -n 1); printf '{"content":"%s"}' "$said"`
  await using other = await temporaryAgent({
    agent: { llm: { provider: 'command', command: ['sh', '-c', script] } },
  })
  const { stdout } = await delta(['run', '--agent', other.path, '-m', 'Go', '-w', workspace.path, '--new'])
  expect(stdout).toMatch(/^Error: --approve is for a person, and this was started by a run /)
  expect(workspace.has('old.txt')).toBe(true)
})

test('--approve and --deny together are refused', async () => {
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['continue', '-w', workspace.path, '--approve', 'a', '--deny', 'a'])
  expect(result).toMatchObject({ exitCode: 2, stderr: 'Error: --approve and --deny cannot be combined.\n' })
})

test('a question is shown once', async () => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which colour?' } }] },
      { content: 'Ok.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const asked = await delta(['run', '-i', ...args], { input: 'green\n' })
  expect(asked.stderr.split('Which colour?')).toHaveLength(2)
  const waits = await delta(['run', '--new', ...args])
  expect(waits.stderr.split('Which colour?')).toHaveLength(2)
})

test('continue on a run that is being written says so and exits with 6', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const engine = startDelta(args, { env: KEY })
  await server.waitForRequests(1)
  const before = await journalOf(workspace.path)
  const busy = await delta(['continue', '-w', workspace.path, '-m', 'Me too'], { env: KEY })
  expect(busy).toMatchObject({ exitCode: 6, stdout: '' })
  expect(busy.stderr).toBe(
    `Error: Run is currently executing. Wait for completion or interrupt first.
${workspace.path}/.delta/one: process ${engine.pid} on ${hostname()} is writing this run. Nothing was changed.
To take the run from it: delta continue -w ${workspace.path} --run-id one --force
`,
  )
  expect(await journalOf(workspace.path)).toEqual(before)
  await server.release('thinking')
  expect((await engine.result).exitCode).toBe(0)
})

test('a run under the same id is refused while the first is at work, with the command that takes it', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const engine = startDelta(args, { env: KEY })
  await server.waitForRequests(1)
  const busy = await delta(args, { env: KEY })
  expect(busy).toMatchObject({ exitCode: 6, stdout: '' })
  const take = `delta continue -w ${workspace.path} --run-id one --force`
  expect(busy.stderr).toMatch(new RegExp(`\\nTo take the run from it: ${take}\\n$`))
  const second = startDelta(take.split(' ').slice(1), { env: KEY })
  await engine.result
  await server.release('thinking')
  expect(await second.result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('of two decisions at once the second learns only what is known: which question is open, not who is asked', async () => {
  const hold = ['sh', '-c', 'test -e hold || exit 0; touch held; exec sleep 300']
  await using agent = await temporaryAgent({
    agent: { policy: { on_confirmation: 'ask_human' } },
    tools: [{ name: 'delete', exec: 'rm ${file}', effects: { destructive: true } }],
    turns: [{ tool_calls: [{ name: 'delete', arguments: { file: 'old.txt' } }] }, { content: 'Done.' }],
    files: { 'hooks.yaml': JSON.stringify({ pre_tool_execution: { command: hold } }) },
  })
  await using workspace = await temporaryWorkspace({ 'old.txt': '' })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const approve = ['continue', '-w', workspace.path, '--approve', await requestId(workspace)]
  await workspace.write('hold', '')
  const first = startDelta(approve)
  await waitForFile(`${workspace.path}/held`)
  const second = await delta(approve)
  first.kill('SIGTERM')
  await first.result
  expect(second).toMatchObject({ exitCode: 6, stdout: '' })
  expect(second.stderr).toContain('Run is currently executing.')
})

describe.each(['ask', 'rerun'])(
  'a command with on_interrupt: %s that needs approval, and was interrupted',
  (onInterrupt) => {
    /** Approved once, started, and its engine killed. */
    async function interrupted(agent: TemporaryWorkspace, workspace: TemporaryWorkspace): Promise<void> {
      await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
      const args = ['continue', '-w', workspace.path, '--approve', await requestId(workspace)]
      const engine = startDelta(args)
      await waitForFile(`${workspace.path}/done`)
      engine.kill('SIGKILL')
      await engine.result
    }

    function agentThat(): Promise<TemporaryWorkspace> {
      const script = 'echo started >> witness.txt; test -e done || { touch done; exec sleep 300; }'
      return temporaryAgent({
        agent: { policy: { on_confirmation: 'ask_human' } },
        tools: [{ name: 'work', shell: script, effects: { destructive: true }, on_interrupt: onInterrupt }],
        turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
      })
    }

    async function questions(workspace: TemporaryWorkspace): Promise<string[]> {
      const asked = (await journalOf(workspace.path)).filter(({ type }) => type === 'HUMAN_INPUT_REQUEST')
      return asked.map((event) => String(Object(event).request_id))
    }

    test('runs again after one further approval from another terminal', async () => {
      await using agent = await agentThat()
      await using workspace = await temporaryWorkspace({})
      await interrupted(agent, workspace)
      expect((await delta(['continue', '-w', workspace.path])).exitCode).toBe(101)
      const [, second = ''] = await questions(workspace)
      const result = await delta(['continue', '-w', workspace.path, '--approve', second])
      expect(result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
      expect(await questions(workspace)).toHaveLength(2)
      expect(await workspace.read('witness.txt')).toBe('started\nstarted\n')
    })

    test('keeps a message beside the approval, and runs all the same', async () => {
      await using agent = await agentThat()
      await using workspace = await temporaryWorkspace({})
      await interrupted(agent, workspace)
      await delta(['continue', '-w', workspace.path])
      const [, second = ''] = await questions(workspace)
      await delta(['continue', '-w', workspace.path, '--approve', second, '-m', 'be quick'])
      expect(await workspace.read('witness.txt')).toBe('started\nstarted\n')
      expect(await lastRequestOf(workspace)).toContain('be quick')
    })

    test.skipIf(!hasTerminal)('asks once at the terminal, too', async () => {
      await using agent = await agentThat()
      await using workspace = await temporaryWorkspace({})
      await interrupted(agent, workspace)
      const { exitCode, screen } = await atTerminal(['continue', '-i', '-w', workspace.path], ['y\n'])
      expect(exitCode).toBe(0)
      expect(screen.split('[yes/no/always]')).toHaveLength(2)
      expect(await workspace.read('witness.txt')).toBe('started\nstarted\n')
    })
  },
)

/** Deletes two files, and shows a third, each of which needs a person. */
function deletesTwo(more: object = {}): Promise<TemporaryWorkspace> {
  const call = (name: string, file: string) => ({ tool_calls: [{ name, arguments: { file } }] })
  return temporaryAgent({
    agent: { policy: { on_confirmation: 'ask_human', ...more } },
    tools: ['delete', 'empty'].map((name) => ({
      name,
      exec: name === 'delete' ? 'rm ${file}' : 'truncate -s 0 ${file}',
      effects: { destructive: true },
    })),
    turns: [call('delete', 'a'), call('delete', 'b'), call('empty', 'c'), { content: 'Done.' }],
  })
}

test.skipIf(!hasTerminal)(
  'always allows the tool, and no other, until this process ends; the journal says so, and grants nothing',
  async () => {
    await using agent = await deletesTwo()
    await using workspace = await temporaryWorkspace({ a: '', b: '', c: 'text' })
    const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const { screen, exitCode } = await atTerminal(args, ['always\n', '\u0004'])
    expect(exitCode).toBe(101)
    expect([workspace.has('a'), workspace.has('b'), await workspace.read('c')]).toEqual([
      false,
      false,
      'text',
    ])
    expect(screen).toMatch(/^ {3}> always\n {3}delete \$ rm a\n/m)
    expect(screen.match(/^Allow \S+\?/gm)).toEqual(['Allow delete?', 'Allow empty?'])
    const answers = (await journalOf(workspace.path)).filter(({ type }) => type === 'HUMAN_INPUT_RECEIVED')
    expect(answers).toMatchObject([{ response: 'yes', remember: 'process' }])

    await workspace.write('a', '')
    const script = JSON.parse(await agent.read('script.yaml'))
    await agent.write('script.yaml', JSON.stringify([...script.slice(0, 3), script[0], { content: 'Done.' }]))
    const later = await atTerminal(['continue', '-i', '-w', workspace.path], ['yes\n', '\u0004'])
    expect(later.exitCode).toBe(101)
    expect(later.screen.match(/^Allow \S+\?/gm)).toEqual(['Allow empty?', 'Allow delete?'])
    expect(workspace.has('a')).toBe(true)
  },
)

test('policy.tools of agent.yaml is lasting consent to a tool, and to no other', async () => {
  await using agent = await deletesTwo({ tools: { delete: 'allow' } })
  await using workspace = await temporaryWorkspace({ a: '', b: '', c: 'text' })
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect([workspace.has('a'), workspace.has('b'), await workspace.read('c')]).toEqual([false, false, 'text'])
  expect(stderr).toContain('A command waits for approval (exit code 101):\n  truncate -s 0 c\n')
})

test.skipIf(!hasTerminal)(
  'of a tool in a sandbox people see the command inside, and who approves it also what is started',
  async () => {
    await using agent = await temporaryAgent({
      agent: { policy: { on_confirmation: 'ask_human' } },
      tools: [
        { name: 'write', exec: 'tee ${path}', stdin: 'text', sandbox: true, effects: { destructive: true } },
      ],
      turns: [
        { tool_calls: [{ name: 'write', arguments: { path: 'draft.txt', text: 'hi' } }] },
        { content: 'Done.' },
      ],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const question =
      /\n {2}printf %s hi \| tee draft\.txt\nStarted in a sandbox, as:\n {2}bwrap .* -- tee draft\.txt\n/
    expect((await delta(['run', ...args])).stderr).toMatch(question)
    const { screen } = await atTerminal(['run', '--new', '-i', ...args], ['yes\n'])
    expect(screen).toMatch(question)
    const { stdout } = await delta(['show', '-w', workspace.path])
    for (const shown of [screen, stdout]) expect(shown).toContain('\n   write $ tee draft.txt (bwrap)\n')
  },
)
