import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { delta } from './delta.js'
import { deltaOnTerminal, hasTerminal } from './terminal.js'

interface Scene {
  /** Holds `ws` with the run `one`, the agent in `ws/agent` and the state directory `state`. */
  home: TemporaryWorkspace
  here(args: string[], env?: Record<string, string>): ReturnType<typeof delta>
}

/** A run that waits for an answer; after it, its agent leaves `ran.txt` in the workspace. */
async function scene(): Promise<Scene> {
  const agent = await temporaryAgent({
    tools: [{ name: 'leave', shell: 'echo "$KEY_SEEN" > ran.txt' }],
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Well?' } }] },
      { tool_calls: [{ name: 'leave', arguments: {} }] },
      { content: 'Done.' },
      { content: 'More.' },
    ],
  })
  const home = await temporaryWorkspace({ 'ws/file.txt': '' })
  onTestFinished(async () => {
    await Promise.all([agent[Symbol.asyncDispose](), home[Symbol.asyncDispose]()])
  })
  await cp(agent.path, join(home.path, 'ws/agent'), { recursive: true })
  const here: Scene['here'] = (args, env) =>
    delta(args, { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state'), ...env } })
  const started = await here([...RUN, '--run-id', 'one'])
  expect(started.exitCode).toBe(101)
  return { home, here }
}

const RUN = ['run', '--agent', 'ws/agent', '-w', 'ws', '-m', 'Go', '-q']
const goOn = (workspace: string, ...more: string[]) => [
  'continue',
  '-w',
  workspace,
  '-m',
  'yes',
  '-q',
  ...more,
]

/** The workspace `ws` as `there`, as if somebody else had sent it; its run names the agent that lies in it. */
async function sent({ home }: Scene, how: string): Promise<void> {
  const { exitCode, stderr } = await runProcess(['sh', '-ec', how], { cwd: home.path })
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  const path = join(home.path, 'there/.delta/one/journal.jsonl')
  await writeFile(path, (await readFile(path, 'utf8')).replaceAll(`${home.path}/ws`, `${home.path}/there`))
}

const WAYS = {
  'git clone under umask 077': `umask 077; git init -q ws; cd ws; git add -f . ; git -c user.name=a -c user.email=a@b commit -qm Work; cd ..; git clone -q ws there; rm -r ws`,
  'an unpacked tar archive': 'tar -C ws -cpf ws.tar . && mkdir there && tar -C there -xpf ws.tar && rm -r ws',
  'an unpacked zip archive':
    "python3 -c \"import shutil; shutil.make_archive('ws', 'zip', 'ws'); shutil.unpack_archive('ws.zip', 'there')\"; chmod -R go= there; rm -r ws",
  'cp -a': 'cp -a ws there',
}

describe('a run that came with a workspace', () => {
  test.each(Object.entries(WAYS))(
    'is not gone on with after %s, and nothing of it is run',
    async (_, how) => {
      const at = await scene()
      await sent(at, how)
      const refused = await at.here(goOn('there'))
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
      expect(refused.stderr).toContain(
        `Error: Run one is not among your runs (${at.home.path}/state/runs.jsonl): it was copied, cloned or unpacked,`,
      )
      expect(refused.stderr).toContain(`delta continue -w ${at.home.path}/there --run-id one --trust-run\n`)
      expect(existsSync(join(at.home.path, 'there/ran.txt'))).toBe(false)
    },
  )

  test('is not resumed by run with its message, and not named by run with another', async () => {
    const at = await scene()
    await sent(at, 'cp -a ws there')
    const there = ['run', '--agent', 'there/agent', '-w', 'there', '-q']
    const same = await at.here([...there, '-m', 'Go'])
    expect(same.exitCode).toBe(2)
    expect(same.stderr).toContain('Run one is not among your runs')
    const other = await at.here([...there, '-m', 'Something else'])
    expect(other.exitCode).toBe(101)
    expect(other.stderr).not.toContain('one')
    expect((await at.here([...there, '-m', 'Go', '--new'])).exitCode).toBe(101)
  })

  test('can be looked at, and nothing that is printed advises to go on with it', async () => {
    const at = await scene()
    await sent(at, 'cp -a ws there')
    expect((await at.here(['list-runs', '-w', 'there', '--first'])).stdout).toBe('one\n')
    const shown = await at.here(['show', '-w', 'there'])
    expect(shown.stdout).toContain('Well?')
    expect(shown.stderr).not.toContain('continue')
    expect((await at.here(['journal', 'verify', '-w', 'there'])).exitCode).toBe(0)
    expect((await at.here(['show', '-w', 'there', '--request', '1'])).stdout).toContain('You are a test.')
  })

  test('is believed with --trust-run, which shows it and says what is remembered, and from then on without', async () => {
    const at = await scene()
    await sent(at, 'cp -a ws there')
    const trusted = await at.here(goOn('there', '--trust-run'))
    expect(trusted).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(trusted.stderr).toContain(`Run one in ${at.home.path}/there/.delta/one is not among your runs`)
    expect(trusted.stderr).toContain(
      `  agent           test-agent\n  its commands    ${at.home.path}/there/agent\n`,
    )
    expect(trusted.stderr).toContain('it is remembered there as yours')
    expect(existsSync(join(at.home.path, 'there/ran.txt'))).toBe(true)
    expect(await at.here(goOn('there'))).toMatchObject({ exitCode: 0, stdout: 'More.\n' })
    expect((await at.here(goOn('ws'))).exitCode).toBe(0) // the original is still one's own
  })

  test('does not bring what was set for it or allowed, now or later', async () => {
    const at = await scene()
    await sent(at, 'cp -a ws there')
    const path = 'there/.delta/one/journal.jsonl'
    const hostile =
      '"overrides":["llm.base_url=http://127.0.0.1:9/"],"allowed":{"import_roots":["/"]},"resumed":false'
    await at.home.write(path, (await at.home.read(path)).replace('"resumed":false', hostile))
    const trusted = await at.here(goOn('there', '--trust-run', '--import-root', 'ws'))
    expect(trusted.exitCode).toBe(0)
    expect(trusted.stderr).toContain('(--set, --import-root, --trust-workspace-env) does not apply.\n')
    expect(trusted.stderr).not.toContain('Set for this run')
    const starts = (await at.home.read(path)).split('\n').filter((line) => line.includes('"ENGINE_START"'))
    expect(JSON.parse(starts[1] ?? '').allowed).toEqual({ import_roots: [join(at.home.path, 'ws')] })
    expect((await at.here(goOn('there'))).stderr).toBe('')
  })

  test('does not name the agent of context build', async () => {
    const at = await scene()
    const generator = `{ command: [sh, -c, 'echo ran > ran.txt; echo text'] }`
    await at.home.write(
      'ws/agent/context.yaml',
      `sources:\n  - { type: computed_file, generator: ${generator}, output_path: out.txt }\n  - { type: journal }\n`,
    )
    await sent(at, 'cp -a ws there')
    const built = await at.here(['context', 'build', '-w', 'there'])
    expect(built.exitCode).toBe(2)
    expect(built.stderr).toContain('Name the agent with --agent <directory>.')
    expect(existsSync(join(at.home.path, 'there/ran.txt'))).toBe(false)
    expect((await at.here(['context', 'build', '-w', 'there', '--agent', 'there/agent'])).exitCode).toBe(0)
  })
})

test.each([
  ['.delta', 'ln -s data there/.delta', 'mv there/.delta there/data'],
  ['the run', 'ln -s ../data there/.delta/one', 'mv there/.delta/one there/data'],
])('a link in the place of %s is not followed, wherever it leads', async (_, link, move) => {
  const at = await scene()
  const make = `mv ws there && ${move} && ${link}`
  expect((await runProcess(['sh', '-ec', make], { cwd: at.home.path })).exitCode).toBe(0)
  const agent = ['--agent', 'there/agent']
  const refused = await at.here(goOn('there', ...agent))
  expect(refused.exitCode).toBe(2)
  expect((await at.here(goOn('there', '--trust-run', ...agent))).stderr).toContain(
    'It is a link, which may have',
  )
  if (link.endsWith('there/.delta'))
    expect((await at.here(['run', '-w', 'there', '-m', 'New', '-q', ...agent])).exitCode).toBe(2)
  expect(existsSync(join(at.home.path, 'there/ran.txt'))).toBe(false)
})

test('a run that was trusted with another agent goes on with that one, whatever its journal names', async () => {
  const at = await scene()
  await sent(at, 'cp -a ws there')
  await cp(join(at.home.path, 'ws/agent'), join(at.home.path, 'mine'), { recursive: true })
  await at.home.write(
    'mine/agent.yaml',
    (await at.home.read('mine/agent.yaml')).replace('ran.txt', 'mine.txt'),
  )
  expect((await at.here(goOn('there', '--trust-run', '--agent', 'mine'))).exitCode).toBe(0)
  await rm(join(at.home.path, 'there/mine.txt'))
  const again = { tool_calls: [{ name: 'leave', arguments: {} }] }
  const script = JSON.parse(await at.home.read('mine/script.yaml'))
  await at.home.write(
    'mine/script.yaml',
    JSON.stringify([...script.slice(0, -1), again, ...script.slice(-1)]),
  )
  expect((await at.here(goOn('there'))).exitCode).toBe(0)
  expect([
    existsSync(join(at.home.path, 'there/mine.txt')),
    existsSync(join(at.home.path, 'there/ran.txt')),
  ]).toEqual([true, false])
})

test('a run of an old layout does not go on in a directory that lies ready for it', async () => {
  const at = await scene()
  const line = (seq: number, type: string, payload: object) =>
    `${JSON.stringify({ seq, timestamp: '2025-10-01T12:00:00.000Z', type, payload })}\n`
  const journal = `${line(1, 'RUN_START', { run_id: 'old', task: 'Go', agent_ref: `${at.home.path}/ws/agent` })}${line(2, 'USER_MESSAGE', { content: 'Go' })}`
  await at.home.write('ws/.delta/old/journal.jsonl', journal)
  await cp(join(at.home.path, 'ws/.delta/one'), join(at.home.path, 'ws/.delta/old-continued'), {
    recursive: true,
  })
  const refused = await at.here(goOn('ws', '--run-id', 'old', '--trust-run'))
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    'old-continued, which is there already and is not among your runs.\nMove that directory away.',
  )
  await rm(join(at.home.path, 'ws/.delta/old-continued'), { recursive: true })
  expect((await at.here(goOn('ws', '--run-id', 'old', '--trust-run'))).exitCode).toBe(101)
  expect((await at.here(goOn('ws', '--run-id', 'old-continued'))).exitCode).toBe(0)
})

