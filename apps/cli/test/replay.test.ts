import { cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  canStart,
  isPartThere,
  runProcess,
  startScriptedServer,
  type TemporaryAgentOptions,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, delta, journalOf, KEY, scene, startDelta } from './delta.js'

const TOOLS = [
  { name: 'count', exec: 'wc -w ${file}' },
  { name: 'clock', shell: 'echo "took $(date +%N) ns" | tee -a clock.txt' },
]
const TURNS = [calls('count', { file: 'a.txt' }), calls('clock'), { content: 'The end.' }]

/** A home with an agent and a finished run of it in `site`; commands run in that home, and find temporary directories in `tmp`. */
async function finished(options: TemporaryAgentOptions = {}, env: Record<string, string> = {}) {
  const agent = await temporaryAgent({ turns: TURNS, tools: TOOLS, ...options, onCleanup: onTestFinished })
  const home = await temporaryWorkspace(
    { 'site/a.txt': 'one two\n', 'tmp/.keep': '' },
    { onCleanup: onTestFinished },
  )
  const state = { DELTA_STATE_DIR: join(home.path, 'state'), TMPDIR: join(home.path, 'tmp') }
  const at = { cwd: home.path, env: state }
  const run = ['run', '--agent', agent.path, '-w', 'site', '-m', 'Go', '-q']
  expect(await delta(run, { ...at, env: { ...state, ...env } })).toMatchObject({
    exitCode: 0,
    stdout: 'The end.\n',
  })
  const id = (await delta(['list-runs', '-w', 'site', '--first'], at)).stdout.trim()
  const replay = (...words: string[]) => delta(['replay', ...words], at)
  const left = async () => (await readdir(join(home.path, 'tmp'))).filter((name) => name !== '.keep')
  return { agent, home, at, id, name: id.split('_').at(-1) ?? '', replay, left }
}

const SAME = { exitCode: 0, stdout: 'same: 3 requests, 2 calls, the answer\n', stderr: '' }

