import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive, tryLimits, waitForFile } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { defineTool, type ExecuteContext, executeTool, parsePolicy } from '../src/index.js'
import { call, workspace } from './workspace.js'

test('two tools of one name are refused: a model could not tell them apart', async () => {
  const say = defineTool({ name: 'say', exec: 'echo ${words}' })
  const context = { cwd: '/', env: {} }
  await expect(executeTool([say, say], { name: 'say', arguments: {} }, context)).rejects.toMatchObject({
    code: 'ERR_EXECUTOR_USAGE',
    message: 'Two tools are called "say". A model could not tell them apart.',
  })
})

test('the result of a call holds its output, and the files of it are gone', async () => {
  const { path, files } = await workspace()
  const context = { cwd: path, actionId: '1-0', outputPrefix: join(path, 'record') }
  expect(await call({ exec: 'echo ${words}' }, { words: 'hello  world' }, context)).toEqual({
    status: 'SUCCESS',
    exitCode: 0,
    signal: null,
    observation: 'hello  world\n',
    durationMs: expect.any(Number),
    stdout: { bytes: 13, text: 'hello  world\n' },
    stderr: { bytes: 0, text: '' },
  })
  expect(await files()).toEqual([])
  await call({ exec: 'echo a' }, {}, { ...context, keepOutput: true })
  expect(readFileSync(join(path, 'record.stdout'), 'utf8')).toBe('a\n') // until the caller has stored the result
})

describe('What a person says to a call', () => {
  const asking = async (confirm: ExecuteContext['confirm'], signal?: AbortSignal) => {
    const { path: cwd, has } = await workspace()
    const policy = parsePolicy({ allow_destructive: false })
    const wipe = { exec: 'touch wiped', effects: { destructive: true } }
    const result = await call(wipe, {}, { cwd, policy, confirm, ...(signal && { signal }) })
    return { ...result, wiped: has('wiped') }
  }

  test.each([false, undefined, 'no', 'yes', 1, {}])('%j is not agreement', async (said) => {
    expect(await asking(async () => said as never)).toMatchObject({
      status: 'BLOCKED',
      exitCode: null,
      observation:
        'BLOCKED: "tool" needs a person\'s approval (destructive), and it was not given. Nothing was run.',
      wiped: false,
    })
  })

  test('true is, and a program that asks nobody does not run it', async () => {
    expect(await asking(async () => true)).toMatchObject({ status: 'SUCCESS', wiped: true })
    expect(await asking(undefined)).toMatchObject({ status: 'BLOCKED', wiped: false })
  })

  test('is not asked of a call that is interrupted already', async () => {
    let asked = 0
    const result = await asking(() => ++asked > 0, AbortSignal.abort())
    expect(result).toMatchObject({ status: 'INTERRUPTED', wiped: false })
    expect(asked).toBe(0)
  })
})

describe('Where a tool runs', () => {
  test('is the workspace, or its cwd', async () => {
    const { path } = await workspace({ 'sub/x': '' })
    const command = ['sh', '-c', 'pwd; echo "$PWD"']
    expect((await call({ command }, {}, { cwd: path })).observation).toBe(`${path}\n${path}\n`)
    const inSub = await call({ command, cwd: 'sub' }, {}, { cwd: path })
    expect(inSub.observation).toBe(`${path}/sub\n${path}/sub\n`)
    expect((await call({ exec: 'pwd', cwd: '/' }, {}, { cwd: path })).observation).toBe('/\n')
    expect((await call({ exec: 'pwd', cwd: 'gone' }, {}, { cwd: path })).observation).toBe(
      `ERROR: the command did not start. The working directory ${path}/gone cannot be entered (ENOENT). Create it, or give another cwd.`,
    )
  })

  test('is not outside the workspace because a tool made a link', async () => {
    const { path } = await workspace()
    const beside = (await workspace()).path
    expect(dirname(beside)).toBe(dirname(path))
    for (const [cwd, target, outside] of [
      ['sub', '/etc', '/etc'],
      ['up', '..', dirname(path)],
      ['beside', beside, beside],
    ] as const) {
      symlinkSync(target, join(path, cwd))
      expect(await call({ exec: 'pwd', cwd }, {}, { cwd: path })).toMatchObject({
        status: 'ERROR',
        observation: `ERROR: The tool's cwd "${cwd}" leads outside the workspace, to ${outside}. Nothing was run.`,
      })
    }
  })
})

