import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { endSession } from '../src/index.js'
import { start } from './helpers.js'

describe('a bash session remembers', () => {
  test.each([
    [
      'values byte for byte',
      `export VALUE=$'one\\n\\nit\\'s "quoted" \`back\` =\\\\n$(id) \${HOME}; exit 1 &\\nPATH=/nowhere\\näöü 中文 🙂\\x01\\xff\\xfe'
printf %s "$VALUE" | sha256sum >sum`,
      `printf %s "$VALUE" | sha256sum -c sum; sh -c 'printf %s "$VALUE" | sha256sum -c sum; printf %s "$VALUE" | wc -c'`,
      '-: OK\n-: OK\n88\n',
    ],
    ['empty values', 'export EMPTY=', 'echo "${EMPTY-unset}"', '\n'],
    ['deletions', 'unset GIVEN', 'echo ${GIVEN-gone}', 'gone\n'],
    [
      'unexported variables, with their attributes',
      `plain=$'a\\nb'; list=(one 'two three'); declare -A map=([key]='v w'); declare -i number=7; readonly fixed=yes`,
      'printf "%s|" "$plain" "${list[1]}" "${map[key]}" "$fixed"; number+=1; echo $number; (fixed=no) 2>&1; env | grep -c plain || true',
      'a\nb|two three|v w|yes|8\nbash: line 1: fixed: readonly variable\n0\n',
    ],
    [
      'attributes of exported variables, and those without a value',
      'declare -ix number=5; declare -ux UP=abc; declare -rx FIXED=1; declare -x VALUELESS',
      'number+=1; UP=def; echo $number $UP; declare -p VALUELESS; (FIXED=2) 2>&1; true',
      '6 DEF\ndeclare -x VALUELESS\nbash: line 1: FIXED: readonly variable\n',
    ],
    [
      'variables that tell a shell how to start, and those it would make itself',
      'export BASH_ENV=/nowhere ENV=other HOSTNAME=here',
      'echo $BASH_ENV $ENV; node -p "process.env.HOSTNAME"',
      '/nowhere other\nhere\n',
    ],
    [
      'functions, exported functions and aliases',
      `greet() { echo "hello $1"; }; loud() { greet "$@" | tr a-z A-Z; }; export -f greet\nalias hi='greet there'`,
      'hi; loud you; bash -c "greet child"',
      'hello there\nHELLO YOU\nhello child\n',
    ],
    [
      'the end of functions and aliases',
      'gone() { :; }\nalias away=:\nunset -f gone; unalias away',
      'type gone away 2>&1; true',
      'bash: line 1: type: gone: not found\nbash: line 1: type: away: not found\n',
    ],
    [
      'a function without the aliases of a later command',
      'show() { echo plain; }',
      "alias echo='echo aliased'\nshow",
      'plain\n',
    ],
    [
      'shell options, also those its functions need to be read back',
      'shopt -s extglob nullglob; set -o pipefail\ndigits() { [[ $1 == +([0-9]) ]] && echo digits; }',
      'digits 42; shopt -p nullglob; false | true || echo piped',
      'digits\nshopt -s nullglob\npiped\n',
    ],
    [
      'the umask, IFS and an option that forbids overwriting',
      "umask 027; IFS=:; set -o noclobber; echo old >file; list='a:b'",
      'umask; set -- $list; echo $1 $2; { echo new >file; } 2>/dev/null || cat file',
      '0027\na b\nold\n',
    ],
    [
      'POSIX mode as an option',
      'set -o posix; export KEPT=1',
      'echo $KEPT; shopt -qo posix && echo posix',
      '1\nposix\n',
    ],
    [
      'POSIX mode of the environment',
      'export POSIXLY_CORRECT=1 KEPT=1',
      'echo $KEPT $POSIXLY_CORRECT; shopt -qo posix && echo posix',
      '1 1\nposix\n',
    ],
  ])('%s', async (_, first, second, output) => {
    const { exec, print } = await start('bash', { env: { GIVEN: 'by the caller' } })
    await exec(first)
    await exec('true')
    expect(await print(second)).toBe(output)
  })

  test('the working directory', async () => {
    const { exec, print, workDirectory } = await start()
    mkdirSync(join(workDirectory, 'a b'))
    expect(await exec("cd 'a b'")).toMatchObject({ exitCode: 0, workDir: join(workDirectory, 'a b') })
    expect(await print('pwd; cd - >/dev/null; pwd')).toBe(`${join(workDirectory, 'a b')}\n${workDirectory}\n`)
    expect(await print('pwd')).toBe(`${workDirectory}\n`)
  })

  test('a directory whose name is not UTF-8', async () => {
    const { exec, print } = await start()
    await exec(`name=$'\\xff\\xfe'; mkdir "$name"; cd "$name"`)
    const result = await exec('[[ ${PWD##*/} == "$name" ]] && echo there')
    expect(result).toMatchObject({ stdout: 'there\n' })
    expect(result.notices).toBeUndefined()
    expect(await print('cd ..; rmdir "$name"; basename "$PWD"; ls')).toMatch(/^sessions-/)
  })

  test('a variable too large for other programs, and a notice names it until it is gone', async () => {
    const { exec, print } = await start()
    const notice = /^Exported, but too large .*: BIG \(200000 bytes\)/
    const fill = `BIG="it's \\"\\$x\\\\"; printf -v BIG '%-200000s' "$BIG"; export BIG`
    expect((await exec(fill)).notices).toEqual([expect.stringMatching(notice)])
    const show = 'echo ${#BIG} "${BIG%%  *}"'
    expect(await exec(show)).toMatchObject({
      stdout: `200000 it's "$x\\\n`,
      notices: [expect.stringMatching(notice)],
    })
    expect((await exec('ls')).stderr).toContain('Argument list too long')
    expect((await exec('export -n BIG')).notices).toBeUndefined()
    expect(await print(`ls -d .; ${show}`)).toBe(`.\n200000 it's "$x\\\n`)
  })

  test('variables that are together too large for other programs', async () => {
    const { exec, print } = await start()
    const fill = `printf -v text '%100000s'; for i in {1..40}; do export "V$i=$text"; done; unset text`
    expect((await exec(fill)).exitCode).toBe(0)
    expect(await print('echo ${#V1} ${#V40}')).toBe('100000 100000\n')
    expect((await exec('ls')).stderr).toContain('Argument list too long')
    await exec('for i in {1..40}; do unset V$i; done')
    expect(await print('ls -d .')).toBe('.\n')
  })

  test('megabytes of quotes and newlines', async () => {
    const { exec, print } = await start()
    await exec(`export LONG="$(yes "'" | head -n 500000)"; copy=$LONG`)
    expect(await print('echo ${#LONG} ${#copy}; [[ $LONG == "$copy" ]] && unset LONG copy')).toBe(
      '999999 999999\n',
    )
  })
})

