import { describe, expect, test } from 'vitest'
import { formatProblem, safeParseTool, type ToolProblem } from '../src/index.js'
import { call, SHELLS } from './helper.js'

function problemsOf(definition: object): ToolProblem[] {
  const parsed = safeParseTool({ name: 'tool', ...definition })
  return parsed.ok ? [] : parsed.problems
}

test('a problem says where, what, and what to write instead', () => {
  const [problem] = problemsOf({ exec: 'cat ${file} | wc -l' })
  if (problem === undefined) throw new Error('accepted')
  expect(problem).toMatchObject({ code: 'ERR_EXEC_METACHARACTER', path: 'exec', line: 1, column: 13 })
  expect(formatProblem(problem, 'agent.yaml:14:18: tools[2] "count_lines"')).toBe(
    [
      `agent.yaml:14:18: tools[2] "count_lines": Shell metacharacter '|' not allowed in exec: mode. Use shell: mode or remove pipe.`,
      '  exec: "cat ${file} | wc -l"',
      '                     ^',
      'In shell: parameters are passed safely quoted, too. Or write command: as an array.',
      "  shell: 'cat ${file} | wc -l'",
    ].join('\n'),
  )
})

test('the line that exec: refuses is offered for shell:, quoted so that it can be pasted, and loads there', () => {
  const [problem] = problemsOf({ exec: "jq '.[] | .name' ${file}" })
  expect(problem?.hint?.split('\n').at(-1)).toBe("  shell: 'jq ''.[] | .name'' ${file}'")
  expect(problemsOf({ shell: "jq '.[] | .name' ${file}" })).toEqual([])
})

describe('the caret stands below its character', () => {
  const caret = (template: string): string[] =>
    formatProblem(problemsOf({ exec: template })[0] as ToolProblem)
      .split('\n')
      .slice(1, 3)

  test('in a template of several lines, on its line', () => {
    expect(caret('cat\n  ${file} | wc\n')).toEqual([
      '  exec, line 2:   ${file} | wc',
      '                          ^',
    ])
    expect(problemsOf({ exec: 'cat\n  ${file} | wc\n' })).toMatchObject([{ line: 2, column: 11 }])
  })

  test('behind wide characters and tabs', () => {
    expect(caret('echo 日本 | x')).toEqual(['  exec: "echo 日本 | x"', '                   ^'])
    expect(caret('echo 🙂\t| x')).toEqual(['  exec: "echo 🙂\t| x"', '                \t^'])
  })
})

test('a problem without a template is its message and hint', () => {
  expect(formatProblem({ path: 'stdin', message: 'No.', hint: 'Yes.' })).toBe('No.\nYes.')
  expect(formatProblem({ path: 'stdin', message: 'No.' }, 'here')).toBe('here: No.')
})

test('problems of the shape do not hide those of the template', () => {
  expect(problemsOf({ name: 'a b', exec: 'a | b' }).map(({ code }) => code)).toEqual([
    'ERR_TOOL_NAME',
    'ERR_EXEC_METACHARACTER',
  ])
  expect(problemsOf({ name: 'a b', shell: 'echo `${x}`' }).map(({ code }) => code)).toEqual([
    'ERR_TOOL_NAME',
    'ERR_SHELL_CODE',
  ])
})

test('problems of the parameters do not hide those of the template', () => {
  const parameters = [{ name: 'file', pattern: '(' }, { name: 'file' }]
  expect(problemsOf({ exec: 'cat ${file} | wc', parameters }).map(({ path }) => path)).toEqual([
    'exec',
    'parameters[0].pattern',
    'parameters[1].name',
  ])
})

