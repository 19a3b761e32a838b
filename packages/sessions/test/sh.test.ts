import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start, startCommandLine } from './helpers.js'

test('an sh session remembers the working directory, the environment and the umask', async () => {
  const { exec, print, workDirectory } = await start('sh')
  mkdirSync(join(workDirectory, "it's"))
  await exec(`cd "it's"; export VALUE='a
b=c'; umask 027`)
  expect(await print('pwd; printf "%s|" "$VALUE"; umask')).toBe(`${workDirectory}/it's\na\nb=c|0027\n`)
})

test('bytes that are no text come back', async () => {
  const { exec, print } = await start('sh')
  await exec(`export BYTES="$(printf '\\377\\376')"`)
  expect(await print('printf %s "$BYTES" | od -An -tx1')).toBe(' ff fe\n')
})

test('what a shell knows of itself is not that of the shell before', async () => {
  const { id, sessionsDirectory, print } = await start('sh')
  const other = await startCommandLine(['exec', id, 'echo $PPID', '--sessions-dir', sessionsDirectory]).result
  const [before, now] = [JSON.parse(other.stdout).stdout, await print('echo $PPID')]
  expect(before).toMatch(/^\d+\n$/)
  expect(now).not.toBe(before)
})

test('an exit code and set -e are results', async () => {
  const { exec, print } = await start('sh')
  expect(await exec('export KEPT=1; exit 3')).toMatchObject({ exitCode: 3 })
  expect(await exec('set -e; export MORE=1; false; echo never')).toMatchObject({ exitCode: 1, stdout: '' })
  expect(await print('echo $KEPT $MORE')).toBe('1 1\n')
})

test('a syntax error is a result, and the session goes on', async () => {
  const { exec, print } = await start('sh')
  expect(await exec('if then')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Syntax error'),
  })
  expect(await print('echo on')).toBe('on\n')
})

test('unexported variables, aliases and options come back, and go when they are gone', async () => {
  const { exec, print } = await start('sh')
  await exec(`plain="a'b
c"; copy=$plain; alias hi='echo it'; set -f; IFS=:`)
  expect(await print('hi "$plain" "$copy" *; list=1:2; set -- $list; echo $#')).toBe(
    "it a'b\nc a'b\nc *\n2\n",
  )
  await exec('unset plain IFS; unalias hi; set +f')
  expect((await exec('echo ${plain-gone} ${IFS-gone}; hi')).stdout).toBe('gone gone\n')
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

test('functions of the names it uses itself do not disturb what saves', async () => {
  const { exec, print, workDirectory } = await start('sh')
  await exec('command() { :; }; pwd() { :; }; printf() { :; }; umask() { :; }; alias() { :; }; KEPT=1')
  expect(await print('echo $KEPT; pwd')).toBe(`1\n${workDirectory}\n`)
})

test('a variable that no program can be given is kept, and it is said', async () => {
  const { exec, print } = await start('sh')
  await exec('BIG=x; for i in 1 2 3 4 5 6 7 8 9; do BIG=$BIG$BIG$BIG$BIG; done; export BIG')
  expect(await exec('echo ${#BIG}')).toMatchObject({
    stdout: '262144\n',
    notices: [expect.stringContaining('BIG (262144 bytes)')],
  })
  await exec('unset BIG')
  expect(await print('ls -d .')).toBe('.\n')
})

test('nor does a name that no shell takes lock the session where there is too much for an environment', async () => {
  const { exec, print } = await start('sh', { env: { 'a.b': 'x'.repeat(100_000) } })
  await exec('BIG=x; for i in 1 2 3 4 5 6 7 8 9; do BIG=$BIG$BIG$BIG$BIG; done; export BIG')
  expect(await print('echo ${#BIG}')).toBe('262144\n')
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

test('a background job is named as it was typed, in any language', async () => {
  const { exec } = await start('sh')
  const { backgroundJobs: jobs } = await exec('sh -c "sleep 600; : café" &')
  expect(jobs?.map(({ command }) => command)).toEqual(['sh -c sleep 600; : café'])
})
