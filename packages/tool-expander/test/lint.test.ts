import { expect, test } from 'vitest'
import { formatProblem } from '../src/index.js'
import { type LintOptions, lintTool } from '../src/lint.js'
import { call, load } from './helper.js'

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

/** Of a template without a dash rule, the findings about one rule. */
const about = (rule: string, definition: object): string[] =>
  found({ allow_dash: false, ...definition }).filter((each) => new RegExp(`^(?:${rule})`).test(each))

test('a tool and its parameters want descriptions', () => {
  expect(lintTool(load({ exec: 'ls ${directory}' })).map(({ rule, path }) => [rule, path])).toEqual([
    ['no-description', 'description'],
    ['no-description', 'parameters[0]'],
  ])
})

test('a script that is not there is named, as far as its path is fixed', () => {
  const fileExists = (path: string) => path.endsWith('/there.py')
  const missing = (definition: object) =>
    found(definition, { fileExists }).filter((each) => each.startsWith('script'))
  expect(missing({ exec: 'python3 ${TOOL_HOME}/gone.py ${a}' })).toEqual(['script-not-found exec:9'])
  expect(missing({ command: ['node', '${AGENT_HOME}/lib/gone.mjs'] })).toEqual([
    'script-not-found command[1]:1',
  ])
  expect(missing({ shell: 'ls | python3 ${AGENT_HOME}/gone.py' })).toEqual(['script-not-found shell:14'])
  expect(missing({ exec: 'python3 ${TOOL_HOME}/there.py --db ${AGENT_HOME}/made.db' })).toEqual([])
  expect(missing({ exec: 'python3 ${TOOL_HOME}/${name}.py' })).toEqual([])
})

test('a program that is not there is named', () => {
  expect(found({ exec: 'nope ${a}' }, { commandExists: (program) => program !== 'nope' })).toEqual([
    'command-not-found command[0]',
  ])
  const [finding] = lintTool(load({ exec: '${AGENT_HOME}/bin/args.py', description: 'x' }), {
    commandExists: () => false,
  })
  expect(finding?.message).toBe(
    '${AGENT_HOME}/bin/args.py is not a program that can be started: it is missing, or not executable (chmod +x).',
  )
})

test('values that may be taken for options are named, unless the template protects them', () => {
  expect(found({ exec: 'x ${p}', allow_dash: true })).toEqual(['option-like-values parameters[0]'])
  expect(found({ shell: 'x ${p}', parameters: [{ name: 'p', allow_dash: true }] })).toEqual([
    'option-like-values parameters[0]',
  ])
  const advice = (command: string[]) =>
    lintTool(load({ command, description: 'x', parameters: [{ name: 'p', description: 'x' }] })).map(
      ({ hint }) => hint,
    )
  expect(advice(['ls'])).toEqual(['Write -- before it, or allow_dash: false.'])
  expect(advice(['sudo', 'find'])).toEqual(['Say allow_dash: false; for find, -- protects nothing.'])
  expect(advice(['npm', 'run', 'x', '--'])).toEqual([
    'Write -- -- before it, since the first is for npm itself, or allow_dash: false.',
  ])
  expect(found({ exec: 'x -- ${p} --q=${q} ${e}', parameters: [{ name: 'e', enum: ['a'] }] })).toEqual([])
  expect(found({ shell: 'x ${p}.txt' })).toEqual([])
  // an option takes it as it is
  for (const allow_dash of [undefined, true])
    expect(found({ exec: 'git grep -e ${text}', allow_dash })).toEqual([])
})

test('free text that is refused where it begins with a dash is named', () => {
  expect(found({ exec: 'say ${text}' })).toEqual(['option-like-values exec'])
  expect(found({ exec: 'say ${file}' })).toEqual([])
})

test('a parameter that is a variable of the environment is named', () => {
  expect(found({ shell: 'ls ${HOME}' }, { env: { HOME: '/root' } })).toEqual([
    'environment-name parameters[0]',
  ])
  expect(found({ shell: 'ls ${HOME}' }, { env: {} })).toEqual([])
})

test('a raw value from a model is named, but for one of those that the author lists', () => {
  const shell = 'ls ${flags:raw}'
  expect(found({ shell })).toEqual(['raw shell:4'])
  expect(found({ shell, parameters: [{ name: 'flags', enum: ['-l', '-la *.txt'] }] })).toEqual([])
})

