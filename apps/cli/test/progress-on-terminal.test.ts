import { expect, test } from 'vitest'
import { calls, KEY, scene, served } from './delta.js'
import { deltaOnTerminal, hasTerminal, shellOnTerminal } from './terminal.js'

const ESCAPE = '\u001b'
const SAY = { name: 'say', exec: 'echo ${text}' }
const PLAIN = { env: { ...KEY, NO_COLOR: '1' } }

test.skipIf(!hasTerminal)(
  'on a terminal thoughts stream with their tokens, an answer that streamed is not said twice, and a piped one is whole; engine.log has what streamed, without colours',
  async () => {
    const turns = [
      { content: 'First I say it.', ...calls('say', { text: `a${ESCAPE}[2Jb` }) },
      calls('say', { text: 'ho' }),
      { content: 'All is said.' },
    ]
    const { words, server, workspace } = await served(turns, { tools: [SAY] })
    const { stdout, exitCode } = await deltaOnTerminal(words('run'), PLAIN).result
    expect(exitCode).toBe(0)
    expect(server.requests()[0]?.json).toMatchObject({ stream: true })
    expect(stdout.split('\r\n').filter((line) => /^\d+\./.test(line))).toEqual([
      expect.stringMatching(/^1\. First I say it\. \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^2\. \(\d+ \+ \d+ tokens\)$/),
      expect.stringMatching(/^3\. All is said\. \(\d+ \+ \d+ tokens\)$/),
    ])
    expect(stdout.split('All is said.')).toHaveLength(2)
    expect(stdout).toContain('a\\x1b[2Jb')
    expect(stdout).not.toContain(ESCAPE)
    const into = `"$@" > '${workspace.path}/out.txt'`
    const { stdout: seen } = await shellOnTerminal(into, words('run', '--run-id', 'two'), { env: KEY }).result
    expect(await workspace.read('out.txt')).toBe('All is said.\n')
    expect(seen).toContain(`${ESCAPE}[36m   say $ echo ho`)
    const log = await workspace.read('.delta/two/engine.log')
    for (const line of ['1. First I say it. (', '   say $ echo ho\n']) expect(log).toContain(`Z ${line}`)
    expect(log).not.toContain(ESCAPE)
  },
)

test.skipIf(!hasTerminal)(
  'what the model reasons streams dim before its words with -v; otherwise show tells that it did',
  async () => {
    const usage = {
      prompt_tokens: 30,
      completion_tokens: 420,
      completion_tokens_details: { reasoning_tokens: 412 },
    }
    const turn = { content: 'It is four.', message: { reasoning_content: 'Two and two.' }, usage }
    const { words, at } = await served([turn, turn])
    const whole = await deltaOnTerminal(words('run', '-v'), PLAIN).result
    expect(whole.stdout).toMatch(/^1\. ∴ Two and two\.\r?\n {3}It is four\./m)
    expect(whole.stdout.split('Two and two.')).toHaveLength(2)
    expect((await deltaOnTerminal(words('run', '--new'), PLAIN).result).stdout).not.toContain('Two and two.')
    expect((await at('show')).stdout).toMatch(/^1\. It is four\. \(reasoned: 412 tokens; -v shows it\)$/m)
    expect((await at('show', '-v')).stdout).toContain('∴ Two and two.')
  },
)

test.skipIf(!hasTerminal)(
  'with -v a thought that streamed has the time of its request, and names a model that was not the one before',
  async () => {
    const call = { index: 0, id: 'a', function: { name: 'say', arguments: '{"text":"ho"}' } }
    const chunk = {
      model: 'other',
      choices: [{ index: 0, delta: { content: 'First.', tool_calls: [call] }, finish_reason: 'tool_calls' }],
    }
    const answer = {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`,
    }
    const { words } = await served([{ before: [answer] }, { content: 'Second.' }], { tools: [SAY] })
    const { stdout } = await deltaOnTerminal(words('run', '-v'), PLAIN).result
    expect(stdout).toMatch(/^1\. First\. \([\d.]+ m?s\)\r?$/m) // this server does not count
    expect(stdout).toMatch(
      /^2\. Second\. \(\d+ \+ \d+ tokens, [\d.]+ m?s\)\r?\nmodel: scripted \(before: other\)\r?$/m,
    )
  },
)

test.skipIf(!hasTerminal)(
  'a thought that breaks off keeps its line, and the next attempt says it anew; a signal begins a line of its own',
  async () => {
    const piece = { choices: [{ index: 0, delta: { role: 'assistant', content: 'Half a sen' } }] }
    const half = {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify(piece)}\n\n`,
    }
    const { words, server } = await served(
      [{ before: [half], content: 'A whole sentence.', holdMidway: 'middle' }],
      { files: { 'hooks.yaml': "post_llm_response: { command: ['true'] }\n" } },
    )
    const screen = deltaOnTerminal(words('run'), PLAIN)
    await screen.waitForOutput(/1\. Half a sen\r\n {3}! .*; trying again in .*\r\n/)
    const stopped = deltaOnTerminal(words('run', '--new'), PLAIN)
    await stopped.waitForOutput('1. A')
    stopped.write('\u0003')
    expect((await stopped.result).stdout).toMatch(/^SIGINT: stopping/m)
    server.release('middle')
    const { stdout } = await screen.result
    expect(stdout.split('A whole sentence.')).toHaveLength(2)
    // nor does the hook that ran in between, and has nothing to say, come between a thought and its tokens
    expect(stdout).toMatch(/1\. A whole sentence\. \(\d+ \+ \d+ tokens\)\r\n/)
  },
)

