import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, rename, rm, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess, startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { calls, delta } from './delta.js'

const RUN = ['run', '--agent', 'ws/agent', '-w', 'ws', '-m', 'Go', '-q']
const JOURNAL = 'there/.delta/one/journal.jsonl'
const resume = (workspace: string, ...more: string[]) => [
  'continue',
  '-w',
  workspace,
  '-m',
  'yes',
  '-q',
  ...more,
]

/**
 * `home` holds the workspace `ws` with its agent and the run `one`, which waits for an answer; after it, the agent leaves
 * `ran.txt` in the workspace.
 */
async function scene() {
  const agent = await temporaryAgent({
    tools: [{ name: 'leave', shell: 'echo > ran.txt' }],
    turns: [
      calls('ask_human', { prompt: 'Well?' }),
      calls('leave'),
      { content: 'Done.' },
      { content: 'More.' },
    ],
    onCleanup: onTestFinished,
  })
  const home = await temporaryWorkspace({ 'ws/file.txt': '' }, { onCleanup: onTestFinished })
  await cp(agent.path, join(home.path, 'ws/agent'), { recursive: true })
  const env = { DELTA_STATE_DIR: join(home.path, 'state') }
  const here = (args: string[], more: Record<string, string> = {}) =>
    delta(args, { cwd: home.path, env: { ...env, ...more } })
  const inHome = (path: string) => join(home.path, path)
  const sh = async (script: string) => {
    const { exitCode, stderr } = await runProcess(['sh', '-ec', script], { cwd: home.path })
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
  }
  /** Puts the workspace `ws` to `there`, as if somebody else had sent it; its run names the agent that lies in it. */
  const send = async (how = 'cp -a ws there') => {
    await sh(how)
    await home.write(JOURNAL, (await home.read(JOURNAL)).replaceAll(inHome('ws'), inHome('there')))
  }
  expect((await here([...RUN, '--run-id', 'one'])).exitCode).toBe(101)
  /** What the state directory says of runs. */
  const listed = async () => {
    const names = (await home.files()).filter((name) => name.startsWith('state/runs/'))
    return Promise.all(names.map(async (name) => ({ name, ...JSON.parse(await home.read(name)) })))
  }
  return { home, here, inHome, sh, send, listed }
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
    'T2, T3: is not continued after %s, and nothing of it is run',
    async (_, how) => {
      const { here, inHome, send } = await scene()
      await send(how)
      const refused = await here(resume('there'))
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
      expect(refused.stderr).toContain(
        `Error: Run one is not among your runs (${inHome('state/runs')}): it was copied, cloned or unpacked,`,
      )
      expect(refused.stderr).toContain(`delta continue -w ${inHome('there')} --run-id one --trust-run\n`)
      expect(existsSync(inHome('there/ran.txt'))).toBe(false)
    },
  )

  test('T2: is not resumed by run, can be looked at without advice to go on, is not listed as resumable, and does not name the agent of context build', async () => {
    const { home, here, inHome, send } = await scene()
    const generator = `{ command: [sh, -c, 'echo ran > ran.txt; echo text'] }`
    const recipe = `sources:\n  - { type: computed_file, generator: ${generator}, output_path: out.txt }\n  - { type: journal }\n`
    await send()
    const there = ['run', '--agent', 'there/agent', '-w', 'there', '-q']
    const same = await here([...there, '-m', 'Go'])
    expect(same.exitCode).toBe(2)
    expect(same.stderr).toContain('Run one is not among your runs')
    expect((await here(['list-runs', '-w', 'there', '--first'])).stdout).toBe('one\n')
    for (const [workspace, resumable] of [
      ['ws', 'one\n'],
      ['there', ''],
    ] as const) {
      const listed = await here(['list-runs', '-w', workspace, '--resumable', '--first'])
      expect(listed.stdout).toBe(resumable)
    }
    const shown = await here(['show', '-w', 'there'])
    expect(shown.stdout).toContain('Well?')
    expect(shown.stderr).not.toContain('continue')
    const verified = await here(['journal', 'verify', '-w', 'there'])
    expect(verified.stdout).toContain('are not as they were when this ENGINE_END recorded their SHA-256.\n')
    expect((await here(['show', '-w', 'there', '--request', '1'])).stdout).toContain('You are a test.')
    await home.write('there/agent/context.yaml', recipe)
    const built = await here(['context', 'build', '-w', 'there'])
    expect(built.exitCode).toBe(2)
    expect(built.stderr).toContain('Name the agent with --agent <directory>.')
    expect(existsSync(inHome('there/ran.txt'))).toBe(false)
    expect((await here(['context', 'build', '-w', 'there', '--agent', 'there/agent'])).exitCode).toBe(0)
    const other = await here([...there, '-m', 'Something else'])
    expect(other.exitCode).toBe(101)
    expect(other.stderr).not.toContain('one')
  })

  test('T3: is believed with --trust-run, from then on without, but not what was set for it or allowed', async () => {
    const { home, here, inHome, send } = await scene()
    await send()
    const hostile =
      '"overrides":["llm.base_url=http://127.0.0.1:9/"],"allowed":{"import_roots":["/"]},"resumed":false'
    await home.write(JOURNAL, (await home.read(JOURNAL)).replace('"resumed":false', hostile))
    const trusted = await here(resume('there', '--trust-run', '--import-root', 'ws'))
    expect(trusted).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(trusted.stderr).toContain(`Run one in ${inHome('there/.delta/one')} is not among your runs`)
    expect(trusted.stderr).toContain(
      `  agent           test-agent\n  its commands    ${inHome('there/agent')}\n`,
    )
    expect(trusted.stderr).toContain('(--set, --import-root, --trust-workspace-env) does not apply.\n')
    expect(trusted.stderr).toContain('Delta remembers it there as yours')
    expect(trusted.stderr).not.toContain('Set for this run')
    const starts = (await home.read(JOURNAL)).split('\n').filter((line) => line.includes('"ENGINE_START"'))
    expect(JSON.parse(starts[1] ?? '').allowed).toEqual({ import_roots: [inHome('ws')] })
    expect(existsSync(inHome('there/ran.txt'))).toBe(true)
    expect(await here(resume('there'))).toMatchObject({ exitCode: 0, stdout: 'More.\n', stderr: '' })
    expect((await here(resume('ws'))).exitCode).toBe(0) // the original is still one's own
  })

  test('and was trusted with another agent goes on with that one, whatever its journal names', async () => {
    const { home, here, inHome, send } = await scene()
    await send()
    await cp(inHome('ws/agent'), inHome('mine'), { recursive: true })
    const [ask, , ...answers] = JSON.parse(await home.read('mine/script.yaml'))
    await home.write('mine/script.yaml', JSON.stringify([ask, ...answers, calls('leave'), ...answers]))
    await home.write('mine/agent.yaml', (await home.read('mine/agent.yaml')).replace('ran.txt', 'mine.txt'))
    expect((await here(resume('there', '--trust-run', '--agent', 'mine'))).exitCode).toBe(0)
    for (const _ of [1, 2]) expect((await here(resume('there'))).exitCode).toBe(0)
    const made = ['there/mine.txt', 'there/ran.txt'].map((name) => existsSync(inHome(name)))
    expect(made).toEqual([true, false])
  })
})

