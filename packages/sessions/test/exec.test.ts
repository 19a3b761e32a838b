import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { tryLimits } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import {
  cleanUpSessions,
  endSession,
  execInSession,
  isSessionError,
  listSessions,
  startSession,
} from '../src/index.js'
import { start, temporaryDirectory } from './helpers.js'

test.each(['bash', 'python3'])(
  'a copied %s session works in the copy, and leaves the original and its processes alone',
  async (program) => {
    const { id, exec, print, workDirectory } = await start(program)
    const [enter, write] =
      program === 'bash'
        ? ['mkdir deep; cd deep; sleep 60 &', 'echo x > made; pwd']
        : ['import os; os.mkdir("deep"); os.chdir("deep")', 'open("made", "w").close(); print(os.getcwd())']
    const jobs = (await exec(enter)).backgroundJobs ?? []
    const copy = temporaryDirectory()
    cpSync(workDirectory, copy, { recursive: true, verbatimSymlinks: true })
    const sessionsDirectory = join(copy, '.sessions')
    const options = { sessionsDirectory, env: { PATH: process.env.PATH } }
    expect(await execInSession(id, write, options)).toMatchObject({
      stdout: `${join(copy, 'deep')}\n`,
      notices: [
        `The session was moved from ${workDirectory} to ${copy}. Its variables may still name the old place.`,
      ],
    })
    expect((await execInSession(id, write, options)).notices).toBeUndefined()
    expect(existsSync(join(workDirectory, 'deep/made'))).toBe(false)
    await endSession(id, { sessionsDirectory })
    for (const { pid } of jobs) expect(() => process.kill(pid, 0)).not.toThrow()
    expect(await print(write)).toBe(`${join(workDirectory, 'deep')}\n`)
  },
)

describe('output', () => {
  test('that is too large for a result is in a file, and the result says which', async () => {
    const { exec, directory } = await start()
    const result = await exec('seq 1 200000; echo warning >&2')
    expect(Buffer.byteLength(result.stdout)).toBeLessThan(17_000)
    expect(result.stdout).toMatch(/^1\n2\n/)
    expect(result.stdout).toMatch(/\n200000\n$/)
    const path = result.stdoutFile ?? ''
    expect(result.stdout).toMatch(/\n\[\d+ bytes left out\]\n/)
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(200_001)
    expect(result).toMatchObject({ stderr: 'warning\n', exitCode: 0 })
    expect(result.stderrFile).toBeUndefined()
    expect(readdirSync(join(directory, 'output'))).toEqual(['1.stdout'])
  })

  test('that is not UTF-8 is in a file byte for byte', async () => {
    const { exec } = await start()
    const result = await exec("printf '\\377\\000x'; echo err >&2")
    expect(result).toMatchObject({ stdout: '\ufffd\0x', stderr: 'err\n' })
    expect(await readFile(result.stdoutFile ?? '')).toEqual(Buffer.from([0xff, 0, 0x78]))
    expect(result.stderrFile).toBeUndefined()
  })
})

test.skipIf(!existsSync('/proc/self/fd'))('no command leaves a file open, nor does the end', async () => {
  const { id, sessionsDirectory, print } = await start()
  const openFiles = () => readdirSync('/proc/self/fd').length
  await print('echo first')
  const before = openFiles()
  for (let count = 0; count < 3; count++) await print('seq 1 20000 | wc -l')
  await endSession(id, { sessionsDirectory })
  expect(openFiles()).toBeLessThanOrEqual(before)
})

test('what a crash left of a state that was never used is replaced', async () => {
  const { directory, exec, print } = await start()
  const current = join(directory, 'current')
  const next = join('states', String(Number(basename(readlinkSync(current))) + 1))
  mkdirSync(join(directory, next))
  writeFileSync(join(directory, next, 'state.bash'), 'HALF=')
  symlinkSync(next, `${current}.new`)
  await exec('KEPT=1')
  expect(await print('echo $KEPT $HALF')).toBe('1\n')
  expect(readdirSync(join(directory, 'states'))).toHaveLength(1)
})

