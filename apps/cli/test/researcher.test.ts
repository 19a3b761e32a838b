import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type ProcessResult,
  runProcess,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, delta, journalOf, startDelta } from './delta.js'

// What a researcher does with the README and --help alone: lines are typed into a shell as delta itself printed them.

const PATH = `${fileURLToPath(new URL('../path', import.meta.url))}:${process.env.PATH}`
const KEY = { DELTA_API_KEY: 'test-key-not-real' }
const SAY = { name: 'say', exec: 'echo ${text}' }
const sayHi = { tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] }

/** Types a line into a shell that finds `delta`. */
function type(line: string, cwd?: string): Promise<ProcessResult> {
  const env = { ...cleanEnvironment(KEY), PATH }
  // without --norc, bash takes a socket, which stdin is here, for a login from afar and runs the tester's own .bashrc
  return runProcess(['bash', '--norc', '-o', 'pipefail', '-c', line], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
  })
}

/** What delta printed behind `label`, as it can be pasted; `more` is put in the place of the dots or brackets. */
function printedLine(stderr: string, label: string, more = ''): string {
  const line = stderr.split('\n').find((text) => text.startsWith(label)) ?? ''
  return line.slice(label.length).replace(/"…"$|"my answer"$/, () => `'${more}'`)
}

test('the help of delta and of delta run leads to everything below', async () => {
  const { stdout } = await delta(['--help'])
  for (const line of ['delta init', '--follow', 'Ctrl+C', 'delta continue -w', '--request 7', '-q | wc'])
    expect(stdout).toContain(line)
  const run = (await delta(['run', '--help'])).stdout
  expect(run).toContain('in one workspace at the same time')
  expect(run).toContain('An agent calls another by a tool')
})

test('run: the first line of the help makes an agent and runs it', async () => {
  await using directory = await temporaryWorkspace({})
  const line = 'delta init hi && delta run --agent hi -w . -m "What is here?"'
  expect((await delta(['--help'])).stdout).toContain(line)
  const { exitCode, stdout } = await type(line, directory.path)
  expect(exitCode).toBe(0)
  expect(stdout.split('\n')[0]).toBe(`${directory.path}/hi`)
  expect(stdout.split('\n').slice(1, 3)).toEqual(['This is what I found: .delta', 'hi'])
})

