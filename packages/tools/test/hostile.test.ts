import { closeSync, mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { areInstalled, runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { openRegular } from '../lib/call.mjs'
import { replaceFile } from '../lib/replace-file.mjs'
import { callTool, workspaceOf } from './helper.js'

const at = async (files: Record<string, string | Uint8Array> = {}) => (await workspaceOf(files)).path

test('a link counts as what it leads to: inside it is the file, elsewhere it is refused', async () => {
  const outside = await at({ 'secret.txt': 'secret\n' })
  const cwd = await at({ 'a.txt': 'one\n' })
  await symlink('a.txt', join(cwd, 'inner'))
  await symlink(join(outside, 'secret.txt'), join(cwd, 'leak.txt'))
  await symlink(outside, join(cwd, 'out'))
  await symlink(join(outside, 'none'), join(cwd, 'later'))
  expect(await callTool('write', { path: 'inner', content: 'two\n' }, { cwd })).toMatchObject({ exitCode: 0 })
  expect(await readFile(join(cwd, 'a.txt'), 'utf8')).toBe('two\n')
  const refused = async (name: string, args: object) => (await callTool(name, args, { cwd })).stderr
  expect(await refused('read', { path: 'leak.txt' })).toBe('leak.txt: outside of the workspace.\n')
  expect(await refused('write', { path: 'out/new.txt', content: '' })).toBe(
    'out/new.txt: outside of the workspace.\n',
  )
  await mkdir(join(cwd, '.delta'))
  await symlink('.delta', join(cwd, 'state'))
  expect(await refused('write', { path: 'state/x', content: '' })).toBe(
    'state/x: .delta is for Delta alone. It can be read, not written.\n',
  )
  expect(await refused('write', { path: 'later', content: '' })).toBe('later is a link to nothing.\n')
  expect(await refused('edit', { path: 'out/secret.txt', edits: [{ old: 's', new: 'x' }] })).toBe(
    'out/secret.txt: outside of the workspace.\n',
  )
  expect(await refused('list', { path: 'out' })).toBe('out: outside of the workspace.\n')
  expect((await callTool('list', { depth: 3 }, { cwd })).stdout).toContain(`out -> ${outside}\n`)
  expect((await callTool('search', { pattern: 'secret' }, { cwd })).stdout).toBe('No line matches.\n')
})

test.skipIf(!areInstalled('mkfifo'))('a pipe is never waited for', async () => {
  const cwd = await at({ 'a.txt': 'x\n' })
  await runProcess(['mkfifo', join(cwd, 'p')])
  const message = 'p is a pipe, a socket or a device, not a file.\n'
  for (const [name, args] of [
    ['read', {}],
    ['write', { content: 'x' }],
    ['edit', { edits: [{ old: 'a', new: 'b' }] }],
    ['search', { pattern: 'x' }],
  ] as const)
    expect(await callTool(name, { path: 'p', ...args }, { cwd })).toMatchObject({
      stderr: message,
      exitCode: 1,
    })
  await runProcess(['mkfifo', join(cwd, '.gitignore')])
  expect((await callTool('search', { pattern: 'x' }, { cwd, env: { PATH: '' } })).stdout).toBe('a.txt:1:x\n')
  await rm(join(cwd, '.gitignore'))
  expect((await callTool('list', {}, { cwd })).stdout).toBe('a.txt\np\n')
})

test('write and edit keep the mode, leave nothing beside, and refuse a file that is read-only', async () => {
  const cwd = await at({ 'run.sh': 'echo a\n', 'fixed.txt': 'a\n' })
  await chmod(join(cwd, 'run.sh'), 0o755)
  await chmod(join(cwd, 'fixed.txt'), 0o444)
  await callTool('edit', { path: 'run.sh', edits: [{ old: 'a', new: 'b' }] }, { cwd })
  await callTool('write', { path: 'run.sh', content: 'echo c\n' }, { cwd })
  expect((await stat(join(cwd, 'run.sh'))).mode & 0o777).toBe(0o755)
  const result = await callTool('write', { path: 'fixed.txt', content: 'b' }, { cwd })
  expect(result).toMatchObject({ stderr: 'fixed.txt is read-only.\n', exitCode: 1 })
  expect((await callTool('list', {}, { cwd })).stdout).toBe('fixed.txt\nrun.sh\n')
})

test('bytes that are not UTF-8 stay as they are, and an edit is made all the same', async () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xfe, 0x0a, 0xc3, 0xa9, 0x0a])
  const cwd = await at({ 'a.txt': bytes })
  await callTool('edit', { path: 'a.txt', edits: [{ old: 'é', new: 'è' }] }, { cwd })
  const after = await readFile(join(cwd, 'a.txt'))
  expect(after.toString('hex')).toBe('efbbbf61fffe0ac3a80a')
})

test('an image is passed on byte for byte', async () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
  const cwd = await at({ 'a.png': png })
  const script = 'node "$0" <<< \'{"path":"a.png"}\' | od -An -tx1 | tr -d " \\n"'
  const read = fileURLToPath(new URL('../read.mjs', import.meta.url))
  expect((await runProcess(['bash', '-c', script, read], { cwd })).stdout).toBe(png.toString('hex'))
})

test('a line of fifty megabytes is read and searched in little memory, and cut', async () => {
  const cwd = await at()
  await writeFile(join(cwd, 'long.txt'), `${'x'.repeat(50_000_000)}\nneedle\n`)
  const env = { NODE_OPTIONS: '--max-old-space-size=40' }
  const { stdout } = await callTool('read', { path: 'long.txt' }, { cwd, env })
  expect(stdout).toMatch(/^ {5}1\tx{2000}… \(49998000 more characters\)\n {5}2\tneedle\n$/)
  const found = await callTool('search', { pattern: 'needle' }, { cwd, env })
  expect(found).toMatchObject({ stdout: 'long.txt:2:needle\n' })
})

