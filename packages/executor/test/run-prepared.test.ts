import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive, tryLimits, waitForFile } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { defineTool, executeTool, type RunContext, type ToolResult, toolMap } from '../src/index.js'
import { workspace } from './workspace.js'

/** Runs one tool, given by its definition, in a workspace. */
async function call(
  definition: object,
  args: object = {},
  context: Partial<RunContext> & { workDirectory: string },
): Promise<ToolResult> {
  const tools = toolMap([defineTool({ name: 'tool', ...definition })])
  return executeTool(
    tools,
    { name: 'tool', arguments: JSON.stringify(args) },
    { environment: process.env, ...context },
  )
}

describe('Where a tool runs', () => {
  test('is the workspace, or its cwd', async () => {
    const { path } = await workspace({ 'sub/x': '' })
    const pwd = ['sh', '-c', 'pwd; echo "$PWD"']
    expect((await call({ command: pwd }, {}, { workDirectory: path })).observation).toBe(`${path}\n${path}\n`)
    expect((await call({ command: pwd, cwd: 'sub' }, {}, { workDirectory: path })).observation).toBe(
      `${path}/sub\n${path}/sub\n`,
    )
    expect((await call({ exec: 'pwd', cwd: '/' }, {}, { workDirectory: path })).observation).toBe('/\n')
  })

  test('is not outside the workspace because a tool made a link', async () => {
    const { path } = await workspace()
    symlinkSync('/etc', join(path, 'sub'))
    symlinkSync('..', join(path, 'up'))
    const beside = (await workspace()).path
    symlinkSync(beside, join(path, 'beside'))
    expect(dirname(beside)).toBe(dirname(path))
    for (const [cwd, outside] of [
      ['sub', '/etc'],
      ['up', dirname(path)],
      ['beside', beside],
    ] as const)
      expect(await call({ exec: 'pwd', cwd }, {}, { workDirectory: path })).toMatchObject({
        status: 'ERROR',
        observation: `ERROR: The tool's cwd "${cwd}" leads outside the workspace, to ${outside}. Nothing was run.`,
      })
  })

  test('must be there', async () => {
    const { path } = await workspace()
    expect((await call({ exec: 'pwd', cwd: 'gone' }, {}, { workDirectory: path })).observation).toBe(
      `ERROR: the command did not start. The working directory ${path}/gone cannot be entered (ENOENT). Create it, or give another cwd.`,
    )
  })
})

describe('The environment of a tool', () => {
  const show = { command: ['sh', '-c', 'echo "$OPENAI_API_KEY|$LEVEL|$DELTA_ACTION_ID"'] }
  const credentials = { OPENAI_API_KEY: 'sk-secret-value' }
  const environment = { PATH: process.env.PATH, AGENT_HOME: '/agent' }

  test('holds its own variables and the id of the call, but no credential', async () => {
    const { path } = await workspace()
    const context = { workDirectory: path, environment, credentials, actionId: '1-0' }
    const { observation } = await call({ ...show, env: { LEVEL: '${AGENT_HOME}/x' } }, {}, context)
    expect(observation).toBe('|/agent/x|1-0\n')
  })

  test('holds the credentials it lists, and they are still not shown', async () => {
    const { path, read } = await workspace()
    const context = { workDirectory: path, environment, credentials }
    const command = ['sh', '-c', 'echo "$OPENAI_API_KEY"; printf %s "$OPENAI_API_KEY" > key']
    const result = await call({ command, pass_env: ['OPENAI_API_KEY'] }, {}, context)
    expect(await read('key')).toBe('sk-secret-value')
    expect(result).toMatchObject({ observation: '[REDACTED]\n', stdout: { text: '[REDACTED]\n' } })
  })

  test('holds them all when the tool is delta itself', async () => {
    const { path, write, read } = await workspace()
    await write('bin/delta', '#!/bin/sh\nprintf %s "$OPENAI_API_KEY" > key\nexit 101\n')
    const context = {
      workDirectory: path,
      environment: { PATH: `${path}/bin:${process.env.PATH}` },
      credentials,
    }
    const result = await call({ exec: 'delta run' }, {}, context)
    expect(await read('key')).toBe('sk-secret-value')
    expect(result.observation).toBe('[exit code 101: this agent waits for a person to answer]\n')
  })
})