test('watch, interrupt, continue: another terminal follows, Ctrl+C says how to go on, and that line does', async () => {
  await using agent = await temporaryAgent({
    tools: [
      { name: 'work', shell: 'echo begun >> log.txt; test -e again || { touch again; exec sleep 300; }' },
    ],
    turns: [
      { content: 'I work.', tool_calls: [{ name: 'work', arguments: {} }] },
      { tool_calls: [{ name: 'work', arguments: {} }] },
      { content: 'Done.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/again`)
  const watcher = startDelta(['show', '-w', workspace.path, '--follow'])
  await watcher.waitForOutput('   work $ sh -c')
  engine.kill('SIGINT')
  const stopped = await engine.result
  expect(stopped.exitCode).toBe(130)
  expect((await watcher.result).stdout).toContain('INTERRUPTED (SIGINT) after 1 iteration')

  expect(stopped.stderr.match(/interrupted \(/gi)).toHaveLength(1)
  const goOn = printedLine(stopped.stderr, 'Go on with: ')
  expect(await type(goOn)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await workspace.read('log.txt')).toBe('begun\nbegun\n')
})

test('answer: from another terminal, by the line that was printed or by the file that was named', async () => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which colour?' } }] },
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Sure?' } }] },
      { content: 'So be it.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const first = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(first.exitCode).toBe(101)
  expect(first.stderr).toContain('Agent paused. It asks: Which colour?\n')
  const second = await type(printedLine(first.stderr, 'Answer with: ', 'dark green, "please"'))
  expect(second.exitCode).toBe(101)

  const goOn = printedLine(second.stderr, 'Answer with: ').replace(/ -m .*/, '')
  const run = (await workspace.read('.delta/LATEST')).trim()
  const file = `${workspace.path}/.delta/${run}/interaction/response.txt`
  expect(await type(`echo yes > ${file} && ${goOn}`)).toMatchObject({ exitCode: 0, stdout: 'So be it.\n' })
  const answers = (await journalOf(workspace.path)).filter(({ type }) => type === 'HUMAN_INPUT_RECEIVED')
  expect(answers).toMatchObject([{ response: 'dark green, "please"' }, { response: 'yes' }])
})

test('extend: a finished run goes on with a message, and the model sees what was before', async () => {
  await using server = await startScriptedServer([{ content: 'Four.' }, { content: 'Because 2 + 2 is.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  await type(`delta run --agent ${agent.path} -w ${workspace.path} -m "2 + 2?"`)
  const more = await type(`delta continue -w ${workspace.path} -m "Why?"`)
  expect(more).toMatchObject({ exitCode: 0, stdout: 'Because 2 + 2 is.\n' })
  expect(server.requests()[1]?.json?.messages.slice(-3)).toMatchObject([
    { role: 'user', content: '2 + 2?' },
    { role: 'assistant', content: 'Four.' },
    { role: 'user', content: 'Why?' },
  ])
})

test('retry: a failed run says why and how, and that line goes on where it stood', async () => {
  await using server = await startScriptedServer([
    sayHi,
    { before: [{ status: 401, message: 'No.' }], content: 'Done.' },
  ])
  await using agent = await temporaryAgent({ tools: [SAY], baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const failed = await type(`delta run --agent ${agent.path} -w ${workspace.path} -m Go`)
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
  expect(failed.stderr).toMatch(/^Error: the run failed: .*refused access \(401\): No\./m)
  const retry = printedLine(failed.stderr, 'Once that is fixed, retry with: ', 'The key is right now')
  expect(await type(retry)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const calls = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_REQUEST')
  expect(calls).toHaveLength(1)
})

test('step 7: exactly what the model saw then, byte for byte as the server got it', async () => {
  await using server = await startScriptedServer([{ ...sayHi, times: 8 }, { content: 'Done.' }])
  await using agent = await temporaryAgent({ tools: [SAY], baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  await type(`delta run --agent ${agent.path} -w ${workspace.path} -m Go -q`)
  const seen = await type(`delta show -w ${workspace.path} --request 7`)
  expect(seen.stdout).toBe(server.requests()[6]?.body)
  expect((await type(`delta show -w ${workspace.path} --step 7`)).stdout).toContain('   say $ echo hi')
})

test('pipe: a program reads the answer and nothing else, and a message can come from a pipe', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'three small words' }] })
  await using workspace = await temporaryWorkspace({})
  const run = `delta run --agent ${agent.path} -w ${workspace.path}`
  expect((await type(`${run} -m Go -q | wc -w`)).stdout.trim()).toBe('3')
  expect(
    (await type(`${run} -m Go --format json | node -p 'JSON.parse(fs.readFileSync(0)).status'`)).stdout,
  ).toBe('COMPLETED\n')
  expect((await type(`printf 'Review this' | ${run} -m - -q`)).stdout).toBe('three small words\n')
  expect((await journalOf(workspace.path)).find(({ type }) => type === 'USER_MESSAGE')).toMatchObject({
    content: 'Review this',
  })
})

test('two at once: agents share a workspace, each has its own run, and each is shown by its id', async () => {
  const held = (word: string) => ({
    when: word,
    turns: [
      { tool_calls: [{ name: 'say', arguments: { text: word } }] },
      { content: `${word} is done.`, hold: 'both' },
    ],
  })
  await using server = await startScriptedServer({
    turns: [],
    conversations: [held('first'), held('second')],
  })
  await using agent = await temporaryAgent({ tools: [SAY], baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const start = (word: string) =>
    type(`delta run --agent ${agent.path} -w ${workspace.path} -m ${word} --run-id ${word} -q`)
  const runs = [start('first'), start('second')]
  await server.waitForRequests(4)
  const running = await type(`delta list-runs -w ${workspace.path} --status RUNNING`)
  expect(running.stdout).toMatch(/^first .*RUNNING/m)
  expect(running.stdout).toMatch(/^second .*RUNNING/m)
  await server.release('both')

  expect(await Promise.all(runs)).toMatchObject([
    { exitCode: 0, stdout: 'first is done.\n' },
    { exitCode: 0, stdout: 'second is done.\n' },
  ])
  const shown = (await type(`delta show first -w ${workspace.path}`)).stdout
  expect(shown).toContain('$ echo first')
  expect(shown).not.toContain('second')
})

test('an agent calls an agent, by the tool that the help of delta run shows', async () => {
  const help = (await delta(['run', '--help'])).stdout
  const [, exec = '', stdin] = /- name: ask_reviewer\n\s+exec: (.*)\n\s+stdin: (.*)/.exec(help) ?? []
  await using reviewer = await temporaryAgent({ turns: [{ content: 'Looks good to me.' }] })
  const args = { task: 'Review "a & b".', work_dir: 'review' }
  await using agent = await temporaryAgent({
    tools: [{ name: 'ask_reviewer', exec: exec.replace('${AGENT_HOME}/reviewer', reviewer.path), stdin }],
    turns: [
      { tool_calls: [{ name: 'ask_reviewer', arguments: args }] },
      { content: 'It says: {{last_observation}}' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const result = await type(`delta run --agent ${agent.path} -w ${workspace.path} -m Go -q`)
  expect(result).toMatchObject({ exitCode: 0, stdout: 'It says: Looks good to me.\n' })
  expect((await journalOf(`${workspace.path}/review`))[0]).toMatchObject({ task: 'Review "a & b".' })
})

test('the record of a later request names the command that prints it', async () => {
  const turns = [...Array(11).fill(sayHi), { content: 'Done.' }]
  await using agent = await temporaryAgent({ tools: [SAY], turns })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '--no-sync'])
  const records = join(workspace.path, '.delta', await latestId(workspace.path), 'io/invocations')
  const [last = ''] = (await readdir(records)).filter((name) => name.endsWith('_12.json'))
  const { request_command: command } = JSON.parse(await readFile(join(records, last), 'utf8'))
  const { stdout } = await type(command)
  expect(JSON.parse(stdout).messages).toHaveLength(24)
})

async function latestId(workspace: string): Promise<string> {
  return (await readFile(join(workspace, '.delta/LATEST'), 'utf8')).trim()
}
