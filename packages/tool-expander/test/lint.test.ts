import { expect, test } from 'vitest'
import { formatProblem } from '../src/index.js'
import { type LintOptions, lintTool } from '../src/lint.js'
import { load } from './helper.js'

/** Rules and places of what lint finds in a tool that is described. */
function found(definition: object, options?: LintOptions): string[] {
  const tool = load({ description: 'x', ...definition })
  const described = {
    ...tool,
    parameters: tool.parameters.map((parameter) => ({ description: 'x', ...parameter })),
  }
  return lintTool(described, options).map(
    ({ rule, path, column }) => `${rule} ${path}${column ? `:${column}` : ''}`,
  )
}

/** That bash is needed is another matter. */
const withoutBash = (findings: string[]) => findings.filter((each) => !each.startsWith('needs-bash'))

test('a tool and its parameters want descriptions', () => {
  expect(lintTool(load({ exec: 'ls ${directory}' })).map(({ rule, path }) => [rule, path])).toEqual([
    ['no-description', 'description'],
    ['no-description', 'parameters[0]'],
  ])
})

test('a good tool gives no findings', () => {
  expect(found({ exec: 'rg -e=${pattern} -- ${file}' }, { commandExists: () => true })).toEqual([])
  expect(found({ shell: 'grep -e "x${p}" -- ${file} | wc -l > ${out}' })).toEqual([])
})

test('a program that is not installed is named', () => {
  expect(found({ exec: 'nope ${a}' }, { commandExists: (program) => program !== 'nope' })).toEqual([
    'command-not-found command[0]',
  ])
})

test('a program that is named by its path may lack the permission to be run', () => {
  const tool = load({ name: 'x', exec: '${AGENT_HOME}/bin/args.py' })
  const [finding] = lintTool(tool, { commandExists: () => false }).filter(
    ({ rule }) => rule === 'command-not-found',
  )
  expect(finding?.message).toBe(
    '${AGENT_HOME}/bin/args.py is not a program that can be started: it is missing, or not executable (chmod +x).',
  )
})

test('$0 is the -- in front of the values, and $1 the first of them', () => {
  const said = (shell: string) => lintTool(load({ name: 'x', shell })).map(({ message }) => message)
  expect(said('echo "$0" ${p}')).toContain('$0 is "--" here, and no value of this tool.')
  expect(said('echo "$1" ${p}')).toContain('$1 counts the values of this tool.')
})

test('values that may be taken for options are named, unless the template protects them', () => {
  expect(found({ exec: 'x ${p}', allow_dash: true })).toEqual(['option-like-values parameters[0]'])
  expect(found({ shell: 'x ${p}', parameters: [{ name: 'p', allow_dash: true }] })).toEqual([
    'option-like-values parameters[0]',
  ])
  expect(found({ command: ['x'], parameters: [{ name: 'p' }] })).toEqual(['option-like-values parameters[0]'])
  const advice = (command: string[]) =>
    lintTool(
      load({ command, description: 'A tool', parameters: [{ name: 'p', description: 'A file' }] }),
    ).map(({ hint }) => hint)
  expect(advice(['ls'])).toEqual(['Write -- before it, or allow_dash: false.'])
  expect(advice(['sudo', 'find'])).toEqual(['Say allow_dash: false; for find, -- protects nothing.'])
  expect(advice(['npm', 'run', 'x', '--'])).toEqual([
    'Write -- -- before it, since the first is for npm itself, or allow_dash: false.',
  ])
  expect(found({ exec: 'x -- ${p} --q=${q} ${e}', parameters: [{ name: 'e', enum: ['a'] }] })).toEqual([])
  expect(found({ shell: 'x ${p}.txt' })).toEqual([])
})

test('a key that means nothing is named, with the key that was meant', () => {
  const parameters = [{ name: 'p', descriptoin: 'x', requird: false, 'x-mine': 1, colour: 'red' }]
  const tool = load({ description: 'x', exec: 'x -- ${p}', parameters })
  expect(
    lintTool(tool).flatMap(({ rule, path, hint }) => (rule === 'unknown-key' ? [[path, hint]] : [])),
  ).toEqual([
    ['parameters[0].descriptoin', 'Did you mean description?'],
    ['parameters[0].requird', 'Did you mean required?'],
    ['parameters[0].colour', 'Keys of your own begin with x-.'],
  ])
})