test('much output ends with how to go on', async () => {
  const lines = Array.from({ length: 3000 }, (_, index) => `line ${index}\n`).join('')
  const cwd = await at({ 'a.txt': lines })
  expect((await callTool('read', { path: 'a.txt' }, { cwd })).stdout).toMatch(
    / {2}2000\tline 1999\n\[there is more: offset 2001\]\n$/,
  )
  const { stdout } = await callTool('search', { pattern: 'line' }, { cwd })
  expect(stdout.split('\n')).toHaveLength(302)
  expect(stdout).toMatch(/\n\[there are more: narrow the pattern, the path or the glob\]\n$/)
})

test('names with line breaks stay in one line of every message', async () => {
  const cwd = await at({ 'a\nb.txt': 'needle\n' })
  expect((await callTool('search', { pattern: 'needle' }, { cwd })).stdout).toBe('"a\\nb.txt":1:needle\n')
  expect((await callTool('read', { path: 'c\nd' }, { cwd })).stderr).toBe('"c\\nd" does not exist.\n')
  expect((await callTool('read', { path: 'a\0b' }, { cwd })).stderr).toBe('"a\\u0000b" is not a path.\n')
})

test('an edit that another one overtook is refused, and writers at once leave one whole text', async () => {
  const cwd = await at({ 'a.txt': 'start\n' })
  const texts = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(200_000))
  await Promise.all(texts.map((content) => callTool('write', { path: 'a.txt', content }, { cwd })))
  expect(texts).toContain(await readFile(join(cwd, 'a.txt'), 'utf8'))

  await writeFile(join(cwd, 'n.txt'), 'one\ntwo\n')
  const edits = (old: string) =>
    callTool('edit', { path: 'n.txt', edits: [{ old, new: `${old}!` }] }, { cwd })
  const both = await Promise.all([edits('one'), edits('two')])
  const done = both.filter(({ exitCode }) => exitCode === 0).length
  const text = await readFile(join(cwd, 'n.txt'), 'utf8')
  expect(text.split('!').length - 1).toBeLessThanOrEqual(done)
  expect(done).toBeGreaterThan(0)
})

test('a directory that becomes a link while a file is written into it leads nothing out', async () => {
  const outside = await at()
  const cwd = await at({ 'd/a.txt': '' })
  await mkdir(join(cwd, 'e'))
  await rename(join(cwd, 'd'), join(cwd, 'moved'))
  await symlink(outside, join(cwd, 'd'))
  expect((await callTool('write', { path: 'd/b.txt', content: 'x' }, { cwd })).exitCode).toBe(1)
  expect((await callTool('list', {}, { cwd: outside })).stdout).toBe('. is empty.\n')
})

test('a link that is put on the way after a path was checked leads neither a reader nor a writer out', async () => {
  const outside = await at({ 'a.txt': 'secret\n' })
  const cwd = await at({ 'd/a.txt': 'one\n', 'e/a.txt': 'one\n' })
  const fd = openRegular(join(cwd, 'd/a.txt'))
  expect(fd).toBeTypeOf('number')
  closeSync(fd ?? 0)
  const swap = (name: string) => {
    renameSync(join(cwd, name), join(cwd, `${name}-moved`))
    symlinkSync(outside, join(cwd, name))
  }
  swap('d')
  expect(openRegular(join(cwd, 'd/a.txt'))).toBeUndefined()
  const write = (path: string, check?: () => void) => () =>
    replaceFile(join(cwd, path), Buffer.from('two\n'), { path, mode: undefined, ...(check && { check }) })
  expect(write('d/a.txt')).toThrow('d/a.txt cannot be written')
  mkdirSync(join(outside, 'f'))
  expect(write('d/f/a.txt')).toThrow('d/f/a.txt: its directory changed while it was written.')
  expect(write('e/a.txt', () => swap('e'))).toThrow('e/a.txt: its directory changed while it was written.')
  expect(await readdir(outside, { recursive: true })).toEqual(['a.txt', 'f'])
  expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('secret\n')
  expect((await readdir(cwd)).toSorted()).toEqual(['d', 'd-moved', 'e', 'e-moved'])
})

test('what is no JSON object is explained', async () => {
  const cwd = await at()
  for (const input of ['', 'x', '[]', 'null', '"a"'])
    expect(await callTool('read', input, { cwd })).toMatchObject({
      stderr: `The arguments are one JSON object on stdin: node read.mjs <<< '{"name": "value"}'\n`,
      exitCode: 1,
    })
})

test('shell passes on the exit code and what is printed, and ends with its time', async () => {
  const cwd = await at()
  expect(await callTool('shell', { command: 'echo a; echo b >&2; cat; exit 3' }, { cwd })).toMatchObject({
    stdout: 'a\n',
    stderr: 'b\n',
    exitCode: 3,
  })
  expect(await callTool('shell', { command: 'kill -9 $$' }, { cwd })).toMatchObject({ exitCode: 137 })
  const command = 'echo a; (trap "" TERM; sleep 60) & wait'
  const ended = await callTool('shell', { command, timeout_ms: 500 }, { cwd })
  expect(ended).toMatchObject({
    stdout: 'a\n',
    stderr: '[timeout: ended after 500 ms]\n',
    exitCode: 124,
  })
})
