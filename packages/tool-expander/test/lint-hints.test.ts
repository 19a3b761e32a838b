import { expect, test } from 'vitest'
import { type LintFinding, type LintRule, lintTool } from '../src/lint.js'
import { call, load } from './helper.js'

type Definition = Record<string, unknown>

const findingsOf = (definition: Definition): LintFinding[] =>
  lintTool(load({ description: 'x', ...definition }))

const shell = (template: string, parameter?: object): Definition => ({
  shell: template,
  ...(parameter && { parameters: [{ name: 'v', ...parameter }] }),
})
const exec = (template: string, parameter?: object): Definition => ({
  ...shell(template, parameter),
  exec: template,
  shell: undefined,
})
const integer = { type: 'integer' }

const BESIDE = 'as an argument or a variable of the environment'

/** What is written, the rule that finds it, a part of what it advises, and that advice followed. */
const ADVICE: [bad: Definition, rule: LintRule, advice: string, advised: Definition[]][] = [
  [
    exec('awk "{ print ${v} }" f'),
    'value-in-program',
    `ENVIRON["N"]`,
    [exec(`env N=\${v} awk '{ print ENVIRON["N"] }' f`), shell(`N=\${v} awk '{ print ENVIRON["N"] }' f`)],
  ],
  [
    shell('sed "s/${v}/b/" f'),
    'value-in-program',
    "A=${a} perl -pe 's/\\Q$ENV{A}\\E/b/'",
    [
      shell("A=${v} perl -pe 's/\\Q$ENV{A}\\E/b/' f"),
      exec("env A=${v} perl -pe 's/\\Q$ENV{A}\\E/b/' f"),
      shell('sed "s/${v}/b/" f', integer),
    ],
  ],
  [shell('jq ".${v}" f'), 'value-in-program', 'jq --arg name', [exec("jq --arg name ${v} '.[$name]' f")]],
  [
    shell('yq ".${v}" f'),
    'value-in-program',
    'strenv(NAME)',
    [shell("NAME=${v} yq '.[strenv(NAME)]' f"), exec("env NAME=${v} yq '.[strenv(NAME)]' f")],
  ],
  [
    shell('python3 -c "print(\'${v}\')"'),
    'value-in-program',
    'sys.argv[1]',
    [shell("python3 -c 'import sys; print(sys.argv[1])' ${v}")],
  ],
  [
    shell('node -e "f(\'${v}\')"'),
    'value-in-program',
    'process.argv[1]',
    [exec("node -e 'console.log(process.argv[1])' ${v}")],
  ],
  [
    shell('perl -e "print \'${v}\'"'),
    'value-in-program',
    '$ARGV[0]',
    [shell("perl -e 'print $ARGV[0]' ${v}")],
  ],
  [shell('ruby -e "p \'${v}\'"'), 'value-in-program', 'ARGV[0]', [exec("ruby -e 'p ARGV[0]' ${v}")]],
  [shell('php -r "f(\'${v}\')"'), 'value-in-program', '$argv[1]', [shell("php -r 'echo $argv[1]' ${v}")]],
  [
    shell('lua -e "print(${v})"'),
    'value-in-program',
    BESIDE,
    [shell(`V=\${v} lua -e 'print(os.getenv("V"))'`), exec('lua x.lua ${v}')],
  ],
  [
    shell('ssh host "ls ${v}"'),
    'value-in-program',
    'IFS= read -r file',
    [shell(`printf '%s\\n' \${v} | ssh host 'IFS= read -r file; cat -- "$file"'`)],
  ],
  [
    shell('psql -c "select ${v}" db'),
    'value-in-program',
    '-v name=${name}',
    [shell("psql -v name=${v} db <<'E'\nselect :'name'\nE"), exec('psql -v name=${v} -f x.sql')],
  ],
  [
    shell('sqlite3 db "select \'${v}\'"'),
    'value-in-program',
    'type: integer or an enum, or write it in hexadecimal',
    [
      shell('sqlite3 db "select ${v}"', integer),
      shell('sqlite3 db "select \'${v}\'"', { enum: ['a', 'b'] }),
      shell(`sqlite3 db "select CAST(X'$(printf %s \${v} | od -An -v -tx1 | tr -d ' \\n')' AS TEXT)"`),
    ],
  ],
  [exec('dc -e "${v} p"'), 'value-in-program', 'type: integer', [exec('dc -e "${v} p"', { type: 'number' })]],
  [
    exec('gdb -ex "run ${v}" a'),
    'value-in-program',
    'gdb --args',
    [exec('gdb -batch -ex run --args a ${v}')],
  ],
  [
    exec('fzf --preview "cat ${v}"'),
    'value-in-program',
    'FILE=${file} fzf',
    [exec(`env FILE=\${v} fzf --preview 'cat -- "$FILE"'`)],
  ],
  [
    shell('socat - "SYSTEM:cat ${v}"'),
    'value-in-program',
    'FILE=${file} socat',
    [shell(`FILE=\${v} socat - 'SYSTEM:cat -- "$FILE"'`)],
  ],
  [
    shell('find . -exec sh -c "ls {}" \\;'),
    'value-in-program',
    `sh -c '… "$1"' _ {}`,
    [shell(`find . -exec sh -c 'ls -- "$1"' _ {} \\;`)],
  ],
  [
    exec('rsync -e "ssh -p ${v}" a b'),
    'value-in-program',
    'type: integer, a pattern or an enum',
    [
      exec('rsync -e "ssh -p ${v}" a b', integer),
      exec('rsync -e "ssh -l ${v}" a b', { pattern: '[a-z]+' }),
      exec('rsync -e "ssh -p ${v}" a b', { enum: ['22'] }),
    ],
  ],
  [
    shell('GIT_SSH_COMMAND="ssh -i ${v}" git fetch'),
    'value-in-program',
    'KEY=${key}',
    [shell(`KEY=\${v} GIT_SSH_COMMAND='ssh -i "$KEY"' git fetch`)],
  ],
  [exec('parallel ::: ${v}'), 'value-in-program', 'before :::', [exec('parallel gzip -- ::: ${v}')]],
  [
    exec('plink host ls ${v}'),
    'value-in-program',
    'IFS= read -r file',
    [shell(`printf '%s\\n' \${v} | plink host 'IFS= read -r file; cat -- "$file"'`)],
  ],
  [
    shell('x=${v}; PS4=$x; set -x; ls'),
    'runs-variable',
    'a variable of another name',
    [shell('x=${v}; mark=$x; set -x; ls')],
  ],
  [
    exec('ls ${v}', { allow_dash: true }),
    'option-like-values',
    'Write --',
    [exec('ls -- ${v}', { allow_dash: true }), exec('ls ${v}', { allow_dash: false })],
  ],
  [
    exec('ls -- ${v} a', { required: false }),
    'optional-moves-words',
    '--option=${v}',
    [exec('ls --sort=${v} a', { required: false }), exec('ls -- ${v} a', { default: '.' })],
  ],
  [
    exec('ls -- ${v}', { pattern: '(a+)+' }),
    'slow-pattern',
    '[ab]+',
    [exec('ls -- ${v}', { pattern: 'a+' })],
  ],
  [exec('ls -- ${v}', { requird: 1 }), 'unknown-key', 'required', [exec('ls -- ${v}', { required: true })]],
  [
    shell('${v} --help'),
    'program-chosen',
    'an enum',
    [shell('${v} --help', { enum: ['git', 'ls'] }), shell('if ${v}; then ls; fi', { type: 'boolean' })],
  ],
  [exec('env PATH=${v} ls'), 'program-chosen', 'an enum', [exec('env PATH=${v} ls', { enum: ['/bin'] })]],
  [exec('env ${v}=1 ls'), 'program-chosen', 'APP_${key}', [exec('env APP_${v}=1 ls')]],
  [
    exec("sh -c 'ls ${CWD}/a'"),
    'path-in-program',
    '"$1"',
    [
      exec(`sh -c 'ls "$1"/a' _ \${CWD}`),
      exec('sh ${AGENT_HOME}/a.sh'),
      exec('ssh -i ${AGENT_HOME}/key host ls'),
    ],
  ],
  [
    exec('python3 -c \'open("${AGENT_HOME}/a")\''),
    'path-in-program',
    'sys.argv[1]',
    [exec('python3 -c \'open(__import__("sys").argv[1])\' ${AGENT_HOME}/a')],
  ],
  [shell('printf ${v}'), 'value-in-format', "printf '%s\\n' ${v}", [shell("printf '%s\\n' ${v}")]],
  [shell('printf "a ${v}\\n"'), 'value-in-format', '%s', [shell("printf 'a %s\\n' ${v}")]],
  [
    exec("perl -pe 's/a/b/' ${v}"),
    'runs-argument',
    '< ${file}',
    [shell("perl -pe 's/a/b/' < ${v}"), shell("perl -e 'while (<<>>) { print }' -- ${v}")],
  ],
  [
    exec('make ${v}'),
    'runs-argument',
    'an enum, or a pattern',
    [exec('make ${v}', { enum: ['all'] }), exec('make ${v}', { pattern: '[\\w.-]+' })],
  ],
  [exec('vim +${v} a'), 'runs-argument', 'type: integer', [exec('vim +${v} a', integer)]],
  [exec('vim ${v}'), 'runs-argument', '--', [exec('vim -- ${v}')]],
  [exec('strace -o ${v} ls'), 'runs-argument', '-o ./${file}', [exec('strace -o ./${v} ls')]],
  [exec('sqlite3 db ${v}'), 'runs-argument', '-safe', [exec('sqlite3 -safe db ${v}')]],
  [
    exec('psql -c ${v}'),
    'runs-argument',
    '-v name=${name}',
    [shell("psql -v name=${v} <<'E'\nselect :'name'\nE")],
  ],
  [
    shell('x=${v}; echo $((x + 1))'),
    'runs-variable',
    'case "$x" in *[!0-9]*) exit 1;; esac',
    [
      shell('x=${v}; case "$x" in *[!0-9]*) exit 1;; esac; echo $((x + 1))'),
      shell('x=${v}; echo $((x + 1))', integer),
    ],
  ],
  [
    shell('x=${v}; trap "rm $x" EXIT'),
    'runs-variable',
    `trap 'rm -- "$x"' EXIT`,
    [shell(`x=\${v}; trap 'rm -- "$x"' EXIT`)],
  ],
  [
    shell('x=${v}; echo "$x" | sh'),
    'runs-variable',
    `sh -c '… "$1"' _ "$x"`,
    [shell(`x=\${v}; sh -c 'ls -- "$1"' _ "$x"`)],
  ],
  [
    shell('x=${v}; read -r "$x"'),
    'runs-variable',
    'the name of a variable itself',
    [shell('x=${v}; read -r y')],
  ],
  [
    shell('hyperfine "ls ${v}"'),
    'value-in-program',
    BESIDE,
    [shell(`V=\${v} hyperfine 'ls -- "$V"'`), exec(`env V=\${v} hyperfine 'ls -- "$V"'`)],
  ],
  [
    shell('tmux new -d "ls ${v}"'),
    'value-in-program',
    '[\\w.-]+',
    [
      shell('tmux new -d "ls ${v}"', { pattern: '[\\w.-]+' }),
      shell('tmux new -d "ls ${v}"', { enum: ['a'] }),
    ],
  ],
  [
    shell('x=${v}; [ $x = a ]; test -f $x; sh $x f'),
    'runs-variable',
    'Write "$x"',
    [shell('x=${v}; [ "$x" = a ]; test -f "$x"; sh "$x" f')],
  ],
  [shell('[ $(echo ${v}) = a ]'), 'runs-variable', 'Write "$( … )"', [shell('[ "$(echo ${v})" = a ]')]],
  [shell('x=${v}; echo "${x@P}"'), 'runs-variable', 'without @P', [shell('x=${v}; echo "${x}b" "$x"')]],
  [shell('x=${v}; eval "$x"'), 'runs-variable', '"$x" is safe as an argument', [shell('x=${v}; ls -- "$x"')]],
  [
    exec(`sh -c 'eval "$1"' _ \${v}`),
    'runs-variable',
    `sh -c '… "$1"' _ "$1"`,
    [exec(`sh -c 'sh -c "ls -- \\"\\$1\\"" _ "$1"' _ \${v}`)],
  ],
  [shell('ls "$1" -- ${v}'), 'positional', 'placeholder', [shell('ls ${p} -- ${v}')]],
  [shell('v=1; ls ${v}'), 'script-variable', '$v', [shell('v=1; ls "$v"')]],
  [shell('ls ${v:raw}'), 'raw', 'Remove :raw', [shell('ls ${v}')]],
  [
    exec('ls *.txt'),
    'literal-character',
    'shell: to expand it, or quotes',
    [shell('ls *.txt'), exec('ls "*.txt"')],
  ],
  [
    shell('[[ -f ${v} ]]'),
    'needs-bash',
    'command: [bash, -c',
    [{ command: ['bash', '-c', '[[ -f $1 ]]', '--'], parameters: [{ name: 'v' }] }],
  ],
  [
    shell('cat -- "${file:-README.md}"'),
    'never-set',
    'default under parameters:',
    [{ shell: 'cat -- ${file}', parameters: [{ name: 'file', default: 'README.md' }] }],
  ],
  [
    shell('cat -- "$file"'),
    'never-set',
    '${file} for a parameter, ${file-} for',
    [shell('cat -- ${file}'), shell('cat -- "${file-}"')],
  ],
  [
    exec('cat -- {file}'),
    'foreign-placeholder',
    '${file}, or quotes',
    [exec('cat -- ${file}'), exec('cat -- "{file}"')],
  ],
]

test.each(ADVICE)('%j: what lint advises loads, and gives no such finding', (bad, rule, advice, advised) => {
  const hints = findingsOf(bad).flatMap((finding) => (finding.rule === rule ? [finding.hint] : []))
  expect(hints.join('\n')).toContain(advice)
  for (const definition of advised) {
    const rules = findingsOf(definition).map((finding) => finding.rule)
    expect(rules, JSON.stringify(definition)).not.toContain(rule)
  }
})

const ODD = 'a\\nb "c" $d /&%s'

test('what lint advises hands the value over as it is', async () => {
  for (const definition of [
    shell(`N=\${v} awk 'BEGIN { print ENVIRON["N"] }'`),
    shell("printf '%s\\n' ${v}"),
    shell('A=${v} perl -e \'print "$ENV{A}\\n"\''),
    shell('perl -e \'print "$ARGV[0]\\n"\' ${v}'),
    shell(`sh -c 'printf "%s\\n" "$1"' _ \${v}`),
    shell(`x=\${v}; trap 'printf "%s\\n" "$x"' EXIT`),
  ])
    expect(await call(definition, { v: ODD }), JSON.stringify(definition)).toMatchObject({
      stdout: `${ODD}\n`,
      exitCode: 0,
    })
})
