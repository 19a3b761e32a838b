import { describe, expect, test } from 'vitest'
import { bindArguments } from '../src/index.js'
import { argvOf, bind, load, refusal, variables } from './helper.js'

/** A tool with one parameter of a kind. */
function typed(type: string, more: object = {}): object {
  return { exec: 'x ${p}', parameters: [{ name: 'p', type, ...more }] }
}

function reasons(definition: object, args: unknown): string[] {
  const result = bind(definition, args)
  return result.ok ? [] : result.reasons.map(({ message }) => message)
}

describe('types', () => {
  const accepted: [type: string, value: unknown, text: string][] = [
    ['string', 'a', 'a'],
    ['string', 5, '5'],
    ['string', true, 'true'],
    ['integer', 5, '5'],
    ['integer', '5', '5'],
    ['integer', '123456789012345678901234567890', '123456789012345678901234567890'],
    ['number', 0.5, '0.5'],
    ['number', '1e9', '1e9'],
    ['boolean', true, 'true'],
    ['boolean', 'false', 'false'],
  ]
  for (const [type, value, text] of accepted) {
    test(`${type} takes ${JSON.stringify(value)}`, () =>
      expect(argvOf(typed(type), { p: value })).toEqual(['x', text]))
  }

  const refused: [type: string, value: unknown, message: string][] = [
    ['string', 2 ** 53, '"p" cannot be passed on exactly; send it as a string.'],
    ['number', Number.NaN, '"p" cannot be passed on exactly; send it as a string.'],
    ['number', -0, '"p" cannot be passed on exactly; send it as a string.'],
    ['integer', 5.5, '"p" must be a whole number.'],
    ['integer', '5x', '"p" must be a whole number.'],
    ['number', 'five', '"p" must be a number.'],
    ['boolean', 1, '"p" must be true or false.'],
    ['boolean', 'true; id', '"p" must be true or false.'],
    ['number', '5; id', '"p" must be a number.'],
    ['string', {}, '"p" must be a single value.'],
    ['array', 'a', '"p" must be a list.'],
    ['array', [['a']], '"p[0]" must be a string.'],
    ['array', ['b', null], '"p[1]" must be a string.'],
    ['array', ['a\0b'], '"p" must not contain a NUL character.'],
    ['array', [2 ** 53], '"p[0]" must be a string.'],
    ['string', null, '"p" must not be null; tool requires it.'],
    ['string', 'a\0b', '"p" must not contain a NUL character.'],
    ['string', '\ud800', '"p" is not valid Unicode.'],
  ]
  for (const [type, value, message] of refused) {
    test(`${type} refuses ${String(JSON.stringify(value))}`, () => {
      expect(reasons(typed(type), { p: value })).toEqual([message])
    })
  }

  test('an array is one argument for each element', () => {
    expect(argvOf(typed('array'), { p: ['a b', '', 5] })).toEqual(['x', 'a b', '', '5'])
    expect(argvOf(typed('array'), { p: [] })).toEqual(['x'])
  })

  test('a boolean option is the flag or nothing, an array option the flag again and again', () => {
    const definition = {
      command: ['x'],
      parameters: [
        { name: 'all', type: 'boolean', inject_as: 'option', option_name: '--all' },
        { name: 'tags', type: 'array', inject_as: 'option', option_name: '-t', required: false },
        { name: 'port', type: 'integer', inject_as: 'option', option_name: '--port', required: false },
      ],
    }
    expect(argvOf(definition, { all: true, tags: ['a', 'b'], port: 80 })).toEqual([
      'x',
      '--all',
      '-t',
      'a',
      '-t',
      'b',
      '--port',
      '80',
    ])
    expect(argvOf(definition, { all: false })).toEqual(['x'])
  })

  test('an array has no place inside a word, a script or stdin', () => {
    const parameters = [{ name: 'p', type: 'array' }]
    for (const definition of [{ exec: 'x --p=${p}' }, { shell: 'x ${p}' }, { exec: 'x', stdin: 'p' }]) {
      expect(refusal({ ...definition, parameters })).toContain("Parameter 'p' cannot be an array here")
    }
  })
})

test('however much a model sent by mistake, the message is short', () => {
  const long = 'x'.repeat(100_000)
  const [unknown, dash] = [
    reasons({ exec: 'x ${p}' }, { p: '', [long]: 1 }),
    reasons({ exec: 'x ${p}' }, { p: `-${long}` }),
  ]
  expect(unknown).toEqual([`tool has no parameter "${'x'.repeat(64)}". It takes "p".`])
  expect(dash).toEqual([
    `"p" makes "-${'x'.repeat(39)}", which looks like an option. Send a value that does not begin with "-"; put ./ before a path. If this value is right, the tool's author must set allow_dash or stdin: json.`,
  ])
})

