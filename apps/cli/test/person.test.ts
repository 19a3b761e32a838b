import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  isAlive,
  runProcess,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf, startDelta } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

function ask(prompt: string, more: object = {}) {
  return { name: 'ask_human', arguments: { prompt, ...more } }
}

async function answersIn(workspace: string): Promise<unknown[]> {
  return (await journalOf(workspace)).flatMap((event) =>
    event.type === 'HUMAN_INPUT_RECEIVED' && 'response' in event ? [event.response] : [],
  )
}

test('-i reads one line for each question from a pipe, prompts on stderr, and exits with 0', async () => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [ask('First?'), ask('Second?')] },
      { tool_calls: [ask('Sure?', { input_type: 'confirmation' })] },
      { content: 'Thanks.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], {
    input: 'one\ntwo words\r\nyes',
  })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  expect(result.stderr).toBe('First? \nSecond? \nSure? [yes/no] \n') // an answer from a pipe ends no line
  expect(await answersIn(workspace.path)).toEqual(['one', 'two words', 'yes'])
})

test('a dozen questions of one run are asked like one: nothing but their prompts is on stderr', async () => {
  const turns = Array.from({ length: 12 }, () => ({ tool_calls: [ask('Well?')] }))
  await using agent = await temporaryAgent({ turns: [...turns, { content: 'Thanks.' }] })
  await using workspace = await temporaryWorkspace({})
  const result = await delta(['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], {
    input: 'well\n'.repeat(12),
  })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n', stderr: 'Well? \n'.repeat(12) })
})

test('a confirmation is asked again on -i until somebody says yes or no, and more may follow', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Sure?', { input_type: 'confirmation' })] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q']
  const result = await delta(args, { input: 'maybe\n\nyesterday\nYes, but be quick\n' })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  const again = 'Sure? [yes/no] \nPlease answer yes or no.\n'
  expect(result.stderr).toBe(`${again}${again}${again}Sure? [yes/no] \n`)
  expect(await answersIn(workspace.path)).toEqual(['Yes, but be quick'])
})

test('a response.txt that is no file or no text is refused: exit code 2, and the run goes on waiting', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Colour?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  await delta(['run', ...args, '--run-id', 'one'])
  const name = '.delta/one/interaction/response.txt'
  const path = join(workspace.path, name)
  const before = await workspace.read('.delta/one/journal.jsonl')
  const refused = async (why: string) => {
    for (const command of [
      ['continue', '-w', workspace.path],
      ['run', ...args],
      ['run', '--agent', agent.path, '-m', 'Another message', '-w', workspace.path],
    ]) {
      const result = await delta(command)
      expect(result).toMatchObject({ exitCode: 2, stdout: '' })
      expect(result.stderr).toContain(
        `Error: ${path} is ${why}.\nWrite the answer into a file of that name, or give it as a message.\n`,
      )
    }
    expect(await workspace.read('.delta/one/journal.jsonl')).toBe(before)
  }
  await workspace.write(name, Buffer.from('gr\xfcn\n', 'latin1'))
  await refused('not UTF-8 text')
  await rm(path)
  await runProcess(['mkfifo', path])
  await refused('not a regular file')

  await rm(path)
  await workspace.write(name, '\ufeffgreen\r\n') // as editors of Windows do
  expect(await delta(['continue', '-w', workspace.path])).toMatchObject({ stdout: 'Thanks.\n' })
  expect(await answersIn(workspace.path)).toEqual(['green'])
})

test('a confirmation takes no other answer from -m or response.txt: exit code 2, and the run goes on waiting', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Sure?', { input_type: 'confirmation' })] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one'])
  const response = '.delta/one/interaction/response.txt'
  const before = await workspace.read('.delta/one/journal.jsonl')

  const maybe = await delta(['continue', '-w', workspace.path, '-m', 'maybe'])
  await workspace.write(response, 'n/a\n')
  const written = await delta(['continue', '-w', workspace.path])
  for (const [result, where] of [
    [maybe, 'The message: "maybe"'],
    [written, `${join(workspace.path, response)}: "n/a"`],
  ] as const) {
    expect(result).toMatchObject({ exitCode: 2, stdout: '' })
    expect(result.stderr).toBe(
      `Error: ${where} is neither yes nor no, and the agent asks for one of them: Sure?\nAnswer with yes or no (or y, n); more may follow: "yes, but …".\n`,
    )
  }
  expect(await workspace.read('.delta/one/journal.jsonl')).toBe(before)

  await workspace.write(response, 'no\n')
  expect(await delta(['continue', '-w', workspace.path])).toMatchObject({ stdout: 'Thanks.\n' })
  expect(await answersIn(workspace.path)).toEqual(['no'])
})