test('the name of an option that is none, or that has no dashes, is named', () => {
  const about = (definition: object) =>
    lintTool(load(definition)).flatMap(({ rule, path, hint }) =>
      /^(option-name|unknown-key)$/.test(rule) ? [[path, hint]] : [],
    )
  const key = (more: object) => ({ parameters: [{ name: 'key', ...more }] })
  const place = 'parameters[0].option_name'
  expect(about({ command: ['sort'], ...key({ option_name: '--key' }) })).toEqual([
    [place, 'Say inject_as: option beside it.'],
  ])
  expect(about({ exec: 'sort ${key}', ...key({ option_name: '--key' }) })).toEqual([
    [place, 'Write --key=${key} in exec:.'],
  ])
  expect(about({ command: ['sort'], ...key({ option_name: 'x', inject_as: 'stdin' }) })).toEqual([
    [place, 'Remove it.'],
  ])
  expect(about({ command: ['sort'], ...key({ option_name: 'key', inject_as: 'option' }) })).toEqual([
    [place, 'Write option_name: --key'],
  ])
  expect(about({ command: ['sort'], ...key({ option_name: 'k', inject_as: 'option' }) })).toEqual([
    [place, 'Write option_name: -k'],
  ])
  expect(about({ command: ['sort'], ...key({ option_name: '-k', inject_as: 'option' }) })).toEqual([])
})

test('what a program runs of what a pipe feeds to it is told by the value that says it', () => {
  const about = (shell: string, ...parameters: object[]) =>
    lintTool(load({ shell, parameters })).flatMap(({ rule, message, hint }) =>
      rule === 'value-in-program' ? [`${message} ${hint}`] : [],
    )
  expect(about('cat ${column} | bc', { name: 'column', type: 'integer' })).toEqual([])
  expect(
    about('cut -d, -f${column} ${file} | tail -n +2 | paste -sd+ | bc', { name: 'column', type: 'integer' }),
  ).toEqual([])
  expect(about('cut -f1 < ${file} | paste -sd+ | bc')).toEqual([])
  expect(about("awk -F, '{ print $3 }' ${file} | paste -sd+ | bc")).toEqual([])
  expect(about('seq ${n} | python3', { name: 'n', type: 'integer' })).toEqual([])
  const number = 'Give it type: integer or number.'
  expect(about('echo "${a} + ${b}" | bc', { name: 'a', type: 'number' })).toEqual([
    `The value of \${b} becomes part of a program for bc. ${number}`,
  ])
  expect(about('sed "s/x/${v}/" f | bc')).toContain(
    `The value of \${v} becomes part of a program for bc. ${number}`,
  )
  expect(about('cut -d ${v} -f1,2 f | bc')).toHaveLength(1)
  expect(about('bc <<E\n${v}\nE')).toEqual([`The value becomes part of a program for bc. ${number}`])
  expect(about('cat ${file} | python3')).toEqual([
    'python3 runs what it reads here, and ${file} says from which file. Give it an enum of the files that may be run. To only read them, let the program be told what to run.',
  ])
  expect(about('cat ${file} | python3', { name: 'file', enum: ['a.py'] })).toEqual([])
})

test('a fixed word that moves up when an optional one is missing is named', () => {
  const parameters = [{ name: 'p', required: false }]
  expect(found({ exec: 'grep ${p} file.txt', parameters })).toEqual(['optional-moves-words exec:6'])
  expect(found({ exec: 'ls ${p} -l', parameters })).toEqual([])
})

