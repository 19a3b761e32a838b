import { expect, test } from 'vitest'
import { expandTool, type ToolDefinition, toFunctionTool, toJsonSchema } from '../src/index.js'
import { argvOf, bind, load } from './helper.js'

const SEARCH = {
  name: 'search',
  description: 'Search files',
  exec: 'rg ${pattern} --max=${max} --sort=${sort} ${files}',
  parameters: [
    { name: 'pattern', description: 'What to look for', pattern: '[a-z]+' },
    { name: 'max', type: 'integer', default: 10, description: 'At most so many' },
    { name: 'sort', enum: ['path', 'modified'], required: false },
    { name: 'files', type: 'array', required: false },
  ],
}

test('descriptions, types, enums, patterns and defaults reach the model', () => {
  expect(toJsonSchema(load(SEARCH))).toEqual({
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'What to look for', pattern: '^(?:[a-z]+)$' },
      max: { type: 'integer', description: 'At most so many', default: 10 },
      sort: { type: 'string', enum: ['path', 'modified'] },
      files: { type: 'array', items: { type: 'string' } },
    },
    required: ['pattern'],
    additionalProperties: false,
  })
})

test('a function tool has the shape of a chat completion request', () => {
  expect(toFunctionTool(load({ name: 'now', exec: 'date' }))).toEqual({
    type: 'function',
    function: {
      name: 'now',
      parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
    },
  })
})

test('in strict mode every parameter is required, and optional ones may be null', () => {
  expect(toFunctionTool(load(SEARCH), { strict: true })).toEqual({
    type: 'function',
    function: {
      name: 'search',
      description: 'Search files',
      strict: true,
      parameters: {
        type: 'object',
        properties: {
          pattern: { type: 'string', description: 'What to look for', pattern: '^(?:[a-z]+)$' },
          max: { type: ['integer', 'null'], description: 'At most so many. Default: 10.' },
          sort: { type: ['string', 'null'], enum: ['path', 'modified', null] },
          files: { type: ['array', 'null'], items: { type: 'string' } },
        },
        required: ['pattern', 'max', 'sort', 'files'],
        additionalProperties: false,
      },
    },
  })
})

test('without strict mode nothing says strict', () => {
  const plain = toFunctionTool(load(SEARCH))
  expect(Object.keys(plain.function)).toEqual(['name', 'description', 'parameters'])
  for (const strict of [false, undefined])
    expect(JSON.stringify(toFunctionTool(load(SEARCH), { strict }))).toBe(JSON.stringify(plain))
})

test('strict mode adds a default to a description, and leaves others as they are written', () => {
  const parameters = [
    { name: 'a', required: false, description: 'Where to look' },
    { name: 'b', default: 'x', description: 'What for' },
    { name: 'c', default: 5, description: 'How often?' },
    { name: 'd', default: 'y' },
  ]
  const { function: told } = toFunctionTool(
    load({ exec: 'x --a=${a} --b=${b} --c=${c} --d=${d}', parameters }),
    { strict: true },
  )
  expect(Object.values(told.parameters.properties).map(({ description }) => description)).toEqual([
    'Where to look',
    'What for. Default: "x".',
    'How often? Default: "5".',
    'Default: "y".',
  ])
})

test('what strict mode sends for an absent value is read as absent', () => {
  const args = { pattern: 'a', max: null, sort: null, files: null }
  expect(argvOf(SEARCH, args)).toEqual(['rg', 'a', '--max=10'])
  expect(bind(SEARCH, args)).toEqual(bind(SEARCH, { pattern: 'a' }))
})

test('a pattern is shown for texts alone: JSON Schema knows no other', () => {
  const parameters = [{ name: 'n', type: 'integer', pattern: '[0-9]{4}' }]
  expect(toJsonSchema(load({ exec: 'x ${n}', parameters })).properties).toEqual({ n: { type: 'integer' } })
  expect(bind({ exec: 'x ${n}', parameters }, { n: 5 }).ok).toBe(false)
})

test('a parameter may be called __proto__', () => {
  const schema = toJsonSchema(load({ exec: 'x ${__proto__} ${constructor}' }))
  expect(Object.keys(schema.properties)).toEqual(['__proto__', 'constructor'])
  expect(JSON.stringify(schema)).toContain('"__proto__":{"type":"string"}')
})

test('an optional value of a script shows its empty default only where that is a text', () => {
  const parameters = [
    { name: 'a', required: false },
    { name: 'n', type: 'integer', required: false },
  ]
  expect(toJsonSchema(load({ shell: 'x ${a} ${n}', parameters })).properties).toEqual({
    a: { type: 'string', default: '' },
    n: { type: 'integer' },
  })
})

test('defaults and enums are told in the type of their parameter, however YAML has them', () => {
  const tool = expandTool({
    name: 'serve',
    exec: 'serve --port=${port} --year=${year} --fast=${fast}',
    parameters: [
      { name: 'port', type: 'integer', enum: ['80', 8080], default: '8080' },
      { name: 'year', enum: [2024, 'latest'], default: 2024 },
      { name: 'fast', type: 'boolean', default: 'false' },
    ],
  })
  expect(toJsonSchema(tool).properties).toEqual({
    port: { type: 'integer', enum: [80, 8080], default: 8080 },
    year: { type: 'string', enum: ['2024', 'latest'], default: '2024' },
    fast: { type: 'boolean', default: false },
  })
})

test('the full form is a definition, for the type checker as well', () => {
  const expanded: ToolDefinition = expandTool({
    name: 'serve',
    exec: 'serve ${port}',
    parameters: [{ name: 'port', enum: [80] }],
  })
  expect(expandTool(expanded)).toEqual(expanded)
})
