import { describe, expect, test } from 'vitest'
import { argvOf, bind, load } from './helper.js'

const EXEC = { exec: 'rg ${pattern}' }

function refused(definition: object, args: Record<string, unknown>): boolean {
  const result = bind(definition, args)
  return !result.ok && result.reasons.every(({ code }) => code === 'ERR_ARGUMENT_DASH')
}

test('a value that would be an option is refused, and the model is told what to send', () => {
  expect(bind(EXEC, { pattern: '--pre=sh' })).toEqual({
    ok: false,
    reasons: [
      {
        code: 'ERR_ARGUMENT_DASH',
        parameter: 'pattern',
        message:
          '"pattern" makes "--pre=sh", which looks like an option. Send a value that does not begin with "-"; put ./ before a path. If this value is right, the tool\'s author must set allow_dash or stdin: json.',
      },
    ],
  })
})

describe('operands that begin with a dash pass', () => {
  for (const value of ['-', '-5', '-5.25', '- item', '-\n', 'a-b', '']) {
    test(JSON.stringify(value), () => expect(argvOf(EXEC, { pattern: value })).toEqual(['rg', value]))
  }
})

describe('options do not', () => {
  for (const value of ['--', '-e', '-4oProxyCommand=x', '-5.', '-.5', '-1e5', '--help', '-\u00e9']) {
    test(JSON.stringify(value), () => expect(refused(EXEC, { pattern: value })).toBe(true))
  }
})

describe('the finished word counts', () => {
  const cases: [definition: object, args: Record<string, unknown>, refused: boolean][] = [
    [{ exec: 'x ${p}.txt' }, { p: '-' }, true],
    [{ exec: 'x ${p}.txt' }, { p: '-5' }, true],
    [{ exec: 'x ${p}5' }, { p: '-' }, false],
    [{ exec: 'x ${a}${b}' }, { a: '', b: '-y' }, true],
    [{ exec: 'x ${a}${b}' }, { a: 'x', b: '-y' }, false],
    [{ exec: 'x ${a}-y' }, { a: '' }, true],
    [{ exec: 'x --name=${p} ./${p} ${AGENT_HOME}${p}' }, { p: '-y' }, false],
    [{ exec: 'x -- ${p} ${p}.txt' }, { p: '-y' }, false],
    [{ exec: 'x ${p} -- ${p}' }, { p: '-y' }, true],
    [{ shell: 'x ${p}.txt' }, { p: '-' }, true],
    [{ shell: 'x "${a}${b}"' }, { a: '', b: '-y' }, true],
    [{ shell: 'x "${a}${b}"' }, { a: 'x', b: '-y' }, false],
    [{ shell: 'x $HOME${p}' }, { p: '-y' }, true],
    [{ shell: 'x "$HOME/${p}" ${AGENT_HOME}${p}' }, { p: '-y' }, false],
    [{ shell: 'x {a,${p}}' }, { p: '-y' }, true],
    [{ shell: 'x "{a,${p}}"' }, { p: '-y' }, false],
    [{ shell: 'x ${y:-${p}}' }, { p: '-y' }, true],
    [{ shell: 'x ${y:-a${p}}' }, { p: '-y' }, false],
    [{ shell: 'x ${y:+a}${p}' }, { p: '-y' }, true],
    [{ shell: 'x $(y ${p})' }, { p: '-y' }, true],
    [{ shell: 'x -- ${p}' }, { p: '-y' }, false],
    [{ shell: 'x -- ${p}; y ${p}' }, { p: '-y' }, true],
    [{ shell: 'x ""${p}' }, { p: '-y' }, true],
  ]
  for (const [definition, args, expected] of cases) {
    test(`${JSON.stringify(definition)} with ${JSON.stringify(args)} ${expected ? 'is refused' : 'passes'}`, () => {
      expect(refused(definition, args)).toBe(expected)
      expect(refused(load(definition), args)).toBe(expected)
    })
  }
})

describe('what is no argument, or is meant to, may begin with a dash', () => {
  const cases: object[] = [
    { shell: 'x ${p:raw}' },
    { shell: 'cat > ${p} < ${p}' },
    { shell: 'cat <<E\n${p}\nE' },
    { shell: 'v=${p} x; w="${p}"' },
    { shell: 'case ${p} in a) x;; esac' },
    { exec: 'x', stdin: 'p' },
    { exec: 'x ${p}', parameters: [{ name: 'p', enum: ['-y', '-z'] }] },
    { exec: 'x ${p}', parameters: [{ name: 'p', allow_dash: true }] },
    { exec: 'x ${p}', allow_dash: true },
    { shell: 'x "${p}.txt"', allow_dash: true },
    { command: ['x'], parameters: [{ name: 'p' }] },
  ]
  for (const definition of cases) {
    test(JSON.stringify(definition), () => {
      expect(refused(definition, { p: '-y' })).toBe(false)
      expect(refused(load(definition), { p: '-y' })).toBe(false)
    })
  }
})

test('the expansion shows the rule for each parameter', () => {
  const tool = load({ shell: 'x ${a} "${b}.txt" -- ${c}' })
  expect(tool.parameters.map(({ name, allow_dash }) => [name, allow_dash])).toEqual([
    ['a', false],
    ['b', undefined],
    ['c', true],
  ])
  expect(tool.checked_words).toEqual(['${b}.txt'])
})

test.each([{ exec: 'ls ${CWD}${path}' }, { command: ['ls', '${CWD}${path}'], substitute: true }])(
  'behind a directory of the engine no value begins a word, which the expansion shows: %j',
  (definition) => {
    expect(load(definition).parameters).toMatchObject([{ name: 'path', allow_dash: true }])
  },
)

test('a hand-written command: is checked where it says so', () => {
  const command = { command: ['x'], parameters: [{ name: 'p', allow_dash: false }] }
  expect(refused(command, { p: '-y' })).toBe(true)
  expect(refused({ command: ['x', '${p}'], substitute: true }, { p: '-y' })).toBe(true)
  expect(refused({ command: ['x', '--', '${p}'], substitute: true }, { p: '-y' })).toBe(false)
})

test('each element of an array is checked', () => {
  const definition = { exec: 'x ${files}', parameters: [{ name: 'files', type: 'array' }] }
  expect(refused(definition, { files: ['a', '-y'] })).toBe(true)
  expect(argvOf(definition, { files: ['a', '-', 'b'] })).toEqual(['x', 'a', '-', 'b'])
})