describe('background jobs', () => {
  test.skipIf(!areInstalled('ps'))('are reported while they run, and ended with the session', async () => {
    const { exec, print, sessionsDirectory, id } = await start()
    const [first, second] = [`sleep 600.${process.pid}`, `sleep 601.${process.pid}`] // no other process sleeps as long
    const { backgroundJobs: jobs } = await exec(`${first} & (${second}; echo) & disown; echo started`)
    expect(jobs).toEqual([{ pid: expect.any(Number), command: first }])
    expect((await exec('true')).backgroundJobs).toEqual(jobs)
    const living = `ps -e -o stat=,args= | grep -c "^[^Z]*  *sleep 60[01]\\.${process.pid}$"`
    expect((await exec(living)).stdout).toBe('2\n')
    await endSession(id, { sessionsDirectory })
    expect(existsSync(join(sessionsDirectory, id))).toBe(false)
    const other = await start()
    expect((await other.exec(living)).stdout).toBe('0\n')
    await expect(print('true')).rejects.toMatchObject({ code: 'ERR_SESSION_UNKNOWN' })
  })

  test('go on writing to the file of their command', async () => {
    const { exec, directory } = await start()
    await exec('mkfifo go; (read -r line <go; echo "$line") &')
    await exec('echo later >go; wait')
    await exec('while ! grep -q later .sessions/*/output/1.stdout; do :; done', { timeoutMs: 20_000 })
    expect(readFileSync(join(directory, 'output', '1.stdout'), 'utf8')).toBe('later\n')
  })
})

