import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { hasTerminal, shellOnTerminal } from './terminal.js'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

test('delta --help begins with common tasks, and names every command with one line about it', async () => {
  const { stdout, exitCode } = await delta(['--help'])
  expect(exitCode).toBe(0)
  for (const name of [
    'init',
    'run',
    'continue',
    'list-runs',
    'show',
    'config',
    'tool',
    'mcp',
    'journal',
    'sessions',
  ])
    expect(stdout).toMatch(new RegExp(`^  ${name} .*[A-Z]`, 'm'))
  expect(stdout).toMatch(/^Common tasks:\n {2}delta init /)
  expect(stdout.match(/^(Run|Look|Change|Connect):$/gm)).toHaveLength(4)
})

test('all help fits a terminal of 80 columns', async () => {
  const page = await readFile(`${ROOT}docs/cli.md`, 'utf8')
  const commands = [...page.matchAll(/^### delta (.*)$/gm)].map(([, name]) => name ?? '')
  const tooWide: string[] = []
  for (const words of ['', 'tool', 'mcp', 'context', 'journal', ...commands]) {
    const { stdout } = await delta([...words.split(' ').filter(Boolean), '--help'])
    expect(stdout.length).toBeGreaterThan(100)
    tooWide.push(...stdout.split('\n').filter((line) => line.length > 80))
  }
  expect(tooWide).toEqual([])
})

test('help run is run --help; sessions has its own, which names it as it was typed', async () => {
  for (const name of ['run', 'sessions']) {
    const [help, flag] = await Promise.all([delta(['help', name]), delta([name, '--help'])])
    expect(help).toEqual(flag)
  }
  expect((await delta(['sessions', '--help'])).stdout).toContain('delta sessions exec <id>')
  expect((await delta(['sessions', 'exec'])).stderr).toBe(
    'delta sessions: exec needs a session id. "list" shows those there are.\n',
  )
})

test('docs/cli.md is what the help says', async () => {
  const check = [process.execPath, `${ROOT}scripts/cli-reference.mjs`, '--check']
  expect(await runProcess(check)).toMatchObject({ exitCode: 0, stderr: '' })
})

test.each([
  [['show', '--requst', '1'], '(delta show --help says what it takes)'],
  [['run', '--format', 'xml'], '(delta run --help says what it takes)'],
  [['run', '-m', ''], '(delta run --help says what it takes)'],
  [['tool', 'expand', '--nope'], '(delta tool expand --help says what it takes)'],
  [['tool', 'nope'], '(delta tool --help lists its commands)'],
  [['nope'], '(delta --help lists the commands and options)'],
])('%j is refused with the help that lists what is right there', async (args, hint) => {
  expect((await delta(args)).stderr.trimEnd().split('\n').at(-1)).toBe(hint)
})

test('--version prints the version of the package and nothing else', async () => {
  const { version } = JSON.parse(await readFile(`${ROOT}apps/cli/package.json`, 'utf8'))
  for (const flag of ['--version', '-V']) {
    expect(await delta([flag])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
  }
})

test.each([
  [['rnu'], 'Did you mean run?'],
  [['tool', 'expnad', 'x'], 'Did you mean expand?'],
  [['journal', 'verfy'], 'Did you mean verify?'],
  [['tool', 'check', '.'], '(delta tool --help lists its commands)'],
  [['constructor'], '(delta --help lists the commands and options)'],
  [['list-runs', '--jsn'], 'Did you mean --json?'],
  [['show', '--stpe', '3'], 'Did you mean --step?'],
  [['run', '--formt', 'json'], 'Did you mean --format?'],
])('%j suggests what was meant and exits with 2', async (args, suggestion) => {
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain(suggestion)
})

test.each([
  [[]],
  [['tool']],
  [['journal']],
  [['tool', 'expand']],
  [['run']],
  [['continue']],
  [['completion']],
])('%j alone says what is missing and exits with 2', async (args) => {
  const result = await delta(args)
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toMatch(/Usage:|missing|required|Say what/)
})

test.each([[['show', 'one', 'two']], [['tool', 'list', 'one', 'two']], [['run', 'surplus', '-m', 'x']]])(
  '%j has an argument too many and exits with 2',
  async (args) => {
    expect(await delta(args)).toMatchObject({ exitCode: 2, stdout: '' })
  },
)

test.skipIf(!hasTerminal)(
  'help is as wide as the terminal: words break nowhere, and only a command is left to it',
  async () => {
    const onScreen = async (columns: number, words: string[]) => {
      const { stdout } = await shellOnTerminal(`stty cols ${columns}; "$@"`, [...words, '--help']).result
      return stdout.split('\r\n')
    }
    for (const words of [[], ['run'], ['continue'], ['init'], ['mcp', 'serve'], ['sessions']]) {
      const tooWide = (await onScreen(60, words)).filter((line) => line.length > 60)
      expect(tooWide.filter((line) => !/delta|work_dir|"mcp"/.test(line))).toEqual([])
      const piped = (await delta([...words, '--help'])).stdout.split('\n')
      expect((await onScreen(140, words)).length).toBeLessThan(piped.length)
    }
    expect(await onScreen(60, ['continue'])).toContain('  WAITING_FOR_INPUT  takes the message, or')
    expect(await onScreen(60, ['run'])).toContain('6 another process writes the run, 101 waiting for input,')
  },
)
