import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { toFunctionTool, toJsonSchema } from '../src/index.js'
import { argvOf, bind, call, load, refusal } from './helper.js'

const ITEM = {
  type: 'object',
  properties: { old: { type: 'string' }, new: { type: 'string' } },
  required: ['old', 'new'],
}
const EDIT = {
  exec: 'edit.py',
  stdin: 'json',
  parameters: [{ name: 'path' }, { name: 'edits', type: 'array', items: ITEM }],
}

/** What a call writes to standard input. */
function stdinOf(definition: object, args: unknown): string | undefined {
  const result = bind(definition, args)
  if (!result.ok) throw new Error(reasonsOf(definition, args).join('\n'))
  return result.stdin
}

function reasonsOf(definition: object, args: unknown): string[] {
  const result = bind(definition, args)
  return result.ok ? [] : result.reasons.map(({ message }) => message)
}

describe('stdin: json', () => {
  test('writes every argument as one JSON object, in the order of parameters', () => {
    expect(bind(EDIT, { edits: [{ old: '-b', new: 'c' }], path: 'a.py' })).toEqual({
      ok: true,
      argv: ['edit.py'],
      stdin: '{"path":"a.py","edits":[{"old":"-b","new":"c"}]}',
    })
  })

  test('values have the type of their parameter, and absent optional ones are absent', () => {
    const parameters = [
      { name: 'text' },
      { name: 'count', type: 'integer' },
      { name: 'ratio', type: 'number', default: 0.5 },
      { name: 'force', type: 'boolean', required: false },
      { name: 'files', type: 'array', required: false },
    ]
    const tool = { exec: 'x', stdin: 'json', parameters }
    expect(stdinOf(tool, { text: 5, count: '7', force: 'true', files: ['a', 5] })).toBe(
      '{"text":"5","count":7,"ratio":0.5,"force":true,"files":["a","5"]}',
    )
    expect(stdinOf(tool, { text: '', count: 1, force: null })).toBe('{"text":"","count":1,"ratio":0.5}')
  })

  test('placeholders may stand in the command besides, and keep the rule for a leading dash there', () => {
    const tool = { ...EDIT, exec: 'edit.py --in=${path} ${path}', allow_dash: undefined }
    expect(bind(tool, { path: 'a', edits: [] })).toEqual({
      ok: true,
      argv: ['edit.py', '--in=a', 'a'],
      stdin: '{"path":"a","edits":[]}',
    })
    expect(reasonsOf(tool, { path: '-a', edits: [] })).toHaveLength(1)
    expect(stdinOf(EDIT, { path: '-a', edits: [] })).toBe('{"path":"-a","edits":[]}')
    expect(stdinOf({ exec: 'x ${b} ${a}', stdin: 'json' }, { a: '1', b: '2' })).toBe('{"b":"2","a":"1"}')
  })

  test('in a script a missing optional placeholder is empty, and absent from the JSON', async () => {
    const parameters = [{ name: 'a', required: false }, { name: 'b' }]
    const tool = { shell: 'printf "<%s>" ${a}; cat', stdin: 'json', parameters }
    expect((await call(tool, { b: 'B' })).stdout).toBe('<>{"b":"B"}')
    expect((await call(tool, { a: 'A', b: 'B' })).stdout).toBe('<A>{"a":"A","b":"B"}')
  })

  test('command: gives parameters to the JSON alone, unless they say inject_as or stand in it', () => {
    const parameters = [
      { name: 'a' },
      { name: 'b', inject_as: 'option' },
      { name: 'c', inject_as: 'argument' },
    ]
    const args = { c: '3', b: '2', a: '1' }
    expect(bind({ command: ['x'], stdin: 'json', parameters }, args)).toEqual({
      ok: true,
      argv: ['x', '--b', '2', '3'],
      stdin: '{"a":"1","b":"2","c":"3"}',
    })
    const placed = {
      command: ['x', '${a}'],
      substitute: true,
      stdin: 'json',
      parameters: [{ name: 'a' }, { name: 'z' }],
    }
    expect(bind(placed, { a: '1', z: '2' })).toEqual({
      ok: true,
      argv: ['x', '1'],
      stdin: '{"a":"1","z":"2"}',
    })
  })

  test('a parameter called json is what stdin: json means; \\${json} is no parameter', () => {
    expect(stdinOf({ exec: 'x \\${json} ${a}', stdin: 'json' }, { a: '1' })).toBe('{"a":"1"}')
    for (const tool of [
      { exec: 'jq ${filter}', stdin: 'json', parameters: [{ name: 'json' }, { name: 'filter' }] },
      { exec: 'jq ${filter} ${json}', stdin: 'json' },
    ]) {
      expect(bind(tool, { json: '[1]', filter: '.' })).toEqual({ ok: true, argv: ['jq', '.'], stdin: '[1]' })
    }
    expect(bind({ exec: 'jq .', stdin: 'json' }, { json: '[1]' })).toMatchObject({
      argv: ['jq', '.'],
      stdin: '[1]',
    })
  })

  test.each([
    [{ exec: 'x', input_schema: { type: 'object' } }, 'input_schema needs stdin: json'],
    [{ command: ['x'], parameters: [{ name: 'a', inject_as: 'json' }] }, 'inject_as: json needs stdin: json'],
    [
      { command: ['x'], stdin: 'json', parameters: [{ name: 'a', inject_as: 'stdin' }] },
      'Only one parameter can go to stdin, and to no other place',
    ],
    [
      { exec: 'x', stdin: 'json', parameters: [{ name: 'a', inject_as: 'argument' }] },
      "Cannot override inject_as for parameter 'a' (inferred: json, explicit: argument)",
    ],
  ])('%j is refused', (definition, message) => {
    expect(refusal(definition)).toContain(message)
  })
})