test('end of input while asking leaves the run waiting with 101, never a success', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('First?'), ask('Second?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['--agent', agent.path, '-w', workspace.path]
  const cut = await delta(['run', '-i', '-m', 'Go', ...args], { input: 'one\n' })
  expect(cut.exitCode).toBe(101)
  expect(await answersIn(workspace.path)).toEqual(['one'])

  const rest = await delta(['continue', '-w', workspace.path, '-m', 'two'])
  expect(rest).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  expect(await answersIn(workspace.path)).toEqual(['one', 'two'])
})

test('an empty line is an answer, too', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Name?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path]
  expect((await delta(args, { input: '\n' })).exitCode).toBe(0)
  expect(await answersIn(workspace.path)).toEqual([''])
})

test('two questions in one response come one after the other, each answered from another terminal', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('First?'), ask('Second?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const first = await delta(['run', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
  expect(first.exitCode).toBe(101)
  expect(first.stderr).toContain('Agent paused. It asks: First?\n')
  const second = await delta(['continue', '-w', workspace.path, '-m', 'one'])
  expect(second.exitCode).toBe(101)
  expect(second.stderr).toContain('Agent paused. It asks: Second?\n')
  expect((await delta(['continue', '-w', workspace.path, '-m', 'two'])).stdout).toBe('Thanks.\n')
})

test.skipIf(!hasTerminal)(
  'a sensitive answer is not echoed, and is in no file once the run has ended',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('Key?', { input_type: 'password' })] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    await screen.waitForOutput(/Key\? $/)
    screen.write('hunter2-hunter3\r')
    const { stdout, exitCode } = await screen.result
    expect(exitCode).toBe(0)
    expect(stdout).toContain('Thanks.')
    expect(stdout).not.toContain('hunter2')
    for (const file of await workspace.files()) expect(await workspace.read(file)).not.toContain('hunter2')
  },
)

test.skipIf(!hasTerminal)(
  'a password with sensitive: false is not echoed, and otherwise an ordinary answer',
  async () => {
    const question = ask('PIN?', { input_type: 'password', sensitive: false })
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [question] }, { content: 'Thanks for {{last_observation}}.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '-i', '-q', '-m', 'Go', '--agent', agent.path, '-w', workspace.path]
    const screen = deltaOnTerminal(args)
    await screen.waitForOutput(/PIN\? $/)
    screen.write('12345678\r')
    expect((await screen.result).stdout).toBe('PIN? \r\nThanks for 12345678.\r\n')
    expect(await answersIn(workspace.path)).toEqual(['12345678'])
    expect(await workspace.files()).not.toContainEqual(expect.stringContaining('/secrets/'))
  },
)

test.skipIf(!hasTerminal)(
  '-m - on a terminal, which shows what is typed, is refused for a secret',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('Key?', { input_type: 'password' })] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    await delta(['run', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    const refused = await deltaOnTerminal(['continue', '-w', workspace.path, '-m', '-']).result
    expect(refused).toMatchObject({ exitCode: 2, stdout: expect.stringContaining('Answer unseen, with -i') })
  },
)

test.skipIf(!hasTerminal)(
  '-m - on a terminal says that what is typed is shown, and how it ends',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('Name?')] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    await delta(['run', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    const screen = deltaOnTerminal(['continue', '-w', workspace.path, '-m', '-'])
    await screen.waitForOutput('Type the message; it is shown. End it with Ctrl+D on a new line:\r\n')
    screen.write('Ann\n\u0004')
    expect((await screen.result).exitCode).toBe(0)
    expect(await answersIn(workspace.path)).toEqual(['Ann'])
  },
)