describe('limits', () => {
  test('a timeout ends the whole group, and the state is as it was', async () => {
    const { exec, print, workDirectory } = await start()
    await exec('export KEPT=1')
    const command = "export LOST=1; trap '' TERM; echo $$; : >begun; sleep 600 & sleep 600"
    const [result] = await tryLimits(
      (timeoutMs) => exec(command, { timeoutMs }),
      () => existsSync(join(workDirectory, 'begun')),
    )
    expect(result).toMatchObject({
      exitCode: 124,
      timedOut: true,
      stdout: expect.stringMatching(/^\d+\n$/),
    })
    expect(result.notices).toEqual([
      'The session is as it was before this command: it ran into the time limit.',
    ])
    expect(
      await print(
        `echo $KEPT \${LOST-unset}; ps -e -o pgid=,stat= | grep -cE '^ *${result.stdout.trim()} +[^Z ]' || true`,
      ),
    ).toBe('1 unset\n0\n')
  })

  test('a command with a NUL character is refused', async () => {
    const { exec } = await start()
    await expect(exec('echo \0')).rejects.toMatchObject({ code: 'ERR_SESSION_COMMAND' })
  })

  test('an abort ends the command, and the session goes on', async () => {
    const { exec, print, workDirectory } = await start()
    await exec('mkfifo started')
    const stop = new AbortController()
    const running = exec('echo >started; sleep 600', { signal: stop.signal })
    await readFile(join(workDirectory, 'started')) // ends when the command has written
    stop.abort()
    expect((await running).notices).toEqual(['The session is as it was before this command: it was stopped.'])
    expect(await print('echo on')).toBe('on\n')
  })

  test('a signal that came before anything began is an error, and nothing was done', async () => {
    const { id, exec, print, sessionsDirectory } = await start()
    const signal = AbortSignal.abort()
    await expect(exec('echo >ran', { signal })).rejects.toMatchObject({ code: 'ERR_SESSION_ABORTED' })
    await expect(endSession(id, { sessionsDirectory, signal })).rejects.toMatchObject({
      code: 'ERR_SESSION_ABORTED',
    })
    await expect(cleanUpSessions({ sessionsDirectory, all: true, signal })).rejects.toMatchObject({
      code: 'ERR_SESSION_ABORTED',
    })
    expect(await print('ls')).toBe('')
  })

  test('waiting for another command can be aborted, and then nothing was run', async () => {
    const { exec, print, workDirectory } = await start()
    await exec('mkfifo go')
    const running = exec('read -r line <go; echo "$line"')
    const stop = new AbortController()
    const waiting = exec('echo >ran', { signal: stop.signal })
    stop.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_SESSION_ABORTED' })
    await writeFile(join(workDirectory, 'go'), 'went on\n')
    expect((await running).stdout).toBe('went on\n')
    expect(await print('ls')).toBe('go\n')
  })
})

describe('what is stored', () => {
  test('the files have their documented names and only their owner can read them', async () => {
    const { exec, directory, workDirectory, id } = await start()
    await exec('umask 000; export A=1; f() { :; }; seq 1 100000')
    const modes = new Set<string>()
    const walk = (path: string) => {
      for (const name of readdirSync(path)) {
        const stat = lstatSync(join(path, name))
        if (stat.isSymbolicLink()) continue
        modes.add(`${stat.isDirectory() ? 'directory' : 'file'} ${(stat.mode & 0o777).toString(8)}`)
        if (stat.isDirectory()) walk(join(path, name))
      }
    }
    walk(join(directory, '..'))
    expect([...modes].sort()).toEqual(['directory 700', 'file 600'])
    expect(statSync(join(directory, '..')).mode & 0o777).toBe(0o700)

    expect(readFileSync(join(directory, 'work_dir.txt'), 'utf8')).toBe(`${workDirectory}\n`)
    expect(readFileSync(join(directory, 'env'), 'utf8').split('\0')).toContain('A=1')
    expect(JSON.parse(readFileSync(join(directory, 'metadata.json'), 'utf8'))).toMatchObject({
      session_id: id,
      command: 'bash',
      created_at: expect.stringMatching(/Z$/),
      last_executed_at: expect.stringMatching(/Z$/),
      status: 'active',
      work_dir: workDirectory,
      execution_count: 1,
    })
    expect(JSON.parse(readFileSync(join(directory, 'history.log'), 'utf8'))).toMatchObject({
      command: 'umask 000; export A=1; f() { :; }; seq 1 100000',
      exit_code: 0,
    })
  })

  test('env.sh is the environment for people: sourcing it gives the same bytes, and no session reads it', async () => {
    const { exec, print, directory } = await start()
    await exec(`export ODD=$'it\\'s \\xff $HOME\\n"two" lines '; expected=$ODD`)
    const path = join(directory, 'env.sh')
    const sourced = execFileSync('env', ['-i', '/bin/sh', '-c', '. "$1"; printf %s "$ODD"', 'sh', path])
    expect(sourced).toEqual(Buffer.from('it\'s \xff $HOME\n"two" lines ', 'latin1'))
    writeFileSync(path, 'export ODD=changed; exit 1')
    expect(await print('[ "$ODD" = "$expected" ] && echo unchanged')).toBe('unchanged\n')
  })

  test('half a state file after a power loss is an error that names it, never a session with less in it', async () => {
    const { exec, print, directory } = await start()
    await exec('f() { echo f; }; export KEPT=1; later=2')
    for (const name of ['state.bash', 'env', 'work_dir.txt']) {
      const path = join(directory, 'current', name)
      const whole = readFileSync(path)
      const lengths = [0, 1, whole.length / 2, whole.length - 1]
      const halves = lengths.map((length) => whole.subarray(0, length))
      for (const half of [...halves, Buffer.alloc(whole.length)]) {
        writeFileSync(path, half)
        await expect(exec('true')).rejects.toMatchObject({
          code: 'ERR_SESSION_DAMAGED',
          message: expect.stringMatching(
            /states\/\d+\/[\w.]+: damaged, .*start a new one\.\nIf you changed the file yourself, remove .*SHA256SUMS\.$/,
          ),
        })
      }
      writeFileSync(path, whole)
    }
    expect(await print('f; echo $KEPT$later')).toBe('f\n12\n')
  })

  test('a file of functions that somebody edited counts when its digests are removed, and a broken one never locks the session', async () => {
    const { exec, print, directory } = await start()
    await exec('f() { echo f; }; export KEPT=1')
    writeFileSync(join(directory, 'current', 'state.bash'), 'f() { if; }}}\n((((')
    rmSync(join(directory, 'current', 'SHA256SUMS'))
    expect(await print('echo $KEPT')).toBe('1\n')
    await exec('f() { echo again; }')
    expect(await print('f')).toBe('again\n')
  })
})

