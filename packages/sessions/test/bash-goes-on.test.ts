import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { start } from './helpers.js'

describe('whatever a command does, the session goes on', () => {
  test('an exit code is a result, and what came before it counts', async () => {
    const { exec, print } = await start()
    expect(await exec('export KEPT=1; exit 3; echo never')).toMatchObject({ exitCode: 3, stdout: '' })
    expect(await print('echo $KEPT')).toBe('1\n')
  })

  test('set -e ends the command, not the session, and stays on', async () => {
    const { exec } = await start()
    expect(await exec('set -e; export KEPT=1; false; echo never')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await exec('echo $KEPT; false; echo never')).toMatchObject({ exitCode: 1, stdout: '1\n' })
    expect(await exec('set +e; false; echo on')).toMatchObject({ exitCode: 0, stdout: 'on\n' })
  })

  test('a syntax error is a result; the lines before it ran', async () => {
    const { exec, print } = await start()
    const result = await exec('export KEPT=1\nif then')
    expect(result.exitCode).toBe(2)
    expect(result.stderr).toContain('syntax error near unexpected token')
    expect(await print('echo $KEPT')).toBe('1\n')
  })

  test('errors name the line of the command, as any bash does', async () => {
    const { exec } = await start()
    expect((await exec('true\nno-such-command')).stderr).toBe(
      'bash: line 2: no-such-command: command not found\n',
    )
  })

  test('tracing and unset variables do not disturb what saves and restores', async () => {
    const { exec } = await start()
    expect((await exec('set -xu; export KEPT=1')).stderr).toBe('+ export KEPT=1\n+ KEPT=1\n')
    expect(await exec('echo $KEPT')).toMatchObject({ stdout: '1\n', stderr: '+ echo 1\n' })
    expect(await exec('echo $NOT_SET')).toMatchObject({
      stderr: expect.stringContaining('unbound variable'),
    })
  })

  test('options that would stop every later command are not kept', async () => {
    const { exec, print } = await start()
    await exec('set -n')
    expect(await print('echo on')).toBe('on\n')
    await exec('set -o onecmd')
    expect(await print('echo one; echo two')).toBe('one\ntwo\n')
  })

  test('a PATH without programs, or none at all, does not lock the session', async () => {
    const { exec, print } = await start()
    await exec('export PATH=/nowhere')
    expect((await exec('ls')).stderr).toBe('bash: line 1: ls: command not found\n')
    await exec('unset PATH')
    expect(await print('echo on')).toBe('on\n')
  })

  test('a directory that is deleted is left for the nearest one that exists, and it is said', async () => {
    const { exec, workDirectory } = await start()
    await exec('mkdir -p deep/er && cd deep/er')
    rmSync(join(workDirectory, 'deep'), { recursive: true })
    expect(await exec('pwd')).toMatchObject({
      stdout: `${workDirectory}\n`,
      notices: [`${join(workDirectory, 'deep/er')} no longer exists; the command ran in ${workDirectory}.`],
    })
    expect((await exec('pwd')).notices).toBeUndefined()
  })

  test('a command that replaces its shell leaves the state as it was, and it is said', async () => {
    const { exec, print } = await start()
    expect(await exec('export LOST=1; exec echo replaced')).toMatchObject({
      stdout: 'replaced\n',
      notices: [expect.stringContaining('The session is as it was before this command')],
    })
    expect(await print('echo ${LOST-unset}')).toBe('unset\n')
  })

  test("a command's own exit handler runs, and the state is kept all the same", async () => {
    const { exec, print } = await start()
    expect(await exec("trap 'echo bye $?' EXIT; export KEPT=1; exit 4")).toMatchObject({
      exitCode: 4,
      stdout: 'bye 4\n',
    })
    expect(await print('echo $KEPT')).toBe('1\n')
    expect((await exec("trap 'echo both' EXIT TERM; kill -TERM $$; trap - TERM")).stdout).toBe('both\nboth\n')
    expect(await print("(trap 'echo sub' EXIT); trap 'echo int' INT; trap 'x' EXIT; trap - EXIT")).toBe(
      'sub\n',
    )
  })

  test('functions and aliases that replace builtins do not disturb what saves', async () => {
    const { exec, print, workDirectory } = await start()
    await exec(`pwd() { echo nowhere; }; printf() { echo no; }; declare() { :; }; alias alias='echo no'
alias export='echo no'; cd() { builtin cd "$@" && echo moved; }`)
    await exec('VALUE=kept; mkdir -p sub; cd sub')
    expect(await print('builtin pwd; builtin printf "%s\\n" "$VALUE"; cd ..')).toBe(
      `${workDirectory}/sub\nkept\nmoved\n`,
    )
  })

  test('nor do functions in place of what every shell script relies on, and disabled builtins', async () => {
    const { exec, print } = await start()
    await exec(`unset() { echo no; }; set() { echo no; }; exit() { echo no; }; export() { echo no; }
builtin() { echo no; }; enable -n printf declare pwd; KEPT=1`)
    expect(await print('echo $KEPT; type -t set exit; type -t declare || echo off')).toBe(
      '1\nfunction\nfunction\noff\n',
    )
  })

  test('any way to name the exit handler is understood, and no other signal is taken for it', async () => {
    const { exec, print } = await start()
    expect((await exec("IFS=:; trap -- 'echo two' INT EXIT; A=1")).stdout).toBe('two\n')
    expect((await exec("trap 'echo EXIT now' INT; A=2")).stdout).toBe('')
    expect((await exec(`trap 'echo one' exit; eval "$(trap -p EXIT)"; A=3`)).exitCode).toBe(0)
    expect(await exec("umask 022; trap 'umask; exit 7' EXIT; A=4")).toMatchObject({
      stdout: '0022\n',
      exitCode: 7,
    })
    expect(await print('echo $A')).toBe('4\n')
  })

  test('a directory whose name is no text is where the session stays', async () => {
    const { exec, print } = await start()
    await exec(`name=$'\\xff\\xfe'; mkdir "$name"; cd "$name"`)
    const result = await exec('[[ ${PWD##*/} == "$name" ]] && echo there')
    expect(result).toMatchObject({ stdout: 'there\n' })
    expect(result.notices).toBeUndefined()
    expect(await print('cd ..; rmdir "$name"; basename "$PWD"; ls')).toMatch(/^sessions-/)
  })

  test('POSIX mode comes back, whether it was set as an option or in the environment', async () => {
    const { exec, print } = await start()
    await exec('set -o posix; export KEPT=1')
    expect(await print('echo $KEPT; shopt -qo posix && echo posix')).toBe('1\nposix\n')
    const { exec: other, print: otherPrint } = await start('bash', { env: { POSIXLY_CORRECT: '1' } })
    await other('export KEPT=1')
    expect(await otherPrint('echo $KEPT $POSIXLY_CORRECT; shopt -qo posix && echo posix')).toBe(
      '1 1\nposix\n',
    )
  })

  test('a handler of every command does not run in what saves', async () => {
    const { exec, print } = await start()
    expect((await exec("trap 'echo step' DEBUG\nexport KEPT=1")).stdout).toBe('step\n')
    expect(await print('echo $KEPT')).toBe('1\n')
  })
})

describe('any text is a command', () => {
  test('here-documents', async () => {
    const { print } = await start()
    expect(await print("cat <<'EOF'\n$HOME `id`\nEOF\ncat <<END\n$((1 + 1))\nEND")).toBe('$HOME `id`\n2\n')
  })

  test('quotes, comments and a line that is not ended', async () => {
    const { print } = await start()
    expect(await print(`echo 'EOF' "it's" # 'unbalanced`)).toBe("EOF it's\n")
    expect(await print('echo a \\\n  b')).toBe('a b\n')
  })

  test('a command of a megabyte', async () => {
    const { print } = await start()
    expect(await print(`text='${'x'.repeat(1_000_000)}'; echo \${#text}`)).toBe('1000000\n')
    expect(await print('echo ${#text}')).toBe('1000000\n')
  })

  test('stdin is empty, so nothing waits for input', async () => {
    const { print } = await start()
    expect(await print('cat; read -r line || echo "nothing to read"')).toBe('nothing to read\n')
  })

  test('a NUL character is refused', async () => {
    const { exec } = await start()
    await expect(exec('echo \0')).rejects.toMatchObject({ code: 'ERR_SESSION_COMMAND' })
  })
})