test('a password reaches the command that needs it, and no file, request or output', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [ask('Key?', { input_type: 'password' })] },
    {
      tool_calls: [
        { name: 'length', arguments: { text: '«secret:call_1_1»', same: '«secret:call_1_1»' } },
        { name: 'show', arguments: { text: '«secret:call_1_1»' } },
      ],
    },
    { content: 'Thanks.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [
      { name: 'length', shell: 'printf %s ${text} | wc -c; wc -c', stdin: 'same' },
      { name: 'show', exec: 'echo is ${text}' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect((await delta(args, { env })).exitCode).toBe(101)
  const result = await delta(['continue', '-w', workspace.path, '-m', '-'], { env, input: 'hunter2-hunter3' })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  const observations = (await journalOf(workspace.path)).flatMap((event) =>
    event.type === 'ACTION_RESULT' && 'observation_content' in event ? [event.observation_content] : [],
  )
  expect(observations.slice(1)).toEqual(['15\n15\n', expect.stringMatching(/^is (?!.*hunter2)/)])
  for (const file of await workspace.files())
    expect(await workspace.read(file), file).not.toContain('hunter2')
  for (const request of server.requests()) expect(JSON.stringify(request)).not.toContain('hunter2')
})

test.skipIf(!hasTerminal)('Ctrl+C at a hidden prompt interrupts the run with 130', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Key?', { input_type: 'password' })] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
  await screen.waitForOutput(/Key\? $/)
  screen.write('abc\u0003')
  expect((await screen.result).exitCode).toBe(130)
})

test.skipIf(!hasTerminal)('Ctrl+C at a visible prompt interrupts the run with 130', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Name?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
  await screen.waitForOutput(/Name\? $/)
  screen.write('\u0003')
  const { exitCode, stdout } = await screen.result
  expect(exitCode).toBe(130)
  expect(stdout).toMatch(/\nName\? (\^C)?\r\n[^\n]*SIGINT: stopping/)
})

test.skipIf(!hasTerminal)(
  'on a terminal without -w the person may choose an old workspace, or none and no run; -y never asks',
  async () => {
    await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
    const args = ['run', '--agent', agent.path, '-m', 'Go']
    await delta(args)
    const screen = deltaOnTerminal(args)
    await screen.waitForOutput('Workspace (W001; Enter for a new one): ')
    screen.write('W009\n')
    await screen.waitForOutput('There is no workspace "W009".')
    screen.write('W001\n')
    expect((await screen.result).exitCode).toBe(0)
    expect(agent.has('workspaces/W002')).toBe(false)

    const left = deltaOnTerminal(args)
    await left.waitForOutput('Workspace (W001; Enter for a new one): ')
    left.write('\u0004')
    const { exitCode, stdout } = await left.result
    expect(exitCode).toBe(2)
    expect(stdout).toMatch(/\nError: No workspace was chosen, so no run was started\. .*-w.*-y/)
    expect(agent.has('workspaces/W002')).toBe(false)

    const short = deltaOnTerminal(args)
    await short.waitForOutput('Workspace (W001; Enter for a new one): ')
    short.write('1\n')
    expect((await short.result).exitCode).toBe(0)
    expect(agent.has('workspaces/W002')).toBe(false)

    expect((await deltaOnTerminal([...args, '-y']).result).stdout).not.toContain('Enter for a new one')
    expect(agent.has('workspaces/W002')).toBe(true)
    const last = deltaOnTerminal(args)
    await last.waitForOutput('Workspace (W001, W002; last used W002; Enter for a new one): ')
    last.write('w2\n')
    expect((await last.result).exitCode).toBe(0)
    expect(agent.has('workspaces/W003')).toBe(false)

    for (let number = 3; number <= 9; number++) await mkdir(join(agent.path, `workspaces/W00${number}`))
    const many = deltaOnTerminal(args)
    await many.waitForOutput('Workspace (W001 to W009; last used W002; Enter for a new one): ')
    many.write('\u0004')
    await many.result
  },
)

test.skipIf(!hasTerminal)(
  'behind a question of several lines the answer is typed on a line of its own',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('Which?\n- a) red\n- b) blue\n')] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    await screen.waitForOutput('Which?\r\n- a) red\r\n- b) blue\r\n> ')
    screen.write('a\n')
    expect((await screen.result).exitCode).toBe(0)
    expect(await answersIn(workspace.path)).toEqual(['a'])
  },
)

test.skipIf(!hasTerminal)('arrow keys are no part of an answer that is typed', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }, { content: 'Ok.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const screen = deltaOnTerminal(args)
  await screen.waitForOutput('Which?')
  screen.write('an\u001b[D\u001bOA\u001b[3~s\u001b[1;5C\r')
  expect((await screen.result).exitCode).toBe(0)
  expect(await journalOf(workspace.path)).toContainEqual(expect.objectContaining({ response: 'ans' }))
})

