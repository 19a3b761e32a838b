import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, startDelta } from './delta.js'

// Where the runs of a workspace are kept: unseen in it, or in a directory of their own.

/** An agent, and `home` with the workspace `ws`, a git repository; `delta` is typed in `home`. */
async function scene(options: Parameters<typeof temporaryAgent>[0] = {}) {
  const turns = [{ content: 'Done.' }, { content: 'More.' }]
  const agent = await temporaryAgent({ turns, ...options, onCleanup: onTestFinished })
  const home = await temporaryWorkspace({ 'ws/file.txt': 'text\n' }, { onCleanup: onTestFinished })
  const workspace = join(home.path, 'ws')
  const git = async (line: string) => {
    const identity = '-c user.name=test -c user.email=test@localhost'
    const options = { cwd: workspace, env: { ...process.env, GIT: `git ${identity}` } }
    const { exitCode, stdout, stderr } = await runProcess(
      ['sh', '-ec', line.replaceAll('git ', '$GIT ')],
      options,
    )
    if (exitCode !== 0) throw new Error(stderr)
    return stdout
  }
  await git('git init -q; git add -A; git commit -qm First')
  const at = (args: string[], env: Record<string, string> = {}) =>
    delta(args, { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state'), ...env } })
  const words = (...more: string[]) => ['run', '--agent', agent.path, '-w', 'ws', '-m', 'Go', '-q', ...more]
  const run = (more: string[] = [], env: Record<string, string> = {}) => at(words(...more), env)
  return { agent, home, workspace, runs: join(home.path, 'runs'), at, words, run, git }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** What the state directory says of workspaces, with the file of each. */
const known = async ({ home }: Scene) => {
  const files = (await home.files()).filter((name) => name.startsWith('state/workspaces/'))
  return Promise.all(files.map(async (file) => ({ file, ...JSON.parse(await home.read(file)) })))
}

/** What git would do with the workspace of somebody who commits and stashes everything. */
async function expectUnseen({ workspace, git }: Scene, file: string): Promise<void> {
  expect(await git('git status --porcelain')).toBe('')
  await writeFile(join(workspace, file), 'mine\n')
  expect(
    await git('git stash -uq; git stash show --include-untracked --name-only; git stash pop > /dev/null'),
  ).toBe(`${file}\n`)
  expect(await git(`git add -A; git commit -qm ${file}; git show --format= --name-only`)).toBe(`${file}\n`)
}

test('git sees nothing of a run that goes on, waits or has ended, nor of a .delta that a generator makes, and a stash takes nothing', async () => {
  const server = await startScriptedServer([
    calls('ask_human', { prompt: 'Well?' }),
    { content: 'Done.', hold: 'thinking' },
  ])
  onTestFinished(() => server[Symbol.asyncDispose]())
  const context = `sources:
  - { type: computed_file, generator: { command: [echo, hi] }, output_path: .delta/context_artifacts/hi.txt }
  - { type: journal }
`
  const at = await scene({ baseUrl: server.baseUrl, files: { 'context.yaml': context } })
  expect((await at.run([], KEY)).exitCode).toBe(101)
  await expectUnseen(at, 'one')
  const env = { ...KEY, DELTA_STATE_DIR: join(at.home.path, 'state') }
  const engine = startDelta(['continue', '-w', 'ws', '-m', 'yes'], { cwd: at.home.path, env })
  await server.waitForRequests(2)
  await expectUnseen(at, 'two')
  await server.release('thinking')
  expect((await engine.result).exitCode).toBe(0)
  await expectUnseen(at, 'three')
  expect(existsSync(join(at.workspace, '.delta/context_artifacts/hi.txt'))).toBe(true)
  expect((await at.at(['show', '-w', 'ws', '--answer'])).stdout).toBe('Done.\n')
})

describe('--runs-dir', () => {
  test('W2: keeps the runs outside the workspace, and every command that takes -w finds them; without memory the flag names them', async () => {
    const at = await scene({
      turns: [calls('ask_human', { prompt: 'Well?' }), { content: 'Done.' }, { content: 'More.' }],
    })
    const asked = await at.run(['--runs-dir', 'runs', '--run-id', 'one'])
    expect(asked.exitCode).toBe(101)
    const advice = `Answer with: delta continue -w ${at.workspace} --runs-dir ${at.runs} --run-id one -m "my answer"\n`
    expect([asked.stderr, (await at.at(['show', '-w', 'ws'])).stderr]).toEqual(
      Array(2).fill(expect.stringContaining(advice)),
    )
    expect(existsSync(join(at.workspace, '.delta'))).toBe(false)
    expect(await readFile(join(at.runs, 'one/engine.log'), 'utf8')).toContain('run one of test-agent')
    const [{ file, ...fact } = { file: '' }] = await known(at)
    expect(fact).toEqual({ path: at.workspace, runs_dir: at.runs })
    expect((await stat(join(at.home.path, 'state'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(at.home.path, file))).mode & 0o777).toBe(0o600)

    await at.git('git clean -fdxq')
    expect((await at.at(['continue', '-w', 'ws', '-m', 'yes', '-q'])).stdout).toBe('Done.\n')
    expect((await at.at(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('one\n')
    expect((await at.at(['show', '-w', 'ws', '--answer'])).stdout).toBe('Done.\n')
    for (const word of ['verify', 'repair'])
      expect((await at.at(['journal', word, '-w', 'ws'])).exitCode).toBe(0)
    expect((await at.at(['context', 'explain', '-w', 'ws'])).stdout).toContain('of run one')
    expect((await at.run(['--new', '--run-id', 'two'])).exitCode).toBe(101)
    expect([existsSync(join(at.runs, 'two')), existsSync(join(at.workspace, '.delta'))]).toEqual([
      true,
      false,
    ])
    expect(await known(at)).toHaveLength(1)

    await rm(join(at.home.path, 'state'), { recursive: true })
    expect((await at.at(['list-runs', '-w', 'ws'])).stdout).toBe('')
    await rm(at.workspace, { recursive: true })
    expect(
      (await at.at(['list-runs', '--runs-dir', 'runs', '--status', 'COMPLETED', '--first'])).stdout,
    ).toBe('one\n')
    expect((await at.at(['show', 'one', '--runs-dir', 'runs', '--answer'])).stdout).toBe('Done.\n')
    expect(existsSync(join(at.home.path, 'state'))).toBe(false)
  })

  test('may be DELTA_RUNS_DIR, and goes before it; what was allowed at the first start holds for continue', async () => {
    const at = await scene()
    await at.home.write('common/tools.yaml', 'tools: [{ name: look, exec: ls }]\n')
    const agent = JSON.parse(await at.agent.read('agent.yaml'))
    const imports = [join(at.home.path, 'common/tools.yaml')]
    await at.agent.write('agent.yaml', JSON.stringify({ ...agent, tools: undefined, imports }))
    expect((await at.run()).exitCode).toBe(2)
    const allow = ['--import-root', 'common', '--run-id']
    const env = { DELTA_RUNS_DIR: join(at.home.path, 'from-variable') }
    await at.run([...allow, 'one'], env)
    expect(existsSync(join(env.DELTA_RUNS_DIR, 'one'))).toBe(true)
    await at.run([...allow, 'two', '--runs-dir', 'runs', '--new'], env)
    expect((await at.at(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('two\n')
    expect((await at.at(['continue', '-w', 'ws', '-m', 'More', '-q'])).stdout).toBe('More.\n')
    expect((await at.at(['context', 'build', '-w', 'ws'])).exitCode).toBe(0)
    const [first = ''] = (await at.home.read('runs/two/journal.jsonl')).split('\n')
    const import_roots = [join(at.home.path, 'common')]
    expect(JSON.parse(first).allowed).toEqual({ import_roots, runs_dir: at.runs })
    await at.run([...allow, 'three', '--runs-dir', 'ws/.delta'])
    expect((await at.at(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('three\n')
  })

  test('the commands of a run find its true place in their variables, and a sub-agent keeps its run beside it', async () => {
    const child = await temporaryAgent({ turns: [{ content: 'Child done.' }], onCleanup: onTestFinished })
    const names = ['DELTA_RUN_DIR', 'RUN_DIR', 'DELTA_PARENT_RUN', 'JOURNAL_PATH', 'DELTA_RUNS_DIR', 'CWD']
    const context = `sources:
  - { type: computed_file, generator: { command: [sh, -c, 'echo "$RUN_DIR" | tee \${RUN_DIR}/seen'] }, output_path: '\${RUN_DIR}/out.txt' }
  - { type: journal }
`
    const at = await scene({
      tools: [
        { name: 'print', shell: names.map((name) => `echo "${name}=$${name}"`).join('; ') },
        { name: 'sub', exec: `delta run --agent ${child.path} -w sub -m Help -q --run-id child` },
      ],
      turns: [calls('print'), calls('sub'), { content: '{{last_observation}}' }],
      files: { 'context.yaml': context },
    })
    const parent = join(at.runs, 'parent')
    const result = await at.run(['--runs-dir', 'runs', '--run-id', 'parent'])
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Child done.\n' })
    const values = [parent, parent, parent, join(parent, 'journal.jsonl'), at.runs, at.workspace]
    expect(await readFile(join(parent, 'journal.jsonl'), 'utf8')).toContain(
      JSON.stringify(names.map((name, index) => `${name}=${values[index]}\n`).join('')).slice(1, -1),
    )
    expect(await readFile(join(parent, 'seen'), 'utf8')).toBe(`${parent}\n`)
    expect(existsSync(join(at.workspace, 'sub/.delta'))).toBe(false)
    expect((await at.at(['list-runs', '-w', 'ws/sub', '--first'])).stdout).toBe('child\n')
    expect((await at.at(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('parent\n')
    expect(JSON.parse((await at.at(['list-runs', '--runs-dir', 'runs', '--json'])).stdout)).toMatchObject([
      { run_id: 'child', parent_run: 'parent' },
      { run_id: 'parent' },
    ])
  })

  test('several workspaces may share a directory: -w lists and shows those of one; a run of another one is refused, and of a moved one named by its id', async () => {
    const at = await scene()
    const env = { DELTA_RUNS_DIR: at.runs }
    await at.run(['--run-id', 'one'], env)
    await at.run(['-w', 'other', '--run-id', 'two'], env)
    const typed = ['--runs-dir', 'runs']
    for (const [workspaces, listed] of [
      [[], ['two', 'one']],
      [['-w', 'ws'], ['one']],
      [['-w', 'other'], ['two']],
      [
        ['-w', 'other', 'ws'],
        ['two', 'one'],
      ],
    ] as const) {
      const { stdout } = await at.at(['list-runs', '--json', ...typed, ...workspaces])
      expect(JSON.parse(stdout)).toMatchObject(listed.map((run_id) => ({ run_id })))
    }
    for (const [workspaces, latest] of [
      [[], 'two'],
      [['-w', 'ws'], 'one'],
    ] as const)
      expect((await at.at(['show', ...typed, ...workspaces])).stdout).toContain(`run ${latest} of`)
    const onward = await at.at(['continue', '-w', 'ws', '-m', 'More', '--format', 'json', '-q'])
    expect(JSON.parse(onward.stdout)).toMatchObject({ run_id: 'one' })
    const there = join(at.home.path, 'other')
    expect(await at.at(['continue', '-w', 'ws', '-m', 'More', '--run-id', 'two'])).toMatchObject({
      exitCode: 2,
      stderr: `Error: Run two belongs to another workspace, ${there}.\nGo on with: delta continue -w ${there} --runs-dir ${at.runs} --run-id two\n`,
    })
    await rename(there, join(at.home.path, 'moved'))
    const moved = ['continue', '-w', 'moved', '--runs-dir', 'runs', '-m', 'More', '-q']
    expect((await at.at(moved)).exitCode).toBe(2)
    expect((await at.at([...moved, '--run-id', 'two'])).exitCode).toBe(0)
    const places = (await at.home.read('runs/two/journal.jsonl')).match(/(?<="work_dir":")[^"]*/g)
    expect(places).toEqual([there, join(at.home.path, 'moved')])
  })

  test('what cannot hold the runs of a workspace is refused before anything is made, with the flag or variable', async () => {
    const at = await scene()
    await at.home.write('file', '')
    for (const [place, why] of [
      [
        'ws/runs',
        'lies in the workspace, HOME/ws.\nName a directory outside the workspace. Without one, the runs are kept in its .delta.',
      ],
      ['.', 'holds the workspace, HOME/ws.\nName a directory beside the workspace, or elsewhere.'],
      ['ws/file.txt/runs', 'lies in the workspace, HOME/ws.'],
      ['file', 'is a file, not a directory.\nName a directory; it is created if it is missing.'],
    ] as const) {
      const said = `The runs directory ${why.replaceAll('HOME', at.home.path)}`
      const refused = await at.run(['--runs-dir', place])
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
      expect(refused.stderr).toContain(`Error: --runs-dir ${place}: ${said}`)
      const DELTA_RUNS_DIR = join(at.home.path, place)
      const variable = await at.run([], { DELTA_RUNS_DIR })
      expect(variable.stderr).toContain(`Error: DELTA_RUNS_DIR=${DELTA_RUNS_DIR}: ${said}`)
    }
    expect(await at.run([], { DELTA_RUNS_DIR: 'runs' })).toMatchObject({
      exitCode: 2,
      stderr:
        'Error: DELTA_RUNS_DIR=runs: it is not an absolute path, and would name another directory in each working directory.\nSet it to an absolute path.\n',
    })
    expect(await at.at(['list-runs', '--runs-dir', 'nowhere'])).toMatchObject({
      exitCode: 2,
      stderr: 'Error: --runs-dir nowhere: there is no such directory. Create it, or name another one.\n',
    })
    const made = (await at.home.files()).filter((name) => !name.startsWith('ws/.git/'))
    expect(made).toEqual(['file', 'ws/file.txt'])
  })
})

describe('the state directory', () => {
  test('is needed to start a run, and a message names DELTA_STATE_DIR; to look at runs it is not', async () => {
    const at = await scene()
    const broken = { DELTA_STATE_DIR: '/proc/nowhere' }
    expect((await at.run()).exitCode).toBe(0)
    for (const command of ['list-runs', 'show'])
      expect((await at.at([command, '-w', 'ws'], broken)).exitCode).toBe(0)
    const way = 'Set DELTA_STATE_DIR to a directory that you can write.\n'
    for (const [flags, file, holds] of [
      [[], 'runs', 'which runs are yours'],
      [['--runs-dir', 'runs'], 'workspaces', 'where the runs of a workspace are kept'],
    ] as const)
      expect(await at.run([...flags], broken)).toMatchObject({
        exitCode: 2,
        stderr: `Error: /proc/nowhere/${file}: Cannot be written: nothing can be created there (ENOENT).\nDelta remembers there ${holds}. ${way}`,
      })
    const homeless = { DELTA_STATE_DIR: '', HOME: join(at.home.path, 'nobody') }
    const refused = await at.run(['--runs-dir', 'runs'], homeless)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(
      `${homeless.HOME}/.local/state/delta/workspaces: Cannot be written: the home directory ${homeless.HOME} does not exist.\n`,
    )
    expect([existsSync(at.runs), existsSync(homeless.HOME)]).toEqual([false, false])

    for (const [variable, name, directory] of [
      ['XDG_STATE_HOME', 'xdg', 'xdg/delta'],
      ['HOME', 'person', 'person/.local/state/delta'],
    ] as const) {
      await mkdir(join(at.home.path, name))
      const env = { DELTA_STATE_DIR: '', [variable]: join(at.home.path, name) }
      expect((await at.run(['--runs-dir', `runs-${name}`, '--new'], env)).exitCode).toBe(0)
      expect(existsSync(join(at.home.path, directory, 'workspaces'))).toBe(true)
      expect((await stat(join(at.home.path, directory))).mode & 0o777).toBe(0o700)
      expect((await at.at(['show', '-w', 'ws', '--answer'], env)).stdout).toBe('Done.\n')
    }
  })

  test('W2: is refused in the workspace, where tools could write it, unless the workspace holds the home directory', async () => {
    const at = await scene()
    const refused = (directory: string) => ({
      exitCode: 2,
      stdout: '',
      stderr: `Error: ${directory}: The state directory lies in the workspace, ${at.workspace}, where tools could write it.\nSet DELTA_STATE_DIR to a directory outside the workspace.\n`,
    })
    const inside = join(at.workspace, 'state')
    expect(await at.run([], { DELTA_STATE_DIR: inside })).toMatchObject(refused(inside))
    expect(await at.at(['continue', '-w', 'ws', '-m', 'More'], { DELTA_STATE_DIR: inside })).toMatchObject(
      refused(inside),
    )
    const xdg = { DELTA_STATE_DIR: '', XDG_STATE_HOME: inside }
    expect(await at.run([], xdg)).toMatchObject(refused(join(inside, 'delta')))
    expect(existsSync(inside)).toBe(false)
    await mkdir(join(at.workspace, 'person'))
    expect((await at.run([], { DELTA_STATE_DIR: '', HOME: join(at.workspace, 'person') })).exitCode).toBe(0)
  })

  test('names a damaged file in it, and what to do', async () => {
    const at = await scene()
    await at.run(['--runs-dir', 'runs', '--run-id', 'one'])
    const [{ file } = { file: '' }] = await known(at)
    await at.home.write(file, '{"path": "/cut')
    expect(await at.at(['list-runs', '-w', 'ws', '--first'])).toMatchObject({
      exitCode: 2,
      stderr: `Error: ${join(at.home.path, file)}: It is not what Delta writes there. Delete it.\n`,
    })
  })
})