describe('enum and pattern', () => {
  test('an enum holds the whole value', () => {
    const definition = typed('integer', { enum: [1, 2] })
    expect(argvOf(definition, { p: 2 })).toEqual(['x', '2'])
    expect(reasons(definition, { p: 3 })).toEqual(['"p" must be one of: 1, 2.'])
  })

  test('a pattern matches the whole value', () => {
    const definition = typed('string', { pattern: 'a|b+' })
    expect(argvOf(definition, { p: 'bb' })).toEqual(['x', 'bb'])
    expect(reasons(definition, { p: 'ab' })).toEqual(['"p" must match /a|b+/.'])
    expect(reasons(definition, { p: 'a\n' })).toEqual(['"p" must match /a|b+/.'])
  })

  test('patterns are matched by the port of the caller, which may refuse a value by its time', () => {
    const asked: string[] = []
    const matches = ({ source }: RegExp, text: string) => {
      asked.push(`${source} ${text}`)
      return text === 'no' ? false : text === 'slow' ? 'took too long' : true
    }
    const items = { type: 'object', properties: { q: { type: 'string', pattern: 'c' } } }
    const parameters = [
      { name: 'p', pattern: 'a' },
      { name: 'list', type: 'array', pattern: 'b' },
      { name: 'items', type: 'array', items },
    ]
    const tool = load({ exec: 'x ${p} ${list} ${items}', parameters })
    const reasonsOf = (p: string, list: string, q: string) => {
      const bound = bindArguments(tool, { p, list: [list], items: [{ q }] }, { variables, matches })
      return bound.ok ? [] : bound.reasons.map(({ message }) => message)
    }
    expect(reasonsOf('1', '2', '3')).toEqual([])
    expect(asked).toEqual(['^(?:a)$ 1', '^(?:b)$ 2', '^(?:c)$ 3'])
    expect(reasonsOf('no', 'no', 'no')).toEqual([
      '"p" must match /a/.',
      '"list[0]" must match /b/.',
      '"items[0].q" must match /c/.',
    ])
    expect(reasonsOf('slow', 'slow', 'slow')).toEqual([
      '"p" took too long.',
      '"list[0]" took too long.',
      '"items[0].q" took too long.',
    ])
    const input_schema = { type: 'object', properties: { p: { type: 'string', pattern: 'a' } } }
    const whole = load({ exec: 'x', stdin: 'json', input_schema })
    expect(bindArguments(whole, { p: 'slow' }, { variables, matches })).toMatchObject({ ok: false })
  })

  test('an invalid pattern, and a default that does not fit, are refused at load time', () => {
    expect(refusal(typed('string', { pattern: '(' }))).toContain(
      "The pattern of 'p': Invalid regular expression: /(/u: Unterminated group",
    )
    // Inside the parentheses around it, it would let 'anything' through.
    expect(refusal(typed('string', { pattern: 'a)|(b' }))).toContain(
      "The pattern of 'p': Invalid regular expression: /a)|(b/u: Unmatched ')'",
    )
    expect(refusal(typed('string', { pattern: '(?i)a' }))).toContain('Invalid group')
    expect(refusal(typed('string', { pattern: '\\_' }))).toContain('Invalid escape')
    expect(refusal(typed('integer', { default: 'x' }))).toContain("The default of 'p' must be a whole number")
    expect(refusal(typed('string', { enum: ['a'], default: 'b' }))).toContain(
      "The default of 'p' must be one of: a",
    )
  })

  test('a word of an enum that no call could pass is refused at load time', () => {
    expect(refusal(typed('integer', { enum: [1, 'few'] }))).toContain(
      "The enum[1] of 'p' must be a whole number",
    )
    expect(refusal(typed('boolean', { enum: ['yes'] }))).toContain("The enum[0] of 'p' must be true or false")
    expect(refusal(typed('string', { enum: ['a', 'B'], pattern: '[a-z]' }))).toContain(
      "The enum[1] of 'p' must match /[a-z]/",
    )
    expect(refusal(typed('array', { enum: ['a', 'B'], pattern: '[a-z]' }))).toContain(
      "The enum[1] of 'p[0]' must match /[a-z]/",
    )
    expect(bind(typed('integer', { enum: ['1', 2] }), { p: 1 })).toMatchObject({ ok: true })
  })
})