describe('The environment of a tool', () => {
  const command = [
    'sh',
    '-c',
    'echo "$OPENAI_API_KEY|$LEVEL|$DELTA_ACTION_ID"; printf %s "$OPENAI_API_KEY" > key',
  ]
  const OPENAI_API_KEY = 'sk-secret-value'
  const env = { PATH: process.env.PATH, AGENT_HOME: '/agent' }

  test.each([
    ['given apart', { env, credentials: { pairs: [], env: { OPENAI_API_KEY } } }],
    ['in the environment', { env: { ...env, OPENAI_API_KEY } }],
  ])(
    'holds its own variables and the credentials it lists, which are not shown: %s',
    async (_where, context) => {
      const { path, read } = await workspace()
      const definition = { command, env: { LEVEL: '${AGENT_HOME}/x' } }
      const without = await call(definition, {}, { ...context, cwd: path, actionId: '1-0' })
      expect([without.observation, await read('key')]).toEqual(['|/agent/x|1-0\n', ''])

      const result = await call(
        { ...definition, pass_env: ['OPENAI_API_KEY'] },
        {},
        { ...context, cwd: path },
      )
      expect(await read('key')).toBe(OPENAI_API_KEY)
      const shown = '[REDACTED]|/agent/x|\n'
      expect(result).toMatchObject({ observation: shown, stdout: { text: shown } })
    },
  )

  test('holds all credentials when the tool is delta itself', async () => {
    const { path, write, read } = await workspace()
    await write('bin/delta', '#!/bin/sh\nprintf %s "$DELTA_CREDENTIALS" > key\nexit 101\n')
    const context = {
      cwd: path,
      env: { PATH: `${path}/bin:${process.env.PATH}` },
      credentials: { pairs: [], env: { OPENAI_API_KEY } },
    }
    const result = await call({ exec: 'delta run' }, {}, context)
    expect(JSON.parse(await read('key'))).toEqual(context.credentials)
    expect(result.observation).toBe('[exit code 101: this agent waits for a person to answer]\n')
  })

  test('holds none when a variable makes another program of that name an agent', async () => {
    const { path, read } = await workspace()
    await import('node:fs/promises').then(({ mkdir }) => mkdir(join(path, 'bin')))
    writeFileSync(join(path, 'bin/delta'), '#!/bin/sh\nprintf "%s" "$DELTA_CREDENTIALS" > key\n', {
      mode: 0o755,
    })
    const context = {
      cwd: path,
      env: { PATH: `${path}/bin`, AGENT_HOME: `${path}/bin/d` },
      credentials: { pairs: [], env: { OPENAI_API_KEY } },
    }
    await call({ exec: '${AGENT_HOME}elta run' }, {}, context) // the loader judges the command as it is written
    expect(await read('key')).toBe('')
  })
})

describe('A credential that a tool prints from somewhere else', () => {
  const credentials = {
    pairs: [],
    env: { DELTA_API_KEY: 'key-0123456789', DELTA_BASE_URL: 'http://localhost:1/v1' },
  }

  test('is neither in the observation nor in the kept file', async () => {
    const { path } = await workspace()
    const outputPrefix = join(path, 'record')
    const script = 'yes filling | head -c 2000000; echo key-0123456789; yes filling | head -c 100000'
    const result = await call({ shell: script }, {}, { cwd: path, credentials, outputPrefix })

    const kept = readFileSync(`${outputPrefix}.stdout`, 'utf8')
    expect(result.stdout).toEqual({ bytes: 2_100_015, path: `${outputPrefix}.stdout` })
    expect(kept).toContain('\n[REDACTED]\n')
    expect(kept).not.toContain('key-0123456789')
  })

  test('is recognised before the output is cut through it', async () => {
    const definition = { exec: 'printf aaaakey-0123456789bbbbbbbbbb', output: { max_chars: 16 } }
    expect((await call(definition, {}, { credentials })).observation).not.toContain('key-')
  })

  test('but the address that goes with it is not a secret', async () => {
    const { observation } = await call({ exec: 'echo http://localhost:1/v1' }, {}, { credentials })
    expect(observation).toBe('http://localhost:1/v1\n')
  })
})

