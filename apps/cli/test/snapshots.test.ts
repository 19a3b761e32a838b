import { readdirSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@delta/snapshots'
import { areInstalled, runProcess, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, killOnce, scene } from './delta.js'

/** Answers turn after turn, each once the snapshot of the iteration before is in the journal. */
const PATIENT = `n=$(grep -c '"type":"THOUGHT"' "$JOURNAL_PATH")
until grep -q "\\"type\\":\\"SNAPSHOT\\",\\"iteration\\":$n" "$JOURNAL_PATH"; do sleep 0.01; done
cat "$AGENT_HOME/answer-$n.json"
`

interface Taken {
  iteration: number
  snapshot_id: string | null
  reason?: string
  message?: string
  waited_ms?: number
  omitted?: { path: string; why: string }[]
}

/** An agent that runs these scripts in a shell, one in each iteration. */
async function shellAgent(
  scripts: readonly string[],
  { agent = {}, hooks, env }: { agent?: object; hooks?: string; env?: Record<string, string> } = {},
) {
  const answers = [...scripts, undefined].map((script, index) => {
    const tool_calls = [
      {
        id: `c${index}`,
        type: 'function',
        function: { name: 'bash', arguments: JSON.stringify({ script }) },
      },
    ]
    const message = { role: 'assistant', content: 'So.', ...(script !== undefined && { tool_calls }) }
    return [`answer-${index}.json`, JSON.stringify({ choices: [{ message }] })]
  })
  const files = {
    ...Object.fromEntries(answers),
    'model.sh': PATIENT,
    ...(hooks !== undefined && { 'hooks.yaml': hooks }),
  }
  const llm = { provider: 'command', command: ['sh', '${AGENT_HOME}/model.sh'] }
  const bash = { name: 'bash', exec: 'bash -c ${script}' }
  const made = await scene(
    { agent: { llm, snapshots: 'every_iteration', ...agent }, tools: [bash], files },
    { env: env ?? {} },
  )
  const taken = async () => (await made.events('SNAPSHOT')) as unknown as Taken[]
  const runId = () =>
    readdirSync(join(made.workspace.path, '.delta')).find((name) => /^\d{8}_/.test(name)) ?? ''
  const store = () => openStore(join(made.workspace.path, '.delta', runId(), 'snapshots'))
  return { ...made, taken, store }
}

/** Everything in a directory that a snapshot keeps: names, kinds, modes, times, targets, contents. */
async function listing(directory: string): Promise<string> {
  const format = '%P %y %m %T@ %l\\n'
  const find = [
    'find',
    directory,
    '-mindepth',
    '1',
    '-path',
    `${directory}/.delta`,
    '-prune',
    '-o',
    '-printf',
    format,
  ]
  const names = await runProcess(find)
  const sums = await runProcess([
    'sh',
    '-c',
    `cd "$1" && find . -path ./.delta -prune -o -type f -exec sha256sum {} +`,
    'sh',
    directory,
  ])
  const lines = [names, sums].flatMap(({ stdout }) =>
    stdout.split('\n').map((line) => line.replace(/(\.\d{6})\d* /, '$1 ')),
  )
  return lines
    .filter((line) => !line.startsWith('.delta'))
    .sort()
    .join('\n')
}

const hasGit = areInstalled('git')

/** Everything of a directory, with the times of its inodes: equal only if nothing was written to it. */
async function untouched(directory: string): Promise<string> {
  return (await runProcess(['find', directory, '-printf', '%P %y %m %s %i %T@ %C@\\n'])).stdout
}

test.skipIf(!hasGit)(
  'a fork of each iteration has the files as they were then, whatever the shell did to them, and goes on; the original is not touched',
  async () => {
    const scripts = [
      'printf "one\\ntwo\\n" > a.txt && mkdir -p empty deep/er && echo x > deep/er/x',
      'sed -i s/one/uno/ a.txt && chmod 755 a.txt && ln -s a.txt link',
      'rm -r deep && printf x > "with\nnewline" && printf "\\0\\1" > binary',
      'git init -q . && git config user.email a@b.c && git config user.name n && git add -A && git commit -qm one',
      'mkdir node_modules && touch node_modules/big && rm link && mv a.txt b.txt && cat > here.md <<END\nDone.\nEND',
    ]
    const copies = await mkdtemp('/tmp/delta-copies-')
    onTestFinished(() => rm(copies, { recursive: true, force: true }))
    const copy = `cp -a . "$COPIES/$ITERATION_COUNT"`
    const hooks = `on_iteration_end: { command: [sh, -c, '${copy}'], pass_env: [COPIES] }\n`
    const agent = { snapshots: { every: 'iteration', ignore: ['node_modules'] } }
    const { run, taken, workspace, at } = await shellAgent(scripts, { agent, hooks, env: { COPIES: copies } })
    expect((await run('-q')).exitCode).toBe(0)
    const original = await untouched(workspace.path)
    const all = await taken()
    expect(all.map(({ iteration, snapshot_id }) => [iteration, snapshot_id !== null])).toEqual(
      [0, 1, 2, 3, 4, 5, 6].map((iteration) => [iteration, true]),
    )
    expect(all.at(-1)?.omitted).toMatchObject([{ path: 'node_modules', why: 'ignored' }])
    for (const n of [1, 2, 3, 4, 5]) {
      const into = join(copies, `fork-${n}`)
      const { exitCode, stderr } = await at('fork', '--at', String(n), '--into', into, '--no-run')
      expect({ exitCode, stderr }).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(new RegExp(`^fork \\S+ of \\w{6} at iteration ${n}: \\d+ files? \\(`)),
      })
      await rm(join(copies, String(n), 'node_modules'), { recursive: true, force: true })
      expect(await listing(into), `iteration ${n}`).toBe(await listing(join(copies, String(n))))
    }
    const into = join(copies, 'goes-on')
    const { exitCode, stdout } = await at('fork', '--at', '3', '--into', into, '-q')
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'So.\n' })
    expect(await listing(into)).toContain('here.md f ')
    expect(await untouched(workspace.path)).toBe(original)
  },
)

