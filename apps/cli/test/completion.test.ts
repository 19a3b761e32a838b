import { spawnSync } from 'node:child_process'
import { temporaryWorkspace } from '@delta/testkit'
import { afterAll, expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta } from './delta.js'
import { hasTerminal, startOnTerminal } from './terminal.js'

/** As after an install: `delta` is a program on the PATH. */
const commands = await temporaryWorkspace({
  delta: `#!/bin/sh\nexec '${process.execPath}' '${DELTA}' "$@"\n`,
})
afterAll(commands.remove)
const environment = { PATH: `${commands.path}:${process.env.PATH}` }
const withDelta = cleanEnvironment(environment)

/** What bash offers after `line`, with the cursor at its end. */
async function offered(line: string, files: Record<string, string> = {}): Promise<string[]> {
  await using directory = await temporaryWorkspace(files)
  const script = (await delta(['completion', 'bash'])).stdout
  const words = line.split(' ').map((word) => word.replace('_p', ' p')) // a blank within a word is written _
  const ask = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_delta; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], {
    encoding: 'utf8',
    cwd: directory.path,
    env: withDelta,
  })
  expect(stderr).toBe('')
  return stdout.split('\n').filter(Boolean)
}

test('bash completes commands, their commands, options and the values of options', async () => {
  expect(await offered('delta r')).toEqual(['run'])
  expect(await offered('delta tool e')).toEqual(['expand'])
  expect(await offered('delta journal ')).toEqual(expect.arrayContaining(['verify', 'repair']))
  expect(await offered('delta continue --app')).toEqual(['--approve'])
  expect(await offered('delta tool expand --j')).toEqual(['--json'])
  expect(await offered('delta run --format s')).toEqual(['stream-json'])
  expect(await offered('delta init -t c')).toEqual(['code-reviewer'])
  expect(await offered('delta --ver')).toEqual(['--version'])
})

test.skipIf(!hasTerminal)('bash completes files typed at its prompt, quoted as they must be', async () => {
  await using directory = await temporaryWorkspace({ 'agent.yaml': '', 'my place/notes.txt': '' })
  await directory.write('delta.bash', (await delta(['completion', 'bash'])).stdout)
  const screen = startOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    cwd: directory.path,
    env: { ...environment, HOME: directory.path, TERM: 'dumb' },
  })
  screen.write('source ./delta.bash && echo "READ"Y\r')
  await screen.waitForOutput('READY')
  for (const [typed, whole] of [
    ['delta tool expand ag', 'delta tool expand agent.yaml !'],
    ['delta run -w my', 'delta run -w my\\ place/!'],
    ['delta run -w my\\ pl', 'delta run -w my\\ place/!'],
    ['delta run -w "my place/no', 'delta run -w "my place/notes.txt" !'],
  ] as const) {
    screen.write(`${typed}\t!`)
    await screen.waitForOutput(whole)
    screen.write('\u0015') // empties the line
  }
  screen.write('exit\r')
  await screen.result
})

test('where an argument has only some values, bash completes those', async () => {
  expect(await offered('delta completion ', { 'agent.yaml': '' })).toEqual(['bash', 'zsh', 'fish'])
  expect(await offered('delta help con')).toEqual(['continue', 'config', 'context'])
  expect(await offered('delta mcp ')).toEqual(['serve', 'help'])
})

test('an unknown shell is refused with those there are', async () => {
  const result = await delta(['completion', 'tcsh'])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('bash, zsh, fish')
})