/** Turns of a model behind HTTP, which are counted. */
async function served(turns: Parameters<typeof startScriptedServer>[0]) {
  const server = await startScriptedServer(turns)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

test('delta replay asks no model and starts no command, and leaves nothing behind when all was the same', async () => {
  const server = await served(TURNS)
  const { home, replay, left } = await finished({ baseUrl: server.baseUrl }, KEY)
  const before = await home.files()
  expect(await replay('site')).toEqual(expect.objectContaining(SAME))
  expect(await replay('site', '--assert', '-q')).toEqual(expect.objectContaining(SAME))
  expect(server.requests()).toHaveLength(3)
  expect(await left()).toEqual([])
  expect(await home.files()).toEqual(before)
})

test('a run that was killed in a command, and one that is still in it, are replayed up to there', async () => {
  const wait = { name: 'wait', shell: 'touch waiting; sleep 60' }
  const agent = await temporaryAgent({
    turns: [calls('count', { file: 'a.txt' }), calls('wait')],
    tools: [...TOOLS, wait],
    onCleanup: onTestFinished,
  })
  const home = await temporaryWorkspace({ 'site/a.txt': 'one\n' }, { onCleanup: onTestFinished })
  const at = { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state') } }
  const engine = startDelta(['run', '--agent', agent.path, '-w', 'site', '-m', 'Go', '-q'], at)
  await waitForFile(join(home.path, 'site/waiting'))
  const same = {
    exitCode: 0,
    stdout: 'same: 2 requests, 1 call, the end (INTERRUPTED, killed)\n',
    stderr: '',
  }
  expect(await delta(['replay', 'site'], at)).toMatchObject(same)
  engine.kill('SIGKILL')
  await engine.result
  expect(await delta(['replay', 'site'], at)).toMatchObject(same)
})

const OFFLINE = ['unshare', '--map-root-user', '--net']

test.skipIf(!isPartThere('unshare --net', canStart(OFFLINE)))(
  'a replay of a run with a model behind HTTP works where there is no network and no key',
  async () => {
    const { at } = await finished({ baseUrl: (await served(TURNS)).baseUrl }, KEY)
    const argv = [...OFFLINE, process.execPath, DELTA, 'replay', 'site']
    expect(await runProcess(argv, { cwd: at.cwd, env: cleanEnvironment(at.env) })).toMatchObject(SAME)
  },
)

test('--format json says what was compared, and where the first difference is', async () => {
  const { replay, agent } = await finished()
  const json = async (...words: string[]) => {
    const { exitCode, stdout } = await replay('site', '--format', 'json', ...words)
    return { exitCode, ...JSON.parse(stdout) }
  }
  expect(await json()).toEqual({
    exitCode: 0,
    same: true,
    run_id: expect.stringMatching(/^\d{8}_\d{6}_[0-9a-f]{6}$/),
    directory: null,
    requests: { compared: 3 },
    calls: { compared: 2, masked: 0 },
    divergence: null,
  })
  await writeFile(join(agent.path, 'system_prompt.md'), 'You are a rest.\n')
  expect(await json()).toMatchObject({
    exitCode: 3,
    same: false,
    directory: expect.stringContaining('delta-replay-'),
    requests: { compared: 0 },
    divergence: { step: 1, cause: 'context', at: 'request', where: 'system_prompt', byte: 10 },
  })
})

test.each<[what: string, change: Record<string, string>, flags: string[], said: string]>([
  [
    'a byte of the prompt',
    { 'system_prompt.md': 'You are a rest.\n' },
    [],
    `diverged at iteration 1, context: system_prompt at byte 10
  - You are a test.
  + You are a rest.
3 of 3 iterations were not reached.
`,
  ],
  [
    'a parameter of the request',
    {},
    ['--set', 'llm.temperature=0.5'],
    `diverged at iteration 1, configuration: llm.temperature
  - none
  + 0.5
3 of 3 iterations were not reached.
`,
  ],
  [
    'a limit',
    {},
    ['--max-iterations', '1'],
    `diverged at iteration 1, configuration: ENGINE_END
  - COMPLETED (answered)
  + FAILED (limit_iterations)
2 of 3 iterations were not reached.
`,
  ],
])('%s is named with its cause; exit code 3', async (_what, change, flags, said) => {
  const { agent, replay, left } = await finished()
  for (const [file, text] of Object.entries(change)) await writeFile(join(agent.path, file), text)
  const { exitCode, stdout, stderr } = await replay('site', ...flags)
  const [directory] = await left()
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' })
  expect(stderr).toContain(said)
  expect(stderr).toMatch(new RegExp(`To look at the replay: delta show .*/${directory}\n$`))
})

test('a command that a tool no longer makes is named with the nearest recorded one', async () => {
  const tools = [{ name: 'count', description: 'Counts.', exec: 'wc -w ${file}' }, TOOLS[1] as object]
  const { agent, name, replay } = await finished({ tools })
  const changed = JSON.stringify({
    name: 'test-agent',
    llm: { provider: 'script', script: 'script.yaml' },
    tools,
  })
  await writeFile(join(agent.path, 'agent.yaml'), changed.replace('wc -w', 'wc -l'))
  const { exitCode, stderr } = await replay('site')
  expect(exitCode).toBe(3)
  expect(stderr).toContain(`diverged at iteration 1, configuration: tools.count
  replay of ${name}: call 1 of iteration 1 was not recorded: count {"file":"a.txt"}, which is now wc -l a.txt; in iteration 1 it was wc -w a.txt. Nothing was run.
`)
})

test('where a replay leaves its record with nothing to compare, it says why', async () => {
  const { agent, name, replay } = await finished()
  const hooks = { post_llm_response: { command: ['true'] } }
  await writeFile(join(agent.path, 'hooks.yaml'), JSON.stringify(hooks))
  const why = `replay of ${name}: what the post_llm_response hook did in iteration 1 was not recorded. Nothing was run.`
  const { exitCode, stderr } = await replay('site')
  expect({ exitCode, stderr }).toEqual({
    exitCode: 3,
    stderr: expect.stringContaining(`\n${why}\n3 of 3 iterations were not reached.\n`),
  })
  const { stdout } = await replay('site', '--format', 'json')
  expect(JSON.parse(stdout).divergence).toEqual({ cause: 'unknown', where: 'replay', left: null, right: why })
})

test('--live tools runs the commands on the files as they were; --mask hides what differs each time, and the last line counts it', async () => {
  const { home, name, replay } = await finished({
    agent: { snapshots: { every: 'iteration', wait_ms: 60_000 } },
  })
  await home.write('site/a.txt', 'one two three\n')
  const before = await home.read('site/clock.txt')
  const { exitCode, stderr } = await replay('site', '--live', 'tools')
  expect(exitCode).toBe(3)
  expect(stderr).toMatch(
    /^diverged at iteration 2, environment: clock \(call 1 of 1\) printed something else\n {2}\$ sh -c .*\n {2}- took \d{9} ns\n {2}\+ took \d{9} ns\n1 of 3 iterations was not reached. To ignore such text: --mask 'took \\d\+'\n/,
  )
  const masked = await replay('site', '--live', 'tools', '--mask', 'took \\d+')
  expect(masked).toMatchObject({
    exitCode: 0,
    stdout: 'same: 3 requests, 2 calls, the answer; 4 texts masked\n',
  })
  expect(await home.read('site/clock.txt')).toBe(before)
  const from = await replay('site', '--live', 'tools', '--at', '1', '--mask', 'took \\d+', '--into', 'kept')
  expect(from.stdout).toBe('same: 2 requests, 1 call, the answer; 4 texts masked\n')
  expect(await home.read('kept/a.txt')).toBe('one two\n')
  const both = await replay('site', '--live', 'both', '--assert', '-q', '--mask', 'took \\d+')
  expect(both).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^The end\.\nsame: 3 requests/) })
  expect(name).toMatch(/^[0-9a-f]{6}$/)
})