describe('objects and lists of anything', () => {
  test('a value is checked to its depth, and every fault is told by its place', () => {
    expect(reasonsOf(EDIT, { path: 'a', edits: [{ old: 1, new: 'b' }, { old: [] }, 'x'] })).toEqual([
      '"edits[1].new" is missing.',
      '"edits[1].old" must be a string.',
      '"edits[2]" must be an object.',
    ])
    expect(reasonsOf(EDIT, { path: 'a', edits: {} })).toEqual(['"edits" must be a list.'])
  })

  test.each([
    [{ type: 'integer', minimum: 1, maximum: 3 }, [0, 4, 1.5, 'a', true], [1, 3, '2']],
    [{ type: 'number', minimum: -1 }, [-2, '-1.5'], [-1, 2.5]],
    [{ type: 'array', items: { type: 'integer' } }, [['a'], 5, [1.5]], [[], [1, 2]]],
    [{ type: 'array', items: { type: 'string', pattern: '[a-z]+' } }, [['a1'], ['']], [['ab']]],
    [{ type: 'array', items: { enum: ['a', 1, null] } }, [['b'], [2]], [['a', 1, null]]],
    [{ type: 'array', items: { type: ['integer', 'null'] } }, [['a']], [[1, null]]],
    [{ type: 'object' }, ['a', [], 5], [{}, { any: [1] }]],
    [
      { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
      [{}, { a: 1 }],
      [{ a: true, b: 1 }],
    ],
    [{ type: 'array', items: { type: 'array', items: { type: 'boolean' } } }, [[1], [[1]]], [[[true]]]],
  ])('%j', (parameter, wrong, right) => {
    const tool = { exec: 'x', stdin: 'json', parameters: [{ name: 'p', ...parameter }] }
    for (const p of wrong) expect([p, bind(tool, { p }).ok]).toEqual([p, false])
    for (const p of right) expect([p, bind(tool, { p }).ok]).toEqual([p, true])
  })

  test('what strict mode sends for an absent property is left out, and a null that may be one is kept', () => {
    const properties = { a: { type: 'string' }, b: { type: ['string', 'null'] }, c: {} }
    const tool = { exec: 'x', stdin: 'json', parameters: [{ name: 'p', type: 'object', properties }] }
    expect(stdinOf(tool, { p: { a: null, b: null, c: null } })).toBe('{"p":{"b":null,"c":null}}')
  })

  test('in a command an object is its JSON text, and a list one argument each', () => {
    const object = { name: 'p', type: 'object' }
    expect(argvOf({ exec: 'x ${p} --p=${p}', parameters: [object] }, { p: { a: '-"b' } })).toEqual([
      'x',
      '{"a":"-\\"b"}',
      '--p={"a":"-\\"b"}',
    ])
    const list = { name: 'p', type: 'array', items: { type: ['object', 'integer', 'string'] } }
    expect(argvOf({ exec: 'x ${p}', parameters: [list] }, { p: [{ a: [1] }, 2, 'c'] })).toEqual([
      'x',
      '{"a":[1]}',
      '2',
      'c',
    ])
    expect(reasonsOf({ exec: 'x ${p}', parameters: [list] }, { p: ['a\0'] })).toEqual([
      '"p" must not contain a NUL character.',
    ])
    expect(reasonsOf({ exec: 'x ${p}', parameters: [list] }, { p: ['-a'] })[0]).toContain(
      'looks like an option',
    )
    expect(stdinOf({ exec: 'x', stdin: 'p', parameters: [object] }, { p: { a: 'ü\0' } })).toBe(
      '{"a":"ü\\u0000"}',
    )
  })

  test('numbers of which JSON keeps only the beginning are refused at any depth', () => {
    const tool = {
      exec: 'x',
      stdin: 'json',
      parameters: [
        { name: 'p', type: 'array', items: {} },
        { name: 'n', type: 'integer', default: 1 },
      ],
    }
    expect(reasonsOf(tool, { p: [[{ a: 2 ** 53 }]] })).toEqual([
      '"p[0][0].a" cannot be passed on exactly; send it as a string.',
    ])
    expect(bind(tool, { p: [], n: '12345678901234567890' }).ok).toBe(false)
    expect(bind(tool, { p: [JSON.parse('1e999')] }).ok).toBe(false)
  })

  test('whatever is sent there is an answer, at any depth and of any size', () => {
    const tool = {
      exec: 'x',
      stdin: 'json',
      parameters: [
        { name: 'p', type: 'array', items: { type: 'string' } },
        { name: 'q', type: 'array', items: {}, required: false },
      ],
    }
    expect(bind(tool, { p: new Array(10_000).fill({}) })).toMatchObject({
      ok: false,
      reasons: { length: 100 },
    })
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as unknown
    expect(bind(tool, { p: [], q: deep })).toMatchObject({ ok: false, reasons: { length: 1 } })
    for (const value of [1n, () => 1, Symbol('a'), undefined, [1n]])
      expect(bind(tool, { p: [], q: [value] }).ok).toBe(false)
    expect(
      stdinOf(
        { exec: 'x', stdin: 'json', parameters: [{ name: 'p', type: 'object' }] },
        JSON.parse('{"p":{"__proto__":{"a":1},"constructor":2}}'),
      ),
    ).toBe('{"p":{"__proto__":{"a":1},"constructor":2}}')
  })

  test.each([
    [{ name: 'p', type: 'array', items: 5 }, "items of 'p' must be a mapping"],
    [
      { name: 'p', type: 'array', items: { type: 'text' } },
      "items.type of 'p' must be one of: string, integer,",
    ],
    [{ name: 'p', type: 'object', properties: [] }, "properties of 'p' must be a mapping"],
    [
      { name: 'p', type: 'object', properties: { a: { required: 'b' } } },
      "properties.a.required of 'p' must be a list of names",
    ],
    [
      { name: 'p', type: 'array', items: { pattern: '(' } },
      "items.pattern of 'p' must be a regular expression",
    ],
    [{ name: 'p', type: 'array', items: { minimum: '1' } }, "items.minimum of 'p' must be a number"],
    [{ name: 'p', items: {} }, "items of 'p' belongs to type: array\nWrite type: array, or remove it."],
    [{ name: 'p', minimum: 1 }, "minimum of 'p' belongs to type: number"],
    [{ name: 'p', required: ['a'] }, "required of 'p' belongs to type: object"],
    [{ name: 'p', type: 'integer', minimum: 2, default: 1 }, "The default of 'p' must be at least 2"],
    [
      { name: 'p', type: 'array', items: { type: 'integer' }, default: ['a'] },
      "The default of 'p[0]' must be a whole number",
    ],
    [{ name: 'p', type: 'integer', maximum: 'a' }, 'parameters[0].maximum must be a number'],
  ])('%j is refused', (parameter, message) => {
    expect(refusal({ exec: 'x', stdin: 'json', parameters: [parameter] })).toContain(message)
  })
})

const SUM = {
  type: 'object',
  properties: {
    b: { type: 'number', minimum: 0 },
    a: { type: 'string', pattern: '^x' },
    f: { enum: ['u', 'v'] },
  },
  required: ['a'],
  'x-order': null,
  additionalProperties: { oneOf: [{ const: null }] },
}

describe('input_schema', () => {
  const tool = { exec: 'sum', stdin: 'json', input_schema: SUM }

  test('goes to the model as it is written, and calls are checked by it', () => {
    expect(JSON.stringify(toJsonSchema(load(tool)))).toBe(JSON.stringify(SUM))
    expect(stdinOf(tool, { b: '2', other: [1], a: 'xy' })).toBe('{"b":2,"other":[1],"a":"xy"}')
    expect(reasonsOf(tool, { a: 'yx', b: -1, f: 'w' })).toEqual([
      '"a" must match /^x/.',
      '"b" must be at least 0.',
      '"f" must be one of: u, v.',
    ])
    expect(reasonsOf(tool, {})).toEqual(['"a" is missing.'])
    expect(toJsonSchema(load({ ...tool, input_schema: { type: 'object' } }))).toEqual({
      type: 'object',
      properties: {},
      required: [],
    })
  })

  test('placeholders are of its properties', () => {
    const placed = { ...tool, exec: 'sum ${a} --f=${f}' }
    expect(bind(placed, { a: 'x1', b: 1, f: 'v' })).toEqual({
      ok: true,
      argv: ['sum', 'x1', '--f=v'],
      stdin: '{"a":"x1","b":1,"f":"v"}',
    })
    expect(bind(placed, { a: 'x1' })).toMatchObject({ argv: ['sum', 'x1'] })
    expect(refusal({ ...tool, exec: 'sum ${z}' })).toContain(
      '${z} is not among the properties of input_schema',
    )
  })

  test.each([
    [{ ...tool, parameters: [{ name: 'a' }] }, 'input_schema stands instead of parameters'],
    [{ ...tool, input_schema: { properties: {} } }, 'input_schema.type must be object'],
    [{ ...tool, input_schema: 'object' }, 'input_schema must be a mapping'],
    [
      { ...tool, input_schema: { type: 'object', properties: { a: { type: 'int' } } } },
      'input_schema.properties.a.type must be one of',
    ],
  ])('%j is refused', (definition, message) => {
    expect(refusal(definition)).toContain(message)
  })
})

describe('the full form of stdin: json', () => {
  test('says where each value goes', () => {
    expect(load({ ...EDIT, exec: 'edit.py ${path}' })).toEqual({
      name: 'tool',
      command: ['edit.py'],
      parameters: [
        {
          name: 'path',
          type: 'string',
          inject_as: 'argument',
          position: 0,
          required: true,
          allow_dash: false,
        },
        { name: 'edits', type: 'array', inject_as: 'json', required: true, items: ITEM },
      ],
      stdin: 'json',
      __meta: { syntax: 'exec', template: 'edit.py ${path}', stdin: 'json' },
    })
  })

  const ARGS = { path: 'a', edits: [{ old: 'b', new: '' }] }
  test.each([
    [EDIT, ARGS],
    [{ ...EDIT, exec: 'edit.py ${path}.x "${CWD}"' }, ARGS],
    [{ ...EDIT, exec: undefined, shell: 'cat; echo ${path}' }, ARGS],
    [{ ...EDIT, exec: undefined, command: ['x'] }, ARGS],
    [{ exec: 'x', stdin: 'json', parameters: [] }, {}],
    [{ exec: 'x', stdin: 'json', parameters: [{ name: 'json' }] }, { json: '1' }],
    [{ exec: 'x ${json}', stdin: 'json' }, { json: '1' }],
    [
      { exec: 'sum ${a} ${f}', stdin: 'json', input_schema: SUM },
      { a: 'x', f: 'u', z: null },
    ],
    [
      {
        exec: 'x ${o}',
        parameters: [
          {
            name: 'o',
            type: 'object',
            properties: { a: { type: 'string', default: null } },
            required: ['a'],
            additionalProperties: {},
            default: { a: '' },
          },
        ],
      },
      {},
    ],
  ])('loads again and behaves the same: %j', (definition, args) => {
    const expanded = load(definition)
    const again = load(parse(stringify(expanded, { aliasDuplicateObjects: false })) as object)
    expect(JSON.stringify(again)).toBe(JSON.stringify(expanded))
    expect(bind(again, args)).toEqual(bind(definition, args))
    expect(bind(again, args).ok).toBe(true)
    expect(toFunctionTool(again, { strict: true })).toEqual(toFunctionTool(expanded, { strict: true }))
  })
})

describe('what the model is told', () => {
  const parameters = [
    { name: 'n', type: 'integer', minimum: 1, maximum: 9, required: false },
    {
      name: 'o',
      type: 'object',
      description: 'Options',
      properties: {
        a: { type: 'array', items: { type: 'string', pattern: 'a+' } },
        b: { enum: ['x'], type: 'string' },
      },
      required: ['a'],
    },
  ]
  const tool = { exec: 'x', stdin: 'json', parameters }

  test('is the schema as it is written; patterns match whole values there, too', () => {
    expect(toJsonSchema(load(tool)).properties).toEqual({
      n: { type: 'integer', minimum: 1, maximum: 9 },
      o: {
        type: 'object',
        description: 'Options',
        properties: {
          a: { type: 'array', items: { type: 'string', pattern: '^(?:a+)$' } },
          b: { enum: ['x'], type: 'string' },
        },
        required: ['a'],
      },
    })
  })

  test('in strict mode inner properties are required, too, and optional ones may be null', () => {
    expect(toFunctionTool(load(tool), { strict: true }).function).toMatchObject({
      strict: true,
      parameters: {
        required: ['n', 'o'],
        properties: {
          n: { type: ['integer', 'null'], minimum: 1 },
          o: {
            type: 'object',
            properties: {
              a: { items: { pattern: '^(?:a+)$' } },
              b: { type: ['string', 'null'], enum: ['x', null] },
            },
            required: ['a', 'b'],
            additionalProperties: false,
          },
        },
      },
    })
    expect(stdinOf(tool, { n: null, o: { a: ['a'], b: null } })).toBe('{"o":{"a":["a"]}}')
  })

  test.each([
    { type: 'object' },
    { type: 'array', items: {} },
    { type: 'string', minLength: 2 },
    { type: 'array', items: { type: 'string', not: {} } },
  ])('a parameter that strict mode cannot describe (%j) leaves its tool without it', (parameter) => {
    const odd = { exec: 'x', stdin: 'json', parameters: [{ name: 'p', ...parameter }] }
    const told = toFunctionTool(load(odd), { strict: true })
    expect(told).toEqual(toFunctionTool(load(odd)))
    expect(told.function.parameters.properties.p).toEqual(parameter)
    expect(
      toFunctionTool(load({ exec: 'x', stdin: 'json', input_schema: SUM }), { strict: true }).function.strict,
    ).toBe(undefined)
  })
})