test.each<[string, string, (text: string) => string | undefined]>([
  ['metadata.json', 'is empty', () => ''],
  ['metadata.json', 'lacks its last bytes', (text) => text.slice(0, -3)],
  ['metadata.json', 'is half', (text) => text.slice(0, text.length / 2)],
  ['metadata.json', 'lacks its members', () => '{}'],
  ['metadata.json', 'has a job without a pid', (text) => text.replace('_jobs": []', '_jobs": [null]')],
  [
    'metadata.json',
    'has init as a job',
    (text) => text.replace('_jobs": []', '_jobs": [{ "pid": 1, "start": "x" }]'),
  ],
  ['metadata.json', 'has a secret without a name', (text) => text.replace('_names": []', '_names": [5]')],
  ['states/1/env', 'is gone', () => undefined],
  ['current', 'is gone', () => undefined],
  ['lock', 'is a file', () => 'a file'],
])('a session whose %s %s is damaged, says so, and can be ended', async (name, _, edit) => {
  const { exec, id, directory, sessionsDirectory } = await start()
  const path = join(directory, name)
  const text = edit(name === 'metadata.json' ? readFileSync(path, 'utf8') : '')
  rmSync(path, { recursive: true, force: true })
  if (text !== undefined) writeFileSync(path, text)
  await expect(exec('true')).rejects.toMatchObject({
    code: 'ERR_SESSION_DAMAGED',
    message: expect.stringContaining(
      `${path}: damaged, so the session cannot be used. End it and start a new one.`,
    ),
  })
  const status = name === 'metadata.json' ? 'damaged' : 'active'
  expect(listSessions(sessionsDirectory)).toMatchObject([{ sessionId: id, status }])
  expect(await endSession(id, { sessionsDirectory })).toMatchObject({ status: 'terminated' })
  expect(readdirSync(sessionsDirectory)).toEqual([])
})

test('a pipe in the place of a file of a session is not waited for: the session is damaged, or works without that file', async () => {
  const { exec, print, id, directory, sessionsDirectory } = await start()
  const pipe = (name: string) => {
    rmSync(join(directory, name), { force: true })
    execFileSync('mkfifo', [join(directory, name)])
  }
  pipe('history.log')
  expect(await exec('echo heard')).toMatchObject({
    stdout: 'heard\n',
    notices: [expect.stringContaining('This command is not in history.log: ENXIO')],
  })
  pipe('current/state.bash')
  await expect(print('true')).rejects.toMatchObject({ code: 'ERR_SESSION_DAMAGED' })
  pipe('metadata.json')
  await expect(exec('true')).rejects.toMatchObject({
    code: 'ERR_SESSION_DAMAGED',
    message: `${join(directory, 'metadata.json')}: damaged, so the session cannot be used. End it and start a new one.`,
  })
  expect(listSessions(sessionsDirectory)).toMatchObject([{ sessionId: id, status: 'damaged' }])
  expect(await endSession(id, { sessionsDirectory })).toMatchObject({ status: 'terminated' })
})

