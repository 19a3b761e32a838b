import { spawnSync } from 'node:child_process'
import { areInstalled } from '@delta/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { argvOf, load, refusal } from './helper.js'

const hasPython = areInstalled('python3')

/** What Python's shlex makes of many templates, in one process: words, or null where it refuses. */
function shlex(templates: readonly string[]): (string[] | null)[] {
  const program = [
    'import json, shlex, sys',
    'def split(text):',
    '    try: return shlex.split(text)',
    '    except ValueError: return None',
    'print(json.dumps([split(text) for text in json.load(sys.stdin)]))',
  ].join('\n')
  const python = spawnSync('python3', ['-c', program], { input: JSON.stringify(templates), maxBuffer: 1e9 })
  if (python.status !== 0) throw new Error(String(python.stderr ?? python.error))
  return JSON.parse(String(python.stdout)) as (string[] | null)[]
}

/** Our words, or null where we refuse. */
function ours(template: string): string[] | null {
  try {
    return argvOf({ exec: template }, {})
  } catch {
    return null
  }
}

const PIECES = [
  ...'a ls -x --k=v 0 é 日本 🙂 # * ? [ ] ( ) { } ~ ! % ^ , : @ $1 = +'.split(' '),
  ...['\u00a0', '\u2028', '\ufeff', '\ue000', '\uf8ff', '\x0b', '\x0c'],
  ...[
    ' ',
    '  ',
    '\t',
    '\n',
    '\r',
    '"',
    "'",
    '""',
    "''",
    '\\',
    '\\\\',
    '\\"',
    "\\'",
    '\\ ',
    '\\a',
    '\\n',
    '$ ',
  ],
]

