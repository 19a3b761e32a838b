import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA } from './delta.js'

const HOOK = fileURLToPath(new URL('./loaded-bundles.cjs', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../', import.meta.url))

/** The bundles that a command reads, without the one that starts them all. */
async function bundlesOf(args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const argv = [process.execPath, '--require', HOOK, DELTA, ...args]
  const { stderr } = await runProcess(argv, { env: cleanEnvironment(env) })
  return (/loaded: (.*)$/m.exec(stderr)?.[1] ?? '').split(' ').filter((name) => name && name !== 'start')
}

test('--version loads nothing', async () => {
  expect(await bundlesOf(['--version'])).toEqual([])
})

test('a command loads the parser and its own bundle, and a model only what it needs', async () => {
  await using agent = await temporaryAgent({ tools: [{ name: 'say', exec: 'echo ${text}' }] })
  await using workspace = await temporaryWorkspace({})
  expect(await bundlesOf(['tool', 'expand', agent.path])).toEqual(['main', 'program', 'tool', 'yaml'])
  expect(await bundlesOf(['list-runs', '-w', workspace.path])).toEqual(['main', 'program', 'list-runs'])
  expect(await bundlesOf(['mcp', 'serve', agent.path])).toEqual(['main', 'program', 'mcp-serve', 'yaml'])
  expect(await bundlesOf(['sessions', 'list'])).toEqual(['main', 'sessions'])
  const run = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect(await bundlesOf(run)).toEqual(['main', 'program', 'run', 'yaml'])
})

test('the bundles are ASCII: they are read as Latin-1, in which any other character would be two', async () => {
  const bundles = (await readdir(join(PACKAGE, 'dist'))).filter((name) => name.endsWith('.cjs'))
  expect(bundles).toContain('run.cjs')
  for (const name of bundles) {
    const bytes = await readFile(join(PACKAGE, 'dist', name))
    expect(
      bytes.findIndex((byte) => byte > 0x7f),
      name,
    ).toBe(-1)
  }
})

/** The program as it is installed, in a directory of its own. */
async function installed() {
  const directory = await temporaryWorkspace({})
  for (const part of ['bin.cjs', 'package.json', 'dist', 'path'])
    await cp(join(PACKAGE, part), join(directory.path, part), { recursive: true })
  await writeFile(join(directory.path, 'a.yaml'), '- name: one\n  exec: echo\n')
  const list = (file = 'a.yaml') => {
    const argv = [
      process.execPath,
      join(directory.path, 'bin.cjs'),
      'tool',
      'list',
      join(directory.path, file),
    ]
    return runProcess(argv, { env: cleanEnvironment() })
  }
  return { directory, list }
}

test('compiled code is kept beside the program, and is replaced when it is of no use', async () => {
  const { directory, list } = await installed()
  await using _ = directory
  const compiled = join(directory.path, 'compiled')
  const expected = { exitCode: 0, stdout: expect.stringContaining('one()'), stderr: '' }
  expect(await list()).toMatchObject(expected)
  const kept = (await readdir(compiled)).filter((name) => !name.startsWith('tools-'))
  expect(kept.map((name) => name.split('-v')[0]).sort()).toEqual(['main', 'program', 'tool', 'yaml'])

  for (const name of kept) await writeFile(join(compiled, name), 'not compiled code')
  expect(await list()).toMatchObject(expected)
  for (const name of kept) expect(await directory.read(`compiled/${name}`)).not.toBe('not compiled code')
  expect(await readdir(compiled)).toEqual(expect.arrayContaining(kept))
})

const toolsThat = (exec: string) =>
  Array.from({ length: 12 }, (_, index) => `- { name: tool_${index}, exec: '${exec}' }\n`).join('')

test('where new files may be written by everybody, what is kept may not: it decides what runs', async () => {
  const { directory } = await installed()
  await using _ = directory
  const list = [process.execPath, 'bin.cjs', 'tool', 'list', 'a.yaml']
  const argv = ['sh', '-c', 'umask 0; "$@"', 'sh', ...list]
  expect(await runProcess(argv, { cwd: directory.path, env: cleanEnvironment() })).toMatchObject({
    exitCode: 0,
  })
  const compiled = join(directory.path, 'compiled')
  const names = await readdir(compiled)
  expect(names).toHaveLength(4)
  for (const path of [compiled, ...names.map((name) => join(compiled, name))])
    expect((await stat(path)).mode & 0o022, path).toBe(0)
})

test('a program that cannot keep compiled code works as well', async () => {
  const { directory, list } = await installed()
  await using _ = directory
  await directory.write('compiled', 'a file where the directory should be')
  await directory.write('many.yaml', toolsThat('echo'))
  expect(await list()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('one()'), stderr: '' })
  expect(await list('many.yaml')).toMatchObject({ exitCode: 0, stderr: '' })
})
