import { spawnSync } from 'node:child_process'
import { areInstalled, temporaryWorkspace } from '@delta/testkit'
import { afterAll, expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta } from './delta.js'
import { hasTerminal, startOnTerminal } from './terminal.js'

const HAS_ZSH = areInstalled('zsh')
const HAS_FISH = areInstalled('fish')

/** As after an install: `delta` is a program on the PATH. */
const commands = await temporaryWorkspace({
  delta: `#!/bin/sh\nexec '${process.execPath}' '${DELTA}' "$@"\n`,
})
afterAll(commands.remove)
const environment = { PATH: `${commands.path}:${process.env.PATH}` }
const withDelta = cleanEnvironment(environment)

test.skipIf(!HAS_ZSH || !hasTerminal)(
  'zsh completes the same, typed at its prompt, with and without its own completion loaded',
  async () => {
    await using directory = await temporaryWorkspace({ 'agent.yaml': '' })
    await directory.write('delta.zsh', (await delta(['completion', 'zsh'])).stdout)
    for (const own of ['', 'autoload -Uz compinit && compinit -u && ']) {
      const screen = startOnTerminal(['zsh', '-f', '-i'], {
        cwd: directory.path,
        env: { ...environment, HOME: directory.path, TERM: 'dumb' },
      })
      screen.write(`PROMPT='> '; ${own}source ./delta.zsh && echo "READ"Y\r`)
      await screen.waitForOutput('READY')
      for (const [typed, whole] of [
        ['delta ru', 'delta run'],
        ['delta tool ex', 'delta tool expand'],
        ['delta run --format st', 'delta run --format stream-json'],
        ['delta continue --app', 'delta continue --approve'],
        ['delta completion z', 'delta completion zsh'],
        ['delta tool expand ag', 'delta tool expand agent.yaml'],
      ] as const) {
        screen.write(`${typed}\t`)
        await screen.waitForOutput(whole)
        screen.write('\u0015') // empties the line
      }
      screen.write('exit\r')
      const { stdout } = await screen.result
      expect(stdout).not.toMatch(/_delta:|not found|error/)
    }
  },
)

/** What fish offers after `line`, without the descriptions. */
async function offeredByFish(line: string, files: Record<string, string> = {}): Promise<string[]> {
  await using directory = await temporaryWorkspace(files)
  const script = `${(await delta(['completion', 'fish'])).stdout}\ncomplete -C '${line}'`
  const { stdout, stderr } = spawnSync('fish', ['--no-config', '-c', script], {
    encoding: 'utf8',
    cwd: directory.path,
    env: { ...withDelta, HOME: directory.path },
  })
  expect(stderr).toBe('')
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((offer) => offer.split('\t')[0] ?? '')
}

test.skipIf(!HAS_FISH)(
  'fish completes commands, their commands, options, the values of options, and files',
  async () => {
    expect(await offeredByFish('delta ru')).toEqual(['run'])
    expect(await offeredByFish('delta tool ')).toEqual(['expand', 'help', 'import', 'lint', 'list'])
    expect(await offeredByFish('delta tool e')).toEqual(['expand'])
    expect(await offeredByFish('delta tool expand ', { 'agent.yaml': '' })).toEqual(['agent.yaml'])
    expect(await offeredByFish('delta continue --app')).toEqual(['--approve'])
    expect(await offeredByFish('delta run --format s')).toEqual(['stream-json'])
    expect(await offeredByFish('delta completion ', { 'agent.yaml': '' })).toEqual(['bash', 'fish', 'zsh'])
    expect(await offeredByFish('delta help con')).toEqual(['config', 'context', 'continue'])
  },
)
