import { chmod, cp, mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  startScriptedServer,
  type TemporaryAgentOptions,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf, KEY, startDelta } from './delta.js'

const TOOLS = [{ name: 'note', shell: 'echo "in $PWD" | tee -a noted.txt' }]
const TURNS = [calls('note'), calls('note'), { content: 'The end.' }, { content: 'More.' }]

/** A home with an agent and a finished run of it in `site`; commands run in that home. */
async function finished(options: TemporaryAgentOptions = {}, more: string[] = []) {
  const agent = await temporaryAgent({ turns: TURNS, tools: TOOLS, ...options, onCleanup: onTestFinished })
  const home = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  const at = { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state') } }
  const run = ['run', '--agent', agent.path, '-w', 'site', '-m', 'Go', '-q', ...more]
  expect(await delta(run, at)).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  const id = (await delta(['list-runs', '-w', 'site', '--first'], at)).stdout.trim()
  const fork = (...words: string[]) => delta(['fork', ...words, '--without-files'], at)
  return { agent, home, at, id, name: id.split('_').at(-1) ?? '', fork }
}

test('delta fork goes on from an iteration in another workspace, and says where; the answer is all that stdout has', async () => {
  const { home, at, id, name, fork } = await finished()
  const forked = await fork('site', '--at', '1', '-m', 'Once more.')
  expect(forked).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  const own = (await home.read('site-fork-1/.delta/LATEST')).trim()
  expect(forked.stderr.split('\n')[0]).toBe(
    `fork ${own} of ${name} at iteration 1: without files, in ./site-fork-1`,
  )
  expect(await home.read('site-fork-1/noted.txt')).toBe(`in ${home.path}/site-fork-1\n`)

  const again = await fork(name, '-w', 'site', '--at', '1', '--format', 'json', '-q')
  expect(JSON.parse(again.stdout)).toMatchObject({
    run_id: expect.any(String),
    work_dir: join(home.path, 'site-fork-1-2'),
    parent: { run_id: id, directory: join(home.path, 'site/.delta', id), iteration: 1 },
    status: 'COMPLETED',
    answer: 'The end.',
  })
  expect(again.stderr).toBe('')
  const inside = await delta(['fork', '--at', '0', '--without-files', '--no-run'], {
    ...at,
    cwd: join(home.path, 'site'),
  })
  expect(inside.stderr).toContain(' at iteration 0: without files, in ../site-fork-0\n')
  const cost = JSON.parse((await delta(['cost', '-w', 'site-fork-1', '--json'], at)).stdout)
  expect(JSON.stringify(cost)).toContain('"requests":2')
})

test('--no-run prints the id and the workspace of a fork, with which delta continue goes on', async () => {
  const { home, at, fork } = await finished()
  const made = await fork('site', '--at', '2', '--no-run', '--into', 'other', '-q')
  const [id = '', workspace = ''] = made.stdout.trimEnd().split('\t')
  expect([made.stderr, workspace]).toEqual(['', join(home.path, 'other')])
  const listed = await delta(['list-runs', '-w', workspace, '--resumable', '--first', '--json'], at)
  expect(JSON.parse(listed.stdout)).toMatchObject({ run_id: id, forked_from: { iteration: 2 } })
  expect((await delta(['list-runs', '-w', workspace], at)).stdout).toMatch(/\[fork of \w+ at 2\] /)
  expect((await delta(['continue', '-w', workspace, '--run-id', id, '-q'], at)).stdout).toBe('The end.\n')
  expect((await delta(['journal', 'verify', id, '-w', workspace], at)).exitCode).toBe(0)
  const json = await fork('site', '--at', '2', '--no-run', '--format', 'json', '-q')
  expect(Object.keys(JSON.parse(json.stdout))).toEqual(['run_id', 'work_dir', 'parent', 'status'])
})

test('several forks of one point start at once, each in a directory of its own, as private as the workspace', async () => {
  const { home, fork } = await finished()
  await chmod(join(home.path, 'site'), 0o700)
  const all = await Promise.all(Array.from({ length: 5 }, () => fork('site', '--at', '1', '-q')))
  expect(all.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual(Array(5).fill([0, 'The end.\n']))
  const made = (await readdir(home.path)).filter((each) => each.includes('-fork-'))
  const modes = await Promise.all(made.map(async (each) => (await stat(join(home.path, each))).mode & 0o777))
  expect(modes).toEqual(Array(5).fill(0o700))
})

test('what cannot be forked is refused with exit code 2, and nothing is made', async () => {
  const { home, at, name, fork } = await finished()
  await home.write('full/a.txt', '')
  const before = await home.files()
  const refused = async (said: string, ...words: string[]) =>
    expect(await delta(['fork', ...words], at)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: `Error: ${said}\n`,
    })
  await refused(
    `${name} has no files of iteration 1: it ran with snapshots: off.
To fork the conversation alone: delta fork site --at 1 --without-files (an --into directory may then hold the files you want)`,
    ...['site', '--at', '1'],
  )
  const without = ['--without-files', 'site', '--at']
  await refused(`--at 15: ${name} has 3 iterations.`, ...without, '15')
  await refused('--at 3 is the answer; say what comes next with -m.', ...without, '3')
  await refused('--at x: give the number of an iteration, or 0 for the task alone.', ...without, 'x')
  const inside = `--into is inside the workspace of ${name} (or contains it).`
  for (const into of ['site', 'site/sub']) await refused(inside, ...without, '1', '--into', into)
  await refused(
    `--into ${home.path}/full: the directory is not empty. A fork never writes into existing files.`,
    ...['site', '--at', '1', '--into', 'full'],
  )
  expect(await fork('site')).toMatchObject({ exitCode: 2 })
  expect(await fork('nowhere', '-w', 'site', '--at', '1')).toMatchObject({ exitCode: 2 })
  expect(await home.files()).toEqual(before)
})

test('T1, T2: a run that is not mine is forked only with an agent, and nothing that was set for it applies', async () => {
  const { agent, home, at, name, fork } = await finished({}, ['--set', 'max_iterations=7'])
  await cp(join(home.path, 'site'), join(home.path, 'copy'), { recursive: true })
  const refused = await fork('copy', '--at', '1')
  expect(refused).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: `Error: ${name} is not among your runs: its agent and settings are not trusted. Name an agent: delta fork copy --at 1 --without-files --agent DIR\n`,
  })
  expect(await readdir(home.path)).not.toContain('copy-fork-1')
  expect(await fork('copy', '--at', '1', '--agent', agent.path)).toMatchObject({ exitCode: 0 })
  const starts = (await journalOf(join(home.path, 'copy-fork-1'))).filter(
    ({ type }) => type === 'ENGINE_START',
  )
  expect(starts[0]).toMatchObject({ overrides: ['max_iterations=7'], inherited: true })
  expect(starts[1]).not.toHaveProperty('overrides')

  const mine = await fork('site', '--at', '1', '--set', 'llm.temperature=0')
  expect(mine.stderr).toContain('Set for this run: --set max_iterations=7 --set llm.temperature=0\n')
  const resumed = await delta(['continue', '-w', 'site-fork-1', '-m', 'On'], at)
  expect(resumed.stderr).toContain('Set for this run: --set max_iterations=7 --set llm.temperature=0\n')
})