describe('A credential that a tool prints from somewhere else', () => {
  const credentials = { DELTA_API_KEY: 'key-0123456789', DELTA_BASE_URL: 'http://localhost:1/v1' }

  test('is neither in the observation nor in the kept file', async () => {
    const { path } = await workspace()
    const outputPrefix = join(path, 'record')
    const command = [
      'sh',
      '-c',
      'yes filling | head -c 2000000; echo key-0123456789; yes filling | head -c 100000',
    ]
    const result = await call({ command }, {}, { workDirectory: path, credentials, outputPrefix })

    const kept = readFileSync(`${outputPrefix}.stdout`, 'utf8')
    expect(result.stdout).toEqual({ bytes: 2_100_015, path: `${outputPrefix}.stdout` })
    expect(kept).toContain('\n[REDACTED]\n')
    expect(kept).not.toContain('key-0123456789')
  })

  test('is recognised before the output is cut through it', async () => {
    const { path } = await workspace()
    const command = ['sh', '-c', `printf 'aaaakey-0123456789bbbbbbbbbb'`]
    const { observation } = await call(
      { command, output: { max_chars: 16 } },
      {},
      { workDirectory: path, credentials },
    )
    expect(observation).not.toContain('key-')
  })

  test('but the address that goes with it is no secret', async () => {
    const { path } = await workspace()
    const result = await call(
      { exec: 'echo http://localhost:1/v1' },
      {},
      { workDirectory: path, credentials },
    )
    expect(result.observation).toBe('http://localhost:1/v1\n')
  })
})