test('a fixed word that an option takes when the value in its word is missing is named', () => {
  const parameters = [{ name: 'p', required: false }]
  for (const exec of ['cc -o${p} main.c', 'cc -o${p} ${file}'])
    expect(found({ exec, parameters }), exec).toEqual(['optional-moves-words exec:6'])
  expect(lintTool(load({ exec: 'cc -o${p} x-${f}', parameters })).at(-1)).toMatchObject({
    message: 'Without p, -o may take x-${f} for its value.',
    hint: 'Give p a default, or write it as --option=${p}.',
  })
  for (const exec of ['cc main.c -o${p}', 'cc -o${p} -- main.c', 'cc -oa${p} main.c', 'cc --o=${p} main.c'])
    expect(found({ exec, parameters }), exec).toEqual([])
  const filled = [{ name: 'p', default: 'a', pattern: '.+' }]
  expect(found({ exec: 'cc -o${p} main.c', parameters: filled })).toEqual([])
})

test('a word that an option takes when the value in its word is empty is named', () => {
  expect(lintTool(load({ exec: 'curl -H${h} ${url}' })).at(-1)).toMatchObject({
    rule: 'optional-moves-words',
    message: 'When h is empty, -H may take ${url} for its value.',
    hint: 'Write -H ${h}, or give h a pattern, as in .+',
  })
  for (const shell of ['curl -H${h} ${url}', 'curl -s "-H${h}" "$(cat url)" | head'])
    expect(found({ shell }), shell).toContainEqual(expect.stringMatching(/^optional-moves-words shell:/))
  for (const limit of [{ type: 'integer' }, { enum: ['a'] }, { pattern: '.+' }])
    expect(found({ exec: 'head -n${p} ${file}', parameters: [{ name: 'p', ...limit }] })).toEqual([])
  for (const exec of ['curl -H ${p} ${url}', 'curl ${url} -H${p}', 'curl --header=${p} ${url}'])
    expect([...found({ exec }), ...found({ shell: exec })], exec).toEqual([])
})

test('a raw value from a model is named, but for one of those that the author lists', () => {
  const shell = 'ls ${flags:raw}'
  expect(found({ shell })).toEqual(['raw shell:4'])
  expect(found({ shell, parameters: [{ name: 'flags', enum: ['-l', '-la *.txt'] }] })).toEqual([])
})

test('characters only a shell expands are named once, where they are not quoted and no pattern for the program', () => {
  expect(found({ exec: 'ls -- "*.md" ${p} *.txt ~/x # y' })).toEqual(['literal-character exec:19'])
  for (const exec of ['ls ~/x', 'ls {a,b}', 'ls a # b', 'ls x[0-9]', '( ls )', 'rg x *.txt'])
    expect(found({ exec }), exec).toEqual([expect.stringMatching(/^literal-character /)])
  for (const exec of [
    'find . -name *.py ( -type f -o -type d )',
    'rg x -g *.py',
    'grep --include=*.py -r foo.* .',
    'xargs -I{} ls {}',
    'docker ps --format {{.State}}',
    'kubectl get pods -o jsonpath={.items[*].metadata.name}',
    'curl https://x.y/?a=b',
    'git show HEAD@{1}',
    'echo done!',
  ])
    expect(found({ exec }), exec).toEqual([])
})

test("bash's own syntax is named, because sh may be another shell", () => {
  for (const shell of [
    '[[ a == b ]]',
    'cat <<< x',
    'diff <(a) <(b)',
    'a=(1 2)',
    'echo ${x//a/b}',
    'x &> y',
    'source x',
    'set -o pipefail',
    'set -euo pipefail; ls',
    'cp a{,.bak}',
    'echo {1..3}',
    '[ a == b ]',
    'printf -v x a',
    'printf %q a',
    'read -a x',
    'mapfile -t x',
    'shopt -s nullglob',
    'pushd x',
    'echo $RANDOM',
    'trap x ERR',
    'x=$(<f)',
    "echo -e 'a\\n'",
  ]) {
    expect(found({ shell }), shell).toEqual([expect.stringMatching(/^needs-bash shell:\d+$/)])
  }
  for (const shell of [
    "grep '[[:space:]]' x | tr a b && [ -f x ] ; case x in a) y ;; esac",
    "bash -c '[[ a == b ]]'",
    'set -eu; read -r x; trap x EXIT; find . -exec ls {} +; printf %s a; echo -n a',
  ])
    expect(found({ shell }), shell).toEqual([])
})