test.each(['engine.log', 'io', 'journal.jsonl'])(
  'a run does not begin in a directory where %s is a link that was there before',
  async (name) => {
    const at = await scene()
    await mkdir(join(at.home.path, 'ws/.delta/nightly'))
    await symlink(join(at.home.path, 'bashrc'), join(at.home.path, 'ws/.delta/nightly', name))
    const refused = await at.here([...RUN, '--new', '--run-id', 'nightly'])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain(
      `/nightly/${name}: It is a link or a pipe, and was there before the run.`,
    )
    expect(existsSync(join(at.home.path, 'bashrc'))).toBe(false)
  },
)

describe('a run of this user', () => {
  test('goes on after its workspace was moved, and after it was moved back', async () => {
    const at = await scene()
    await rename(join(at.home.path, 'ws'), join(at.home.path, 'moved'))
    const onward = await at.here(goOn('moved', '--agent', 'moved/agent'))
    expect(onward).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    const listed = (await at.home.read('state/runs.jsonl')).trimEnd().split('\n')
    expect(JSON.parse(listed.at(-1) ?? '').path).toBe(join(at.home.path, 'moved/.delta/one'))
    await rename(join(at.home.path, 'moved'), join(at.home.path, 'ws'))
    expect((await at.here(goOn('ws'))).exitCode).toBe(0)
  })

  test('goes on beside one that came from elsewhere', async () => {
    const at = await scene()
    await cp(join(at.home.path, 'ws/.delta/one'), join(at.home.path, 'ws/.delta/two'), { recursive: true })
    expect((await at.here(goOn('ws', '--run-id', 'two'))).exitCode).toBe(2)
    expect((await at.here(goOn('ws', '--run-id', 'one'))).exitCode).toBe(0)
  })

  test('needs --trust-run where another state directory is set, as under another HOME', async () => {
    const at = await scene()
    const other = { DELTA_STATE_DIR: '', HOME: join(at.home.path, 'other') }
    await mkdir(other.HOME)
    const refused = await at.here(goOn('ws'), other)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(`(${other.HOME}/.local/state/delta/runs.jsonl)`)
    expect((await at.here(goOn('ws', '--trust-run'), other)).exitCode).toBe(0)
  })

  test('is trusted where its runs directory is typed', async () => {
    const at = await scene()
    await at.here([...RUN, '--run-id', 'two', '--runs-dir', 'runs'])
    await cp(join(at.home.path, 'runs'), join(at.home.path, 'copied'), { recursive: true })
    const { path } = at.home
    expect((await at.here(goOn('ws'), { DELTA_RUNS_DIR: join(path, 'copied') })).exitCode).toBe(2)
    expect((await at.here(goOn('ws', '--runs-dir', 'copied'))).exitCode).toBe(0)
  })

  test('keeps its .delta to itself, whoever made it', async () => {
    const at = await scene()
    for (const args of [RUN.concat('--new'), goOn('ws', '--run-id', 'one')]) {
      await chmod(join(at.home.path, 'ws/.delta'), 0o755)
      await at.here(args)
      expect((await stat(join(at.home.path, 'ws/.delta'))).mode & 0o777).toBe(0o700)
    }
    expect((await stat(join(at.home.path, 'ws/.delta/one/owner'))).mode & 0o777).toBe(0o600)
  })

  test('is not started where the state directory cannot be written; the message names DELTA_STATE_DIR', async () => {
    const at = await scene()
    await at.home.write('file', '')
    const env = { DELTA_STATE_DIR: join(at.home.path, 'file/state') }
    const refused = await at.here([...RUN, '--run-id', 'two', '--new'], env)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toMatch(/^Error: .*\/file\/state\/runs\.jsonl: Cannot be written: /)
    expect(refused.stderr).toContain('Set DELTA_STATE_DIR to a directory that you can write.\n')
    expect(existsSync(join(at.home.path, 'ws/.delta/two'))).toBe(false)
  })

  test('may begin again in the directory that an engine left which was killed as it listed the run', async () => {
    const at = await scene()
    for (const name of ['journal.jsonl', 'metadata.json']) await rm(join(at.home.path, 'ws/.delta/one', name))
    expect((await at.here([...RUN, '--run-id', 'one'])).exitCode).toBe(101)
    expect((await at.here(goOn('ws', '--run-id', 'one'))).exitCode).toBe(0)
  })
})