describe('A value that a person entrusted to the run', () => {
  const token = '«secret:1-0»'
  const secretTokens = { [token]: 'hunter2!' }

  test('reaches the command in its arguments and stdin, and comes back redacted', async () => {
    const { path, read } = await workspace()
    const outputPrefix = join(path, 'record')
    const definition = { shell: 'tee seen; echo ${password} | tee -a seen >&2', stdin: 'text' }
    const args = { password: token, text: `in: ${token} «secret:2-0»\n` }
    const result = await call(definition, args, { cwd: path, outputPrefix, secretTokens })

    expect(await read('seen')).toBe('in: hunter2! «secret:2-0»\nhunter2!\n')
    expect(result.observation).toBe('in: [REDACTED] «secret:2-0»\n[stderr]\n[REDACTED]\n')
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })

  test('is written as JSON where the tool reads JSON, on stdin and in an argument', async () => {
    const { path, read } = await workspace()
    const value = `a"b\\\n${token}`
    const parameters = [
      { name: 'login', type: 'object' },
      { name: 'files', type: 'array' },
    ]
    const tool = { shell: 'cat >seen; printf %s ${login} >login', stdin: 'json', parameters }
    const args = { login: { [token]: [`${token}!`] }, files: [token, 'b'] }
    const { status } = await call(tool, args, { cwd: path, secretTokens: { [token]: value } })
    expect(status).toBe('SUCCESS')
    const login = { [value]: [`${value}!`] }
    expect(await read('seen')).toBe(JSON.stringify({ login, files: [value, 'b'] }))
    expect(await read('login')).toBe(JSON.stringify(login))
  })

  test('is refused in the task of a sub-agent, which would keep it, and reaches one as an answer', async () => {
    const { path, read } = await workspace({ delta: '#!/bin/sh\ncat >answer\n' })
    chmodSync(join(path, 'delta'), 0o755)
    const parameters = [{ name: 'task', inject_as: 'argument', position: 0 }]
    const told = (subcommand: string, task: string, text: string) => {
      const command = ['${CWD}/delta', subcommand, '-m']
      return call({ command, stdin: 'text', parameters }, { task, text }, { cwd: path, secretTokens })
    }
    for (const [task, text] of [
      [`Log in with ${token}`, ''],
      ['-', token],
    ] as const) {
      const { status, observation } = await told('run', task, text)
      expect(status).toBe('BLOCKED')
      expect(observation).toMatch(/^BLOCKED: a sub-agent records its task, and what «secret:1-0» stands for/)
    }
    expect(await told('continue', '-', token)).toMatchObject({ status: 'SUCCESS' })
    expect(await read('answer')).toBe('hunter2!')
  })

  test('is refused where it begins with a dash, and the tool would take it for an option', async () => {
    const given = (definition: object, args: object) =>
      call(definition, args, { secretTokens: { [token]: '--help' } })
    expect(await given({ exec: 'cat ${file}' }, { file: token })).toMatchObject({
      status: 'BLOCKED',
      observation:
        'BLOCKED: the value behind the token in "file" begins with "-", and would be taken for an option. Nothing was run.',
    })
    const allowed = { exec: 'echo ${text}', parameters: [{ name: 'text', allow_dash: true }] }
    expect(await given(allowed, { text: token })).toMatchObject({ status: 'SUCCESS' })
    expect(await given({ exec: 'cat', stdin: 'text' }, { text: token })).toMatchObject({ status: 'SUCCESS' })
  })

  test('is not given once it is erased, and nor is its token in its place', async () => {
    const { path, has } = await workspace()
    const context = { cwd: path, erasedTokens: new Set([token]) }
    const told = (text: string) => call({ exec: 'tee seen', stdin: 'text' }, { text }, context)
    expect((await told(`in: ${token}`)).observation).toBe(
      'BLOCKED: what «secret:1-0» stood for has been erased. Secrets are kept only until a run completes or fails. Nothing was run. Ask for the value again with ask_human.',
    )
    expect(has('seen')).toBe(false)
    expect(await told('in: «secret:2-0»')).toMatchObject({ status: 'SUCCESS' })
  })

  test('is in no file while the command runs', async () => {
    const { path } = await workspace()
    const outputPrefix = join(path, 'record')
    const shell =
      'echo ${password}; yes 123456789 | head -c 100000; touch printed; while [ ! -e go ]; do sleep 0.02; done'
    const started = call({ shell }, { password: token }, { cwd: path, outputPrefix, secretTokens })
    await waitForFile(join(path, 'printed'))
    const early = await waitForFile(`${outputPrefix}.stdout`, '123456789')
    writeFileSync(join(path, 'go'), '')

    expect(early.startsWith('[REDACTED]\n1234')).toBe(true)
    expect((await started).stdout.path).toBe(`${outputPrefix}.stdout`)
    expect(readFileSync(`${outputPrefix}.stdout`, 'utf8')).not.toContain('hunter2')
  })

  test('is not in the message about a command that could not start', async () => {
    const result = await call({ exec: 'echo ${a}' }, { a: token + 'x'.repeat(200_000) }, { secretTokens })
    expect(result.status).toBe('ERROR')
    expect(result.observation).not.toContain('hunter2')
  })
})