test('a value glued into a quoted program is named', () => {
  expect(found({ shell: "awk '{ print $${n} }' x; sed 's/${a}/b/' y" })).toEqual([
    'value-in-program shell:15',
    'value-in-program shell:33',
  ])
  expect(found({ exec: "awk '{ print ${n} }' ${f} x/${f}", allow_dash: false })).toEqual([
    'value-in-program exec:14',
  ])
  expect(found({ exec: 'sed s/${a}/b/ -- ${f}' })).toEqual(['value-in-program exec:7'])
  expect(found({ exec: 'jq --arg a ${a} . -- x/${f}' })).toEqual([])
  expect(found({ shell: "awk -v n=${n} '{ print $n }' x; jq --arg a ${a} '.[$a]'" })).toEqual([])
})

test('a variable the script sets itself, written as a placeholder, is named', () => {
  expect(found({ shell: 'for f in *; do echo ${f}; done' })).toEqual(['script-variable shell:1'])
  expect(found({ shell: 'x=1; echo ${x}' })).toEqual(['script-variable shell:1'])
  expect(found({ shell: 'x=${x}; x=1; echo ${x}' })).toEqual(['script-variable shell:9'])
  for (const shell of ['x=${x}; ls -- "${x}"', 'for x in ${x}; do ls -- "$x"; done'])
    expect(found({ shell, allow_dash: false }), shell).toEqual([])
})

test('a hand-written positional is named, but not inside single quotes, and not that of a function', () => {
  expect(found({ shell: 'echo "$1" ${p}' })).toEqual(['positional shell:7'])
  expect(found({ shell: 'echo "${1}" ${10} ${#} ${0} ${p}' })).toEqual(
    [7, 13, 19, 24].map((column) => `positional shell:${column}`),
  )
  expect(found({ shell: "awk '{ print $1 ${1} }' -- ${p}" })).toEqual([])
  expect(found({ shell: 'f() { ls -- "$1"; }; f ${p}; ls "$2"' })).toEqual(['positional shell:34'])
  expect(found({ shell: 'function f { ls -- "$@" | wc -l; }\nf -- ${p}' })).toEqual(['needs-bash shell:1'])
})

test('a parameter that is a variable of the environment is named', () => {
  expect(found({ shell: 'ls ${HOME}' }, { environment: { HOME: '/root' } })).toEqual([
    'environment-name parameters[0]',
  ])
  expect(found({ shell: 'ls ${HOME}' }, { environment: {} })).toEqual([])
})

test('a finding prints like a problem', () => {
  const [finding] = lintTool(
    load({ description: 'x', shell: 'set -e\nls ${f:raw}', parameters: [{ name: 'f', description: 'x' }] }),
  )
  if (finding === undefined) throw new Error('no finding')
  expect(formatProblem(finding, 'tools[0]')).toBe(
    [
      'tools[0]: The shell splits and globs what the model sends for f.',
      '  shell, line 2: ls ${f:raw}',
      '                    ^',
      'Remove :raw if the value is one argument.',
    ].join('\n'),
  )
})

test('a value that names the program is named', () => {
  expect(found({ exec: 'env -i ${p} x', allow_dash: false })).toEqual(['program-chosen exec:8'])
  for (const [shell, column] of [
    ['sudo ${p} x', 6],
    ['${p} --help', 1],
    ['X=1 command ${p}', 13],
    ['./${p} x', 3],
    ['echo x | ${p}', 10],
    ['if ! ${p}; then :; fi', 6],
  ])
    expect(found({ shell, allow_dash: false }), String(shell)).toEqual([`program-chosen shell:${column}`])
  for (const exec of [
    'sudo ls -- ${p}',
    'sudo -u ${p} ls',
    'nice -n ${p} ls',
    'command -v ${p}',
    'xargs -n ${p} ls',
  ])
    expect(found({ exec, allow_dash: false }), exec).toEqual([])
  for (const parameter of [{ type: 'boolean' }, { enum: ['test', 'lint'] }])
    expect(found({ shell: 'if ${p}; then ls; fi', parameters: [{ name: 'p', ...parameter }] })).toEqual([])
})