test('a replay that pauses names no delta continue that would be refused; with --live both it is a fork, which one goes on with', async () => {
  const { run, at, workspace } = await scene({
    turns: [calls('ask_human', { prompt: 'Which?' }), { content: 'The end.' }],
    agent: { ask_human: true },
  })
  expect((await run('--run-id', 'one')).exitCode).toBe(101)
  const replay = (...words: string[]) => at('replay', 'one', '--without-files', '--live', ...words)
  for (const words of [['model', '--into', `${workspace.path}-model`], ['both']]) {
    const { exitCode, stderr } = await replay(...words)
    expect([exitCode, stderr]).toEqual([101, expect.stringContaining('It asks: Which?')])
    expect(stderr).not.toContain('delta continue')
  }
  const into = `${workspace.path}-both`
  const { stderr } = await replay('both', '--into', into)
  const resume = /Answer with: delta (continue .*) -m "my answer"/.exec(stderr)?.[1] ?? ''
  expect(resume).toContain(`-w ${into}`)
  const answered = await delta([...resume.split(' '), '-m', 'Red'])
  expect(answered, answered.stderr).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
})

test('live tools need the files of the iteration, or --without-files', async () => {
  const { name, replay, left } = await finished({ turns: [calls('clock'), { content: 'The end.' }] })
  expect(await replay('site', '--live', 'tools')).toMatchObject({
    exitCode: 2,
    stderr: `Error: ${name} has no files of iteration 0: it ran with snapshots: off.
To run the commands without them: delta replay site --live tools --without-files
`,
  })
  expect(await left()).toEqual([])
  const without = ['--live', 'tools', '--without-files', '--mask', 'took \\d+']
  expect(await replay('site', ...without)).toMatchObject({
    exitCode: 0,
    stdout: 'same: 2 requests, 1 call, the answer; 4 texts masked\n',
  })
})

test('another model acts in the recorded world until it calls what was not recorded; --model implies it, and --assert makes it 3', async () => {
  const { at, name } = await finished({ baseUrl: (await served(TURNS)).baseUrl }, KEY)
  const other = await served([calls('count', { file: 'a.txt' }), calls('count', { file: 'b.txt' })])
  const replay = (...words: string[]) =>
    delta(['replay', 'site', '-q', ...words, '--set', `llm.base_url=${other.baseUrl}`], {
      ...at,
      env: { ...at.env, ...KEY },
    })
  const stopped = `replay of ${name}: call 1 of iteration 2 was not recorded: count {"file":"b.txt"}. Nothing was run.`
  const live = await replay('--live', 'model', '--format', 'json')
  expect(live.exitCode).toBe(1)
  expect(JSON.parse(live.stdout)).toMatchObject({
    same: false,
    status: 'FAILED',
    reason_code: 'replay_mismatch',
    reason: stopped,
  })
  expect(other.requests()).toHaveLength(2)

  const named = await replay('--model', 'another', '--assert')
  expect(named).toMatchObject({ exitCode: 3, stdout: '' })
  expect(named.stderr).toContain(
    'diverged at iteration 1, configuration: llm.model\n  - scripted\n  + another\n',
  )
  expect(other.requests().at(-1)?.body).toContain('"model":"another"')
})

test('--into keeps the replay, which is for reading: it is shown, and continue refuses it with exit code 2', async () => {
  const { home, at, id, name, replay } = await finished()
  expect(await replay('site', '--into', 'kept')).toMatchObject(SAME)
  const own = (await home.read('kept/.delta/LATEST')).trim().split('_').at(-1)
  expect((await journalOf(join(home.path, 'kept'))).find((event) => 'parent' in event)).toMatchObject({
    replay: { model: 'recorded', tools: 'recorded' },
    parent: { run_id: id, iteration: 0 },
  })
  expect((await delta(['show', 'kept'], at)).stdout).toContain('The end.')
  for (const more of [[], ['-m', 'On']])
    expect(await delta(['continue', '-w', 'kept', ...more], at)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `Error: ${own} is a replay of ${name} and cannot be continued. To go on for real: delta fork ${home.path}/site/.delta/${id} --at 3\n`,
    })
  const again = ['kept', '--agent', join(home.path, 'none')]
  expect(await replay(...again)).toMatchObject({ exitCode: 2 })
})

