import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'
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

test('help run is run --help; sessions has its own, which names it as it was typed', async () => {
  for (const name of ['run', 'sessions'])
    expect(await delta(['help', name])).toEqual(await delta([name, '--help']))
  expect((await delta(['sessions', '--help'])).stdout).toContain('delta sessions exec <id>')
  expect((await delta(['sessions', 'exec'])).stderr).toBe(
    'delta sessions: exec needs a session id. "list" shows the sessions.\n',
  )
})

test('--version prints the version of the package and nothing else', async () => {
  const { version } = JSON.parse(await readFile(`${ROOT}apps/cli/package.json`, 'utf8'))
  for (const flag of ['--version', '-V'])
    expect(await delta([flag])).toMatchObject({ exitCode: 0, stdout: `${version}\n`, stderr: '' })
})

test('a name that every object has is not a command, and --task is refused with its new name', async () => {
  const refused = await delta(['constructor'])
  expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
  expect(refused.stderr).toContain("unknown command 'constructor'")
  expect((await delta(['run', '--task', 'Go'])).stderr).toContain('--task is now -m/--message')
})

test.skipIf(!hasTerminal)(
  'help is as wide as the terminal: words break nowhere, and only a command is left to it',
  async () => {
    const onScreen = async (columns: number, words: string[]) => {
      const { stdout } = await shellOnTerminal(`stty cols ${columns}; "$@"`, [...words, '--help']).result
      return stdout.split('\r\n')
    }
    for (const words of [[], ['run'], ['continue']]) {
      const tooWide = (await onScreen(60, words)).filter((line) => line.length > 60)
      expect(tooWide.filter((line) => !/delta|work_dir|"mcp"/.test(line))).toEqual([])
      const piped = (await delta([...words, '--help'])).stdout.split('\n')
      expect((await onScreen(140, words)).length).toBeLessThan(piped.length)
    }
    expect(await onScreen(60, ['continue'])).toContain('  WAITING_FOR_INPUT  takes the message, or')
  },
)