test.each([
  ['.delta', 'mv there/.delta there/data; ln -s data there/.delta'],
  ['the run', 'mv there/.delta/one there/data; ln -s ../data there/.delta/one'],
])('T5: a link in the place of %s is not followed, wherever it leads', async (place, make) => {
  const { here, inHome, sh } = await scene()
  await sh(`mv ws there; ${make}`)
  const agent = ['--agent', 'there/agent']
  expect((await here(resume('there', ...agent))).exitCode).toBe(2)
  expect((await here(resume('there', '--trust-run', ...agent))).stderr).toContain(
    'It is a link, which may have',
  )
  if (place === '.delta')
    expect((await here(['run', '-w', 'there', '-m', 'New', '-q', ...agent])).exitCode).toBe(2)
  expect(existsSync(inHome('there/ran.txt'))).toBe(false)
})

test('a run of an old layout does not go on in a directory that lies ready for it', async () => {
  const { home, here, inHome } = await scene()
  const line = (seq: number, type: string, payload: object) =>
    `${JSON.stringify({ seq, timestamp: '2025-10-01T12:00:00.000Z', type, payload })}\n`
  const start = line(1, 'RUN_START', { run_id: 'old', task: 'Go', agent_ref: inHome('ws/agent') })
  await home.write('ws/.delta/old/journal.jsonl', start + line(2, 'USER_MESSAGE', { content: 'Go' }))
  await cp(inHome('ws/.delta/one'), inHome('ws/.delta/old-continued'), { recursive: true })
  const old = resume('ws', '--run-id', 'old', '--trust-run')
  const refused = await here(old)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    'old-continued, which is there already and is not among your runs.\nMove that directory away.',
  )
  await rm(inHome('ws/.delta/old-continued'), { recursive: true })
  expect((await here(old)).exitCode).toBe(101)
  expect((await here(resume('ws', '--run-id', 'old-continued'))).exitCode).toBe(0)
})