const piece = fc.constantFrom(...PIECES)
const template = fc.oneof(
  fc.array(piece, { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join('')),
  // Mostly balanced quotes, so that most templates are accepted.
  fc
    .array(
      fc.tuple(fc.array(piece, { maxLength: 4 }), fc.constantFrom('', '"', "'")).map(([pieces, quote]) => {
        const inner = pieces.filter((text) => quote === '' || !text.includes(quote)).join('')
        return `${quote}${quote === '"' ? inner.replace(/\\+$/, '') : inner}${quote}`
      }),
      { minLength: 1, maxLength: 6 },
    )
    .map((words) => words.join('')),
)

test.skipIf(!hasPython)(
  'exec: splits 10,000 generated templates exactly as shlex.split does, or refuses them',
  () => {
    const templates = fc.sample(template, { numRuns: 10_000, seed: 42 })
    const expected = shlex(templates)
    let accepted = 0
    templates.forEach((text, index) => {
      const words = ours(text)
      if (words === null) return
      accepted += 1
      expect(words, JSON.stringify(text)).toEqual(expected[index])
    })
    expect(accepted).toBeGreaterThan(5_000)
  },
)

test.skipIf(!hasPython)('exec: refuses what shlex.split refuses, and little else', () => {
  const templates = fc.sample(template, { numRuns: 5_000, seed: 7 })
  const expected = shlex(templates)
  const surprising = templates.filter(
    (text, index) => ours(text) === null && (expected[index]?.[0] ?? '') !== '' && !/\\[\n$]/.test(text),
  )
  expect(surprising).toEqual([])
})

test.skipIf(!hasPython)('an accepted placeholder is where shlex.split leaves it', () => {
  const placeholder = fc.constantFrom('${p}', '"${p}"', "'${p}'", 'x${p}', '${p}y')
  const parts = fc.array(fc.oneof(piece, placeholder), { minLength: 1, maxLength: 8 })
  const templates = fc.sample(
    parts.map((list) => `ls ${list.join('')}`),
    { numRuns: 3_000, seed: 3 },
  )
  const expected = shlex(templates)
  let accepted = 0
  templates.forEach((text, index) => {
    if (!text.includes('${p}') || /\\+\$\{p\}/.test(text)) return
    let words: string[]
    try {
      words = argvOf({ exec: text }, { p: 'value' })
    } catch {
      return
    }
    accepted += 1
    expect(words, JSON.stringify(text)).toEqual(
      expected[index]?.map((word) => word.replaceAll('${p}', 'value')),
    )
  })
  expect(accepted).toBeGreaterThan(500)
})

describe('exec: templates', () => {
  const command = (exec: string) => load({ exec }).command

  test('quotes group words and disappear', () => {
    expect(command(`grep "fixed pattern" 'single $x' a"b c"d ""`)).toEqual([
      'grep',
      'fixed pattern',
      'single $x',
      'ab cd',
      '',
    ])
  })

  test('globs, comments, braces and tildes are plain text', () => {
    const words = 'ls * a?b [x] ~ # {a,b} (c) !'
    expect(command(words)).toEqual(words.split(' '))
  })

  test('a newline is white space', () => {
    expect(command('ls\n  -l\n')).toEqual(['ls', '-l'])
  })

  test('a backslash before ${ makes it literal text', () => {
    const argv = ['echo', '${x}', '${x}', '${x}', '\\v', '\\\\v', '${HOME:-y}']
    const exec = "echo \\${x} \"\\${x}\" '\\${x}' \\\\${p} '\\\\${p}' \\${HOME:-y}"
    expect(argvOf({ exec }, { p: 'v' })).toEqual(argv)
  })

  const REFUSED: [string, number, string][] = [
    ['a | b', 3, "Shell metacharacter '|' not allowed in exec: mode. Use shell: mode or remove pipe."],
    ['a & b', 3, "Shell metacharacter '&' not allowed in exec: mode."],
    ['a; b', 2, "Shell metacharacter ';' not allowed in exec: mode."],
    ['a < b', 3, "Shell metacharacter '<' not allowed in exec: mode."],
    ['a >> b', 3, "Shell metacharacter '>>' not allowed in exec: mode."],
    ['a $(b)', 3, "Shell metacharacter '$(' not allowed in exec: mode."],
    ["a 'b | c'", 6, "Shell metacharacter '|' not allowed in exec: mode."],
    ['a \\| b', 4, "Shell metacharacter '|' not allowed in exec: mode."],
    ['a $HOME', 3, 'Nothing expands $HOME in exec: mode.'],
    ['a "$HOME"', 4, 'Nothing expands $HOME in exec: mode.'],
    ['a ${HOME:-x}', 3, 'This is not a placeholder'],
    ['a ${1x}', 3, 'This is not a placeholder'],
    ['a ${x:raw}', 3, ':raw modifier is only allowed in shell: mode'],
    ['a "b', 3, 'The closing " is missing.'],
    ["a 'b", 3, "The closing ' is missing."],
    ['a \\', 3, 'This backslash escapes nothing.'],
    ['a \\\nb', 3, 'This backslash escapes nothing.'],
    ['${cmd} x', 1, 'The first word must be literal'],
    ['./bin/${cmd} x', 7, 'The first word must be literal'],
    ['sh -c "echo ${x}"', 13, 'a program that sh runs'],
    ['timeout 5 python3 -c "print(${x})"', 29, 'a program that python3 runs'],
    ['node --eval=${x}', 13, 'a program that node runs'],
    ['ssh host "ls ${x}"', 14, 'a program that ssh runs'],
    ['ssh -oProxyCommand="nc ${x}" host', 24, 'a program that sh runs'],
  ]
  for (const [exec, column, words] of REFUSED) {
    test(`${JSON.stringify(exec)} is refused at column ${column}`, () => {
      const [message = '', excerpt = '', caret = '', hint = ''] = refusal({ exec }).split('\n')
      expect(message).toContain(words)
      expect(caret.trim()).toBe('^')
      if (!exec.includes('\n')) expect(caret.length - (excerpt.indexOf('"') + 1)).toBe(column)
      expect(hint).not.toBe('')
    })
  }

  test('a whole-word program is what the author asked for', () => {
    expect(argvOf({ exec: 'bash -c ${script}' }, { script: 'echo a; echo b' })).toEqual([
      'bash',
      '-c',
      'echo a; echo b',
    ])
    expect(argvOf({ exec: 'ssh ${user}@${host} uptime' }, { user: 'u', host: 'h' })).toEqual([
      'ssh',
      'u@h',
      'uptime',
    ])
    expect(argvOf({ exec: 'python3 tool.py --name=${x}' }, { x: 'y' })).toEqual([
      'python3',
      'tool.py',
      '--name=y',
    ])
  })

  test('every problem of a template is reported at once', () => {
    expect(refusal({ exec: 'a | b > ${x:raw} $HOME' }).split('\n\n')).toHaveLength(4)
  })

  test('an empty template is refused', () => {
    expect(refusal({ exec: '  ' })).toContain('The command is empty.')
    expect(refusal({ shell: ' \n' })).toContain('The script is empty.')
  })
})
