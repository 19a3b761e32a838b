import { expect, test } from 'vitest'
import { atipToTools, compileTools, createResultFilter, createValidator, toOpenAI } from '../src/index.js'

// `tsc` reads this file, too: what it refuses here, it would refuse to every program with strict settings.

const maybe = <Value>(value: Value): Value | undefined => value

test('metadata that is written out as a constant is taken as it is', () => {
  const notes = {
    atip: { version: '0.6', features: ['effects'] },
    name: 'notes',
    version: '1.0.0',
    description: 'Keeps notes',
    commands: {
      list: {
        description: 'Print notes',
        arguments: [{ name: 'kind', type: 'enum', enum: ['new', 'old'] }],
        options: [{ name: 'count', flags: ['-n', '--count'], type: 'integer' }],
        effects: { network: false, filesystem: { paths: ['notes.txt'] }, creates: ['notes.txt'] },
      },
    },
    globalOptions: [{ name: 'quiet', flags: ['-q'], type: 'boolean' }],
  } as const
  expect(toOpenAI(notes).map((tool) => tool.function.name)).toEqual(['notes_list'])
  expect(compileTools([notes] as const, 'openai').tools).toHaveLength(1)
})

test('an option may be undefined', () => {
  expect(
    toOpenAI({ atip: '0.6', name: 'a', version: '1', description: 'A' }, { strict: maybe(true) }),
  ).toEqual([])
  const policy = {
    allowNetwork: maybe(false),
    maxCostEstimate: maybe('low' as const),
    minTrustLevel: undefined,
  }
  expect(createValidator([], policy).validate('a', {}).valid).toBe(false)
  const filter = createResultFilter([], {
    maxLength: maybe(5),
    redactPatterns: undefined,
    redactSecrets: undefined,
  })
  expect(filter.filter('text', 'a')).toBe('text')
  const tool = { atip: '0.6', name: 'a', version: '1', description: 'A' }
  expect(atipToTools(tool, { prefix: maybe('b'), commands: undefined, trust: undefined })).toEqual([])
})
