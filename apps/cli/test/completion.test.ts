import { spawnSync } from 'node:child_process'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { cleanEnvironment, DELTA, delta } from './delta.js'
import { hasTerminal, startOnTerminal } from './terminal.js'

/** As after an install: `delta` is a program on the PATH, and its completion a file beside it. */
async function installed() {
  const { stdout: script } = await delta(['completion', 'bash'])
  const files = { delta: `#!/bin/sh\nexec '${process.execPath}' '${DELTA}' "$@"\n`, 'delta.bash': script }
  const commands = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  return { path: commands.path, env: { PATH: `${commands.path}:${process.env.PATH}` } }
}

test('bash completes commands, their commands, options, the values of options and of arguments', async () => {
  const { path, env } = await installed()
  /** What bash offers after `line`, with the cursor at its end. */
  const offered = (line: string) => {
    const words = line.split(' ')
    const ask = `source ${path}/delta.bash
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_delta; printf '%s\\n' "\${COMPREPLY[@]}"`
    const options = { encoding: 'utf8', cwd: path, env: cleanEnvironment(env) } as const
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], options)
    expect(stderr).toBe('')
    return stdout.split('\n').filter(Boolean)
  }
  for (const [line, words] of [
    ['delta r', ['run', 'replay']],
    ['delta tool e', ['expand']],
    ['delta continue --app', ['--approve']],
    ['delta run --format s', ['stream-json']],
    ['delta init -t c', ['code-reviewer']],
    ['delta --ver', ['--version']],
    ['delta completion ', ['bash', 'zsh', 'fish']],
    ['delta help con', ['continue', 'config', 'context']],
    ['delta mcp ', ['import', 'call', 'serve', 'help']],
  ] as const)
    expect(offered(line), line).toEqual(words)
})

test.skipIf(!hasTerminal)('bash completes files typed at its prompt, quoted as they must be', async () => {
  const { path, env } = await installed()
  const files = { 'agent.yaml': '', 'my place/notes.txt': '' }
  const directory = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const screen = startOnTerminal(['bash', '--norc', '--noprofile', '-i'], {
    cwd: directory.path,
    env: { ...env, HOME: directory.path, TERM: 'dumb' },
  })
  screen.write(`source ${path}/delta.bash && echo "READ"Y\r`)
  await screen.waitForOutput('READY')
  for (const [typed, whole] of [
    ['delta tool expand ag', 'delta tool expand agent.yaml !'],
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

test('an unknown shell is refused with those there are', async () => {
  const result = await delta(['completion', 'tcsh'])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('bash, zsh, fish')
})
