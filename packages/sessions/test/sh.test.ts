import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { expect, test } from 'vitest'
import { start, startCommandLine, temporaryDirectory } from './helpers.js'

test.each([
  [
    'the environment and the umask',
    "export VALUE='a\nb=c'; umask 027",
    'printf "%s|" "$VALUE"; umask',
    'a\nb=c|0027\n',
  ],
  [
    'bytes that are not UTF-8',
    `export BYTES="$(printf '\\377\\376')"`,
    'printf %s "$BYTES" | od -An -tx1',
    ' ff fe\n',
  ],
  [
    'unexported variables, aliases and options',
    `plain="a'b\nc"; copy=$plain; alias hi='echo it'; set -f; IFS=:`,
    'hi "$plain" "$copy" *; list=1:2; set -- $list; echo $#',
    "it a'b\nc a'b\nc *\n2\n",
  ],
  [
    'their end',
    `plain=1; alias hi='echo it'\nunset plain IFS; unalias hi`,
    'echo ${plain-gone} ${IFS-gone}; type hi >/dev/null 2>&1 || echo gone',
    'gone gone\ngone\n',
  ],
  ['an exit code', 'export KEPT=1; exit 3', 'echo $KEPT', '1\n'],
  ['set -e', 'set -e; export KEPT=1; false; KEPT=2', 'echo $KEPT', '1\n'],
  [
    'functions of the names it uses itself, which do not disturb what saves',
    'command() { :; }; pwd() { :; }; printf() { :; }; umask() { :; }; alias() { :; }; KEPT=1',
    'echo $KEPT; pwd | grep -c sessions-',
    '1\n1\n',
  ],
])('an sh session remembers %s', async (_, first, second, output) => {
  const { exec, print } = await start('sh')
  await exec(first)
  await exec('true')
  expect(await print(second)).toBe(output)
})

test('an sh session remembers the working directory', async () => {
  const { exec, print, workDirectory } = await start('sh')
  mkdirSync(join(workDirectory, "it's"))
  await exec(`cd "it's"`)
  expect(await print('pwd')).toBe(`${workDirectory}/it's\n`)
})

test.skipIf(!areInstalled('busybox'))(
  'where busybox is all there is, sh has sessions and bash has none',
  async () => {
    const programs = temporaryDirectory()
    execFileSync('busybox', ['--install', '-s', programs])
    const env = { PATH: programs }
    await expect(start('bash', { env })).rejects.toMatchObject({ code: 'ERR_SESSION_PROGRAM' })
    const { exec, print } = await start('sh', { env })
    await exec('plain=1; export KEPT=2; alias hi="echo it"; mkdir d; cd d')
    expect(await print('hi $plain $KEPT ${PWD##*/}')).toBe('it 1 2 d\n')
  },
)

test('what a shell knows of itself is not that of the shell before', async () => {
  const { id, sessionsDirectory, print } = await start('sh')
  const other = await startCommandLine(['exec', id, 'echo $PPID', '--sessions-dir', sessionsDirectory]).result
  const [before, now] = [JSON.parse(other.stdout).stdout, await print('echo $PPID')]
  expect(before).toMatch(/^\d+\n$/)
  expect(now).not.toBe(before)
})

test('a syntax error is a result, and the session goes on', async () => {
  const { exec, print } = await start('sh')
  expect(await exec('if then')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Syntax error'),
  })
  expect(await print('echo on')).toBe('on\n')
})

test("a command's own exit handler runs, and the state is as it was, which is said", async () => {
  const { exec, print } = await start('sh')
  await exec('KEPT=1')
  expect(await exec("trap 'echo bye $?' EXIT; KEPT=2; exit 4")).toMatchObject({
    stdout: 'bye 4\n',
    exitCode: 4,
    notices: [expect.stringContaining('with a trap on EXIT in sh')],
  })
  expect(await exec(`echo $KEPT; (trap 'echo sub' EXIT); KEPT=3; exit 5`)).toMatchObject({
    stdout: '1\nsub\n',
    exitCode: 5,
  })
  expect(await print('echo $KEPT')).toBe('3\n')
})

test('a variable too large for other programs is kept, with a notice, beside a name that no shell takes', async () => {
  const { exec, print } = await start('sh', { env: { 'a.b': 'x'.repeat(100_000) } })
  await exec('BIG=x; for i in 1 2 3 4 5 6 7 8 9; do BIG=$BIG$BIG$BIG$BIG; done; export BIG')
  expect(await exec('echo ${#BIG}')).toMatchObject({
    stdout: '262144\n',
    notices: [expect.stringContaining('BIG (262144 bytes)')],
  })
  await exec('unset BIG')
  expect(await print('ls -d .')).toBe('.\n')
})

test('background jobs are reported for as long as they live', async () => {
  const { exec } = await start('sh')
  const { backgroundJobs: jobs } = await exec('sleep 600 & KEPT=1')
  expect(jobs).toHaveLength(1)
  expect((await exec('echo $KEPT')).backgroundJobs?.map(({ pid }) => pid)).toEqual(
    jobs?.map(({ pid }) => pid),
  )
  const pid = jobs?.[0]?.pid
  await exec(`kill -9 ${pid}; while ps -o stat= -p ${pid} | grep -q '^[^Z]'; do :; done`)
  expect((await exec('true')).backgroundJobs).toBeUndefined()
})

test('a background job is named by its program, in any language, or as it was typed while the shell itself runs it', async () => {
  const { exec } = await start('sh')
  const names = async (command: string) => (await exec(command)).backgroundJobs?.map(({ command }) => command)
  const program = 'mkfifo started; sh -c "echo >started; sleep 600; : café" & read _ <started'
  expect(await names(program)).toEqual(['sh -c echo >started; sleep 600; : café'])
  expect((await names('(sleep 600; : café) &'))?.[1]).toBe('(sleep 600; : café) &')
})