test('T4: a tool forks only runs that its own run started, others with an agent of its own', async () => {
  const { agent, home, at, id, name } = await finished()
  const tool = { ...at, env: { ...at.env, DELTA_PARENT_RUN: join(home.path, 'site/.delta', id) } }
  const words = ['fork', 'site', '--at', '1', '--without-files', '--no-run']
  expect((await delta(words, tool)).stderr).toContain(`${name} is not among your runs: `)
  const sub = await delta(['run', '--agent', agent.path, '-w', 'sub', '-m', 'Go', '-q'], tool)
  expect(sub.exitCode).toBe(0)
  expect(await delta(['fork', 'sub', ...words.slice(2)], tool)).toMatchObject({ exitCode: 0 })
  expect(await delta([...words, '--agent', agent.path], tool)).toMatchObject({ exitCode: 0 })
})

test('K3: a yes to the .env of a workspace does not hold for the fork; its own does, when it resumes', async () => {
  const server = await startScriptedServer([calls('note'), { content: 'The end.' }, { content: 'More.' }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const agent = await temporaryAgent({
    agent: { llm: { model: 'm' }, tools: TOOLS },
    onCleanup: onTestFinished,
  })
  const home = await temporaryWorkspace(
    { 'site/.env': `DELTA_BASE_URL=${server.baseUrl}\n` },
    { onCleanup: onTestFinished },
  )
  const at = { cwd: home.path, env: { ...KEY, DELTA_STATE_DIR: join(home.path, 'state') } }
  const flag = '--trust-workspace-env'
  await delta(['run', '--agent', agent.path, '-w', 'site', '-m', 'Go', '-q', flag], at)
  await mkdir(join(home.path, 'other'))
  await writeFile(join(home.path, 'other/.env'), await home.read('site/.env'))
  const words = ['fork', 'site', '--at', '1', '--without-files', '--into']
  const refused = await delta([...words, 'other'], at)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('To allow it: --trust-workspace-env\n')
  expect(refused.stderr).toContain('Go on with: delta continue -w ')
  expect(await delta([...words, 'other', '-q', flag], at)).toMatchObject({
    exitCode: 0,
    stdout: 'The end.\n',
  })
  expect(await delta(['continue', '-w', 'other', '-m', 'On', '-q'], at)).toMatchObject({ exitCode: 0 })
})

test('T6: import roots that were allowed for a run hold for its fork, and when that is continued', async () => {
  const library = await temporaryWorkspace(
    { 'tools.yaml': "tools:\n  - { name: note, exec: 'echo imported' }\n" },
    { onCleanup: onTestFinished },
  )
  const imports = { agent: { imports: [join(library.path, 'tools.yaml')] }, tools: [] }
  const { at, fork } = await finished(imports, ['--import-root', library.path])
  expect(await fork('site', '--at', '1', '-q')).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  expect(await delta(['continue', '-w', 'site-fork-1', '-m', 'On', '-q'], at)).toMatchObject({ exitCode: 0 })
})

test('a fork is kept where --runs-dir says, not where the run is kept, and later commands find it', async () => {
  const { home, at, fork } = await finished({}, ['--runs-dir', 'runs'])
  expect(await fork('site', '--at', '1', '-q')).toMatchObject({ exitCode: 0 })
  expect(await readdir(join(home.path, 'site-fork-1'))).toContain('.delta')
  expect(await fork('site', '--at', '1', '-q', '--into', 'b', '--runs-dir', 'kept')).toMatchObject({
    exitCode: 0,
  })
  expect(await readdir(join(home.path, 'b'))).toEqual(['noted.txt'])
  expect(await delta(['continue', '-w', 'b', '-m', 'On', '-q'], at)).toMatchObject({
    exitCode: 0,
    stdout: 'More.\n',
  })
  expect((await delta(['fork', 'b', '--at', '2', '--without-files', '-q'], at)).exitCode).toBe(0)
})

test('a running run is forked by its workspace, and ends as if nothing had happened', async () => {
  const agent = await temporaryAgent({
    turns: [calls('note'), calls('wait'), { content: 'The end.' }],
    tools: [...TOOLS, { name: 'wait', shell: 'touch waiting; while [ ! -e go ]; do sleep 0.02; done' }],
    onCleanup: onTestFinished,
  })
  const home = await temporaryWorkspace({ 'site/a': '' }, { onCleanup: onTestFinished })
  const at = { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state') } }
  const running = startDelta(['run', '--agent', agent.path, '-w', 'site', '-m', 'Go'], at)
  await running.waitForOutput(/wait/, { stream: 'stderr' })
  const words = ['fork', 'site', '--without-files', '--no-run', '--at']
  const early = await delta([...words, '2'], at)
  expect(early.stderr).toBe('Error: --at 2: call 1 of iteration 2 has no result; --at 1 is complete.\n')
  expect((await delta([...words, '1'], at)).exitCode).toBe(0)
  await home.write('site/go', '')
  expect((await running.result).stdout).toBe('The end.\n')
})

test('where a workspace was moved, delta continue says so in one line', async () => {
  const { home, at } = await finished()
  await rename(join(home.path, 'site'), join(home.path, 'moved'))
  const resumed = await delta(['continue', '-w', 'moved', '-m', 'On'], at)
  expect(resumed).toMatchObject({ exitCode: 0, stdout: 'More.\n' })
  expect(resumed.stderr).toContain(
    `The workspace was ${home.path}/site, and is now ${home.path}/moved: the model reads the new path in what came before.\n`,
  )
})
