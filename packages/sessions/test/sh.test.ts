import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { start } from './helpers.js'

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

test('an exit code and set -e are results', async () => {
  const { exec, print } = await start('sh')
  expect(await exec('export KEPT=1; exit 3')).toMatchObject({ exit_code: 3 })
  expect(await exec('set -e; export MORE=1; false; echo never')).toMatchObject({ exit_code: 1, stdout: '' })
  expect(await print('echo $KEPT $MORE')).toBe('1 1\n')
})

test('a syntax error is a result, and the session goes on', async () => {
  const { exec, print } = await start('sh')
  expect(await exec('if then')).toMatchObject({
    exit_code: 2,
    stderr: expect.stringContaining('Syntax error'),
  })
  expect(await print('echo on')).toBe('on\n')
})
