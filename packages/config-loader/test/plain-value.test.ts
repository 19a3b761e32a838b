import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseYaml } from '../src/yaml/file.js'
import { readPlain } from '../src/yaml/plain-value.js'

const plain = (text: string) => readPlain(text, 'agent.yaml')

/** What the parser that explains mistakes makes of a text. */
function explained(text: string) {
  const { problems, file } = parseYaml(text, { path: '/a/agent.yaml', name: 'agent.yaml' })
  return { problems, value: file?.value }
}

test('maps, lists and single values are read as the parser reads them that explains mistakes', () => {
  const text = `name: a # a comment
version: 1.10
tools:
- { name: b, exec: 'ls \${d}', parameters: [ { name: d, enum: [1, .5, 0o17, 0x1f, true, ~] } ] }
-
  name: "c\\u0041"
  shell: |
    cat <<EOF
      \${x}: y
    EOF
  description: >-
    one
    two

    three
`
  expect(plain(text)?.value).toEqual(explained(text).value)
  expect(plain(text)?.value).toMatchObject({ version: 1.1, tools: [{ name: 'b' }, { name: 'cA' }] })
})

test.each([
  ['a mistake', 'a: [1'],
  ['a repeated key', 'a: 1\na: 2'],
  ['an anchor', 'a: &b 1'],
  ['an alias', 'a: *b'],
  ['a tag', 'a: !!str 1'],
  ['a merge', '<<: { a: 1 }'],
  ['a directive', '%YAML 1.1\n---\na: 1'],
  ['two documents', 'a: 1\n---\nb: 1'],
  ['a tab', 'a:\t1'],
  ['a key that is no text', 'null: 1'],
  ['a number larger than any', 'a: 1e400'],
  ['a number of more digits than any', `a: ${'9'.repeat(400)}`],
  ['a letter beyond all others', 'a: "\\U00110000"'],
  ['blanks that end the file', 'a: |+\n  b\n  '],
  ['a comment before the end of a map', '{ a: 1\n# b\n}'],
  ['a comment before the comma', '[{ a: 1 }\n# b\n\n, c]'],
  ['a comment before a value that is more indented', 'a:\n#b\n  # c\n  d\ne: 1'],
  ['an empty line and a comment before a value', 'a:\n\n# b\n  c\nd: 1'],
  ['a text that begins on a line of its own', 'a:\n#b\n  |\nc: 1'],
  ['a value glued to a colon', '[? a # b\n :c]'],
  ['a key behind a value', 'a:\n- { b: 1 }  c: 2'],
  ['a key glued to a value', 'a:\n- "b"c: 2'],
  ['an explicit key behind a value', 'a: 1\nb:\n- { c: 1 }? d'],
  ['a single value', 'a'],
  ['nothing', ''],
])('%s is left to the parser that explains mistakes', (_, text) => {
  expect(plain(text)).toBeUndefined()
})

test.each([
  ['{"a":1,"a":2}'],
  ['{"a":[{"b":1,"b\\"":2}, {"c" : {"d":":"}, "\\u0063"\n:1}]}'],
  ['{"__proto__":1,"__proto__":2}'],
])('%s is JSON with a repeated key, and left to the parser that explains mistakes', (text) => {
  expect(readPlain(text, 'tools.json')).toBeUndefined()
  const { problems } = parseYaml(text, { path: '/a/tools.json', name: 'tools.json' })
  expect(problems).toMatchObject([{ message: expect.stringContaining(' is given twice.') }])
})

test('JSON is read with all that looks like a key and is none', () => {
  const value = { 'a"': '":', b: [{ c: '"d":1' }, { c: ' : ' }], '': { '\\': ['\\', ':'] }, '"e":': null }
  for (const text of [JSON.stringify(value), JSON.stringify(value, undefined, '\t')])
    expect(readPlain(text, 'tools.json')?.value).toEqual(value)
})