describe('secrets', () => {
  const key = 'sk-secret-0123456789'
  const env = { OPENAI_API_KEY: key, MY_TOKEN: 'my-token-0123456789' }

  function everything(directory: string): string {
    const read = (path: string): string =>
      readdirSync(path, { withFileTypes: true })
        .map((entry) => {
          const inner = join(path, entry.name)
          if (entry.isDirectory()) return read(inner)
          return entry.isFile() ? readFileSync(inner, 'latin1') : ''
        })
        .join('\n')
    return read(directory)
  }

  test('the API key and declared variables reach the command and no file', async () => {
    const { exec, directory } = await start('bash', { env, secretNames: ['MY_TOKEN'] })
    expect((await exec('echo ${#OPENAI_API_KEY} ${#MY_TOKEN}', {})).stdout).toBe('20 19\n')
    await exec(`(sleep 600; : ${key}) &`)
    const result = await exec('export COPY="x$OPENAI_API_KEY"; inner=$MY_TOKEN; f() { :; }')
    expect(result.notices).toEqual(['Not stored, because they hold a secret: COPY, inner.'])
    expect(everything(directory).includes(key)).toBe(false)
    expect(everything(directory).includes(env.MY_TOKEN)).toBe(false)
  })

  test('the key of the agent that starts it, which llm.api_key_env names, reaches the command and no file', async () => {
    const above = { pairs: [{ vendor: 'GATEWAY_KEY', key }], env: {} }
    const own = { GATEWAY_KEY: key, DELTA_CREDENTIALS: JSON.stringify(above) }
    const { exec, directory } = await start('bash', { env: own })
    const result = await exec('echo ${#GATEWAY_KEY}; export COPY="x$GATEWAY_KEY"')
    expect(result).toMatchObject({
      stdout: '20\n',
      notices: ['Not stored, because they hold a secret: COPY.'],
    })
    expect((await exec('echo ${#GATEWAY_KEY}')).stdout).toBe('20\n')
    expect(everything(directory).includes(key)).toBe(false)
  })

  test('what a command printed is kept without them, also encoded', async () => {
    const { exec, directory } = await start('bash', { env, secretNames: ['MY_TOKEN'] })
    const command =
      'code=$(printf %s "$MY_TOKEN" | base64); for i in {1..3000}; do echo "$i $OPENAI_API_KEY"; echo "$code" >&2; done; unset code'
    const { stdoutFile, stderrFile } = await exec(command)
    expect(readFileSync(stdoutFile ?? '', 'utf8')).toMatch(
      /^1 \[REDACTED\]\n2 \[REDACTED\]\n[\s\S]*\n3000 \[REDACTED\]\n$/,
    )
    expect(statSync(stdoutFile ?? '').mode & 0o777).toBe(0o600)
    expect(readFileSync(stderrFile ?? '', 'utf8')).toContain('[REDACTED]')
    expect(everything(directory).includes(key)).toBe(false)
    expect(everything(directory).includes(btoa(env.MY_TOKEN))).toBe(false)
  })

  test("are there in a command's own exit handler", async () => {
    const { exec } = await start('bash', { env })
    expect(
      (await exec('trap \'echo ${#OPENAI_API_KEY}; bash -c "echo \\${#OPENAI_API_KEY}"\' EXIT')).stdout,
    ).toBe('20\n20\n')
  })
})

describe("a run's variables", () => {
  test('come from the caller of each command, and what a command sets itself stays', async () => {
    const { sessionsDirectory, id, exec } = await start('bash', {
      env: { DELTA_ACTION_ID: 'first', RUN_DIR: '/run/1' },
    })
    const show = (action: string) =>
      execInSession(id, 'echo $DELTA_ACTION_ID $RUN_DIR', {
        sessionsDirectory,
        env: { DELTA_ACTION_ID: action, RUN_DIR: '/run/2' },
      })
    expect((await show('second')).stdout).toBe('second /run/2\n')
    await exec('export RUN_DIR=/own')
    expect((await show('third')).stdout).toBe('third /own\n')
  })
})