test('what merely looks like a secret is redacted only where the policy says so, or the tool is imported', async () => {
  const token = `ghp_${'aB3'.repeat(12)}`
  const shows = { exec: `echo ${token}` }
  expect((await call(shows)).observation).toBe(`${token}\n`) // an agent that edits a file must not write back a hole
  const policy = parsePolicy({ redact: 'patterns' })
  expect((await call(shows, {}, { policy })).observation).toBe('[REDACTED]\n')
  const imported = { ...shows, trust: 'org', effects: { destructive: false } }
  expect((await call(imported)).observation).toBe('[REDACTED]\n')
})

test('a value of 200 KB fits stdin, and as an argument is refused with the way out', async () => {
  const text = 'x'.repeat(200_000)
  expect((await call({ exec: 'wc -c', stdin: 'text' }, { text })).observation.trim()).toBe('200000')
  expect(await call({ exec: 'echo ${text}' }, { text })).toMatchObject({
    status: 'ERROR',
    advice: expect.stringMatching(/: its arguments are longer than the system passes\. .* stdin: json\.$/),
    observation: expect.stringMatching(/^ERROR: the command did not start\. The arguments are 200004 bytes/),
  })
})

test.skipIf(process.platform !== 'linux')(
  'what left the process group of a call that was timed out is ended too, and nothing of another call',
  async () => {
    const { path } = await workspace()
    const env = { ...process.env, DELTA_RUN_DIR: join(path, '.delta/one') }
    const leave = (file: string) =>
      `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & until [ -s ${file} ]; do :; done`
    const context = { cwd: path, env }
    await call({ shell: `${leave('other')}` }, {}, { ...context, actionId: 'earlier' })
    const shell = `${leave('pid')}; : > begun; sleep 300`
    const [result] = await tryLimits(
      (timeout_ms) => call({ shell, timeout_ms }, {}, { ...context, actionId: 'c1' }),
      () => existsSync(join(path, 'begun')),
    )
    const pids = ['other', 'pid'].map((file) => Number(readFileSync(join(path, file), 'utf8')))
    const alive = pids.map(isAlive)
    for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
    expect(result.status).toBe('TIMEOUT')
    expect(alive).toEqual([true, false])
  },
)

test('an interrupted call says so, and shows what was printed', async () => {
  const { path, has } = await workspace()
  mkdirSync(join(path, 'out'))
  const controller = new AbortController()
  const context = { cwd: path, signal: controller.signal }
  const started = call({ shell: 'echo begun; touch out/ready; sleep 60' }, {}, context)
  await waitForFile(join(path, 'out/ready'))
  controller.abort()
  const result = await started
  expect(result).toMatchObject({ status: 'INTERRUPTED', exitCode: null, signal: 'SIGTERM' })
  expect(result.observation).toMatch(
    /^\[interrupted after \d+\.\d s; the command was ended and may have done its work in part\]\nbegun\n$/,
  )
  const late = await call({ exec: 'touch late' }, {}, context)
  expect(late.observation).toBe('[interrupted before it started; nothing was run]\n')
  expect(has('late')).toBe(false)
})