test('a value that names a variable for a program is named, unless the name has a beginning', () => {
  expect(found({ exec: 'env ${k}=${v} ./run.sh', allow_dash: false })).toEqual(['program-chosen exec:5'])
  expect(found({ shell: 'sudo env ${k}=${v} ./run.sh', allow_dash: false })).toEqual([
    'program-chosen shell:10',
  ])
  expect(found({ exec: 'env APP_${k}=${v} ./run.sh', allow_dash: false })).toEqual([])
})

test('a script that runs what it computes is named when it has values', () => {
  expect(found({ shell: 'x=${p}; eval "$x"' })).toEqual(['runs-variable shell:9'])
  expect(found({ shell: 'x=${p}; sh -c "$x"' })).toEqual(['runs-variable shell:9'])
  expect(found({ shell: 'r() { "$@"; }; r ls -- ${p}' })).toEqual(['runs-variable shell:7'])
  expect(found({ shell: 'eval "$X"' })).toEqual([])
  for (const [shell, column] of [
    ['"$PY" x.py -- ${p}', 1],
    ['$(echo eval) -- ${p}', 1],
    ['command $S -- ${p}', 1],
    ['echo -- ${p} | $S', 16],
    ['f() { eval "$X"; }; f -- ${p}', 7],
    ['alias e=eval; e -- ${p}', 1],
  ])
    expect(found({ shell }), String(shell)).toEqual([`runs-variable shell:${column}`])
  expect(found({ shell: '"$HOME/bin/tool" -- ${p}' })).toEqual([])
})

test('a shell that a group, a function or a redirection around it may feed is named when there are values', () => {
  for (const [shell, column] of [
    ['f() { sh; }; echo -- ${p} | f', 7],
    ['{ sh; } <<E\n${p}\nE', 3],
    ['(sudo bash -s) <<E\n${p}\nE', 2],
    ['while read l; do sh; done <<E\n${p}\nE', 18],
    ['mkfifo x; cat -- ${p} > x & . /dev/stdin', 29],
  ])
    expect(found({ shell }), String(shell)).toEqual([`runs-variable shell:${column}`])
  for (const shell of [
    '{ sh; } <<E\nls\nE',
    'curl x | sh; echo -- ${p}',
    "sh <<'E'\nls\nE\necho -- ${p}",
    'sh < x.sh; echo -- ${p}',
    '{ sh x.sh; } <<E\n${p}\nE',
    "{ sh -c 'wc -l'; } <<E\n${p}\nE",
    'f() { grep x; }; echo -- ${p} | f',
  ])
    expect(found({ shell }), shell).toEqual([])
})

test('a command whose name is a pattern, and one that renames commands, are named when there are values', () => {
  for (const [shell, column] of [
    ['e* -- ${p}', 1],
    ['x; sudo ev?l -- ${p}', 4],
    ['{eval,x} -- ${p}', 1],
    ['BASH_ALIASES[x]=${p}', 1],
    ['shopt -s expand_aliases; x -- ${p}', 1],
    ['hash -p -- ${p} ls', 1],
  ])
    expect(withoutBash(found({ shell })), String(shell)).toEqual([`runs-variable shell:${column}`])
  for (const shell of ['[ -n x ] && ls -- *.txt ${p}', '"e*" -- ${p}', 'e*', 'shopt -s nullglob; x -- ${p}'])
    expect(withoutBash(found({ shell })), shell).toEqual([])
})