test.skipIf(!hasGit)(
  'a fork without its files is refused with the reason, unless it may miss them',
  async () => {
    const { run, at, workspace } = await shellAgent(['echo a > a', 'truncate -s 101M large; echo b > b'])
    expect((await run('-q')).exitCode).toBe(0)
    const fork = async (...flags: string[]) => {
      const { exitCode, stderr } = await at(
        'fork',
        ...flags,
        '--no-run',
        '--into',
        `${workspace.path}-${flags[1]}`,
      )
      await rm(`${workspace.path}-${flags[1]}`, { recursive: true, force: true })
      return { exitCode, stderr }
    }
    expect(await fork('--at', '2')).toEqual({
      exitCode: 2,
      stderr: 'Error: Iteration 2 lacks 1 file: large (large, 0.1 GB). --allow-missing forks without them.\n',
    })
    expect(await fork('--at', '2', '--allow-missing')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/: 2 files \(4 B\) in .*\nnot in it: large \(large, 0\.1 GB\)\n$/),
    })
    const without = await scene({
      turns: [calls('work'), { content: 'Done.' }],
      tools: [{ name: 'work', exec: 'true' }],
    })
    await without.run('-q')
    const { exitCode, stderr } = await without.at('fork', '--at', '1', '--no-run')
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(
        /^Error: \w{6} has no files of iteration 1: it ran with snapshots: off\.\nTo fork the conversation alone: delta fork .* --without-files \(/,
      ),
    })
  },
)

test.skipIf(!hasGit)('the files of a run that is not mine are forked with an agent that I name', async () => {
  const { run, at, agent, workspace } = await shellAgent(['echo theirs > a', 'echo later > a'])
  expect((await run('-q')).exitCode).toBe(0)
  const elsewhere = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const [copy, into] = [join(elsewhere.path, 'copy'), join(elsewhere.path, 'fork')]
  await cp(workspace.path, copy, { recursive: true })
  const words = [copy, '--at', '1', '--into', into]
  expect(await at('fork', ...words)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('is not among your runs: its agent and settings are not trusted.'),
  })
  expect(await readdir(elsewhere.path)).toEqual(['copy'])
  expect(await at('fork', ...words, '--agent', agent.path, '--no-run')).toMatchObject({ exitCode: 0 })
  expect(await readFile(join(into, 'a'), 'utf8')).toBe('theirs\n')
})

