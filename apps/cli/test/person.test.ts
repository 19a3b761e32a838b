import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, runProcess, temporaryAgent, waitForExit, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, scene } from './delta.js'
import { deltaOnTerminal, hangUpAt, hasTerminal } from './terminal.js'

const ask = (prompt: string, more: object = {}) => ({ name: 'ask_human', arguments: { prompt, ...more } })

/** An agent that asks these questions in one thought, and then thanks. */
async function asking(...questions: ReturnType<typeof ask>[]) {
  const at = await scene({ turns: [{ tool_calls: questions }, { content: 'Thanks.' }] })
  const answers = async () => (await at.events('HUMAN_INPUT_RECEIVED')).map(({ response }) => response)
  return { ...at, answers }
}

test('-i reads one line for each question from a pipe, prompts on stderr, and asks again for a yes or no', async () => {
  const { words, answers } = await asking(
    ask('First?'),
    ask('Second?'),
    ask('Third?'),
    ask('Sure?', { input_type: 'confirmation' }),
  )
  const input = 'one\ntwo words\r\n\nmaybe\n\nYes, but be quick'
  const result = await delta(words('run', '-i', '-q'), { input })
  const again = 'Sure? [yes/no] \nPlease answer yes or no.\n'
  expect(result).toMatchObject({
    exitCode: 0,
    stdout: 'Thanks.\n',
    stderr: `First? \nSecond? \nThird? \n${again}${again}Sure? [yes/no] \n`, // an answer from a pipe ends no line
  })
  expect(await answers()).toEqual(['one', 'two words', '', 'Yes, but be quick'])
})

test('end of input while asking leaves the run waiting with 101; the rest is answered from another terminal', async () => {
  const { words, at, answers } = await asking(ask('First?'), ask('Second?'), ask('Third?'))
  expect((await delta(words('run', '-i'), { input: 'one\n' })).exitCode).toBe(101)
  const second = await at('continue', '-m', 'two')
  expect(second.exitCode).toBe(101)
  expect(second.stderr).toContain('Agent paused. It asks: Third?\n')
  expect(await at('continue', '-m', 'three')).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  expect(await answers()).toEqual(['one', 'two', 'three'])
})

test('a message from stdin leaves nothing to answer with: the question waits, with 101', async () => {
  const { words } = await asking(ask('Name?'))
  expect((await delta(words('run', '-i', '-m', '-'), { input: 'Go\n' })).exitCode).toBe(101)
})

test('a response.txt that is not an answer is refused with 2, and the run keeps waiting', async () => {
  const { run, at, answers, workspace } = await asking(ask('Sure?', { input_type: 'confirmation' }))
  await run('--run-id', 'one')
  const name = '.delta/one/interaction/response.txt'
  const path = join(workspace.path, name)
  const before = await workspace.read('.delta/one/journal.jsonl')
  const refused = async (why: string) => {
    for (const result of [await at('continue'), await run(), await run('-m', 'Another message')]) {
      expect(result).toMatchObject({ exitCode: 2, stdout: '' })
      expect(result.stderr).toContain(`Error: ${path}${why}`)
    }
    expect(await workspace.read('.delta/one/journal.jsonl')).toBe(before)
  }
  await workspace.write(name, Buffer.from('gr\xfcn\n', 'latin1'))
  await refused(' is not UTF-8 text.\nWrite the answer into a file of that name, or give it as a message.\n')
  await rm(path)
  await runProcess(['mkfifo', path])
  await refused(' is not a regular file.\n')
  await rm(path)
  await workspace.write(name, 'n/a\n')
  await refused(
    ': "n/a" is neither yes nor no, and the agent asks for one of them: Sure?\nAnswer with yes or no',
  )

  await workspace.write(name, '\ufeffno\r\n') // as editors of Windows do
  expect(await at('continue')).toMatchObject({ stdout: 'Thanks.\n' })
  expect(await answers()).toEqual(['no'])
})

