import { describe, expect, test } from 'vitest'
import { safeParseTool } from '../src/index.js'
import { bind, load } from './helper.js'

/** Scripts in which a value would be run, by the column of the first complaint. */
const REFUSED: [reason: string, shells: [shell: string, column: number][]][] = [
  [
    'a script for sh -c',
    [
      ['"$D"/sh -c "echo ${p}"', 18],
      ['${AGENT_HOME}/bin/sh -c "echo ${p}"', 31],
    ],
  ],
  [
    'the input of',
    [
      ['echo ${p} | sh', 6],
      ['echo ${p} | bash -', 6],
      ['echo ${p} |& bash -s x', 6],
      ['echo ${p} | bash -o pipefail', 6],
      ['echo ${p} | sudo sh', 6],
      ['echo ${p} | docker exec -i x sh', 6],
      ['echo ${p} | tee x |\n bash', 6],
      ['{ echo ${p}; } | sh', 8],
      ['(echo ${p}) | sh -x', 7],
      ['for i in ${p}; do echo $i; done | sh', 10],
      ['if echo ${p}; then :; fi | sh', 9],
      ['echo ${p} | while read l; do bash; done', 6],
      ['echo ${p} | { sh; }', 6],
      ['echo ${p} | . /dev/stdin', 6],
      ['echo ${p} | su - u', 6],
      ['echo ${p} | ssh host sh', 6],
      ['echo ${p} | timeout 5 sh', 6],
      ['echo ${p} | tee >(sh)', 6],
    ],
  ],
  [
    'a script for ',
    [
      ['cat <<E | sh\n${p}\nE', 1],
      ['sh < <(echo ${p})', 13],
      ['bash <(echo ${p}); x', 13],
      ['docker exec -i c sh <<E\n${p}\nE', 1],
    ],
  ],
]

for (const [reason, shells] of REFUSED) {
  describe(`a script is refused with "${reason}"`, () => {
    for (const [shell, column] of shells) {
      test(JSON.stringify(shell), () => {
        const parsed = safeParseTool({ name: 't', shell })
        const [problem] = parsed.ok ? [] : parsed.problems
        expect(problem).toMatchObject({ path: 'shell', column, hint: expect.stringMatching(/\w/) })
        expect(problem?.message).toContain(reason)
      })
    }
  })
}

describe('a script is accepted where the value stays data', () => {
  for (const shell of [
    '"$HOME/bin/tool" ${p}',
    '$DIR/tool.sh ${p}',
    '${AGENT_HOME}/x.sh ${p}',
    'env "${PYTHON:-python3}" x.py ${p}',
    'ls ${p} | grep -v bash',
    'echo ${p} | sh script.sh',
    "echo ${p} | sh -c 'cat'",
    'echo ${p} | ssh host cat',
    'echo ${p} | xargs sh -c \'echo "$1"\' _',
    'echo ${p} | xargs sh',
    'curl x | sh\necho ${p}',
    'echo ${p}; curl x | sh',
    'echo ${p}\nsh',
    'r() { echo "+ $*"; "$@"; }; r ls ${p}',
    'echo ${p} | while read l; do echo "$l"; done',
    `sh -c 'echo "$1"' _ \${p}`,
    'sh -c ${p}',
    'exec cat ${p}',
    'find . -name ${p} -exec grep x {} +',
    // What the author wishes, or does with the value later, is for lintTool to name.
    '$(command -v python3) x.py ${p}',
    '$CC -c "src/${p}.c"',
    'echo ${p} | "$PAGER"',
    'echo ${p} | shellcheck -s bash -',
    'find ${p} | xargs -I{} sh -c "echo {}"',
    'f() { eval "$1"; }; f ls; echo ${p}',
    'alias ll="ls -l"; ll ${p}',
    'files=(${p} b.txt); ls "${files[@]}"',
    'sh ./x.sh <<E\n${p}\nE',
    'ssh host <<E\nls ${p}\nE',
  ]) {
    test(JSON.stringify(shell), () => expect(safeParseTool({ name: 't', shell })).toMatchObject({ ok: true }))
  }
})

