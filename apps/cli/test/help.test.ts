import { readFile } from 'node:fs/promises'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { runProgram } from '../src/program.js'
import type { Terminal } from '../src/terminal.js'
import { delta, deltaProcess } from './delta.js'
import { hasTerminal, shellOnTerminal } from './terminal.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

test('docs/cli.md is what the help says, and all of it fits a terminal of 80 columns', async () => {
  const check = [process.execPath, `${ROOT}scripts/cli-reference.mjs`, '--check']
  expect(await runProcess(check)).toMatchObject({ exitCode: 0, stderr: '' })
  const page = await readFile(`${ROOT}docs/cli.md`, 'utf8')
  const blocks = [...page.matchAll(/^```(?:text|console|sh)?\n([\s\S]*?)^```$/gm)].map(
    ([, block = '']) => block,
  )
  expect(blocks.length).toBeGreaterThan(15)
  expect(blocks.flatMap((block) => block.split('\n')).filter((line) => line.length > 80)).toEqual([])
})

test('help run is run --help, at any depth; sessions has its own, which names it as it was typed', async () => {
  for (const words of [['run'], ['sessions'], ['tool', 'expand']])
    expect(await delta(['help', ...words])).toEqual(await delta([...words, '--help']))
  expect((await delta(['sessions', '--help'])).stdout).toContain('delta sessions exec <id>')
  expect((await delta(['sessions', 'exec'])).stderr).toBe(
    'delta sessions: exec needs a session id. "list" shows the sessions.\n',
  )
})

test('--version prints the version of the package and nothing else', async () => {
  const { version } = JSON.parse(await readFile(`${ROOT}apps/cli/package.json`, 'utf8'))
  for (const flag of ['--version', '-V'])
    expect(await deltaProcess([flag])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
})

/** What the program says to words on the command line, in this process: exit code and stderr. */
async function said(...argv: string[]): Promise<string> {
  const stderr = new PassThrough()
  const terminal = { argv, env: {}, cwd: ROOT, stdout: new PassThrough(), stderr } as unknown as Terminal
  const exitCode = await runProgram(terminal)
  return `${exitCode} ${stderr.read() ?? ''}`
}

test('a word that is not a command is an error with the nearest one, also beside --help', async () => {
  for (const words of ['rnu', 'rnu --help', 'help rnu'])
    expect(await said(...words.split(' '))).toBe(
      "2 Error: unknown command 'rnu'\n(Did you mean run?)\nSee delta --help.\n",
    )
  expect(await said('constructor')).toMatch(/^2 Error: unknown command 'constructor'\n/) // a name that every object has
  for (const words of ['tool expnd -h', 'help tool expnd', 'tool help expnd'])
    expect(await said(...words.split(' '))).toContain(
      "2 Error: unknown command 'expnd'\n(Did you mean expand?)",
    )
})

test('a value is not glued to a one-letter option of any command; flags may be, and a message has quotes', async () => {
  for (const words of ['run -m=hi', 'run -message', 'continue -qmhi', 'context build -w. -m x', 'init -tx']) {
    const [word = ''] = /(?<= )-\S+(?=$| )/.exec(words) ?? []
    expect(await said(...words.split(' '))).toMatch(
      new RegExp(
        `^2 Error: '${word.replace('.', '\\.')}': a value is not written onto -[mwt]\\. Write -[mwt] <`,
      ),
    )
  }
  expect(await said('run', '-m=hi')).toBe(
    "2 Error: '-m=hi': a value is not written onto -m. Write -m <text>, or --message <text>\nSee delta run --help.\n",
  )
  const flags = await said('run', '-qvm')
  expect(flags).toContain("option '-m, --message <text>' argument missing")
  expect(await said('run', '--mesage', 'Go')).toContain('(Did you mean --message?)')
  for (const [words, stray] of [
    [['do it'], 'do it'],
    [['-m', 'do', 'it', 'now'], 'it now'],
  ] as const)
    expect(await said('run', '--agent', 'x', ...words)).toBe(
      `2 Error: unexpected '${stray}'. A message goes behind -m, in quotes: -m "…"\nSee delta run --help.\n`,
    )
})

test('help is as wide as the terminal: from 60 columns on words break nowhere', async () => {
  const page = await readFile(`${ROOT}docs/cli.md`, 'utf8')
  const commands = [...page.matchAll(/^##+ delta ?(.*)$/gm)].map(([, words = '']) =>
    words.split(' ').filter(Boolean),
  )
  for (const words of commands.filter(([first]) => first !== 'sessions')) {
    const narrow = await helpOf(words, 60)
    expect(narrow.filter((line) => line.length > 60)).toEqual([])
    expect((await helpOf(words, 140)).length).toBeLessThanOrEqual((await helpOf(words, 80)).length)
  }
  expect(await helpOf(['continue'], 60)).toContain('  WAITING_FOR_INPUT  takes the message, or')
  expect((await helpOf(['run'], 140)).length).toBeLessThan((await helpOf(['run'], 80)).length)
})

async function helpOf(words: readonly string[], columns: number): Promise<string[]> {
  const stdout = Object.assign(new PassThrough(), { columns })
  const argv = [...words, '--help']
  await runProgram({ argv, env: {}, cwd: ROOT, stdout, stderr: stdout } as unknown as Terminal)
  return String(stdout.read()).split('\n')
}

test.skipIf(!hasTerminal)('the width of the help is that of the terminal it is printed on', async () => {
  const { stdout } = await shellOnTerminal('stty cols 60; "$@"', ['continue', '--help']).result
  expect(stdout.split('\r\n')).toEqual(await helpOf(['continue'], 60))
})