test('a second Ctrl+C ends at once and leaves no process of the tool', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: "trap '' TERM INT; echo $$ > pid.txt; while :; do sleep 1; done" }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/pid.txt`, (text) => text.endsWith('\n'))
  engine.kill('SIGINT')
  await engine.waitForOutput('once more to stop at once', { stream: 'stderr' })
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  await waitForExit(Number(await workspace.read('pid.txt')))
  expect((await delta(['list-runs', '--resumable', '-w', workspace.path])).stdout).toContain('INTERRUPTED')
})

test.each([
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s interrupts the run with exit code %d', async (signal, exitCode) => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/pid.txt`, (text) => text.endsWith('\n'))
  engine.kill(signal)
  expect((await engine.result).exitCode).toBe(exitCode)
  expect(isAlive(Number(await workspace.read('pid.txt')))).toBe(false)
})

test.skipIf(process.platform !== 'linux')(
  'Ctrl+C ends what left the process group of its tool, too',
  async () => {
    const leaves = 'setsid sh -c \'trap "" TERM; echo $$ > pid.txt; while :; do sleep 1; done\' & sleep 300'
    await using agent = await temporaryAgent({
      tools: [{ name: 'work', shell: leaves }],
      turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }],
    })
    await using workspace = await temporaryWorkspace({})
    const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
    await waitForFile(`${workspace.path}/pid.txt`, (text) => text.endsWith('\n'))
    engine.kill('SIGINT')
    expect((await engine.result).exitCode).toBe(130)
    await waitForExit(Number(await workspace.read('pid.txt')))
  },
)

test.skipIf(!hasTerminal)(
  'on a terminal a hidden question may follow a visible one, and a visible one it',
  async () => {
    const hidden = ask('Key?', { sensitive: true })
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('First?'), hidden, ask('Last?')] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    for (const [prompt, answer] of [
      [/First\? $/, 'one'],
      [/Key\? $/, 'hunter2-hunter3'],
      [/Last\? $/, 'three'],
    ] as const) {
      await screen.waitForOutput(prompt)
      screen.write(`${answer}\r`)
    }
    const { stdout, exitCode } = await screen.result
    expect(exitCode, stdout).toBe(0)
    expect(stdout).not.toContain('hunter2')
    expect(await answersIn(workspace.path)).toEqual(['one', expect.stringContaining('«secret:'), 'three'])
  },
)

test.skipIf(!hasTerminal)(
  'of a secret that is pasted with more lines than one, the rest does not answer the next question, where it could be seen',
  async () => {
    await using agent = await temporaryAgent({
      turns: [{ tool_calls: [ask('Key?', { sensitive: true }), ask('Last?')] }, { content: 'Thanks.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const screen = deltaOnTerminal(['run', '-i', '-m', 'Go', '--agent', agent.path, '-w', workspace.path])
    await screen.waitForOutput(/Key\? $/)
    screen.write('-----BEGIN KEY-----\rhunter2-hunter3\r')
    await screen.waitForOutput(/Last\? $/)
    screen.write('three\r')
    const { stdout, exitCode } = await screen.result
    expect(exitCode, stdout).toBe(0)
    expect(stdout).not.toContain('hunter2')
    expect(await answersIn(workspace.path)).toEqual([expect.stringContaining('«secret:'), 'three'])
  },
)

test('a message from stdin leaves nothing to answer with: the question waits, with 101', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Name?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '-m', '-', '--agent', agent.path, '-w', workspace.path]
  expect((await delta(args, { input: 'Go\n' })).exitCode).toBe(101)
})

test('of two runs that wait in one workspace each is answered by the line that it printed', async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Name?')] }, { content: 'Hello {{last_observation}}.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const start = (message: string) =>
    delta(['run', '-m', message, '--agent', agent.path, '-w', workspace.path])
  const first = await start('one')
  await start('two')
  const runId = /--run-id (\S+)/.exec(first.stderr)?.[1] ?? 'none'
  const answered = await delta(['continue', '-w', workspace.path, '--run-id', runId, '-m', 'Ann'])
  expect(answered).toMatchObject({ exitCode: 0, stdout: 'Hello Ann.\n' })
})

test("show tells a person's answer once", async () => {
  await using agent = await temporaryAgent({
    turns: [{ tool_calls: [ask('Which?')] }, { content: 'Thanks.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '-i', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q']
  await delta(args, { input: 'the blue one\n' })
  const { stdout } = await delta(['show', '-w', workspace.path])
  expect(stdout).toContain('   ask_human ? Which?\n   > the blue one\n')
  expect(stdout.match(/the blue one/g)).toHaveLength(1)
})
