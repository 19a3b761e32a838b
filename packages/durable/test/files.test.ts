import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { appendWhole, createFile, readIfThere, replaceFile } from '../src/index.js'
import { isInside, makeDirectories, namesIn, openAtOnce, realPath, removeFile } from '../src/internal.js'
import { temporaryDirectory } from './helpers.js'

test('a replaced file has its new content and mode, and nothing lies beside it', () => {
  const directory = temporaryDirectory()
  const path = join(directory, 'state.json')
  replaceFile(path, 'one')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  replaceFile(path, Buffer.from('two'), { mode: 0o644, sync: false })
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['two', 0o644])
  expect(readdirSync(directory)).toEqual(['state.json'])
})

test('a file that cannot be replaced is as it was, and the error names it', () => {
  const path = join(temporaryDirectory(), 'taken')
  mkdirSync(path)
  expect(() => replaceFile(path, 'new')).toThrow(expect.objectContaining({ code: 'EISDIR', path }))
  expect(namesIn(join(path, '..'))).toEqual(['taken'])
  const below = join(path, '..', 'file', 'below')
  createFile(join(path, '..', 'file'), '')
  expect(() => replaceFile(below, 'new')).toThrow(
    expect.objectContaining({ code: 'ENOTDIR', path: below, message: expect.stringContaining(`'${below}'`) }),
  )
})

test('a created file must be new', () => {
  const path = join(temporaryDirectory(), 'once')
  createFile(path, 'first')
  expect(() => createFile(path, 'second')).toThrow(expect.objectContaining({ code: 'EEXIST', path }))
  expect(readIfThere(path)?.toString()).toBe('first')
})

test('appended bytes stand behind the old ones', () => {
  const path = join(temporaryDirectory(), 'log')
  writeFileSync(path, 'one\n')
  const file = openSync(path, 'a')
  appendWhole(file, Buffer.from('two\n'))
  closeSync(file)
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n')
})

test('only a file is opened, and a pipe does not block', () => {
  const directory = temporaryDirectory()
  const pipe = join(directory, 'pipe')
  execFileSync('mkfifo', [pipe])
  for (const [path, code] of [
    [pipe, 'ESPIPE'],
    [directory, 'EISDIR'],
    ['/dev/zero', 'ENODEV'],
  ] as const)
    expect(() => openAtOnce(path)).toThrow(expect.objectContaining({ code, path, syscall: 'open' }))
})

test('a file that is too long is not read', () => {
  const path = join(temporaryDirectory(), 'long')
  writeFileSync(path, 'four')
  expect(readIfThere(path, { mostBytes: 4 })?.toString()).toBe('four')
  expect(() => readIfThere(path, { mostBytes: 3 })).toThrow(expect.objectContaining({ code: 'EFBIG', path }))
})

test('a missing file reads as undefined, a missing directory as empty, and either can be removed', () => {
  const path = join(temporaryDirectory(), 'missing')
  expect(readIfThere(path)).toBeUndefined()
  expect(namesIn(path)).toEqual([])
  removeFile(path)
  expect(existsSync(path)).toBe(false)
})

test('directories are created with their parents, and returned', () => {
  const base = temporaryDirectory()
  expect(makeDirectories(join(base, 'a', 'b'), 0o700)).toEqual([join(base, 'a'), join(base, 'a', 'b')])
  expect(statSync(join(base, 'a')).mode & 0o777).toBe(0o700)
  expect(makeDirectories(join(base, 'a', 'b'))).toEqual([])
  chmodSync(join(base, 'a'), 0o700)
  writeFileSync(join(base, 'file'), '')
  expect(() => makeDirectories(join(base, 'file', 'below'))).toThrow(
    expect.objectContaining({ code: 'ENOTDIR' }),
  )
})

test.runIf(process.platform === 'linux')('where nothing can be created, creating a directory fails', () => {
  expect(() => makeDirectories('/proc/nothing/here')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
})

test('a real path is found as far as it exists, and is inside what the links lead into', () => {
  const directory = realPath(temporaryDirectory())
  symlinkSync(directory, join(directory, 'link'))
  symlinkSync('round', join(directory, 'round'))
  expect(realPath(join(directory, 'link', 'gone', 'a'))).toBe(join(directory, 'gone', 'a'))
  expect(realPath(join(directory, 'round', 'a'))).toBe(join(directory, 'round', 'a'))
  const inside = [directory, join(directory, '..a'), join(directory, '..'), `${directory}b`]
  expect(inside.map((path) => isInside(path, directory))).toEqual([true, true, false, false])
})