test('a value that a program reads from a pipe, a here-document or a here-string and runs is named', () => {
  for (const [shell, column] of [
    ['python3 <<< "print(\'${p}\')"', 21],
    ['ssh host <<< "ls ${p}"', 18],
    ['sqlite3 db <<<"select ${p}"', 23],
    ['at now <<< "ls ${p}"', 16],
  ])
    expect(withoutBash(found({ shell })), String(shell)).toEqual([`value-in-program shell:${column}`])
  for (const shell of ['python3 <<< ${p}', 'ssh host cat <<< "a ${p}"', 'python3 x.py <<< "a ${p}"'])
    expect(withoutBash(found({ shell })), shell).toEqual([])
  for (const [shell, column] of [
    ['echo -- ${p} | xargs -I{} sh -c "echo {}"', 16],
    ['echo -- ${p} | xargs sh -c', 16],
    ['echo -- ${p} | xargs -I% ssh h %', 16],
    ['echo -- ${p} | ssh -i k host', 16],
    ['echo -- ${p} | parallel', 16],
    ['echo -- ${p} | psql "$DB"', 16],
    ['ssh host <<E\nls ${p}\nE', 4],
    ['psql db <<E\nselect ${p};\nE', 8],
    ['python3 - <<E\nprint(${p})\nE', 7],
  ])
    expect(found({ shell, allow_dash: false }), String(shell)).toEqual([`value-in-program shell:${column}`])
  for (const shell of [
    `echo -- \${p} | xargs -I{} sh -c 'echo "$1"' _ {}`,
    'echo -- ${p} | ssh host cat',
    'ssh host cat <<E\n${p}\nE',
    'python3 x.py <<E\n${p}\nE',
  ])
    expect(found({ shell }), shell).toEqual([])
  expect(found({ shell: 'echo -- ${p} | python3' })).toEqual(['value-in-program shell:16'])
  expect(found({ shell: 'echo -- ${p} | python3 x.py' })).toEqual([])
})

test('a pattern that repeats a repetition is named, because nothing bounds its time', () => {
  const withPattern = (pattern: string) => found({ exec: 'x -- ${p}', parameters: [{ name: 'p', pattern }] })
  for (const pattern of ['(a+)+', '(?:x|[a-z]*)*', '(a{1,})+b', '(a+|b)+', '(\\w+\\s?)+', '(?<n>[(]+?)*'])
    expect(withPattern(pattern)).toEqual(['slow-pattern parameters[0].pattern'])
  for (const pattern of ['[a-z]+(-[a-z]+x)*', '(ab)+', 'a+b*', '(\\+)*', 'a+(?:-[a-z]+)*', '(\\.\\w+)*'])
    expect(withPattern(pattern)).toEqual([])
})

test('a value read or printed into a variable whose text the shell runs is named', () => {
  for (const [shell, column] of [
    ['for l in ${p}; do read -r PS4; done', 19],
    ['echo -- ${p} > x; command read PROMPT_COMMAND < x', 19],
    ['{ mapfile -t BASH_ENV; } <<E\n${p}\nE', 3],
    ['x=${p}; printf -vPS4 %s "$x"', 9],
    ['x=${p}; PS4="$x"', 9],
    ['x=${p}; export PROMPT_COMMAND="$x"', 9],
  ])
    expect(withoutBash(found({ shell, allow_dash: false })), String(shell)).toEqual([
      `runs-variable shell:${column}`,
    ])
  for (const shell of [
    'read -r line <<E\n${p}\nE',
    "PS4='+ '; set -x; ls -- ${p}",
    'printf -v line %s ${p}',
    'printf -v PS4 +; ls -- ${p}',
    'read -r PS4',
  ])
    expect(withoutBash(found({ shell, allow_dash: false })), shell).toEqual([])
})

test('a value in a command that parallel hands to a shell is named', () => {
  for (const [template, column] of [
    ['parallel -k ::: ${p}', 17],
    ['sudo parallel ::: a ${p}', 21],
  ])
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template, allow_dash: false }), String(template)).toEqual([
        `value-in-program ${mode}:${column}`,
      ])
  expect(found({ shell: 'echo -- ${p} | parallel sh -c "echo {}"' })).toEqual(['value-in-program shell:16'])
  for (const shell of [
    'parallel gzip ::: ${p}',
    'parallel -j ${p} gzip ::: a b',
    'find . -name ${p} | parallel gzip {}',
  ])
    expect(found({ shell, allow_dash: false }), shell).toEqual([])
})