describe('missing values', () => {
  test('a required one is an observation for the model', () => {
    expect(bind(typed('string'), {})).toEqual({
      ok: false,
      reasons: [
        { code: 'ERR_ARGUMENT_MISSING', parameter: 'p', message: '"p" is missing; tool requires it.' },
      ],
    })
  })

  test('a default stands in for missing and for null', () => {
    const definition = typed('string', { default: 'd' })
    expect(argvOf(definition, {})).toEqual(['x', 'd'])
    expect(argvOf(definition, { p: null })).toEqual(['x', 'd'])
    expect(argvOf(definition, { p: '' })).toEqual(['x', ''])
  })

  test('a default is never expanded', () => {
    expect(argvOf(typed('string', { default: '${CWD}' }), {})).toEqual(['x', '${CWD}'])
  })

  test('an optional whole word is dropped in exec:', () => {
    expect(argvOf(typed('string', { required: false }), {})).toEqual(['x'])
    expect(argvOf(typed('string', { required: false }), { p: null })).toEqual(['x'])
  })

  test('an optional value is empty inside a word, and an option that carries it goes whole', () => {
    const parameters = [{ name: 'p', required: false }]
    expect(argvOf({ exec: 'x a${p}b --p=${p} --x=a${p}', parameters }, {})).toEqual(['x', 'ab', '--x=a'])
  })

  test('an optional value is empty in shell:, and holds its position', () => {
    const tool = { shell: 'x ${a} ${b}', parameters: [{ name: 'a', required: false }] }
    for (const definition of [tool, load(tool)]) {
      expect(argvOf(definition, { b: 'b' })).toEqual(['sh', '-c', 'x "$1" "$2"', '--', '', 'b'])
    }
  })

  test('an optional word that others would move up for is refused at load time', () => {
    const parameters = [{ name: 'a', required: false }]
    expect(refusal({ exec: 'cp ${a} ${b}', parameters })).toContain(
      'Without ${a}, ${b} would move to its place.',
    )
    expect(refusal({ exec: 'x -o ${a}', parameters })).toContain('Without ${a}, -o would take the next word.')
    expect(refusal({ exec: 'x -o ${a}', parameters })).toContain('--option=${name}')
    expect(argvOf({ exec: 'x --color=auto ${a} -l', parameters }, {})).toEqual(['x', '--color=auto', '-l'])
  })
})

describe('what is not an object of arguments', () => {
  for (const args of [null, undefined, 'text', 5, ['a']]) {
    test(`${JSON.stringify(args)} is refused`, () => {
      expect(reasons({ exec: 'x ${a} ${b}' }, args)).toEqual([
        'The arguments of tool must be an object with "a", "b".',
      ])
    })
  }

  test('names a tool does not know are refused, and the message says which it knows', () => {
    expect(reasons({ exec: 'x ${a}' }, { a: '1', b: '2' })).toEqual([
      'tool has no parameter "b". It takes "a".',
    ])
    expect(reasons({ exec: 'x' }, { b: '2' })).toEqual(['tool has no parameter "b". It takes no parameters.'])
  })

  test('names that every object has are not arguments', () => {
    expect(reasons({ exec: 'x ${constructor} ${__proto__}' }, {})).toEqual([
      '"constructor" is missing; tool requires it.',
      '"__proto__" is missing; tool requires it.',
    ])
    const own = JSON.parse('{"constructor": "c", "__proto__": "p"}') as object
    expect(argvOf({ exec: 'x ${constructor} ${__proto__}' }, own)).toEqual(['x', 'c', 'p'])
    expect(reasons({ exec: 'x' }, own)).toHaveLength(2)
  })

  test('every problem of a call is reported at once', () => {
    expect(
      reasons({ exec: 'x ${a} ${b}', parameters: [{ name: 'a', type: 'integer' }] }, { a: 'x', c: 1 }),
    ).toHaveLength(3)
  })
})

test('NUL reaches standard input', () => {
  expect(bind({ exec: 'x', stdin: 'p' }, { p: 'a\0b' })).toEqual({ ok: true, argv: ['x'], stdin: 'a\0b' })
})

test('values are never expanded, split or parsed again', () => {
  const values = { a: '${b} ${CWD} $1', b: '"; `x`' }
  expect(argvOf({ exec: 'x ${a} ${b} ${AGENT_HOME}/${a}' }, values)).toEqual([
    'x',
    '${b} ${CWD} $1',
    '"; `x`',
    '/agent home/${b} ${CWD} $1',
  ])
})

test('a value that cannot be made a string is refused like any object', () => {
  const args = JSON.parse('{"p":{"toString":0,"valueOf":0}}')
  expect(bind(typed('string'), args)).toMatchObject({
    ok: false,
    reasons: [{ code: 'ERR_ARGUMENT_VALUE', parameter: 'p' }],
  })
})
