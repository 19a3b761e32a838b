import { type TemporaryWorkspace, temporaryWorkspace } from '@delta/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, load, refusal, SHELLS } from './helper.js'

const SCRIPT = 2

function script(shell: string): string | undefined {
  return load({ shell }).command[SCRIPT]
}

/** A value that shows every mistake: word splitting, globbing, a second parsing, lost quotes. */
const HOSTILE = `a  "b' * $(echo no) \`echo no\` \${HOME} \\ & | ; c`

let workspace: TemporaryWorkspace
beforeAll(async () => {
  workspace = await temporaryWorkspace()
})
afterAll(() => workspace.remove())

interface Case {
  title: string
  shell: string
  script: string
  /** What it prints when every value is hostile. */
  prints: string
  /** Constructs only bash has. */
  only?: 'bash'
}

const PLACES: Case[] = [
  { title: 'unquoted', shell: 'printf "<%s>" ${p}', script: 'printf "<%s>" "$1"', prints: `<${HOSTILE}>` },
  {
    title: 'in double quotes',
    shell: 'printf "<%s>" "a ${p} b"',
    script: 'printf "<%s>" "a $1 b"',
    prints: `<a ${HOSTILE} b>`,
  },
  {
    title: 'in single quotes',
    shell: `printf "<%s>" 'a "\${p}" b'`,
    script: `printf "<%s>" 'a "'"$1"'" b'`,
    prints: `<a "${HOSTILE}" b>`,
  },
  {
    title: 'glued to text and to another placeholder',
    shell: 'printf "<%s>" x${p}y"${p}"${p}',
    script: 'printf "<%s>" x"$1"y"$1""$1"',
    prints: `<x${HOSTILE}y${HOSTILE}${HOSTILE}>`,
  },
  {
    title: 'before a digit',
    shell: 'printf "<%s>" "${p}0" ${p}0',
    script: 'printf "<%s>" "${1}0" "$1"0',
    prints: `<${HOSTILE}0><${HOSTILE}0>`,
  },
  {
    title: 'in a here-document of the command before a shell',
    shell: "cat <<A; sh <<'B'\n${p}\nA\nprintf ok\nB",
    script: "cat <<A; sh <<'B'\n$1\nA\nprintf ok\nB",
    prints: `${HOSTILE}\nok`,
  },
  {
    title: 'in a here-document, behind a line that would end it if tabs did not count',
    shell: 'cat <<E\n\tE\n${p}\nE',
    script: 'cat <<E\n\tE\n$1\nE',
    prints: `\tE\n${HOSTILE}\n`,
  },
  {
    title: 'behind the here-document of a function',
    shell: 'f() { cat <<E; }\nin\nE\nf; printf %s ${p}',
    script: 'f() { cat <<E; }\nin\nE\nf; printf %s "$1"',
    prints: `in\n${HOSTILE}`,
  },
  {
    title: 'in a word that only looks like a variable for a descriptor',
    shell: 'printf "<%s>" {a[${p}]}',
    script: 'printf "<%s>" {a["$1"]}',
    prints: `<{a[${HOSTILE}]}>`,
  },
  {
    title: 'in a here-document',
    shell: 'cat <<EOF\n"${p}" $(printf %s ${p})\nEOF\nprintf "<%s>" ${p}',
    script: 'cat <<EOF\n"$1" $(printf %s "$1")\nEOF\nprintf "<%s>" "$1"',
    prints: `"${HOSTILE}" ${HOSTILE}\n<${HOSTILE}>`,
  },
  {
    title: 'in a here-document with stripped tabs',
    shell: 'cat <<-EOF\n\t${p}\n\tEOF\nprintf "<%s>" ${p}',
    script: 'cat <<-EOF\n\t$1\n\tEOF\nprintf "<%s>" "$1"',
    prints: `${HOSTILE}\n<${HOSTILE}>`,
  },
  {
    title: 'behind a here-document with an escaped delimiter',
    shell: 'cat <<\\E\n$x "\nE\nprintf "<%s>" ${p}',
    script: 'cat <<\\E\n$x "\nE\nprintf "<%s>" "$1"',
    prints: `$x "\n<${HOSTILE}>`,
  },
  {
    title: 'behind a here-document with a partly quoted delimiter',
    shell: 'cat <<E"O"F\n$x "\nEOF\nprintf "<%s>" ${p}',
    script: 'cat <<E"O"F\n$x "\nEOF\nprintf "<%s>" "$1"',
    prints: `$x "\n<${HOSTILE}>`,
  },
  {
    title: 'in the second of two here-documents of one line',
    shell: 'cat <<A; cat <<B; printf "<%s>" ${p}\n1 ${p}\nA\n2 ${p}\nB\n',
    script: 'cat <<A; cat <<B; printf "<%s>" "$1"\n1 $1\nA\n2 $1\nB\n',
    prints: `1 ${HOSTILE}\n2 ${HOSTILE}\n<${HOSTILE}>`,
  },
  {
    title: 'in a here-document inside $( )',
    shell: 'x=$(cat <<EOF\n${p} "\nEOF\n); printf "<%s>" "$x" ${p}',
    script: 'x=$(cat <<EOF\n$1 "\nEOF\n); printf "<%s>" "$x" "$1"',
    prints: `<${HOSTILE} "><${HOSTILE}>`,
  },
  {
    title: 'in a here-string',
    shell: 'cat <<< ${p}',
    script: 'cat <<< "$1"',
    prints: `${HOSTILE}\n`,
    only: 'bash',
  },
  {
    title: 'inside $( ), by the same rules anew',
    shell: 'printf "<%s>" "$(printf %s ${p} "${p}")"',
    script: 'printf "<%s>" "$(printf %s "$1" "$1")"',
    prints: `<${HOSTILE}${HOSTILE}>`,
  },
  {
    title: 'in a case inside $( ), whose ) does not end it',
    shell: 'printf "<%s>" "$(case x in x) printf %s ${p};; esac)" ${p}',
    script: 'printf "<%s>" "$(case x in x) printf %s "$1";; esac)" "$1"',
    prints: `<${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'as subject and as pattern of a case',
    shell: 'case ${p} in *x|${p}) printf "<%s>" ${p};; *) echo no;; esac',
    script: 'case "$1" in *x|"$1") printf "<%s>" "$1";; *) echo no;; esac',
    prints: `<${HOSTILE}>`,
  },
  {
    title: 'in the default of an expansion',
    shell: 'printf "<%s>" ${x:-${p}} "${x:-${p}}"',
    script: 'printf "<%s>" ${x:-"$1"} "${x:-$1}"',
    prints: `<${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'in quotes in the default of a quoted expansion',
    shell: 'printf "<%s>" "${x:-"${p}"}" ${p}',
    script: 'printf "<%s>" "${x:-"$1"}" "$1"',
    prints: `<${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'as the pattern an expansion removes',
    shell: 'x=a*b; printf "<%s>" "${x%${p}}" ${x#${p}} ${p}',
    script: 'x=a*b; printf "<%s>" "${x%"$1"}" ${x#"$1"} "$1"',
    prints: `<a*b><a*b><${HOSTILE}>`,
  },
  {
    title: 'behind a # that begins no comment',
    shell: 'printf "<%s>" a#${p} $# # ${q} it\'s\n',
    script: 'printf "<%s>" a#"$1" $# # ${q} it\'s\n',
    prints: `<a#${HOSTILE}><1>`,
  },
  {
    title: 'behind a bit shift that is no here-document',
    shell: '((1<<2)) && printf "<%s>" ${p}\nprintf "<%s>" ${p}',
    script: '((1<<2)) && printf "<%s>" "$1"\nprintf "<%s>" "$1"',
    prints: `<${HOSTILE}><${HOSTILE}>`,
    only: 'bash',
  },
  {
    title: 'behind arithmetic with parentheses and a shift',
    shell: 'printf "<%s>" "$(( (1 << 2) + 1 ))" ${p}',
    script: 'printf "<%s>" "$(( (1 << 2) + 1 ))" "$1"',
    prints: `<5><${HOSTILE}>`,
  },
  {
    title: 'behind backticks and escaped quotes',
    shell: 'printf "<%s>" `echo "it\'s"` \\"${p}\\\'',
    script: 'printf "<%s>" `echo "it\'s"` \\""$1"\\\'',
    prints: `<it's><"${HOSTILE}'>`,
  },
  {
    title: 'in a redirection, a loop, a group, a subshell and a condition',
    shell:
      'if [ -n ${p} ]; then for x in 1 ${p}; do { (printf "<%s>" "$x" ${p}); }; done; fi > ${f}; cat ${f}',
    script:
      'if [ -n "$1" ]; then for x in 1 "$1"; do { (printf "<%s>" "$x" "$1"); }; done; fi > "$2"; cat "$2"',
    prints: `<1><${HOSTILE}><${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'in an assignment',
    shell: 'export X=${p} Y="${p}"; z=${p}; printf "<%s>" "$X" "$Y" "$z"',
    script: 'export X="$1" Y="$1"; z="$1"; printf "<%s>" "$X" "$Y" "$z"',
    prints: `<${HOSTILE}><${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'as an argument of a function and of sh -c',
    shell: `f() { shift; printf "<%s>" "$1"; }; f x \${p}; sh -c 'printf "<%s>" "$1"' _ \${p}`,
    script: `f() { shift; printf "<%s>" "$1"; }; f x "$1"; sh -c 'printf "<%s>" "$1"' _ "$1"`,
    prints: `<${HOSTILE}><${HOSTILE}>`,
  },
  {
    title: 'in bash conditions, arrays and process substitutions',
    shell: 'a=(x ${p}); [[ ${p} == "${a[1]}" ]] && cat <(printf "<%s>" ${p})',
    script: 'a=(x "$1"); [[ "$1" == "${a[1]}" ]] && cat <(printf "<%s>" "$1")',
    prints: `<${HOSTILE}>`,
    only: 'bash',
  },
]

describe('a value arrives byte for byte', () => {
  for (const { title, shell, script: expected, prints, only } of PLACES) {
    test(`${title}: ${JSON.stringify(shell)}`, async () => {
      expect(script(shell)).toBe(expected)
      for (const name of only === undefined ? SHELLS : [only]) {
        expect(
          await call(
            { shell },
            { p: HOSTILE, ...(shell.includes('${f}') ? { f: 'out.txt' } : {}) },
            { cwd: workspace.path, shell: name },
          ),
        ).toEqual({
          stdout: prints,
          stderr: '',
          exitCode: 0,
        })
      }
    })
  }
})

test('the tenth parameter and those behind it are written ${10}', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index + 1}`)
  const shell = `printf "<%s>" ${names.map((name) => `\${${name}}`).join(' ')} "\${p10}\${p1}" '\${p12}'`
  expect(script(shell)).toBe(
    `printf "<%s>" "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" "\${10}" "\${11}" "\${12}" "\${10}$1" ''"\${12}"''`,
  )
  const values = Object.fromEntries(names.map((name) => [name, `<${name}>`]))
  for (const name of SHELLS) {
    const { stdout } = await call({ shell }, values, { shell: name })
    expect(stdout).toBe(`${names.map((each) => `<<${each}>>`).join('')}<<p10><p1>><<p12>>`)
  }
})

test('a parameter that stands several times, quoted and raw, is one positional', async () => {
  const shell = 'printf "<%s>" ${p:raw} ${p} "${p}" ${q}'
  expect(load({ shell })).toMatchObject({
    command: ['sh', '-c', 'printf "<%s>" $1 "$1" "$1" "$2"', '--'],
    parameters: [
      { name: 'p', position: 0 },
      { name: 'q', position: 1 },
    ],
  })
  expect((await call({ shell }, { p: 'a b', q: 'c' })).stdout).toBe('<a><b><a b><a b><c>')
})

test('what belongs to the shell reaches it untouched', async () => {
  const shell =
    'v=a.txt; printf "<%s>" "${v%.txt}" ${#v} "${x:-no}" "$v" "${v}x" \'$v\' "\\${p}" \'\\${p}\' \\${p} ${y+set}'
  const tool = { shell: shell.replace('"${v}x"', '"$v"x') }
  expect(script(tool.shell)).toBe(tool.shell.replace("'\\${p}'", "'${p}'"))
  for (const name of SHELLS) {
    const { stdout } = await call(tool, {}, { shell: name })
    expect(stdout).toBe('<a><5><no><a.txt><a.txtx><$v><${p}><${p}><${p}>')
  }
})

test('a placeholder in a comment is no parameter', () => {
  expect(load({ shell: '# ${p}\necho ${q} # ${r}' }).parameters.map(({ name }) => name)).toEqual(['q'])
})

test("the engine's variables are further positionals, never text of the script", async () => {
  const tool = { shell: 'printf "<%s>" ${AGENT_HOME}/x "${CWD}" ${p}' }
  expect(load(tool)).toMatchObject({
    command: ['sh', '-c', 'printf "<%s>" "$2"/x "$3" "$1"', '--', '${p}', '${AGENT_HOME}', '${CWD}'],
    substitute: true,
    parameters: [{ name: 'p', position: 0 }],
  })
  expect((await call(tool, { p: '${CWD}' })).stdout).toBe('</agent home/x></work><${CWD}>')
})

/** Where a value would become code, or $1 would not be ours: the column the message points at, and its words. */
const REFUSED: [title: string, shell: string, column: number, words: string][] = [
  ['a here-document with a quoted delimiter', "cat <<'E'\n${p}\nE", 1, 'quoted delimiter'],
  ['the delimiter of a here-document', 'cat <<${p}', 7, 'delimiter'],
  ['backticks', 'echo `cat ${p}`', 11, 'backticks'],
  ['backticks in double quotes', 'echo "`cat ${p}`"', 12, 'backticks'],
  ['an arithmetic expansion', 'echo $((${p} + 1))', 9, 'arithmetic'],
  ['an arithmetic expansion inside a here-document', 'cat <<E\n$((${p}))\nE', 4, 'arithmetic'],
  ['an arithmetic command', '((x = ${p}))', 7, 'arithmetic'],
  ['an arithmetic for', 'for ((i=0; i<${p}; i++)); do :; done', 14, 'arithmetic'],
  ['old arithmetic', 'echo $[${p}]', 8, 'arithmetic'],
  ['let', 'let x=${p}', 7, 'let'],
  ['an operand of -eq in [[ ]]', '[[ ${p} -eq 1 ]]', 4, '-eq'],
  ['an operand of -v in [ ]', '[ -v ${p} ]', 6, '-v'],
  ['an operand of -v in test', 'test -v "${p}"', 10, '-v'],
  ['an operand of -ge in [[ ]]', '[[ ${p} -ge 1 ]]', 4, '-ge'],
  ['output that [[ ]] computes', '[[ $(cat ${p}) -gt 1 ]]', 10, '-gt'],
  ['an operand of -v', '[[ -v ${p} ]]', 7, '-v'],
  ['what other shells than bash would run', '[[ a == b || ${p} == c ]]', 14, '[[ ]]'],
  ['an array subscript', 'echo "${a[${p}]}"', 11, 'subscript'],
  ['an assigned array subscript', 'a[${p}]=1', 3, 'subscript'],
  ['a subscript in an array', 'a=([${p}]=1)', 5, 'subscript'],
  ['an offset', 'echo ${v:${p}:1}', 10, 'computes'],
  ['a replacement', 'echo "${v/${p}/x}"', 11, "bash's pattern or replacement"],
  ['a piece of a value', 'echo "${v:${p}}"', 11, 'rewrites'],
  ['eval', 'eval "echo ${p}"', 12, 'eval'],
  ['eval by another spelling', 'x=1 command \\e"va"l echo ${p}', 26, 'eval'],
  ['what eval computes', 'eval "$(cat ${p})"', 13, 'eval'],
  ['trap', "trap 'rm ${p}' EXIT", 10, 'trap'],
  ['alias, which dash expands', 'alias x=${p}', 9, 'alias'],
  ['names of variables', 'read ${p}', 6, 'the words of read'],
  ['a name for printf', 'printf -v ${p} x', 11, 'printf -v'],
  ['a variable the shell runs', 'PS4=${p}; set -x', 5, 'runs'],
  ['a script of sh -c in single quotes', "sh -c 'echo ${p}'", 13, 'sh -c'],
  ['a script of bash -lc in double quotes', 'bash -lc "echo ${p}"', 16, 'bash -c'],
  ['a script of sh behind xargs', "ls | xargs -I{} sh -c 'x {} ${p}'", 29, 'sh -c'],
  ['a script that sh reads', 'sh <<E\necho ${p}\nE', 6, 'script for sh'],
  ['a script that bash reads from a string', 'bash <<< "echo ${p}"', 16, 'script for bash'],
  ['a stream that the shell sources', '. <(echo ${p})', 10, 'script for .'],
  ['a nested array subscript', 'a[b[${p}]]=1', 5, 'subscript'],
  ['a function', 'f() { echo ${p}; }; f', 12, 'function'],
  ['a function around a line of text', 'cat <<E; f() {\nx\nE\necho ${p}; }; f', 6, 'function'],
  ['a bash function', 'function f { echo ${p}; }; f', 19, 'function'],
  ['a script that sets $1', 'echo ${p}; set a b', 12, 'set changes $1'],
  ['a script that shifts', 'shift; echo ${p}', 1, 'shift changes $1'],
  ['the number of the process', 'echo $${p}', 6, '$$'],
  ['a placeholder for a name', 'echo ${p} "${${p}}"', 12, 'This is not a placeholder.'],
  ["$'…'", "echo $'a${p}'", 9, 'disagree'],
  ['$"…"', 'echo $"a${p}"', 9, 'disagree'],
  ['an unknown modifier', 'echo ${p:rw}', 6, 'Unknown modifier :rw'],
  ['an expansion of a parameter', 'echo ${p} ${p%.txt}', 11, '${p} is a parameter'],
  ['an open double quote', 'echo "${p}', 6, 'The closing " is missing'],
  ['an open single quote', "echo 'x", 6, "The closing ' is missing"],
  ['an open ${', 'echo ${p', 6, 'The closing } is missing'],
  ['an open $(', 'echo $(cat ${p}', 6, ') is missing'],
  ['an open if', 'if true; then echo ${p}', 1, 'fi is missing'],
  ['a ) too many', 'echo ${p})', 10, 'This ) cannot be followed'],
  ['a ( behind words', 'ls ${p} (x)', 9, 'This ( cannot be followed'],
  ['a condition in two groups', '$((a) | (cat ${p}))', 1, '$(('],
]

describe('a script is refused where a value would become code or $1 would not be ours', () => {
  for (const [title, shell, column, words] of REFUSED) {
    test(`${title}: ${JSON.stringify(shell)}`, () => {
      const message = refusal({ shell })
      expect(message).toContain(words)
      const [excerpt = '', caret = ''] = message.split('\n').slice(1, 3)
      expect(caret.trim()).toBe('^')
      expect(caret.length - (excerpt.indexOf(': ') + 3) + (excerpt.includes(', line') ? 1 : 0)).toBe(column)
    })
  }
})

test('a script without placeholders may do what it likes', () => {
  for (const shell of [
    'set -- a b; shift; echo "$1"',
    'eval "$X"',
    'f() { echo "$1"; }; f',
    "x=$'it\\'s'; echo \"$x\"",
  ]) {
    expect(script(shell)).toBe(shell)
  }
})

test('every problem of a script is reported at once, in order', () => {
  const problems = refusal({ shell: 'echo `${a}`\neval ${b}\necho ${c:x}' }).split('\n\n')
  expect(problems.map((problem) => problem.split('\n')[0])).toEqual([
    '${a} stands in backticks: the value would become code.',
    '${b} stands in the words of eval: the value would become code.',
    'Unknown modifier :x; there is only :raw.',
  ])
})

test("the author's own $1 is refused where it would be the model's value", () => {
  for (const shell of [
    'bash -c "ls $1" _ ${x}',
    'eval "$1"; echo ${x}',
    'eval "$@"; echo ${x}',
    'sh -c "$*" _ ${x}',
    'eval "${1}"; echo ${x}',
    'echo $(($1)) ${x}',
    'echo `eval "$1"` ${x}',
    'sh <<E\n$1\nE\necho ${x}',
    'for f do sh -c "$f"; done; echo ${x}',
    'for f; do $f; done; echo ${x}',
  ])
    expect(refusal({ shell })).toContain('This stands for what the model sends.')
  for (const shell of [
    'echo \\$1 "\\$1" ${x}',
    "awk '{print $1}' ${x}",
    'sh -c \'ls -- "$1"\' _ ${x}',
    'f() { ls "$1" "$@"; }; f ${x}',
    'echo `awk "{print}" f; awk \'{print $1}\' f` ${x}',
    'eval "$1"',
    'for f; do echo "$f"; done',
    'f() { for each; do echo "$each"; done; }; f ${x}',
    'for f\n in a b; do echo "$f" ${x}; done',
    'echo $# $? $$ ${x}',
  ])
    expect(load({ shell }).command[0]).toBe('sh')
})