test('a replay of a replay, and one of a fork, are the same; a fork is replayed from where it begins', async () => {
  const { agent, at, name, replay } = await finished()
  await replay('site', '--into', 'kept')
  expect(await replay('kept', '--agent', agent.path)).toMatchObject({ exitCode: 0, stdout: SAME.stdout })
  const forked = await delta(['fork', 'site', '--at', '1', '--without-files', '--into', 'other', '-q'], at)
  expect(forked.exitCode).toBe(0)
  expect(await replay('other')).toMatchObject({ ...SAME, stdout: 'same: 2 requests, 1 call, the answer\n' })
  const inherited = await replay('other', '--at', '0')
  expect(inherited.stderr).toMatch(/^Error: --at 0: \w+ is a fork and has inherited iteration 1\. /)
  expect(inherited.stderr).toContain(`Replay ${name}, or leave --at out.\n`)
})

test('T1, T2: nothing of a run that is not mine runs; its record is replayed with an agent', async () => {
  const { agent, home, name, replay, left } = await finished()
  await cp(join(home.path, 'site'), join(home.path, 'copy'), { recursive: true })
  expect(await replay('copy')).toMatchObject({
    exitCode: 2,
    stderr: `Error: ${name} is not among your runs: its agent and settings are not trusted. Name an agent: delta replay copy --agent DIR\n`,
  })
  const mine = ['copy', '--agent', agent.path]
  for (const live of [
    ['--live', 'tools'],
    ['--live', 'model'],
    ['--live', 'both'],
    ['--model', 'x'],
  ])
    expect(await replay(...mine, ...live)).toMatchObject({
      exitCode: 2,
      stderr: `Error: ${name} is not among your runs: nothing of it may run. Leave --live and --model out.\n`,
    })
  expect(await replay(...mine)).toMatchObject({ exitCode: 0, stdout: SAME.stdout })
  expect(await left()).toEqual([])
})

test('what cannot be replayed is refused with exit code 2, and nothing is made', async () => {
  const { home, name, replay } = await finished()
  await home.write('full/a.txt', '')
  const before = await home.files()
  const refused = async (said: string, ...words: string[]) => {
    const { exitCode, stdout, stderr } = await replay('site', ...words)
    expect({ exitCode, stdout, stderr: stderr.split('\n')[0] }).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `Error: ${said}`,
    })
  }
  await refused(
    "option '--live <side>' argument 'tool' is invalid. Allowed choices are model, tools, both.",
    ...['--live', 'tool'],
  )
  await refused(
    "--model other: the agent's provider is script, which asks no model. Name one that does: --set llm.provider=openai",
    ...['--model', 'other'],
  )
  await refused('--mask "(": not a regular expression: Unterminated group.', '--mask', '(')
  await refused(`--at 15: ${name} has 3 iterations.`, '--at', '15')
  await refused(`--at 3 is the answer of ${name}: a replay begins before it.`, '--at', '3')
  await refused('--at x: give the number of an iteration, or 0 for the task alone.', '--at', 'x')
  await refused(`--into is inside the workspace of ${name} (or contains it).`, '--into', 'site/sub')
  await refused(
    `--into ${home.path}/full: the directory is not empty. A replay lies in a new one.`,
    ...['--into', 'full'],
  )
  expect((await replay('nowhere')).exitCode).toBe(2)
  expect(await home.files()).toEqual(before)
})

const PAGE = fileURLToPath(new URL('../../../docs/how-to/replay.md', import.meta.url))
const OUTPUTS = fileURLToPath(new URL('./fixtures/outputs-of-tests/', import.meta.url))

test.each(['pytest', 'cargo', 'go', 'npm'])(
  'the mask that the guide names for %s makes two of its outputs the same',
  async (tool) => {
    const page = await readFile(PAGE, 'utf8')
    const mask = new RegExp(`^\\| \`${tool}\\b.*\\| \`([^\`]+)\` \\|$`, 'm').exec(page)?.[1]
    const [one, two] = await Promise.all(
      [1, 2].map(async (run) => {
        const text = await readFile(join(OUTPUTS, `${tool}-${run}.txt`), 'utf8')
        return text.replaceAll(`/tmp/site-${run}`, '/tmp/site') // as a replay does with its workspace
      }),
    )
    const masked = (text = '') => text.replace(new RegExp(mask ?? '', 'g'), '[masked]')
    expect(one).not.toBe(two)
    expect(masked(one)).toBe(masked(two))
  },
)