describe('A value that a person entrusted to the run', () => {
  const secretTokens = { '«secret:1-0»': 'hunter2!' }

  test('reaches the command in its arguments and stdin, and comes back redacted', async () => {
    const { path, read } = await workspace()
    const outputPrefix = join(path, 'record')
    const definition = { shell: 'tee seen; echo ${password} | tee -a seen >&2', stdin: 'text' }
    const args = { password: '«secret:1-0»', text: 'in: «secret:1-0» «secret:2-0»\n' }
    const result = await call(definition, args, { workDirectory: path, outputPrefix, secretTokens })

    expect(await read('seen')).toContain('in: hunter2! «secret:2-0»\n')
    expect(await read('seen')).toContain('\nhunter2!\n')
    expect(result.observation).toBe('in: [REDACTED] «secret:2-0»\n[stderr]\n[REDACTED]\n')
    expect(JSON.stringify(result)).not.toContain('hunter2')
  })

  test('is written as JSON where the tool reads JSON, on stdin and in an argument', async () => {
    const { path, read } = await workspace()
    const value = 'a"b\\\n«secret:1-0»'
    const tool = {
      shell: 'cat >seen; printf %s ${login} >login',
      stdin: 'json',
      parameters: [
        { name: 'login', type: 'object' },
        { name: 'files', type: 'array' },
      ],
    }
    const token = '«secret:1-0»'
    const args = { login: { [token]: [`${token}!`] }, files: [token, 'b'] }
    const result = await call(tool, args, { workDirectory: path, secretTokens: { [token]: value } })
    expect(result.status).toBe('SUCCESS')
    const login = { [value]: [`${value}!`] }
    expect(await read('seen')).toBe(JSON.stringify({ login, files: [value, 'b'] }))
    expect(await read('login')).toBe(JSON.stringify(login))
  })

  test('is refused in the task of a sub-agent, which would keep it, and reaches one as an answer', async () => {
    const { path } = await workspace({ delta: '#!/bin/sh\ncat >answer\n' })
    chmodSync(join(path, 'delta'), 0o755)
    const told = (command: string[], args: object) =>
      call(
        { command, stdin: 'text', parameters: [{ name: 'task', inject_as: 'argument', position: 0 }] },
        args,
        { workDirectory: path, secretTokens },
      )
    for (const args of [
      { task: 'Log in with «secret:1-0»', text: '' },
      { task: '-', text: '«secret:1-0»' },
    ]) {
      const { status, observation } = await told(['${CWD}/delta', 'run', '-m'], args)
      expect(status).toBe('BLOCKED')
      expect(observation).toMatch(/^BLOCKED: a sub-agent records its task, and what «secret:1-0» stands for/)
    }
    const answer = { task: '-', text: '«secret:1-0»' }
    expect(await told(['${CWD}/delta', 'continue', '-m'], answer)).toMatchObject({ status: 'SUCCESS' })
    expect(readFileSync(join(path, 'answer'), 'utf8')).toBe('hunter2!')
  })

  test('is refused where it begins with a dash, and the tool would take it for an option', async () => {
    const { path } = await workspace({ notes: 'kept' })
    const given = (args: object, command: object) =>
      call(command, args, { workDirectory: path, secretTokens: { '«secret:1-0»': '--help' } })

    const refused = await given({ file: '«secret:1-0»' }, { exec: 'cat ${file}' })
    expect(refused).toMatchObject({ status: 'BLOCKED', stdout: { bytes: 0 } })
    expect(refused.observation).toBe(
      'BLOCKED: the value behind the token in "file" begins with "-", and would be taken for an option. Nothing was run.',
    )
    const allowed = { exec: 'echo ${text}', parameters: [{ name: 'text', allow_dash: true }] }
    expect(await given({ text: '«secret:1-0»' }, allowed)).toMatchObject({ status: 'SUCCESS' })
    expect(await given({ text: '«secret:1-0»' }, { exec: 'cat', stdin: 'text' })).toMatchObject({
      status: 'SUCCESS',
    })
  })

  test('is not given once it is erased, and nor is its token in its place', async () => {
    const { path, has } = await workspace()
    const told = (text: string) =>
      call(
        { exec: 'tee seen', stdin: 'text' },
        { text },
        { workDirectory: path, erasedTokens: new Set(['«secret:1-0»']) },
      )
    expect((await told('in: «secret:1-0»')).observation).toBe(
      'BLOCKED: what «secret:1-0» stood for has been erased. Secrets are kept only until a run completes or fails. Nothing was run. Ask for the value again with ask_human.',
    )
    expect(await has('seen')).toBe(false)
    expect(await told('in: «secret:2-0»')).toMatchObject({ status: 'SUCCESS' })
  })

  test('is in no file while the command runs', async () => {
    const { path } = await workspace()
    const outputPrefix = join(path, 'record')
    const definition = {
      command: [
        'sh',
        '-c',
        'echo "$1"; yes 123456789 | head -c 100000; touch printed; while [ ! -e go ]; do sleep 0.02; done',
        '_',
      ],
      parameters: [{ name: 'password', type: 'string', inject_as: 'argument', position: 0 }],
    }
    const started = call(
      definition,
      { password: '«secret:1-0»' },
      { workDirectory: path, outputPrefix, secretTokens },
    )
    await waitForFile(join(path, 'printed'))
    const early = await waitForFile(`${outputPrefix}.stdout`, '123456789')
    await (await import('node:fs/promises')).writeFile(join(path, 'go'), '')

    expect(early.startsWith('[REDACTED]\n1234')).toBe(true)
    expect((await started).stdout.path).toBe(`${outputPrefix}.stdout`)
    expect(readFileSync(`${outputPrefix}.stdout`, 'utf8')).not.toContain('hunter2')
  })

  test('is not in the message about a command that could not start', async () => {
    const { path } = await workspace()
    const result = await call(
      { exec: 'echo ${a}' },
      { a: `«secret:1-0»${'x'.repeat(200_000)}` },
      { workDirectory: path, secretTokens },
    )
    expect(result.status).toBe('ERROR')
    expect(result.observation).not.toContain('hunter2')
  })
})

describe('What merely looks like a secret', () => {
  const token = `ghp_${'aB3'.repeat(12)}`
  const shows = { exec: `echo ${token}` }

  test('is shown: an agent that edits a file must not write back a hole', async () => {
    const { path } = await workspace()
    expect((await call(shows, {}, { workDirectory: path })).observation).toBe(`${token}\n`)
  })

  test('is not shown where the policy says so, or the tool is imported', async () => {
    const { path } = await workspace()
    const policy = { redact: 'patterns', onConfirmation: 'ask_human' } as const
    expect((await call(shows, {}, { workDirectory: path, policy })).observation).toBe('[REDACTED]\n')
    expect(
      (await call({ ...shows, trust: 'org', effects: { destructive: false } }, {}, { workDirectory: path }))
        .observation,
    ).toBe('[REDACTED]\n')
  })
})

