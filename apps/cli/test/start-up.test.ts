import { cp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnvironment, DELTA, scene } from './delta.js'

const HOOK = fileURLToPath(new URL('./loaded-bundles.cjs', import.meta.url))
const PACKAGE = fileURLToPath(new URL('../', import.meta.url))

/** The bundles that a command reads, without the one that starts them all. */
async function bundlesOf(args: string[]): Promise<string[]> {
  const argv = [process.execPath, '--require', HOOK, DELTA, ...args]
  const { stderr } = await runProcess(argv, { env: cleanEnvironment() })
  return (/loaded: (.*)$/m.exec(stderr)?.[1] ?? '').split(' ').filter((name) => name && name !== 'start')
}

test('a command loads the parser and its own bundle, and --version nothing', async () => {
  const { agent, words } = await scene({ tools: [{ name: 'say', exec: 'echo ${text}' }] })
  for (const [args, bundles] of [
    [['--version'], []],
    [
      ['tool', 'expand', agent.path],
      ['main', 'program', 'tool', 'yaml'],
    ],
    [words('list-runs'), ['main', 'program', 'list-runs']],
    [
      ['sessions', 'list'],
      ['main', 'sessions'],
    ],
    [words('run'), ['main', 'program', 'commands-that-run', 'yaml']],
  ] as const)
    expect(await bundlesOf([...args]), args[0]).toEqual(bundles)
})

test('the bundles are ASCII: they are read as Latin-1, in which any other character would be two', async () => {
  const bundles = (await readdir(join(PACKAGE, 'dist'))).filter((name) => name.endsWith('.cjs'))
  expect(bundles).toContain('commands-that-run.cjs')
  for (const name of bundles) {
    const bytes = await readFile(join(PACKAGE, 'dist', name))
    expect(
      bytes.some((byte) => byte > 0x7f),
      name,
    ).toBe(false)
  }
})

test('no bundle holds what each start would pay for and none uses: the translations of zod, the pattern of all emoji', async () => {
  for (const name of (await readdir(join(PACKAGE, 'dist'))).filter((file) => file.endsWith('.cjs')))
    expect(await readFile(join(PACKAGE, 'dist', name), 'latin1'), name).not.toMatch(/Entrada inv|RGI_Emoji/)
})

/** The program as it is installed, in a directory of its own. */
async function installed() {
  const directory = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  for (const part of ['bin.cjs', 'package.json', 'dist', 'path'])
    await cp(join(PACKAGE, part), join(directory.path, part), { recursive: true })
  await directory.write('a.yaml', '- name: one\n  exec: echo\n')
  const list = async (umask = '022') => {
    const script = `umask ${umask}; exec "$@"`
    const argv = ['sh', '-c', script, 'sh', process.execPath, 'bin.cjs', 'tool', 'list', 'a.yaml']
    const result = await runProcess(argv, { cwd: directory.path, env: cleanEnvironment() })
    expect(result).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('one()'), stderr: '' })
  }
  return { directory, list, compiled: join(directory.path, 'compiled') }
}

test('compiled code is kept beside the program, only its owner may write it, and it is replaced when it is of no use', async () => {
  const { directory, list, compiled } = await installed()
  await list('0')
  const kept = await readdir(compiled)
  expect(kept.map((name) => name.split('-v')[0]).sort()).toEqual(['main', 'program', 'tool', 'yaml'])
  for (const path of [compiled, ...kept.map((name) => join(compiled, name))])
    expect((await stat(path)).mode & 0o022, path).toBe(0) // it decides what runs

  const times = () => Promise.all(kept.map(async (name) => (await stat(join(compiled, name))).mtimeMs))
  const before = await times()
  await list()
  expect(await times()).toEqual(before)
  for (const name of kept) await writeFile(join(compiled, name), 'not compiled code')
  await list()
  for (const name of kept) expect(await directory.read(`compiled/${name}`)).not.toBe('not compiled code')
  expect(await readdir(compiled)).toEqual(kept)
})

test('a program that cannot keep compiled code works as well', async () => {
  const { directory, list } = await installed()
  await directory.write('compiled', 'a file where the directory should be')
  await list()
})

test('a program whose own files are gone, as in the middle of an upgrade, ends', async () => {
  const directory = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  for (const name of ['bin.cjs', 'package.json', 'dist'])
    await cp(join(PACKAGE, name), join(directory.path, name), { recursive: true })
  await rm(join(directory.path, 'dist/errors.cjs'))
  const argv = [process.execPath, join(directory.path, 'bin.cjs'), 'run', '--agent', 'nowhere', '-m', 'x']
  expect(await runProcess(argv, { env: cleanEnvironment() })).toMatchObject({ exitCode: 1, signal: null })
})