test.skipIf(!hasGit)(
  'a command does not wait longer than wait_ms: the snapshot is given up, which is said once, and the run goes on',
  async () => {
    const turns = [...Array(3).fill(calls('work')), { content: 'Done.' }]
    const snapshots = { every: 'iteration', wait_ms: 0 }
    const files = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`d/${index}`, 'x']))
    const { run, events } = await scene(
      { agent: { snapshots }, tools: [{ name: 'work', exec: 'true' }], turns },
      { files },
    )
    const { exitCode, stderr } = await run()
    expect(exitCode).toBe(0)
    const given = (await events('SNAPSHOT')).filter(({ reason }) => reason === 'time')
    expect(given.length).toBeGreaterThan(0)
    expect(given[0]).toMatchObject({
      snapshot_id: null,
      message: expect.stringMatching(/^a command started after 0 s($|; \d)/),
      waited_ms: expect.any(Number),
    })
    expect(stderr.match(/The files of iteration \d were not kept/g)).toHaveLength(1)
  },
)

test.skipIf(!hasGit)('a run that was killed goes on with its snapshots', async () => {
  const scripts = [
    'echo 1 > a',
    '[ -e started ] || { echo s > started; sleep 60; }; echo 2 > a',
    'echo 3 > a',
  ]
  const { start, at, taken, workspace, store } = await shellAgent(scripts)
  await killOnce(start('-q'), join(workspace.path, 'started'))
  expect((await at('continue', '-q')).exitCode).toBe(0)
  const last = (await taken()).at(-1)
  const into = join(workspace.path, '.delta', 'back')
  await (await store()).restore(last?.snapshot_id ?? '', 'files', into)
  expect(await workspace.read('.delta/back/a')).toBe('3\n')
})

test.skipIf(!hasGit)('a git that is killed costs one snapshot, and the next is taken', async () => {
  const PATH = await gitThat('kill -9 $$')
  const { run, events } = await scene(
    {
      agent: { snapshots: { every: 'iteration', wait_ms: 60_000 } },
      tools: [{ name: 'work', exec: 'true' }],
      turns: [calls('work'), calls('work'), { content: 'Done.' }],
    },
    { files: { a: 'x' }, env: { PATH } },
  )
  const { stderr } = await run()
  expect(await events('SNAPSHOT')).toMatchObject([
    { iteration: 0, snapshot_id: null, reason: 'git' },
    { iteration: 1, snapshot_id: expect.any(String) },
    { iteration: 2, snapshot_id: expect.any(String) },
  ])
  expect(stderr.match(/^note: .*/gm)).toEqual([
    'note: The files of iteration 0 were not kept: git fast-import: it ended with SIGKILL.',
  ])
})

test.skipIf(!hasGit)(
  'a run that is stopped while a command waits for a snapshot ends without it',
  async () => {
    const PATH = await gitThat('until [ -e "$0.go" ]; do sleep 0.02; done')
    const [bin = ''] = PATH.split(':')
    const { start, workspace, events } = await scene(
      {
        agent: { snapshots: { every: 'iteration', wait_ms: 60_000 } },
        tools: [{ name: 'work', exec: 'true' }],
        turns: [calls('work'), { content: 'Done.' }],
      },
      { files: { large: 'x'.repeat(3_000_000) }, env: { PATH } },
    )
    const engine = start('-q')
    await waitForFile(join(bin, 'git.was'))
    const run = (await waitForFile(join(workspace.path, '.delta/LATEST'))).trim()
    const journal = join(workspace.path, '.delta', run, 'journal.jsonl')
    await waitForFile(journal, '"THOUGHT"')
    engine.kill('SIGTERM')
    await waitForFile(journal, '"ENGINE_END"')
    await writeFile(join(bin, 'git.go'), '')
    expect((await engine.result).exitCode).toBe(143)
    expect(await events('SNAPSHOT')).toEqual([])
  },
)