describe('the -- of a program that starts another one protects nothing behind the next fixed word', () => {
  const isRefused = (definition: object) => !bind(definition, { p: '-x' }).ok
  for (const command of [
    'sudo -- grep ${p}',
    'env -- grep ${p}',
    'xargs -- grep ${p}',
    'timeout 5 -- grep ${p}',
    'kubectl exec pod -- ls ${p}',
    'sudo -u root -- env X=1 grep ${p}',
  ]) {
    test(command, () => {
      expect(isRefused({ exec: command })).toBe(true)
      expect(isRefused({ shell: command })).toBe(true)
    })
  }
  for (const command of [
    'grep -- ${p}',
    'grep -- fixed ${p}',
    'git checkout -q -- a.txt ${p}',
    'grep -- ${p} -x ${p}',
    'sudo grep -- ${p}',
    'sudo -- grep -- ${p}',
    'npm run x -- -- ${p}',
    'rg -- docker ${p}',
    'grep docker -- src ${p}',
  ]) {
    test(`${command}: here it protects`, () => {
      expect(isRefused({ exec: command })).toBe(false)
      expect(isRefused({ shell: command })).toBe(false)
    })
  }
})

describe('a default that every call would be refused for is refused when the tool is loaded', () => {
  const parameter = (more: object) => ({ parameters: [{ name: 'p', default: '-f', ...more }] })
  for (const definition of [
    { exec: 'x ${p}', ...parameter({}) },
    { exec: 'x --a ${p}', ...parameter({}) },
    { shell: 'x ${p}.txt', ...parameter({}) },
    { command: ['x'], ...parameter({ allow_dash: false }) },
  ]) {
    test(JSON.stringify(definition), () => {
      expect(safeParseTool({ name: 't', ...definition })).toMatchObject({
        ok: false,
        problems: [{ code: 'ERR_PARAMETER', path: 'parameters[0].default' }],
      })
    })
  }
  for (const definition of [
    { exec: 'x ${p}', ...parameter({ allow_dash: true }) },
    { exec: 'x ${p}', ...parameter({ enum: ['-f', '-g'] }) },
    { exec: 'x ${p}', ...parameter({}), allow_dash: true },
    { exec: 'x -- ${p}', ...parameter({}) },
    { exec: 'x --a=${p}', ...parameter({}) },
    { exec: 'x ${p}', ...parameter({ default: -5, type: 'integer' }) },
    { exec: 'x ${p}', ...parameter({ default: -1e-9, type: 'number' }) },
    { command: ['x'], ...parameter({}) },
  ]) {
    test(`${JSON.stringify(definition)} loads, and a call may rely on it`, () => {
      expect(bind(definition, {}).ok).toBe(true)
    })
  }
})

test('a parameter of type number takes every number that can be passed on exactly', () => {
  const tool = load({ exec: 'x ${p}', parameters: [{ name: 'p', type: 'number' }] })
  for (const p of [-1e-9, '-1e-9', 1e-7, -0.5, 3])
    expect(bind(tool, { p })).toMatchObject({ ok: true, argv: ['x', String(p)] })
  for (const p of [Number.NaN, 1e21, -0, '-x', '1e-9x']) expect(bind(tool, { p }).ok).toBe(false)
  const text = load({ exec: 'x ${p}' })
  for (const p of [1e-9, '-1e-9']) expect(bind(text, { p }).ok).toBe(false)
})

test('NUL in a template or a default, and a parameter with the name of a variable of ours, are refused', () => {
  for (const definition of [
    { exec: 'a\0b' },
    { shell: 'a\0b' },
    { command: ['a', 'b\0'] },
    { command: ['a'], parameters: [{ name: 'p', inject_as: 'option', option_name: '-\0' }] },
    { exec: 'x -- ${p}', parameters: [{ name: 'p', type: 'array', default: ['a\0b'] }] },
    { exec: 'x', stdin: 'AGENT_HOME' },
    { exec: 'x', stdin: 'CWD' },
  ]) {
    expect(safeParseTool({ name: 't', ...definition }).ok).toBe(false)
  }
})