describe('the hint says what to write', () => {
  const hintsOf = (definition: object) => problemsOf(definition).map(({ hint }) => hint)
  const PLACEHOLDER =
    'Write ${name} (letters, digits, _) for a value, its default under parameters:, \\${ for a literal ${.'
  const COMPLETE = 'Write it another way, or move it into a file.'
  const CHECK = 'Say type: integer, or compare with =.'
  const HAND_OVER = `Hand it over as an argument: sh -c '… "$1"' _ \${value}. To trap, watch, git: export x=\${value}; watch 'ls "$x"'. To ssh: as stdin:.`
  const HINTS: [definition: object, hint: string][] = [
    [{ exec: 'docker run \\\n  -it ${image}' }, 'Remove it: lines go on without.'],
    [{ exec: "echo don't ${x}" }, 'Close it, or write \\ before it.'],
    [{ exec: 'cat ${my-file}' }, PLACEHOLDER],
    [{ exec: '${program} --help' }, 'Begin with a program, not a value.'],
    [
      { exec: 'ssh host ls ${directory}' },
      'Give it an enum of letters and digits. Or as stdin: ssh host xargs -0 cat --',
    ],
    [
      { exec: "python3 -c 'print(${x})'" },
      `Hand it over as an argument: sh -c '… "$1"' _ \${value}, watch -x ls \${value}, python3 -c '… sys.argv[1]' \${value}. Or as stdin:.`,
    ],
    [
      { shell: 'x=$(cat f); echo "${x/a/${b}}"' },
      `Hand it over as an argument: bash -c 'echo "\${1/"$2"/"$3"}"' _ "$x" \${old} \${new}`,
    ],
    [{ shell: 'echo `ls ${x}`' }, 'Write $( … ).'],
    [{ shell: 'echo ${a[${i}]}' }, CHECK],
    [{ shell: 'let n=${x}' }, CHECK],
    [{ shell: "cat <<'E'\n${x}\nE" }, 'For a value remove these quotes; for literal text write \\${.'],
    [{ shell: 'ssh host ls ${x}' }, HAND_OVER],
    [
      { shell: 'dir=${dir}; echo ${dir%/}' },
      'Assign it to another name: x=${value}; … ${x%.txt}. Or hand it over: f() { … "$1"; }; f ${value}',
    ],
    [
      { shell: 'ls ${xs}', parameters: [{ name: 'xs', type: 'array' }] },
      'Give it a word of its own in exec:, or inject_as: option in command:.',
    ],
    [{ shell: 'if [ -n ${x} ]; then echo a' }, COMPLETE],
  ]
  test.each(HINTS)('%j', (definition, hint) => expect(hintsOf(definition)).toEqual([hint]))

  test('and following it helps', () => {
    for (const definition of [
      { exec: 'docker run\n  -it ${image}' },
      { exec: 'cat ${my_file}' },
      { exec: 'ssh host xargs -0 cat --', stdin: 'directory' },
      { exec: 'ssh host ls ${directory}', parameters: [{ name: 'directory', enum: ['src', 'test2'] }] },
      { shell: 'echo $(ls ${x})' },
      { shell: "ssh host 'xargs -0 ls'", stdin: 'x' },
      { shell: 'sh -c \'ls "$1"\' _ ${x}' },
      { shell: 'export x=${value}; watch \'ls "$x"\'' },
      { shell: 'export x=${value}; git rebase --exec \'make "$x"\'' },
      { shell: 'export x=${value}; trap \'rm "$x"\' EXIT' },
      { shell: 'export x=${f}; export $(grep a "$x")' },
      { shell: 'x=${dir}; echo ${x%/}' },
      { exec: 'ls ${xs}', parameters: [{ name: 'xs', type: 'array' }] },
      { shell: 'echo ${a[${i}]}', parameters: [{ name: 'i', type: 'integer' }] },
      { shell: 'let n=${i}', parameters: [{ name: 'i', type: 'integer' }] },
      { shell: 'a[${i}]=1', parameters: [{ name: 'i', type: 'integer' }] },
      { shell: 'cat <<E\n${x}\nE' },
      { exec: 'watch -x ls ${value}' },
      { shell: 'case ${i} in *[!0-9]*) exit 1;; esac; n=${i}; echo ${a[n]}' },
    ])
      expect(problemsOf(definition)).toEqual([])
  })
})

test('a value that bash replaces, or is replaced by, is never code: handed over as the hint says it is plain text', async () => {
  if (!SHELLS.includes('bash')) return
  const shell = 'x=$(cat f); echo "${x/${old}/${new}}"'
  const [problem] = problemsOf({ shell })
  expect(problem?.message).toBe(
    "${old} stands in ${…/…}: the value would become bash's pattern or replacement.",
  )
  const [, bash = ''] = problem?.hint?.split('argument: ') ?? []
  const definition = { shell: `x='a*b $(id)'; ${bash}` }
  const { stdout } = await call(definition, { old: '*b', new: '&$(touch x)"' })
  expect(stdout).toBe('a&$(touch x)" $(id)\n')
})

test('what is missing in a loop is named', () => {
  expect(problemsOf({ shell: 'for ${x}; do ls; done' })).toMatchObject([
    { message: 'The variable of this loop is missing.', column: 1 },
  ])
})