describe.runIf(hasTerminal)('a run without a token, as a version before 0.2 began it', () => {
  test.each([
    ['yes', 0],
    ['no', 2],
    ['', 2],
  ])('is asked about once at a terminal: %s', async (answer, exitCode) => {
    const at = await scene()
    await rm(join(at.home.path, 'ws/.delta/one/owner'))
    const env = { DELTA_STATE_DIR: join(at.home.path, 'state') }
    const asking = deltaOnTerminal(goOn('ws'), { cwd: at.home.path, env })
    await asking.waitForOutput((text) => text.includes('Did you start this run? [yes/no]'))
    asking.write(`${answer}\n`)
    expect((await asking.result).exitCode).toBe(exitCode)
    expect((await at.here(goOn('ws'))).exitCode).toBe(exitCode)
  })

  test('is refused where nobody can be asked: an answer from a pipe is none', async () => {
    const at = await scene()
    await rm(join(at.home.path, 'ws/.delta/one/owner'))
    const env = { DELTA_STATE_DIR: join(at.home.path, 'state') }
    const piped = await delta(goOn('ws', '-i'), { cwd: at.home.path, env, input: 'yes\n' })
    expect(piped.exitCode).toBe(2)
  })
})

test('a tool goes on only with runs that its own run started', async () => {
  const at = await scene()
  const elsewhere = { DELTA_PARENT_RUN: join(at.home.path, 'ws/.delta/parent') }
  const refused = await at.here(goOn('ws'), elsewhere)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('Run one was not started by run parent, whose tool this command is.')
  expect((await at.here(goOn('ws', '--trust-run'), elsewhere)).exitCode).toBe(2)
  const resumed = await at.here([...RUN, '--format', 'json'], elsewhere)
  expect(JSON.parse(resumed.stdout).run_id).not.toBe('one')
  expect((await at.here(goOn('ws', '--run-id', JSON.parse(resumed.stdout).run_id), elsewhere)).exitCode).toBe(
    0,
  )
})

test('many runs begun at once are all listed, also while the list is written anew', async () => {
  const home = await temporaryWorkspace({})
  onTestFinished(() => home[Symbol.asyncDispose]())
  const gone = Array.from(
    { length: 95 },
    (_, index) => `{"token":"${index}","path":"/gone/${index}","inode":1}\n`,
  )
  await home.write('state/runs.jsonl', gone.join(''))
  const agent = await temporaryAgent({})
  onTestFinished(() => agent[Symbol.asyncDispose]())
  const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`)
  const env = { DELTA_STATE_DIR: join(home.path, 'state') }
  await Promise.all(
    ids.map((id) =>
      delta(['run', '--agent', agent.path, '-m', 'Go', '-q', '-w', `${home.path}/${id}`, '--run-id', id], {
        env,
      }),
    ),
  )
  const listed = await home.read('state/runs.jsonl')
  expect(listed).not.toContain('/gone/')
  expect(ids.filter((id) => !listed.includes(`/${id}"`))).toEqual([])
})