test('what is written is there, before it was taken for a number', () => {
  const file = plain('version: 1.10\ntools: [{ name: 007 }]')
  expect(file?.written(['version'])).toBe('1.10')
  expect(file?.written(['tools', 0, 'name'])).toBe('007')
  expect(file?.written(['tools', 1, 'name'])).toBeUndefined()
  expect(file?.written(['tools'])).toBeUndefined()
})

test('a file with an unusual key is no trap', () => {
  const value = plain('__proto__: { polluted: 1 }\nconstructor: 2')?.value
  expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

/** Reads a text both ways: where the quick way has an answer, it is the other one's, and that has nothing to complain of. */
function expectTheSame(text: string): boolean {
  const read = plain(text)
  if (read === undefined) return false
  expect({ problems: [], value: read.value }).toEqual(explained(text))
  return true
}

const PIECES =
  '- |- - |a: |b: | |  |\n|\n  |\n    |\n- |\n  - |\na: |\nb: |\n  c: |"x"|\'y\'|""| #c|#|{|}|[|]|, |{ a: 1, b }|[1, 2]|{"a":1}|1|0o17|0x1F|1_000|1e3|-1|.5|1.|.inf|.nan|null|~|True|yes|&a|*a|!foo |!!str |<<: |---\n|...\n|%|@|`|!|?|? |:|: |\\|>\n|>-\n|1e400|012:30|text|\u00e9|=|\n\n|"a\\n\\\n  b"|x: y\n|- k: v\n'
    .split('|')
    .concat('|\n', '|-\n', '|+\n', '>+\n', '>2\n', '\n# c\n', '\n}', '\n, ', '"\\U00110000"', '9'.repeat(320))

test('texts made of YAML at random are read alike, or not at all', () => {
  let read = 0
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 14 }), (pieces) => {
      if (expectTheSame(`a: 1\n${pieces.join('')}`)) read += 1
    }),
    { numRuns: 30_000 },
  )
  expect(read).toBeGreaterThan(1_000)
})

const AGENTS = ['../../../examples', '../../../apps/cli/templates', '../examples']
const files = AGENTS.flatMap((directory) => yamlFiles(join(import.meta.dirname, directory)))

function yamlFiles(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.yaml') && !name.includes('node_modules'))
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
}

test('every file of the examples and templates is read the quick way, and alike', () => {
  expect(files.length).toBeGreaterThan(30)
  for (const text of files) expect(expectTheSame(text), text).toBe(true)
})

/** A character is lost, one too many is typed, a line slips. */
const mistake = fc.oneof(
  fc.record({ at: fc.nat(), drop: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ at: fc.nat(), add: fc.constantFrom(...PIECES) }),
  fc.record({ at: fc.nat(), indent: fc.nat({ max: 5 }) }),
  fc.record({ at: fc.nat(), repeat: fc.nat() }),
)

function withMistake(
  text: string,
  mistaken: { at: number; drop?: number; add?: string; indent?: number; repeat?: number },
) {
  const at = mistaken.at % (text.length + 1)
  const { drop, add, indent, repeat } = mistaken
  if (drop !== undefined) return text.slice(0, at) + text.slice(at + drop)
  if (add !== undefined) return text.slice(0, at) + add + text.slice(at)
  const lines = text.split('\n')
  const line = mistaken.at % lines.length
  if (indent !== undefined) lines[line] = ' '.repeat(indent) + (lines[line] ?? '').trimStart()
  else lines.splice(line, 0, lines[(repeat ?? 0) % lines.length] ?? '')
  return lines.join('\n')
}

test('files with mistakes in them are read alike, or not at all', () => {
  let read = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.nat(),
      fc.integer({ min: 1, max: 15 }),
      fc.array(mistake, { minLength: 1, maxLength: 3 }),
      (text, from, count, mistakes) => {
        const lines = text.split('\n')
        const start = from % lines.length
        if (expectTheSame(mistakes.reduce(withMistake, lines.slice(start, start + count).join('\n'))))
          read += 1
      },
    ),
    { numRuns: 10_000 },
  )
  expect(read).toBeGreaterThan(2_000)
})
