import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  runProcess,
  startScriptedServer,
  type TemporaryWorkspace,
  temporaryAgent,
  temporaryWorkspace,
} from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { delta, startDelta } from './delta.js'

interface Scene {
  agent: TemporaryWorkspace
  /** Holds `ws`, a git repository, and what else a test makes there. */
  home: TemporaryWorkspace
  workspace: string
  /** `delta` there, with a state directory of its own. */
  here(args: string[], env?: Record<string, string>): ReturnType<typeof delta>
  git(...args: string[]): Promise<string>
}

async function scene(options: Parameters<typeof temporaryAgent>[0] = {}): Promise<Scene> {
  const turns = [{ content: 'Done.' }, { content: 'More.' }]
  const agent = await temporaryAgent({ turns, ...options })
  const home = await temporaryWorkspace({ 'ws/file.txt': 'text\n' })
  onTestFinished(async () => {
    await Promise.all([agent[Symbol.asyncDispose](), home[Symbol.asyncDispose]()])
  })
  const workspace = join(home.path, 'ws')
  const git = async (...args: string[]) => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost']
    const { exitCode, stdout, stderr } = await runProcess(['git', ...identity, ...args], { cwd: workspace })
    if (exitCode !== 0) throw new Error(stderr)
    return stdout
  }
  await git('init', '-q')
  await git('add', '-A')
  await git('commit', '-qm', 'First')
  const here: Scene['here'] = (args, env) =>
    delta(args, { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state'), ...env } })
  return { agent, home, workspace, here, git }
}

const run = ({ agent }: Scene, ...more: string[]) => [
  'run',
  '--agent',
  agent.path,
  '-w',
  'ws',
  '-m',
  'Go',
  '-q',
  ...more,
]

async function knownIn({ home }: Scene): Promise<unknown[]> {
  const text = await home.read('state/workspaces.jsonl')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** What git would do with the workspace of somebody who commits and stashes everything. */
async function expectUnseen({ workspace, git }: Scene, file: string): Promise<void> {
  expect(await git('status', '--porcelain')).toBe('')
  await writeFile(join(workspace, file), 'mine\n')
  await git('stash', '-u')
  expect(await git('stash', 'show', '--include-untracked', '--name-only')).toBe(`${file}\n`)
  await git('stash', 'pop')
  await git('add', '-A')
  await git('commit', '-qm', file)
  expect(await git('show', '--format=', '--name-only')).toBe(`${file}\n`)
}

describe('git', () => {
  test('git sees nothing of a run that waits, and that has ended', async () => {
    const at = await scene({
      turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }, { content: 'Done.' }],
    })
    expect((await at.here(run(at))).exitCode).toBe(101)
    await expectUnseen(at, 'one')
    expect((await at.here(['continue', '-w', 'ws', '-m', 'yes'])).exitCode).toBe(0)
    await expectUnseen(at, 'two')
    expect((await at.here(['show', '-w', 'ws', '--answer'])).stdout).toBe('Done.\n')
  })

  test('git sees nothing of a run that goes on, and a stash takes nothing from it', async () => {
    await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
    const at = await scene({ baseUrl: server.baseUrl })
    const engine = startDelta(run(at), { cwd: at.home.path, env: { DELTA_API_KEY: 'test-key-not-real' } })
    await server.waitForRequests(1)
    await expectUnseen(at, 'one')
    await server.release('thinking')
    expect((await engine.result).exitCode).toBe(0)
    expect(await at.git('status', '--porcelain')).toBe('')
  })

  test('a .delta that a generator makes is not seen by git, either', async () => {
    const context = `sources:
  - { type: computed_file, generator: { command: [echo, hi] }, output_path: .delta/context_artifacts/hi.txt }
  - { type: journal }
`
    const at = await scene({ files: { 'context.yaml': context } })
    expect((await at.here(run(at, '--runs-dir', 'runs'))).exitCode).toBe(0)
    expect(existsSync(join(at.workspace, '.delta/context_artifacts/hi.txt'))).toBe(true)
    expect(await at.git('status', '--porcelain')).toBe('')
  })
})