test.skipIf(!hasTerminal)(
  'on a terminal secrets are not echoed, also between visible questions and pasted with more lines, which answer nothing',
  async () => {
    const { words, answers, workspace } = await asking(
      ask('Which?\n- a) red\n- b) blue\n'),
      ask('Key?', { sensitive: true }),
      ask('PIN?', { input_type: 'password', sensitive: false }),
      ask('Last?'),
    )
    const screen = deltaOnTerminal(words('run', '-i'))
    for (const [prompt, typed] of [
      [/Which\?\r\n- a\) red\r\n- b\) blue\r\n> $/, 'an\u001b[D\u001bOA\u001b[3~s\u001b[1;5C\r'], // with arrow keys
      [/Key\? $/, '-----BEGIN KEY-----\rhunter2-hunter3\r'],
      [/PIN\? $/, '1234ß\u007f5678\r'], // with a correction
      [/Last\? $/, 'three\r'],
    ] as const) {
      await screen.waitForOutput(prompt)
      screen.write(typed)
    }
    const { stdout, exitCode } = await screen.result
    expect(exitCode, stdout).toBe(0)
    expect(stdout).not.toMatch(/hunter2|BEGIN KEY/)
    expect(await answers()).toEqual(['ans', expect.stringContaining('«secret:'), '12345678', 'three'])
    for (const file of await workspace.files()) expect(await workspace.read(file)).not.toContain('BEGIN KEY')
  },
)

test.skipIf(!hasTerminal)(
  '-m - on a terminal says that it is shown, and is refused for a secret',
  async () => {
    const { run, words, answers } = await asking(ask('Name?'), ask('Key?', { input_type: 'password' }))
    await run()
    const typing = deltaOnTerminal(words('continue', '-m', '-'))
    await typing.waitForOutput('Type the message; it is shown. End it with Ctrl+D on a new line:\r\n')
    typing.write('Ann\n\u0004')
    expect((await typing.result).exitCode).toBe(101)
    expect(await answers()).toEqual(['Ann'])
    const refused = await deltaOnTerminal(words('continue', '-m', '-')).result
    expect(refused).toMatchObject({
      exitCode: 2,
      stdout: expect.stringContaining('Use -i, which does not echo'),
    })
  },
)

test.skipIf(!hasTerminal).each([
  ['visible', {}, /\nName\? (\^C)?\r\n[^\n]*SIGINT: stopping/],
  ['hidden', { input_type: 'password' }, /SIGINT: stopping/],
])('Ctrl+C at a %s prompt interrupts the run with 130', async (_, kind, shown) => {
  const { words } = await asking(ask('Name?', kind))
  const screen = deltaOnTerminal(words('run', '-i'))
  await screen.waitForOutput(/Name\? $/)
  screen.write('abc\u0003')
  const { exitCode, stdout } = await screen.result
  expect(exitCode).toBe(130)
  expect(stdout).toMatch(shown)
})

test.skipIf(!hasTerminal).each([
  ['visible', {}],
  ['hidden', { input_type: 'password' }],
])('a terminal that is closed at a %s prompt leaves the question to be answered later', async (_, kind) => {
  const { words, at } = await asking(ask('Name?', kind))
  // the end of input and the signal come in any order
  expect([101, 129]).toContain(await hangUpAt('Name?', words('run', '-i')))
  expect((await at('continue')).exitCode).toBe(101)
  expect((await at('continue', '-m', 'Ada')).stdout).toBe('Thanks.\n')
})

test.skipIf(!hasTerminal)(
  'a terminal that is closed while a tool runs interrupts the run in order, with 129, and continue resumes it',
  async () => {
    const { words, at, events, workspace } = await scene({
      tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
      turns: [calls('work'), { content: 'Done.' }],
    })
    expect(await hangUpAt('sleep 300', words('run'))).toBe(129)
    expect((await events()).at(-1)).toMatchObject({
      type: 'ENGINE_END',
      status: 'INTERRUPTED',
      reason: 'SIGHUP',
    })
    // the signal may come before the tool has said who it is
    const pid = workspace.has('pid.txt') ? Number(await workspace.read('pid.txt')) : 0
    if (pid > 0) expect(isAlive(pid)).toBe(false)
    expect((await at('continue')).stdout).toBe('Done.\n')
  },
)