test('a value that is or joins the command an option takes is named, unless it is a number or a choice', () => {
  for (const [template, rule] of [
    ['rsync -e ${p} a b', 'program-chosen'],
    ['rsync -aze ${p} a b', 'program-chosen'],
    ['timeout 9 rsync --rsh=${p} a b', 'program-chosen'],
    ['rsync -e "ssh -p ${p}" a b', 'value-in-program'],
    ['scp -S ${p} a b', 'program-chosen'],
    ['rg --pre=${p} a b', 'program-chosen'],
    ['sort --compress-program ${p} a', 'program-chosen'],
  ])
    for (const mode of ['exec', 'shell'])
      expect(found({ [mode]: template, allow_dash: false }), String(template)).toEqual([
        `${rule} ${mode}:${(template?.indexOf('${') ?? 0) + 1}`,
      ])
  const exec = 'rsync -e "ssh -p ${p}" a b'
  expect(found({ exec, parameters: [{ name: 'p', type: 'integer' }] })).toEqual([])
  expect(found({ exec, parameters: [{ name: 'p', enum: ['22', '2222'] }] })).toEqual([])
  for (const exec of ['rsync -a -- ${p} b', 'rsync --exclude ${p} a b', 'grep -e ${p} a', 'sort -S ${p} a'])
    expect(found({ exec, allow_dash: false }), exec).toEqual([])
})

test('a value in a variable that holds a command is named', () => {
  for (const [shell, finding] of [
    ['GIT_SSH_COMMAND=${p} git fetch', 'program-chosen shell:17'],
    ['GIT_SSH_COMMAND="ssh -i ${p}" git fetch', 'value-in-program shell:25'],
    ['export PAGER=${p}; man ls', 'program-chosen shell:14'],
    ['env EDITOR=${p} git commit', 'program-chosen shell:12'],
  ])
    expect(found({ shell }), String(shell)).toEqual([finding])
  expect(found({ exec: 'env PAGER=${p} man ls' })).toEqual(['program-chosen exec:11'])
  for (const shell of [
    `KEY=\${p} GIT_SSH_COMMAND='ssh -i "$KEY"' git fetch`,
    'MY_PAGER=${p} man ls',
    'grep PAGER=${p} a',
    'PAGER=cat man -- ${p}',
  ])
    expect(found({ shell }), shell).toEqual([])
})

const MANY: [what: string, definition: (count: number) => object, few?: number][] = [
  ['placeholders', (count) => ({ shell: `x ${texts(count, (index) => `\${p${index}}`)}`, allow_dash: true })],
  [
    'optional words and programs',
    (count) => ({
      exec: `awk ${texts(count, (index) => `'{ print \${p${index}} }'`)} \${last}`,
      parameters: [{ name: 'last', required: false }],
    }),
  ],
  [
    'variables, functions and checks',
    (count) => ({
      shell: `x0=\${v}\n${texts(count, (index) => `x${index + 1}=$x${index}; f${index}() { g $1; }; f${index} $x${index}; case $y${index} in *[!0-9]*) ;; esac; a=$((x${index} + 1))\n`)}`,
    }),
    100,
  ],
  [
    'scripts inside the script',
    (count) => ({ shell: texts(count, () => `sh -c 'eval "$1"' _ \${v}\n`) }),
    100,
  ],
  ['lines', (count) => ({ shell: texts(count, (index) => `p${index}=1; x \${p${index}:raw}\n`) })],
]

function texts(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join(' ')
}

test.each(MANY)('%s: four times as many do not take ten times as long to lint', (_, define, few = 1_000) => {
  const milliseconds = (count: number): number => {
    const tool = load(define(count))
    const start = process.cpuUsage()
    expect(lintTool(tool).length).toBeGreaterThanOrEqual(count)
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  milliseconds(few)
  // The best of three: a busy machine makes one of them slow.
  const ratios = [1, 2, 3].map(() => milliseconds(few * 4) / milliseconds(few))
  expect(Math.min(...ratios)).toBeLessThan(10)
})