test('a run does not begin in a directory where a link was there before', async () => {
  const { here, inHome } = await scene()
  for (const name of ['engine.log', 'io', 'journal.jsonl']) {
    await mkdir(inHome(`ws/.delta/for-${name}`))
    await symlink(inHome('bashrc'), inHome(`ws/.delta/for-${name}/${name}`))
    const refused = await here([...RUN, '--new', '--run-id', `for-${name}`])
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain(`/${name}: It is a link or a pipe, and was there before the run.`)
  }
  expect(existsSync(inHome('bashrc'))).toBe(false)
})

describe('a run of this user', () => {
  test('T1: goes on after its workspace was moved, and moved back, beside one that came from elsewhere', async () => {
    const { here, inHome, listed } = await scene()
    await cp(inHome('ws/.delta/one'), inHome('ws/.delta/two'), { recursive: true })
    expect((await here(resume('ws', '--run-id', 'two'))).exitCode).toBe(2)
    await rename(inHome('ws'), inHome('moved'))
    const onward = await here(resume('moved', '--run-id', 'one', '--agent', 'moved/agent'))
    expect(onward).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
    expect(await listed()).toMatchObject([{ path: inHome('moved/.delta/one') }])
    await rename(inHome('moved'), inHome('ws'))
    expect((await here(resume('ws', '--run-id', 'one', '--agent', 'ws/agent'))).exitCode).toBe(0)
  })

  test('T1, T6: goes on with the agent, the settings and the permissions that it began with, whatever its journal names when it comes back', async () => {
    const { home, here, inHome, listed } = await scene()
    await cp(inHome('ws/agent'), inHome('other'), { recursive: true })
    await home.write(
      'other/agent.yaml',
      (await home.read('other/agent.yaml')).replace('ran.txt', 'pwned.txt'),
    )
    const journal = 'ws/.delta/one/journal.jsonl'
    const hostile =
      '"overrides":["tools.leave.shell=echo > pwned.txt"],"allowed":{"import_roots":["/"]},"resumed":false'
    await home.write(
      journal,
      (await home.read(journal))
        .replaceAll(inHome('ws/agent'), inHome('other'))
        .replace('"resumed":false', hostile),
    )
    const { exitCode, stderr } = await here(resume('ws', '--set', 'max_iterations=9'))
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('pwned') })
    const made = ['ws/pwned.txt', 'ws/ran.txt'].map((name) => existsSync(inHome(name)))
    expect(made).toEqual([false, true])
    const said = { agent_home: inHome('ws/agent'), set: ['max_iterations=9'], allowed: {} }
    expect(await listed()).toMatchObject([said]) // what was listed before is gone
    await rm(inHome('ws/agent'), { recursive: true })
    const gone = await here(resume('ws'))
    expect(gone.exitCode).toBe(2)
    expect(gone.stderr).toContain(`The agent of run one was in ${inHome('ws/agent')}, and is not there now.`)
  })

  test('K4: an address that a tool typed for its sub-agent gets no key when the person goes on with it, until they type it', async () => {
    const { here, inHome, home } = await scene()
    const server = await startScriptedServer([{ content: 'Hello.' }, { content: 'Again.' }])
    onTestFinished(server.close)
    await home.write('sub/agent.yaml', 'name: sub\nmax_iterations: 1\nllm: { provider: openai, model: m }\n')
    await home.write('sub/context.yaml', 'sources: [{ type: journal }]\n')
    const address = ['--set', `llm.base_url=${server.baseUrl}`]
    const tool = { DELTA_PARENT_RUN: inHome('ws/.delta/one') }
    const sub = ['run', '--agent', 'sub', '-w', 'ws', '-m', 'Go', '-q', '--run-id', 'two', ...address]
    expect(await here(sub, tool)).toMatchObject({ stderr: '', stdout: 'Hello.\n' }) // on this machine, without a key
    const key = { OPENAI_API_KEY: 'sk-of-the-person' }
    const refused = await here(resume('ws', '--run-id', 'two'), key)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(
      'would send a key from elsewhere to an address that a tool may have written',
    )
    expect((await here(resume('ws', '--run-id', 'two', ...address), key)).stdout).toBe('Again.\n')
  })

  test('is known after a move by its inode together with the device, on which alone that is unique', async () => {
    const { home, here, listed } = await scene()
    const [{ name, dev, ...entry } = { name: '' }] = await listed()
    for (const [device, exitCode] of [
      [dev + 1, 2],
      [dev, 0],
    ]) {
      await home.write(name, JSON.stringify({ ...entry, path: '/elsewhere', dev: device }))
      expect((await here(resume('ws'))).exitCode).toBe(exitCode)
    }
  })

  test('T1, W2: needs --trust-run with another state directory, and a copy of it wherever its runs directory is typed', async () => {
    const { here, inHome } = await scene()
    const other = { DELTA_STATE_DIR: '', HOME: inHome('other') }
    await mkdir(other.HOME)
    const refused = await here(resume('ws'), other)
    expect(refused.exitCode).toBe(2)
    expect(refused.stderr).toContain(`(${other.HOME}/.local/state/delta/runs)`)
    expect((await here(resume('ws', '--trust-run'), other)).exitCode).toBe(0)

    await here([...RUN, '--run-id', 'two', '--runs-dir', 'runs'])
    await cp(inHome('runs'), inHome('copied'), { recursive: true })
    expect((await here(resume('ws'), { DELTA_RUNS_DIR: inHome('copied') })).exitCode).toBe(2)
    const typed = ['--runs-dir', 'copied']
    const copy = await here(resume('ws', ...typed))
    expect(copy).toMatchObject({ exitCode: 2, stdout: '' })
    expect(copy.stderr).toContain(`--runs-dir ${inHome('copied')} --run-id two --trust-run\n`)
    const repeated = await here([...RUN, ...typed])
    expect(repeated).toMatchObject({ exitCode: 2, stdout: '' })
    expect(repeated.stderr).not.toContain('Resuming')
    expect(repeated.stderr).toMatch(/--trust-run\nTo start another one, add --new\.\n$/)
    expect(existsSync(inHome('ws/ran.txt'))).toBe(true) // by the run that was trusted
    expect((await here(resume('ws', ...typed, '--trust-run'))).exitCode).toBe(0)
  })

  test('keeps its .delta to itself, whoever made it', async () => {
    const { here, inHome } = await scene()
    for (const args of [[...RUN, '--new'], resume('ws', '--run-id', 'one')]) {
      await chmod(inHome('ws/.delta'), 0o755)
      await here(args)
      expect((await stat(inHome('ws/.delta'))).mode & 0o777).toBe(0o700)
    }
    expect((await stat(inHome('ws/.delta/one/owner'))).mode & 0o777).toBe(0o600)
  })

  test('may begin again in the directory that an engine left which was killed as it listed the run', async () => {
    const { here, inHome, listed } = await scene()
    for (const name of ['journal.jsonl', 'metadata.json']) await rm(inHome(`ws/.delta/one/${name}`))
    await cp(inHome('ws/agent'), inHome('ws/other'), { recursive: true })
    const again = ['run', '--agent', 'ws/other', '-w', 'ws', '-m', 'Go', '-q', '--run-id', 'one']
    expect((await here(again)).exitCode).toBe(101)
    expect((await here(resume('ws', '--run-id', 'one'))).exitCode).toBe(0)
    expect(await listed()).toMatchObject([{ agent_home: inHome('ws/other') }])
  })
})

test('T4: a tool goes on only with runs that its own run started', async () => {
  const { here, inHome } = await scene()
  const elsewhere = { DELTA_PARENT_RUN: inHome('ws/.delta/parent') }
  const refused = await here(resume('ws'), elsewhere)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('Run one was not started by run parent, whose tool this command is.')
  expect((await here(resume('ws', '--trust-run'), elsewhere)).exitCode).toBe(2)
  const { run_id: own } = JSON.parse((await here([...RUN, '--format', 'json'], elsewhere)).stdout)
  expect(own).not.toBe('one')
  expect((await here(resume('ws', '--run-id', own), elsewhere)).exitCode).toBe(0)
})

test('T7: many runs begun at once are all listed', async () => {
  const { here, listed, inHome } = await scene()
  const ids = Array.from({ length: 8 }, (_, index) => `run-${index}`)
  await Promise.all(ids.map((id) => here([...RUN, '-w', id, '--run-id', id])))
  const paths = (await listed()).map(({ path }) => path)
  expect(paths.toSorted()).toEqual(
    ['ws/.delta/one', ...ids.map((id) => `${id}/.delta/${id}`)].map(inHome).toSorted(),
  )
})