describe('a bash session goes on after', () => {
  test.each([
    ['an exit code', 'export KEPT=1; exit 3; echo never', { exitCode: 3, stdout: '' }, 'echo $KEPT', '1\n'],
    [
      'a syntax error; the lines before it ran',
      'export KEPT=1\nif then',
      { exitCode: 2, stderr: expect.stringContaining('syntax error near unexpected token') },
      'echo $KEPT',
      '1\n',
    ],
    [
      'an error, which names the line of the command',
      'true\nno-such-command',
      { stderr: 'bash: line 2: no-such-command: command not found\n' },
      'echo on',
      'on\n',
    ],
    ['noexec, which is not kept', 'set -n', {}, 'echo on', 'on\n'],
    ['onecmd, which is not kept', 'set -o onecmd', {}, 'echo one; echo two', 'one\ntwo\n'],
    ['a PATH without programs', 'export PATH=/nowhere', {}, 'echo on', 'on\n'],
    ['no PATH at all', 'unset PATH', {}, 'echo on', 'on\n'],
    [
      'exec, with the state of before and a notice',
      'export LOST=1; exec echo replaced',
      {
        stdout: 'replaced\n',
        notices: [expect.stringContaining('The session is as it was before this command')],
      },
      'echo ${LOST-unset}',
      'unset\n',
    ],
    [
      'an exit handler of the command',
      "trap 'echo bye $?' EXIT; export KEPT=1; exit 4",
      { exitCode: 4, stdout: 'bye 4\n' },
      'echo $KEPT',
      '1\n',
    ],
    [
      'an exit handler for a signal, too',
      "trap 'echo both' EXIT TERM; kill -TERM $$; trap - TERM",
      { stdout: 'both\nboth\n' },
      "(trap 'echo sub' EXIT); trap 'echo int' INT; trap 'x' EXIT; trap - EXIT",
      'sub\n',
    ],
    [
      'an exit handler after --',
      "IFS=:; trap -- 'echo two' INT EXIT; A=1",
      { stdout: 'two\n' },
      'echo $A',
      '1\n',
    ],
    ['a handler that only says EXIT', "trap 'echo EXIT now' INT; A=2", { stdout: '' }, 'echo $A', '2\n'],
    [
      'a handler that is set again',
      `trap 'echo one' exit; eval "$(trap -p EXIT)"; A=3`,
      { exitCode: 0 },
      'echo $A',
      '3\n',
    ],
    [
      'a handler that exits',
      "umask 022; trap 'umask; exit 7' EXIT; A=4",
      { stdout: '0022\n', exitCode: 7 },
      'echo $A',
      '4\n',
    ],
    [
      'a handler of every command, which does not run in what saves',
      "trap 'echo each' DEBUG\nexport KEPT=1",
      { stdout: 'each\n' },
      'echo $KEPT',
      '1\n',
    ],
    [
      'functions and aliases in place of builtins',
      `pwd() { echo nowhere; }; printf() { echo no; }; declare() { :; }; alias alias='echo no'
alias export='echo no'; cd() { builtin cd "$@" && echo moved; }; VALUE=kept; mkdir -p sub; builtin cd sub`,
      { exitCode: 0 },
      'builtin pwd | grep -o "/sub$"; builtin printf "%s\\n" "$VALUE"; cd ..',
      '/sub\nkept\nmoved\n',
    ],
    [
      'functions in place of what every shell script relies on, and disabled builtins',
      `unset() { echo no; }; set() { echo no; }; exit() { echo no; }; export() { echo no; }
builtin() { echo no; }; enable -n printf declare pwd; KEPT=1`,
      { exitCode: 0 },
      'echo $KEPT; type -t set exit; type -t declare || echo off',
      '1\nfunction\nfunction\noff\n',
    ],
  ])('%s', async (_, first, result, second, output) => {
    const { exec, print } = await start()
    expect(await exec(first)).toMatchObject(result)
    expect(await print(second)).toBe(output)
  })

  test('set -e ends the command, not the session, and stays on', async () => {
    const { exec } = await start()
    expect(await exec('set -e; export KEPT=1; false; echo never')).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await exec('echo $KEPT; false; echo never')).toMatchObject({ exitCode: 1, stdout: '1\n' })
    expect(await exec('set +e; false; echo on')).toMatchObject({ exitCode: 0, stdout: 'on\n' })
  })

  test('tracing and unset variables, which do not disturb what saves and restores', async () => {
    const { exec } = await start()
    expect((await exec('set -xu; export KEPT=1')).stderr).toBe('+ export KEPT=1\n+ KEPT=1\n')
    expect(await exec('echo $KEPT')).toMatchObject({ stdout: '1\n', stderr: '+ echo 1\n' })
    expect((await exec('echo $NOT_SET')).stderr).toContain('unbound variable')
  })

  test('its directory was deleted, in the nearest one that exists, with a notice', async () => {
    const { exec, workDirectory } = await start()
    await exec('mkdir -p deep/er && cd deep/er')
    rmSync(join(workDirectory, 'deep'), { recursive: true })
    expect(await exec('pwd')).toMatchObject({
      stdout: `${workDirectory}\n`,
      notices: [`${join(workDirectory, 'deep/er')} no longer exists; the command ran in ${workDirectory}.`],
    })
    expect((await exec('pwd')).notices).toBeUndefined()
  })
})

test.each([
  ['here-documents', "cat <<'EOF'\n$HOME `id`\nEOF\ncat <<END\n$((1 + 1))\nEND", '$HOME `id`\n2\n'],
  ['quotes and comments', `echo 'EOF' "it's" # 'unbalanced`, "EOF it's\n"],
  ['a continued line', 'echo a \\\n  b', 'a b\n'],
  ['a megabyte', `text='${'x'.repeat(1_000_000)}'; echo \${#text}`, '1000000\n'],
  ['what reads stdin, which is empty', 'cat; read -r line || echo "nothing to read"', 'nothing to read\n'],
])('any text is a command: %s', async (_, command, output) => {
  const { print } = await start()
  expect(await print(command)).toBe(output)
  expect(await print('echo on')).toBe('on\n')
})
