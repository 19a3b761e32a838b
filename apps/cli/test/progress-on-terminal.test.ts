import { join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { deltaOnTerminal, hasTerminal, shellOnTerminal } from './terminal.js'

const ESCAPE = '\u001b'
const SAY = { name: 'say', exec: 'echo ${text}' }
const KEY = { DELTA_API_KEY: 'test-key-not-real' }

test.skipIf(!hasTerminal)('on a terminal neither answer nor output can send a control sequence', async () => {
  const turns = [
    { tool_calls: [{ name: 'evil', arguments: {} }] },
    { content: 'Title: \u001b]0;owned\u0007' },
  ]
  await using agent = await temporaryAgent({ tools: [{ name: 'evil', exec: "printf 'a\\033[2Jb'" }], turns })
  await using workspace = await temporaryWorkspace({})
  const screen = deltaOnTerminal(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stdout } = await screen.result
  expect(stdout).toContain('Title: \\x1b]0;owned\\x07')
  expect(stdout).not.toContain(`${ESCAPE}]`)
  expect(stdout).not.toContain(`${ESCAPE}[2J`)
})

test.skipIf(!hasTerminal)(
  'on a terminal a thought streams, and an answer that streamed is not said twice',
  async () => {
    const turns = [
      { content: 'First I say it.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      { content: 'All is said.' },
    ]
    await using server = await startScriptedServer(turns)
    await using agent = await temporaryAgent({ tools: [SAY], baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const screen = deltaOnTerminal(args, { env: { ...KEY, NO_COLOR: '1' } })
    const { stdout, exitCode } = await screen.result
    expect(exitCode).toBe(0)
    expect(server.requests()[0]?.json).toMatchObject({ stream: true })
    expect(stdout).toMatch(/^1\. First I say it\./m)
    expect(stdout.split('First I say it.')).toHaveLength(2)
    expect(stdout).toMatch(/^2\. All is said\./m)
    expect(stdout.split('All is said.')).toHaveLength(2)
    expect(stdout).not.toContain(ESCAPE)
  },
)

test.skipIf(!hasTerminal)(
  'what the model reasons streams dim before its words with -v; otherwise show tells that it did',
  async () => {
    const usage = { completion_tokens: 420, completion_tokens_details: { reasoning_tokens: 412 } }
    const turn = { content: 'It is four.', message: { reasoning_content: 'Two and two.' }, usage }
    await using server = await startScriptedServer([turn, turn])
    await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const run = (...flags: string[]) => {
      const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--new', ...flags]
      return deltaOnTerminal(args, { env: { ...KEY, NO_COLOR: '1' } }).result
    }
    const whole = await run('-v')
    expect(whole.stdout).toMatch(/^1\. ∴ Two and two\.\r?\n {3}It is four\./m)
    expect(whole.stdout.split('Two and two.')).toHaveLength(2)
    expect((await run()).stdout).not.toContain('Two and two.')
    const shown = await delta(['show', '-w', workspace.path])
    expect(shown.stdout).toMatch(/^1\. It is four\. \(reasoned: 412 tokens; -v shows it\)$/m)
    expect((await delta(['show', '-w', workspace.path, '-v'])).stdout).toContain('∴ Two and two.')
  },
)

test.skipIf(!hasTerminal)(
  'on a terminal every thought tells its tokens, with words or without; in a pipe only -v has them',
  async () => {
    const turns = [
      { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      { content: 'I say more.', tool_calls: [{ name: 'say', arguments: { text: 'ho' } }] },
      { content: 'Done.' },
    ]
    await using server = await startScriptedServer(turns)
    await using agent = await temporaryAgent({ tools: [SAY], baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--new', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const env = { ...KEY, NO_COLOR: '1' }
    const screen = (await deltaOnTerminal(args, { env }).result).stdout
    const thoughts = screen.split('\r\n').filter((line) => /^\d+\./.test(line))
    expect(thoughts).toEqual([
      expect.stringMatching(/^1\. \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^2\. I say more\. \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^3\. Done\. \(\d+ \+ \d+ tokens\)$/),
    ])
    expect((await delta(args, { env })).stderr).not.toContain(' tokens)')
    expect((await delta([...args, '-v'], { env })).stderr).toMatch(/^1\. \(\d+ \+ \d+ tokens\)$/m)
  },
)

test.skipIf(!hasTerminal)(
  'a thought that breaks off keeps its line, and the next attempt says it anew',
  async () => {
    const piece = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Half a sen' } }] }
    const half = {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(piece)}\n\n`,
    }
    await using server = await startScriptedServer([
      { before: [half], content: 'A whole sentence.', holdMidway: 'middle' },
    ])
    await using agent = await temporaryAgent({
      baseUrl: server.baseUrl,
      files: { 'hooks.yaml': "post_llm_response: { command: ['true'] }\n" },
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const screen = deltaOnTerminal(args, { env: { ...KEY, NO_COLOR: '1' } })
    await screen.waitForOutput(/1\. Half a sen\r\n {3}! .*; trying again in .*\r\n/)
    server.release('middle')
    const { stdout } = await screen.result
    expect(stdout.split('A whole sentence.')).toHaveLength(2)
    // nor does the hook that ran in between, and has nothing to say, come between a thought and its tokens
    expect(stdout).toMatch(/1\. A whole sentence\. \(\d+ \+ \d+ tokens\)\r\n/)
  },
)

test.skipIf(!hasTerminal)('what is said in the middle of a thought begins a line of its own', async () => {
  await using server = await startScriptedServer([{ content: 'A whole sentence.', holdMidway: 'middle' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const screen = deltaOnTerminal(args, { env: { ...KEY, NO_COLOR: '1' } })
  await screen.waitForOutput('1. A')
  screen.write('\u0003')
  const { stdout, exitCode } = await screen.result
  expect(exitCode).toBe(130)
  expect(stdout).toMatch(/^SIGINT: stopping/m)
})

test.skipIf(!hasTerminal)('a piped answer is whole even if it streamed on the terminal before', async () => {
  await using server = await startScriptedServer([{ content: 'All is said.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  await shellOnTerminal(`"$@" > '${join(workspace.path, 'out.txt')}'`, args, { env: KEY }).result
  expect(await workspace.read('out.txt')).toBe('All is said.\n')
})

test.skipIf(!hasTerminal)(
  'a long wait shows what is waited for, and the line is gone afterwards',
  async () => {
    await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
    await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const screen = deltaOnTerminal(args, { env: KEY })
    await screen.waitForOutput(/thinking … \d/)
    await server.release('thinking')
    const { stdout } = await screen.result
    const afterSpinner = stdout.slice(stdout.lastIndexOf('thinking'))
    expect(afterSpinner).toMatch(/^[^\n]*\r\u001b\[K/)
    expect(afterSpinner).toContain('Done.')
  },
)

test.skipIf(!hasTerminal).each([[[]], [['-v']]])(
  'a hook that only watches does not end the line that says what is waited for: run %j',
  async (flags) => {
    await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
    await using agent = await temporaryAgent({
      baseUrl: server.baseUrl,
      files: { 'hooks.yaml': "pre_llm_request: { command: ['true'] }\n" },
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, ...flags]
    const screen = deltaOnTerminal(args, { env: KEY })
    await screen.waitForOutput(/thinking … \d/)
    await server.release('thinking')
    expect((await screen.result).exitCode).toBe(0)
  },
)

test.skipIf(!hasTerminal)('show is coloured on a terminal, plain in a pipe, and safe in both', async () => {
  const turns = [{ tool_calls: [{ name: 'say', arguments: { text: 'a\u001b[2Jb' } }] }, { content: 'Done.' }]
  await using agent = await temporaryAgent({ tools: [SAY], turns })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  const screen = (await deltaOnTerminal(['show', '-w', workspace.path]).result).stdout
  expect(screen).toContain(`${ESCAPE}[1mDone.${ESCAPE}[22m`)
  const pipe = (await delta(['show', '-w', workspace.path])).stdout
  expect(pipe).not.toContain(ESCAPE)
  for (const shown of [screen, pipe]) {
    expect(shown).toContain('a\\x1b[2Jb')
    expect(shown).not.toContain(`${ESCAPE}[2J`)
  }
})

test.skipIf(!hasTerminal)('what a second Ctrl+C is answered with begins a line of its own', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: "trap '' TERM INT; echo begun > witness; while :; do sleep 1; done" }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const screen = deltaOnTerminal(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/witness`)
  screen.write('\u0003')
  await screen.waitForOutput(/once more to stop at once[^\n]*\n/)
  screen.write('\u0003')
  expect((await screen.result).stdout).toMatch(/\n\^C(?:\r\u001b\[K)?\r\S*Stopped at once\. Go on with: /)
})

test.skipIf(!hasTerminal)(
  'on a narrow terminal a long name is cut, and the time stands behind it',
  async () => {
    const name = 'a_name_that_is_longer_than_this_line'
    await using agent = await temporaryAgent({
      tools: [{ name, shell: 'until test -e enough; do :; done' }],
      turns: [{ tool_calls: [{ name, arguments: {} }] }, { content: 'Done.' }],
    })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
    const screen = shellOnTerminal('stty cols 30 && exec "$@"', args, { env: { NO_COLOR: '1' } })
    const shown = /\r\u001b\[K(a_name_that\S*… … \d+ s)/
    await screen.waitForOutput(shown)
    await workspace.write('enough', '')
    const [, line = ''] = shown.exec((await screen.result).stdout) ?? []
    expect(line.length).toBeLessThan(30)
  },
)