describe('--runs-dir', () => {
  test('keeps the runs outside the workspace, and every command that takes -w finds them', async () => {
    const at = await scene()
    const runs = join(at.home.path, 'runs')
    expect((await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'one'))).exitCode).toBe(0)
    expect(existsSync(join(at.workspace, '.delta'))).toBe(false)
    expect(await readFile(join(runs, 'one/engine.log'), 'utf8')).toContain('run one of test-agent')
    expect(await knownIn(at)).toEqual([{ path: at.workspace, runs_dir: runs }])
    expect((await stat(join(at.home.path, 'state'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(at.home.path, 'state/workspaces.jsonl'))).mode & 0o777).toBe(0o600)

    await at.git('clean', '-fdxq')
    expect((await at.here(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('one\n')
    expect((await at.here(['show', '-w', 'ws', '--answer'])).stdout).toBe('Done.\n')
    expect((await at.here(['journal', 'verify', '-w', 'ws'])).exitCode).toBe(0)
    expect((await at.here(['journal', 'repair', '-w', 'ws'])).exitCode).toBe(0)
    expect((await at.here(['context', 'explain', '-w', 'ws'])).stdout).toContain('of run one')
    expect((await at.here(['continue', '-w', 'ws', '-m', 'More', '-q'])).exitCode).toBe(0)
    expect((await at.here(run(at, '--new', '--run-id', 'two'))).exitCode).toBe(0)
    expect(existsSync(join(runs, 'two'))).toBe(true)
    expect(existsSync(join(at.workspace, '.delta'))).toBe(false)
    expect(await knownIn(at)).toHaveLength(1)
  })

  test('names the runs anywhere else: without a state directory, and without the workspace', async () => {
    const at = await scene()
    await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'one'))
    await rm(join(at.home.path, 'state'), { recursive: true })
    expect((await at.here(['list-runs', '-w', 'ws'])).stdout).toBe('')
    await rm(at.workspace, { recursive: true })
    expect((await at.here(['list-runs', '--runs-dir', 'runs', '--first'])).stdout).toBe('one\n')
    expect((await at.here(['show', 'one', '--runs-dir', 'runs', '--answer'])).stdout).toBe('Done.\n')
    expect(existsSync(join(at.home.path, 'state'))).toBe(false)
  })

  test('may be DELTA_RUNS_DIR, and goes before it; .delta of the workspace is where they are kept without', async () => {
    const at = await scene()
    const DELTA_RUNS_DIR = join(at.home.path, 'from-variable')
    await at.here(run(at, '--run-id', 'one'), { DELTA_RUNS_DIR })
    expect(existsSync(join(DELTA_RUNS_DIR, 'one'))).toBe(true)
    await at.here(run(at, '--run-id', 'two', '--runs-dir', 'runs'), { DELTA_RUNS_DIR })
    expect((await at.here(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('two\n')
    await at.here(run(at, '--run-id', 'three', '--runs-dir', 'ws/.delta'))
    expect((await at.here(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('three\n')
    expect(existsSync(join(at.workspace, '.delta/three'))).toBe(true)
  })

  test('the commands of a run find its true place in their variables, and a sub-agent keeps its run beside it', async () => {
    const child = await temporaryAgent({ turns: [{ content: 'Child done.' }] })
    onTestFinished(() => child[Symbol.asyncDispose]())
    const names = ['DELTA_RUN_DIR', 'RUN_DIR', 'DELTA_PARENT_RUN', 'JOURNAL_PATH', 'DELTA_RUNS_DIR', 'CWD']
    const print = names.map((name) => `echo "${name}=$${name}"`).join('; ')
    const sub = { name: 'sub', exec: `delta run --agent ${child.path} -w sub -m Help -q --run-id child` }
    const context = `sources:
  - { type: computed_file, generator: { command: [sh, -c, 'echo "$RUN_DIR" > \${RUN_DIR}/seen'] }, output_path: '\${RUN_DIR}/out.txt' }
  - { type: journal }
`
    const at = await scene({
      tools: [{ name: 'print', shell: print }, sub],
      turns: [
        { tool_calls: [{ name: 'print', arguments: {} }] },
        { tool_calls: [{ name: 'sub', arguments: {} }] },
        { content: '{{last_observation}}' },
      ],
      files: {
        'context.yaml': context.replace('"$RUN_DIR" >', '"$RUN_DIR" | tee'),
        'hooks.yaml':
          'on_run_end: { command: [sh, -c, \'echo "$DELTA_RUN_DIR" > "$DELTA_HOOK_IO_PATH/seen"\'] }\n',
      },
    })
    const runs = join(at.home.path, 'runs')
    const parent = join(runs, 'parent')
    const result = await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'parent'))
    expect(result).toMatchObject({ exitCode: 0, stdout: 'Child done.\n' })
    const journal = await readFile(join(parent, 'journal.jsonl'), 'utf8')
    const values = [parent, parent, parent, join(parent, 'journal.jsonl'), runs, at.workspace]
    expect(journal).toContain(
      JSON.stringify(names.map((name, index) => `${name}=${values[index]}\n`).join('')).slice(1, -1),
    )
    expect(await readFile(join(parent, 'seen'), 'utf8')).toBe(`${parent}\n`)

    expect(existsSync(join(at.workspace, 'sub/.delta'))).toBe(false)
    expect((await at.here(['list-runs', '-w', 'ws/sub', '--first'])).stdout).toBe('child\n')
    expect((await at.here(['list-runs', '-w', 'ws', '--first'])).stdout).toBe('parent\n')
    expect(JSON.parse((await at.here(['list-runs', '--runs-dir', 'runs', '--json'])).stdout)).toMatchObject([
      { run_id: 'child', parent_run: 'parent' },
      { run_id: 'parent' },
    ])
  })

  test('several workspaces may share a directory: each goes on with its own run, and a foreign one is refused with the way to it', async () => {
    const at = await scene()
    const env = { DELTA_RUNS_DIR: join(at.home.path, 'runs') }
    await at.here(run(at, '--run-id', 'one'), env)
    const other = ['run', '--agent', at.agent.path, '-w', 'other', '-m', 'Go', '-q', '--run-id', 'two']
    await at.here(other, env)
    const onward = await at.here(['continue', '-w', 'ws', '-m', 'More', '--format', 'json', '-q'])
    expect(JSON.parse(onward.stdout)).toMatchObject({ run_id: 'one' })
    const refused = await at.here(['continue', '-w', 'ws', '-m', 'More', '--run-id', 'two'])
    const there = join(at.home.path, 'other')
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: `Error: Run two belongs to another workspace, ${there}.\nGo on with: delta continue -w ${there} --runs-dir ${env.DELTA_RUNS_DIR} --run-id two\n`,
    })
  })

  test('after the workspace was moved, a run is gone on with by its id', async () => {
    const at = await scene()
    await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'one'))
    await rename(at.workspace, join(at.home.path, 'moved'))
    const args = ['continue', '-w', 'moved', '--runs-dir', 'runs', '-m', 'More', '-q']
    expect((await at.here(args)).exitCode).toBe(2)
    expect((await at.here([...args, '--run-id', 'one'])).exitCode).toBe(0)
    const events = (await at.home.read('runs/one/journal.jsonl'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const starts = events.filter(({ type }) => type === 'ENGINE_START').map(({ work_dir }) => work_dir)
    expect(starts).toEqual([at.workspace, join(at.home.path, 'moved')])
  })

  test('the advice after a run names the directory, so that it works where nothing is remembered', async () => {
    const at = await scene({
      turns: [{ tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] }],
    })
    const { stderr } = await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'one'))
    const goOn = `delta continue -w ${at.workspace} --runs-dir ${at.home.path}/runs --run-id one`
    expect(stderr).toContain(`Answer with: ${goOn} -m "my answer"\n`)
    expect((await at.here(['show', '-w', 'ws'])).stderr).toContain(`Answer with: ${goOn} -m "my answer"\n`)
    const taken = await at.here(run(at, '--run-id', 'one', '--new'))
    const look = `delta show one -w ${at.workspace} --runs-dir ${at.home.path}/runs`
    expect(taken.stderr).toContain(`Choose another id.\nTo look at it: ${look}\n`)
  })

  test.each([
    [
      'ws/runs',
      'lies in the workspace, HOME/ws.\nName a directory outside the workspace. Without one, the runs are kept in its .delta.',
    ],
    ['.', 'holds the workspace, HOME/ws.\nName a directory beside the workspace, or elsewhere.'],
    ['ws/file.txt/runs', 'lies in the workspace, HOME/ws.'],
    ['file', 'is a file, not a directory.\nName a directory; it is created if it is missing.'],
  ])('%s is refused before anything is made', async (runsDir, why) => {
    const at = await scene()
    await at.home.write('file', '')
    const message = why.replaceAll('HOME', at.home.path)
    const refused = await at.here(run(at, '--runs-dir', runsDir))
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain(`Error: --runs-dir ${runsDir}: The runs directory ${message}`)
    const DELTA_RUNS_DIR = join(at.home.path, runsDir)
    const variable = await at.here(run(at), { DELTA_RUNS_DIR })
    expect(variable.stderr).toContain(
      `Error: DELTA_RUNS_DIR=${DELTA_RUNS_DIR}: The runs directory ${message}`,
    )
    expect((await at.home.files()).filter((name) => !name.startsWith('ws/.git/'))).toEqual([
      'file',
      'ws/file.txt',
    ])
  })

  test('a relative DELTA_RUNS_DIR and a directory that is not there to look at are refused', async () => {
    const at = await scene()
    expect(await at.here(run(at), { DELTA_RUNS_DIR: 'runs' })).toMatchObject({
      exitCode: 2,
      stderr:
        'Error: DELTA_RUNS_DIR=runs: it is not an absolute path, and would name another directory in each working directory.\nSet it to an absolute path.\n',
    })
    expect(await at.here(['list-runs', '--runs-dir', 'nowhere'])).toMatchObject({
      exitCode: 2,
      stderr: 'Error: --runs-dir nowhere: there is no such directory. Create it, or name another one.\n',
    })
  })
})