test('a value of 200 KB fits stdin, and as an argument is refused with the way out', async () => {
  const { path } = await workspace()
  const value = 'x'.repeat(200_000)
  const byStdin = await call({ exec: 'wc -c', stdin: 'text' }, { text: value }, { workDirectory: path })
  expect(byStdin.observation.trim()).toBe('200000')
  const byArgument = await call({ exec: 'echo ${text}' }, { text: value }, { workDirectory: path })
  expect(byArgument).toMatchObject({
    status: 'ERROR',
    advice: expect.stringMatching(/: its arguments are longer than the system passes\. .* stdin: json\.$/),
    observation:
      'ERROR: the command did not start. The arguments are 200004 bytes together, the longest 200000: more than the system passes to a command. Large values belong on standard input: let the tool take this parameter with stdin:, or all with stdin: json.',
  })
})

test('output files stay until the result is stored, if the caller wants it so', async () => {
  const { path, has } = await workspace()
  const outputPrefix = join(path, 'record')
  await call({ exec: 'echo a' }, {}, { workDirectory: path, outputPrefix, keepOutput: true })
  expect(readFileSync(`${outputPrefix}.stdout`, 'utf8')).toBe('a\n')
  await call({ exec: 'echo a' }, {}, { workDirectory: path, outputPrefix })
  expect(has('record.stdout')).toBe(false)
})

test.skipIf(process.platform !== 'linux')(
  'what left the process group of a call that was timed out is ended too, and nothing of another call',
  async () => {
    const { path } = await workspace()
    const environment = { ...process.env, DELTA_RUN_DIR: join(path, '.delta/one') }
    const leave = (file: string) =>
      `setsid sh -c 'echo $$ > ${file}; exec sleep 300' & until [ -s ${file} ]; do :; done`
    const context = { workDirectory: path, environment }
    await call({ shell: `${leave('other')}` }, {}, { ...context, actionId: 'earlier' })
    const shell = `${leave('pid')}; : > begun; sleep 300`
    const [result] = await tryLimits(
      (timeout_ms) => call({ shell, timeout_ms }, {}, { ...context, actionId: 'c1' }),
      () => existsSync(join(path, 'begun')),
    )
    const [other, escaped] = ['other', 'pid'].map((file) => Number(readFileSync(join(path, file), 'utf8')))
    const alive = [other, escaped].map((pid) => isAlive(pid ?? 0))
    for (const pid of [other, escaped]) if (isAlive(pid ?? 0)) process.kill(pid ?? 0, 'SIGKILL')
    expect(result.status).toBe('TIMEOUT')
    expect(alive).toEqual([true, false])
  },
)

test('an interrupted call says so, and shows what was printed', async () => {
  const { path } = await workspace()
  mkdirSync(join(path, 'out'))
  const controller = new AbortController()
  const command = ['sh', '-c', 'echo begun; touch out/ready; sleep 60']
  const started = call({ command }, {}, { workDirectory: path, signal: controller.signal })
  await waitForFile(join(path, 'out/ready'))
  controller.abort()
  const result = await started
  expect(result).toMatchObject({ status: 'INTERRUPTED', exitCode: null, signal: 'SIGTERM' })
  expect(result.observation).toMatch(
    /^\[interrupted after \d+\.\d s; the command was ended and may have done its work in part\]\nbegun\n$/,
  )
})

test('a call that is interrupted before its command starts says that nothing was run', async () => {
  const { path, has } = await workspace()
  const result = await call({ exec: 'touch begun' }, {}, { workDirectory: path, signal: AbortSignal.abort() })
  expect(result).toMatchObject({
    status: 'INTERRUPTED',
    observation: '[interrupted before it started; nothing was run]\n',
  })
  expect(has('begun')).toBe(false)
})