describe('ids and programs', () => {
  test.each(['../x', '', 'a/b', '.', '..', 'a b', 'x'.repeat(65), 'a\0'])(
    '%j is refused as an id',
    async (id) => {
      const sessionsDirectory = temporaryDirectory()
      for (const act of [
        endSession(id, { sessionsDirectory }),
        execInSession(id, 'true', { sessionsDirectory, env: {} }),
      ]) {
        const error = await act.catch((caught) => caught)
        expect(error).toMatchObject({ code: 'ERR_SESSION_ID' })
        expect(isSessionError(error)).toBe(true)
      }
    },
  )

  test('a link out of the sessions directory is no session', async () => {
    const { directory } = await start()
    const sessionsDirectory = temporaryDirectory()
    symlinkSync(directory, join(sessionsDirectory, 'sess_link'))
    await expect(endSession('sess_link', { sessionsDirectory })).rejects.toMatchObject({
      code: 'ERR_SESSION_UNKNOWN',
    })
    expect(listSessions(sessionsDirectory)).toEqual([])
  })

  test.each(['bash', 'sh'])(
    '%s works in a directory whose name a shell would read in its own way',
    async (program) => {
      const sessionsDirectory = join(temporaryDirectory(), `it's "$HOME" \`id\` \\ é!`, '.sessions')
      const env = { PATH: process.env.PATH, BYTES: 'é' }
      const workDirectory = join(sessionsDirectory, '..')
      mkdirSync(workDirectory)
      const { sessionId: id } = await startSession(program, {
        sessionsDirectory,
        cwd: workDirectory,
        env,
      })
      await execInSession(id, 'KEPT=1; alias there="echo there"', { sessionsDirectory, env })
      const result = await execInSession(id, 'there\necho $KEPT', { sessionsDirectory, env })
      expect(result).toMatchObject({ stdout: 'there\n1\n', stderr: '', workDir: workDirectory })
      await endSession(id, { sessionsDirectory })
    },
  )

  test('a program in a relative directory of PATH is found from where the session begins', async () => {
    const workDirectory = temporaryDirectory()
    const sessionsDirectory = join(workDirectory, '.sessions')
    mkdirSync(join(workDirectory, 'bin'))
    writeFileSync(join(workDirectory, 'bin', 'bash'), '#!/bin/sh\nexec /bin/bash "$@"\n', { mode: 0o700 })
    const env = { PATH: `bin:${process.env.PATH}` }
    const { sessionId: id } = await startSession('bash', {
      sessionsDirectory,
      cwd: workDirectory,
      env,
    })
    const { program } = JSON.parse(readFileSync(join(sessionsDirectory, id, 'metadata.json'), 'utf8'))
    expect(program).toBe(join(workDirectory, 'bin', 'bash'))
    const result = await execInSession(id, 'cd /; echo here', { sessionsDirectory, env })
    expect(result).toMatchObject({ stdout: 'here\n', workDir: '/' })
  })

  test('a secret name that is no name of a variable is refused', async () => {
    const workDirectory = temporaryDirectory()
    const sessionsDirectory = join(workDirectory, '.sessions')
    const options = { sessionsDirectory, cwd: workDirectory, env: {}, secretNames: ['KEY; id'] }
    await expect(startSession('bash', options)).rejects.toMatchObject({
      code: 'ERR_SESSION_COMMAND',
      message: '"KEY; id" is not the name of a variable.',
    })
  })

  test.each([
    ['ruby', undefined, 'There are no sessions of "ruby". Start bash, sh or python3.'],
    ['/no/such/bash', undefined, '"/no/such/bash" cannot be started: there is no such program in PATH'],
    ['bash', 'exit 3', 'cannot be started: it ended with exit code 3'],
    ['bash', 'kill -9 $$', 'cannot be started: it was ended by SIGKILL'],
    ['bash', 'echo "no licence" >&2; exit 1', 'cannot be started: no licence'],
  ])('a program that cannot run is refused, and the error says why: %s %s', async (name, script, reason) => {
    const cwd = temporaryDirectory()
    const program = script === undefined ? name : join(cwd, name)
    if (script !== undefined) writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o700 })
    const started = startSession(program, { sessionsDirectory: join(cwd, '.sessions'), cwd, env: {} })
    await expect(started).rejects.toMatchObject({
      code: 'ERR_SESSION_PROGRAM',
      message: expect.stringContaining(reason),
    })
  })
})