test.skipIf(!hasTerminal)(
  'on a terminal without -w the person may choose an old workspace, or none and no run; -y never asks',
  async () => {
    const agent = await temporaryAgent({ onCleanup: onTestFinished })
    const args = ['run', '--agent', agent.path, '-m', 'Go']
    await delta(args)
    const choose = async (question: string, ...typed: string[]) => {
      const screen = deltaOnTerminal(args)
      const prompt = `Workspace (${question}; Enter for a new one): `
      for (const [index, each] of typed.entries()) {
        await screen.waitForOutput((text) => text.split(prompt).length === index + 2)
        screen.write(each)
      }
      return screen.result
    }
    expect(await choose('W001', 'W009\n', 'W001\n')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('There is no workspace "W009".'),
    })
    const left = await choose('W001', '\u0004')
    expect(left.exitCode).toBe(2)
    expect(left.stdout).toMatch(/\nError: No workspace was chosen, so no run was started\. .*-w.*-y/)
    expect(agent.has('workspaces/W002')).toBe(false)
    expect((await deltaOnTerminal([...args, '-y']).result).stdout).not.toContain('Enter for a new one')
    expect(agent.has('workspaces/W002')).toBe(true)
    expect((await choose('W001, W002; last used W002', 'w2\n')).exitCode).toBe(0)
    expect(agent.has('workspaces/W003')).toBe(false)
    for (let number = 3; number <= 9; number++) await mkdir(join(agent.path, `workspaces/W00${number}`))
    await choose('W001 to W009; last used W002', '\u0004')
  },
)

test('a second Ctrl+C ends at once, leaves no process of the tool, and says how to resume', async () => {
  const { start, workspace, at } = await scene({
    tools: [{ name: 'work', shell: "trap '' TERM INT; echo $$ > pid.txt; while :; do sleep 1; done" }],
    turns: [calls('work')],
  })
  const engine = start('--run-id', 'one')
  const pid = await waitForFile(join(workspace.path, 'pid.txt'), (text) => text.endsWith('\n'))
  engine.kill('SIGINT')
  await engine.waitForOutput('once more to stop at once', { stream: 'stderr' })
  engine.kill('SIGINT')
  const { exitCode, stderr } = await engine.result
  expect(exitCode).toBe(130)
  const resume = `delta continue -w ${workspace.path} --run-id one`
  expect(stderr).toContain(`\nStopped at once. Go on with: ${resume}\n`)
  await waitForExit(Number(pid))
  expect((await at('list-runs', '--resumable')).stdout).toContain('INTERRUPTED')
})

const LEAVES_ITS_GROUP =
  'setsid sh -c \'trap "" TERM; echo $$ > pid.txt; while :; do sleep 1; done\' & sleep 300'

test.each([
  ['SIGTERM', 143, 'echo $$ > pid.txt; exec sleep 300'],
  ['SIGHUP', 129, 'echo $$ > pid.txt; exec sleep 300'],
  ...(process.platform === 'linux' ? ([['SIGINT', 130, LEAVES_ITS_GROUP]] as const) : []),
] as const)(
  '%s interrupts the run with exit code %d and leaves no process of: %s',
  async (signal, code, shell) => {
    const { start, workspace } = await scene({ tools: [{ name: 'work', shell }], turns: [calls('work')] })
    const engine = start()
    const pid = await waitForFile(join(workspace.path, 'pid.txt'), (text) => text.endsWith('\n'))
    engine.kill(signal)
    expect((await engine.result).exitCode).toBe(code)
    await waitForExit(Number(pid))
  },
)
