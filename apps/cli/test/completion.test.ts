import { spawnSync } from 'node:child_process'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

/** What bash offers after `line`, with the cursor at its end. */
async function offered(line: string, files: Record<string, string> = {}): Promise<string[]> {
  await using directory = await temporaryWorkspace(files)
  const script = (await delta(['completion', 'bash'])).stdout
  const words = line.split(' ')
  const ask = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_delta; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', ask], {
    encoding: 'utf8',
    cwd: directory.path,
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

test('bash completes files where a file is meant', async () => {
  expect(await offered('delta tool expand ag', { 'agent.yaml': '' })).toEqual(['agent.yaml'])
  expect(await offered('delta run -w wo', { 'work/x': '' })).toEqual(['work'])
})

test.each(['bash', 'zsh', 'fish'])('the script for %s is one that this shell can read', async (shell) => {
  const { stdout, exitCode } = await delta(['completion', shell])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('list-runs')
  if (spawnSync(shell, ['-c', 'true']).status !== 0) {
    console.warn(`SKIPPED: ${shell} is not installed, so nobody has read its completion script.`)
    return
  }
  expect(spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  })
})

test('an unknown shell is refused with those there are', async () => {
  const result = await delta(['completion', 'tcsh'])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toContain('bash, zsh, fish')
})
