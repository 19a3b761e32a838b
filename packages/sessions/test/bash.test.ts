import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { areInstalled } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { start } from './helpers.js'

describe('a bash session remembers', () => {
  test('the working directory', async () => {
    const { exec, print, workDirectory } = await start()
    mkdirSync(join(workDirectory, 'a b'))
    expect(await exec("cd 'a b'")).toMatchObject({ exitCode: 0, workDir: join(workDirectory, 'a b') })
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
    const [first, second] = [`sleep 600.${process.pid}`, `sleep 601.${process.pid}`] // nobody else sleeps so long
    const { backgroundJobs: jobs } = await exec(`${first} & (${second}; echo) & disown; echo started`)
    expect(jobs).toEqual([{ pid: expect.any(Number), command: first }])
    expect((await exec('true')).backgroundJobs).toEqual(jobs)
    const living = `ps -e -o stat=,args= | grep -c "^[^Z]*  *sleep 60[01]\\.${process.pid}$"`
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
