import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { start } from './helpers.js'

describe('a bash session remembers', () => {
  test('the working directory', async () => {
    const { exec, print, workDirectory } = await start()
    mkdirSync(join(workDirectory, 'a b'))
    expect(await exec("cd 'a b'")).toMatchObject({ exit_code: 0, work_dir: join(workDirectory, 'a b') })
    expect(await print('pwd; cd - >/dev/null; pwd')).toBe(`${join(workDirectory, 'a b')}\n${workDirectory}\n`)
    expect(await print('pwd')).toBe(`${workDirectory}\n`)
  })

  test.each([
    ['newlines', 'one\ntwo\n\n'],
    ['quotes', `it's "quoted" \`back\` \\ \\n`],
    ['an equals sign', '=a=b='],
    ['shell syntax', '$(id) ${HOME} $HOME; exit 1 &'],
    ['what looks like a variable of the file', 'x\nPATH=/nowhere'],
    ['nothing', ''],
    ['other scripts and emoji', 'äöü 中文 🙂'],
  ])('the environment byte for byte: %s', async (_what, value) => {
    const { exec, print } = await start()
    await exec(`export VALUE=${quote(value)}`)
    await exec('true')
    expect(await print('printf %s "$VALUE"')).toBe(value)
    expect(await print('node -p "JSON.stringify(process.env.VALUE)"')).toBe(`${JSON.stringify(value)}\n`)
  })

  test('bytes that are no text', async () => {
    const { exec, print } = await start()
    await exec(`export BYTES=$'\\x01\\xff\\xfe\\x80 end'`)
    await exec('export OTHER=1')
    expect(await print('printf %s "$BYTES" | od -An -tx1')).toBe(' 01 ff fe 80 20 65 6e 64\n')
  })

  test('deletions', async () => {
    const { exec, print } = await start('bash', { env: { GIVEN: 'by the caller' } })
    expect(await print('echo $GIVEN')).toBe('by the caller\n')
    await exec('unset GIVEN')
    expect(await print('echo ${GIVEN-gone}')).toBe('gone\n')
  })

  test('unexported variables, with their attributes', async () => {
    const { exec, print } = await start()
    await exec(
      `plain=$'a\\nb'; list=(one 'two three'); declare -A map=([key]='v w'); declare -i number=7; readonly fixed=yes`,
    )
    expect(
      await print('printf "%s|" "$plain" "${list[1]}" "${map[key]}" "$fixed"; number+=1; echo $number'),
    ).toBe('a\nb|two three|v w|yes|8\n')
    expect(await print('node -p "process.env.plain"')).toBe('undefined\n')
    expect((await exec('fixed=no')).stderr).toContain('readonly variable')
  })

  test('functions, exported functions and aliases', async () => {
    const { exec, print } = await start()
    await exec(`greet() { echo "hello $1"; }; loud() { greet "$@" | tr a-z A-Z; }; export -f greet
alias hi='greet there'`)
    expect(await print('hi; loud you; bash -c "greet child"')).toBe('hello there\nHELLO YOU\nhello child\n')
    await exec('unalias hi; unset -f loud')
    expect((await exec('hi; loud x')).stderr).toMatch(/hi: command not found[\s\S]*loud: command not found/)
  })

  test('an alias of the same name does not creep into a function', async () => {
    const { exec, print } = await start()
    await exec('show() { echo plain; }')
    await exec("alias echo='echo aliased'")
    expect(await print('show')).toBe('plain\n')
  })

  test('shell options, also those its functions need to be read back', async () => {
    const { exec, print } = await start()
    await exec('shopt -s extglob nullglob; set -o pipefail')
    await exec('digits() { [[ $1 == +([0-9]) ]] && echo digits; }')
    expect(await print('digits 42; shopt -p nullglob; false | true || echo piped')).toBe(
      'digits\nshopt -s nullglob\npiped\n',
    )
  })

  test('the umask, IFS and an option that forbids overwriting', async () => {
    const { exec, print, workDirectory } = await start()
    await exec("umask 027; IFS=:; set -o noclobber; echo old >file; list='a:b'")
    expect(await print('umask; set -- $list; echo $1 $2; echo new >file || echo refused')).toBe(
      '0027\na b\nrefused\n',
    )
    expect(readFileSync(join(workDirectory, 'file'), 'utf8')).toBe('old\n')
  })
})

describe('a bash session remembers of exported variables', () => {
  test('their other attributes, and those without a value', async () => {
    const { exec, print } = await start()
    await exec('declare -ix number=5; declare -ux UP=abc; declare -rx FIXED=1; declare -x VALUELESS')
    expect(await print('number+=1; UP=def; echo $number $UP; declare -p VALUELESS')).toBe(
      '6 DEF\ndeclare -x VALUELESS\n',
    )
    expect((await exec('FIXED=2')).stderr).toContain('readonly variable')
  })

  test('those that tell a shell how to start, and those it would make itself', async () => {
    const { exec, print } = await start()
    await exec('export BASH_ENV=/nowhere ENV=other HOSTNAME=here')
    expect(await print('echo $BASH_ENV $ENV; node -p "process.env.HOSTNAME"')).toBe('/nowhere other\nhere\n')
  })

  test('one that no program can be given, and says so until it is gone', async () => {
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

  test('many that no program can be given together', async () => {
    const { exec, print } = await start()
    const fill = `printf -v text '%100000s'; for i in {1..40}; do export "V$i=$text"; done; unset text`
    expect((await exec(fill)).exit_code).toBe(0)
    expect(await exec('echo ${#V1} ${#V40}')).toMatchObject({
      stdout: '100000 100000\n',
      notices: [expect.stringContaining('too large together')],
    })
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

describe('whatever a command does, the session goes on', () => {
  test('an exit code is a result, and what came before it counts', async () => {
    const { exec, print } = await start()
    expect(await exec('export KEPT=1; exit 3; echo never')).toMatchObject({ exit_code: 3, stdout: '' })
    expect(await print('echo $KEPT')).toBe('1\n')
  })

  test('set -e ends the command, not the session, and stays on', async () => {
    const { exec } = await start()
    expect(await exec('set -e; export KEPT=1; false; echo never')).toMatchObject({ exit_code: 1, stdout: '' })
    expect(await exec('echo $KEPT; false; echo never')).toMatchObject({ exit_code: 1, stdout: '1\n' })
    expect(await exec('set +e; false; echo on')).toMatchObject({ exit_code: 0, stdout: 'on\n' })
  })

  test('a syntax error is a result; the lines before it ran', async () => {
    const { exec, print } = await start()
    const result = await exec('export KEPT=1\nif then')
    expect(result.exit_code).toBe(2)
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
      exit_code: 4,
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
    expect((await exec(`trap 'echo one' exit; eval "$(trap -p EXIT)"; A=3`)).exit_code).toBe(0)
    expect(await exec("trap 'umask; exit 7' EXIT; A=4")).toMatchObject({ stdout: '0022\n', exit_code: 7 })
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

describe('background jobs', () => {
  test('are reported while they run, and ended with the session', async () => {
    const { exec, print, sessionsDirectory, id } = await start()
    const { background_jobs: jobs } = await exec('sleep 600 & (sleep 601; echo) & disown; echo started')
    expect(jobs).toEqual([{ pid: expect.any(Number), command: 'sleep 600' }])
    expect((await exec('true')).background_jobs).toEqual(jobs)
    const living = 'ps -e -o stat=,args= | grep -c "^[^Z]*  *sleep 60[01]$"'
    expect((await exec(living)).stdout).toBe('2\n')
    const { endSession } = await import('../src/index.js')
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

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