test('characters only a shell expands are named once, where they are not quoted and no pattern for the program', () => {
  expect(found({ exec: 'ls -- "*.md" ${p} *.txt ~/x # y' })).toEqual(['literal-character exec:19'])
  for (const exec of ['ls ~/x', 'ls {a,b}', 'ls a # b', 'ls x[0-9]', 'rg x *.txt'])
    expect(found({ exec }), exec).toEqual([expect.stringMatching(/^literal-character /)])
  for (const exec of [
    'find . -name *.py ( -type f -o -type d )',
    'rg x -g *.py',
    'grep --include=*.py -r foo.* .',
    'docker ps --format {{.State}}',
    'kubectl get pods -o jsonpath={.items[*].metadata.name}',
    'curl https://x.y/?a=b',
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
    'set -euo pipefail; ls',
    'cp a{,.bak}',
    'echo {1..3}',
    '[ a == b ]',
    'printf -v x a',
    'read -a x',
    'mapfile -t x',
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

test('a value glued into a program of another language is named', () => {
  for (const template of [
    'awk "{ print ${v} }" f',
    'env LC_ALL=C gawk -v a=b "{ print ${v} }" f',
    'sed s/${v}/b/ f',
    'sed -e s/a/b/ -e "s/${v}/b/" f',
    'jq --arg a b ".${v}" f',
    'psql -At -c "select ${v}" db',
    'mysql -e "select ${v}" db',
    'sqlite3 -csv db "select ${v}"',
  ])
    for (const mode of ['exec', 'shell'])
      expect(about('value-in-program', { [mode]: template }), template).toEqual([
        `value-in-program ${mode}:${template.indexOf('${') + 1}`,
      ])
  // In exec: these are refused.
  for (const shell of [
    'python3 -c "print(${v})"',
    'node -e "f(${v})"',
    'perl -ne "print ${v}" f',
    'ruby -e "puts ${v}"',
    'php -r "echo ${v};"',
    'ssh -p 22 host "ls ${v}"',
    'python3 - <<E\nprint(${v})\nE',
    'ssh host <<E\nls ${v}\nE',
    'psql db <<E\nselect ${v};\nE',
  ])
    expect(about('value-in-program', { shell }), shell).toHaveLength(1)
})

test('a value beside the program, in a file name or without a meaning for it is not named', () => {
  for (const shell of [
    'awk -v n=${v} "{ print n }" x/${v}',
    'awk -f x.awk "/a b/${v}"',
    'sed -e s/a/b/ "/a b/${v}"',
    `jq --arg a "x \${v}" '.[$a]' "/a b/\${v}"`,
    'psql "host=h dbname=${v}" -c "select 1"',
    'mysql --defaults-file="/a b/${v}" -e "select 1"',
    'python3 x.py <<E\n${v}\nE',
    'ssh host cat <<E\n${v}\nE',
  ])
    expect(about('value-in-program', { shell }), shell).toEqual([])
  const shell = 'awk "{ print ${v} }" f'
  for (const parameter of [{ type: 'integer' }, { enum: ['a'] }, { pattern: '[a-z]+' }])
    expect(about('value-in-program', { shell, parameters: [{ name: 'v', ...parameter }] })).toEqual([])
  expect(about('value-in-program', { shell, parameters: [{ name: 'v', pattern: '.+' }] })).toHaveLength(1)
})

test('a hand-written command that joins the values behind it to a script is named', () => {
  const parameters = [{ name: 'v', allow_dash: false }]
  expect(about('value', { command: ['ssh', 'host', 'ls'], parameters })).toEqual(['value-in-program command'])
  expect(about('value', { command: ['bash', '-c', 'ls -- "$1"', '--'], parameters })).toEqual([])
})

test('a path in the script of a hand-written command is named: with a blank in it, it would be two words', () => {
  const command = ['/bin/bash', '-ec', 'ls "${CWD}/a" ${AGENT_HOME}']
  const [finding] = lintTool(load({ command, description: 'x' }))
  expect(finding && formatProblem(finding)).toBe(`The path of \${CWD} becomes part of a script.
  command[2]: "ls "\${CWD}/a" \${AGENT_HOME}"
                   ^
Hand it over beside it, as an argument: [sh, -c, 'ls "$1"', sh, "\${CWD}"].`)
  expect(about('path', { command: ['env', 'A=1', 'sh', '-c', 'cd ${CWD}'] })).toEqual([
    'path-in-script command[4]:4',
  ])
  for (const script of ['ls "$1" $CWD ${HOME}', 'ls \\${CWD}'])
    expect(about('path', { command: ['sh', '-c', script, 'sh', '${CWD}/a'] })).toEqual([])
  expect(about('path', { command: ['sh', '${AGENT_HOME}/a.sh', '-c', '${CWD}'] })).toEqual([])
})

test.each([
  ['sed', `env A=\${v} perl -pe 's/\\Q$ENV{A}\\E/b/'`],
  ['awk', `env N=\${v} awk '{ print ENVIRON["N"] }' f`],
  ['jq', "jq --arg name ${v} '.[$name]' f"],
  ['python3', "python3 -c 'from sys import argv' ${v}"],
  ['node', "node -e 'console.log(process.argv[1])' ${v}"],
  ['perl', "perl -e 'print $ARGV[0]' ${v}"],
])('what the finding about %s advises loads without it', (_, exec) => {
  expect(about('value-in-program', { exec })).toEqual([])
  expect(about('value-in-program', { shell: exec })).toEqual([])
})

test('the SQL that a finding advises gives the value back, whatever it is', async () => {
  const shell = `printf %s "CAST(X'$(printf %s \${v} | od -An -v -tx1 | tr -d ' \\n')' AS TEXT)"`
  const { stdout } = await call({ shell }, { v: `'; drop` })
  expect(stdout).toBe("CAST(X'273b2064726f70' AS TEXT)")
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