/** A PATH with a git that does this before its first snapshot. */
async function gitThat(script: string): Promise<string> {
  const bin = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const once = `[ "$1" != fast-import ] || [ -e "$0.was" ] || { touch "$0.was"; ${script}; }`
  await bin.write('git', `#!/bin/sh\n${once}\nPATH=\${PATH#*:} exec git "$@"\n`)
  return `${bin.path}:${process.env.PATH}`
}

test('without git a run goes on without snapshots, and says so once', async () => {
  const turns = [calls('work'), calls('work'), { content: 'Done.' }]
  const { run, events } = await scene(
    {
      agent: { snapshots: 'every_iteration' },
      tools: [{ name: 'work', exec: '/bin/true' }],
      turns,
    },
    { env: { PATH: await withoutGit() } },
  )
  const { exitCode, stderr } = await run()
  expect(exitCode).toBe(0)
  expect(stderr.match(/were not kept: .*git.*\./g)).toHaveLength(1)
  expect(await events('SNAPSHOT')).toMatchObject([{ snapshot_id: null, reason: 'git' }])
})

async function withoutGit(): Promise<string> {
  const directory = await mkdtemp('/tmp/delta-path-')
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await symlink('/bin/sh', join(directory, 'sh'))
  return directory
}

test('for an agent that does not ask for snapshots no git is started, and no file is kept', async () => {
  const bin = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await writeFile(join(bin.path, 'git'), '#!/bin/sh\ntouch "$0.started"\n', { mode: 0o755 })
  const files = async (agent: Record<string, unknown>) => {
    const { run, workspace, events } = await scene(
      { agent, tools: [{ name: 'work', exec: 'true' }], turns: [calls('work'), { content: 'Done.' }] },
      { env: { PATH: `${bin.path}:${process.env.PATH}` } },
    )
    expect((await run('-q')).exitCode).toBe(0)
    const { stdout } = await runProcess(['find', workspace.path, '-name', 'snapshots'])
    return { kept: stdout, taken: (await events('SNAPSHOT')).length, started: await bin.has('git.started') }
  }
  for (const agent of [{}, { snapshots: 'off' }])
    expect(await files(agent)).toEqual({ kept: '', taken: 0, started: false })
  expect(await files({ snapshots: 'every_iteration' })).toMatchObject({ started: true })
})

test.skipIf(!hasGit)('a snapshot that could pass max_bytes is not taken', async () => {
  const scripts = ['head -c 300000 /dev/urandom > a', 'head -c 300000 /dev/urandom > a']
  const agent = { snapshots: { every: 'iteration', max_bytes: '400kB' } }
  const { run, taken } = await shellAgent(scripts, { agent })
  expect((await run('-q')).exitCode).toBe(0)
  const all = await taken()
  expect(all.map(({ reason }) => reason)).toContain('budget')
  expect(all[0]?.snapshot_id).not.toBeNull()
})

test.skipIf(!hasGit)(
  'after three that were not taken the engine takes none, and says what can be done',
  async () => {
    const { run, events } = await scene(
      {
        agent: { snapshots: { every: 'iteration', max_bytes: '1kB', wait_ms: 60_000 } },
        tools: [{ name: 'work', exec: 'true' }],
        turns: [...Array(5).fill(calls('work')), { content: 'Done.' }],
      },
      { files: { 'd/large': 'x'.repeat(250_000) } },
    )
    const { stderr } = await run()
    expect(await events('SNAPSHOT')).toHaveLength(3)
    expect(stderr.match(/^note: .*/gm)).toEqual([
      'note: The files of iteration 0 were not kept: The store has 0 bytes, and what changed has up to 250000 more: together more than the 1000 allowed.',
      'note: No further snapshots are taken by this engine. Raise snapshots.max_bytes, or leave out with snapshots.ignore what is not needed. The largest directories: d (0.3 MB).',
    ])
  },
)