test.skipIf(!hasTerminal)(
  'a long wait shows what is waited for, also after a hook that only watches; the line is gone afterwards',
  async () => {
    const { words, server } = await served([{ content: 'Done.', hold: 'thinking' }], {
      files: { 'hooks.yaml': "pre_llm_request: { command: ['true'] }\n" },
    })
    const screen = deltaOnTerminal(words('run'), { env: KEY })
    await screen.waitForOutput(/thinking … \d/)
    await server.release('thinking')
    const { stdout } = await screen.result
    const after = stdout.slice(stdout.lastIndexOf('thinking'))
    expect(after).toMatch(/^[^\n]*\r\u001b\[K/)
    expect(after).toContain('Done.')
  },
)

test.skipIf(!hasTerminal)(
  'on a narrow terminal a long name is cut, and the time stands behind it',
  async () => {
    const name = 'a_name_that_is_longer_than_this_line'
    const { words, workspace } = await scene({
      tools: [{ name, shell: 'until test -e enough; do :; done' }],
      turns: [calls(name), { content: 'Done.' }],
    })
    const screen = shellOnTerminal('stty cols 30 && exec "$@"', words('run'), { env: { NO_COLOR: '1' } })
    const shown = /\r\u001b\[K(a_name_that\S*… … \d+ s)/
    await screen.waitForOutput(shown)
    await workspace.write('enough', '')
    const [, line = ''] = shown.exec((await screen.result).stdout) ?? []
    expect(line.length).toBeLessThan(30)
  },
)

test.skipIf(!hasTerminal)(
  'on a terminal of 60 columns no word breaks in show, list-runs and questions; a command is left as it is, to be pasted',
  async () => {
    const prompt = `Which of the files here ${'may be removed, and '.repeat(4)}which must stay?`
    const { words } = await scene({
      turns: [
        {
          content: 'I had better ask before I touch anything at all in here.',
          ...calls('ask_human', { prompt }),
        },
      ],
    })
    const at60 = async (args: string[]) => {
      const options = { env: { NO_COLOR: '1', TERM: 'dumb' } }
      const screen = shellOnTerminal('stty cols 60 && exec "$@"', args, options)
      if (args.includes('-i')) {
        await screen.waitForOutput(/stay\? $/)
        screen.write('\u0004')
      }
      return (await screen.result).stdout.split('\r\n')
    }
    const task = 'Please look at everything that is in this directory'
    for (const args of [words('run', '-m', task, '-i'), words('show'), words('list-runs')]) {
      const lines = await at60(args)
      const tooLong = lines.filter((line) => line.length > 60)
      expect(tooLong.filter((line) => !/delta continue|^run |interaction/.test(line))).toEqual([])
      expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain(args[0] === 'list-runs' ? task : prompt)
    }
  },
)

test.skipIf(!hasTerminal)('show is coloured on a terminal, plain in a pipe, and safe in both', async () => {
  const { run, words, at } = await scene({
    tools: [SAY],
    turns: [calls('say', { text: `a${ESCAPE}[2Jb` }), { content: 'Done.' }],
  })
  await run('-q')
  const screen = (await deltaOnTerminal(words('show')).result).stdout
  expect(screen).toContain(`${ESCAPE}[1mDone.${ESCAPE}[22m`)
  const pipe = (await at('show')).stdout
  expect(pipe).not.toContain(ESCAPE)
  for (const shown of [screen, pipe]) {
    expect(shown).toContain('a\\x1b[2Jb')
    expect(shown).not.toContain(`${ESCAPE}[2J`)
  }
})