describe('the state directory', () => {
  test('is needed by whoever starts a run, and a message names DELTA_STATE_DIR; who only looks does not need it', async () => {
    const at = await scene()
    const broken = { DELTA_STATE_DIR: '/proc/nowhere' }
    expect((await at.here(run(at))).exitCode).toBe(0)
    expect((await at.here(['list-runs', '-w', 'ws'], broken)).exitCode).toBe(0)
    expect((await at.here(['show', '-w', 'ws'], broken)).exitCode).toBe(0)
    expect(await at.here(run(at), broken)).toMatchObject({
      exitCode: 2,
      stderr:
        'Error: /proc/nowhere/runs.jsonl: Cannot be written: nothing can be created there (ENOENT).\ndelta remembers there which runs are yours. Set DELTA_STATE_DIR to a directory that you can write.\n',
    })
    expect(await at.here(run(at, '--runs-dir', 'runs'), broken)).toMatchObject({
      exitCode: 2,
      stderr:
        'Error: /proc/nowhere/workspaces.jsonl: Cannot be written: nothing can be created there (ENOENT).\ndelta remembers there where the runs of a workspace are kept. Set DELTA_STATE_DIR to a directory that you can write.\n',
    })
    const homeless = { DELTA_STATE_DIR: '', HOME: join(at.home.path, 'nobody') }
    const refused = await at.here(run(at, '--runs-dir', 'runs'), homeless)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(
      `${homeless.HOME}/.local/state/delta/workspaces.jsonl: Cannot be written: the home directory ${homeless.HOME} does not exist.\n`,
    )
    expect(existsSync(join(at.home.path, 'runs'))).toBe(false)
    expect(existsSync(homeless.HOME)).toBe(false)
  })

  test.each([
    ['XDG_STATE_HOME', 'xdg', 'xdg/delta'],
    ['HOME', 'person', 'person/.local/state/delta'],
  ])('without DELTA_STATE_DIR it is found by %s', async (variable, name, directory) => {
    const at = await scene()
    await mkdir(join(at.home.path, name))
    const env = { DELTA_STATE_DIR: '', [variable]: join(at.home.path, name) }
    expect((await at.here(run(at, '--runs-dir', 'runs'), env)).exitCode).toBe(0)
    expect(existsSync(join(at.home.path, directory, 'workspaces.jsonl'))).toBe(true)
    expect((await stat(join(at.home.path, directory))).mode & 0o777).toBe(0o700)
    expect((await at.here(['show', '-w', 'ws', '--answer'], env)).stdout).toBe('Done.\n')
  })

  test('a line that is not an entry is skipped with one warning, and a cut off one harms no other', async () => {
    const at = await scene()
    await at.here(run(at, '--runs-dir', 'runs', '--run-id', 'one'))
    const path = join(at.home.path, 'state/workspaces.jsonl')
    await writeFile(path, `nonsense\n${await readFile(path, 'utf8')}{"path": "/cut`)
    const listed = await at.here(['list-runs', '-w', 'ws', '--first'])
    expect(listed).toMatchObject({
      stdout: 'one\n',
      stderr: `${path}:1: The line is not an entry and is ignored. Delete it.\n`,
    })
    await at.here(['run', '--agent', at.agent.path, '-w', 'other', '-m', 'Go', '-q', '--runs-dir', 'more'])
    expect((await at.here(['show', '-w', 'other', '--answer'])).stdout).toBe('Done.\n')
    expect((await at.here(['show', '-w', 'ws', '--answer'])).stdout).toBe('Done.\n')
  })

  test('every hundredth entry leaves out the workspaces that are gone', async () => {
    const at = await scene()
    await at.here(run(at, '--runs-dir', 'runs'))
    const path = join(at.home.path, 'state/workspaces.jsonl')
    const gone = Array.from({ length: 98 }, (_, index) => `{"path":"/gone/${index}","runs_dir":"/runs"}\n`)
    await writeFile(path, gone.join('') + (await readFile(path, 'utf8')))
    await at.here(['run', '--agent', at.agent.path, '-w', 'other', '-m', 'Go', '-q', '--runs-dir', 'more'])
    expect(await knownIn(at)).toEqual([
      { path: at.workspace, runs_dir: join(at.home.path, 'runs') },
      { path: join(at.home.path, 'other'), runs_dir: join(at.home.path, 'more') },
    ])
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
})

describe('what was allowed at the first start', () => {
  test('import roots hold for a plain continue', async () => {
    const at = await scene()
    await at.home.write('common/tools.yaml', 'tools: [{ name: look, exec: ls }]\n')
    const path = join(at.home.path, 'common/tools.yaml')
    const agent = JSON.parse(await at.agent.read('agent.yaml'))
    await at.agent.write('agent.yaml', JSON.stringify({ ...agent, tools: undefined, imports: [path] }))
    expect((await at.here(run(at))).exitCode).toBe(2)
    expect(
      (await at.here(run(at, '--import-root', 'common', '--runs-dir', 'runs', '--run-id', 'one'))).exitCode,
    ).toBe(0)
    expect((await at.here(['continue', '-w', 'ws', '-m', 'More', '-q'])).exitCode).toBe(0)
    expect((await at.here(['context', 'build', '-w', 'ws'])).exitCode).toBe(0)
    const [first = ''] = (await at.home.read('runs/one/journal.jsonl')).split('\n')
    expect(JSON.parse(first).allowed).toEqual({
      import_roots: [join(at.home.path, 'common')],
      runs_dir: join(at.home.path, 'runs'),
    })
  })
})
