import { expect, test } from 'vitest'
import { formatReport } from '../src/problems.js'
import { parseYaml, type YamlFile } from '../src/yaml.js'

function report(text: string): string {
  const parsed = parseYaml(text, { path: '/a/agent.yaml', name: 'agent.yaml' })
  return parsed.problems.length === 0 ? 'accepted' : formatReport(parsed.problems)
}

function value(text: string): unknown {
  const parsed = parseYaml(text, { path: '/a/agent.yaml', name: 'agent.yaml' })
  return parsed.problems.length === 0 ? parsed.file?.value : report(text)
}

function place(text: string, ...[path, at]: Parameters<YamlFile['locate']>): string {
  const parsed = parseYaml(text, { path: '/a/agent.yaml', name: 'agent.yaml' })
  if (parsed.file === undefined) return report(text)
  const { line, column, excerpt } = parsed.file.locate(path, at)
  return `${line}:${column}\n${excerpt}`
}

test.each([
  ['a: 1\n b: 2\n', 2, 2],
  ['tools:\n  - name: x\n    exec: ls\n      description: Lists.\n', 4, 7],
  ['a: long\n   text\n   b: 2\n', 3, 4],
])('a line that is indented too deep is found where it stands: %j', (text, line, column) => {
  const message = 'Not valid YAML: the line is indented too deep: it continues the string above.'
  const { problems } = parseYaml(text, { path: '/a', name: 'a' })
  expect(problems).toMatchObject([{ line, column, message }])
})

test('an element’s key in the wrong column is reported with what to write', () => {
  expect(
    report('tools:\n  - name: a\n    exec: ls\n  - name: b\n   exec: ls\n'),
  ).toBe(`agent.yaml:5:1: Not valid YAML: Sequence item without - indicator.
     exec: ls
  ^
Write ": " after a key, "- " before an element of a list, and a comma between those in brackets.`)
})

test('a star alone is one mistake, reported once', () => {
  expect(report('exec: *\n')).toBe(`agent.yaml:1:7: No anchor & stands before the alias *.
  exec: *
        ^
Quote a string that begins with *.`)
  expect(report('- exec: *\n- exec: *.py\n')).toContain('\n\n2 problems.')
})

test.each([
  ['- { name: count, exec: wc -l ${file} }', 33],
  ['- { name: both, shell: cat ${one} ${two} | wc }', 31],
  ['- exec: "${AGENT_HOME}/x.sh" ${file}', 32],
  ['- exec: {a,b} ${file}', 17],
  ['- exec: [ls, ${file}]', 17],
])('a command that must be quoted is reported once, without all that follows from it: %s', (line, column) => {
  const { problems } = parseYaml(`tools:\n  ${line}\n  - { name: b }\n`, { path: '/a', name: 'a' })
  expect(problems).toMatchObject([
    { line: 2, column, hint: expect.stringMatching(/^Quote the whole value\./) },
  ])
})

test('commands to be quoted on several lines are all reported', () => {
  const { problems } = parseYaml('a: "x" y\nb: [x] y ${z}\n', { path: '/a', name: 'a' })
  expect(problems.map(({ line }) => line)).toEqual([1, 2])
})

test.each([
  ['base: &b 5\nllm: { model: x, <<: *b }', '2:18'],
  ['llm:\n  <<: 5', '2:3'],
  ['one: &o { a: 1 }\nllm:\n  <<: [*o, five]', '3:3'],
])('the first merge is shown where what is merged is not a map: %j', (text, where) => {
  expect(report(text)).toMatch(`agent.yaml:${where}: Not valid YAML: Merge sources must be maps`)
})

test('anchors, aliases and merge keys work as people know them', () => {
  expect(value('base: &base { a: 1, b: 2 }\nuse: { <<: *base, b: 3 }\nlist: [*base]\n')).toEqual({
    base: { a: 1, b: 2 },
    use: { a: 1, b: 3 },
    list: [{ a: 1, b: 2 }],
  })
})

test('an alias inside of its own value is an error, not a search without end', () => {
  const message = 'No anchor &a stands before the alias *a.'
  expect(report('x: &a { y: [*a] }\n')).toContain(`agent.yaml:1:13: ${message}`)
  expect(report('x: &a [1, { y: *a }]\nz: *a\n')).toContain(`agent.yaml:1:16: ${message}`)
})

test.each(['!!timestamp 2001-12-14', '!!binary aGVsbG8=', '!!set { a, b }', '!!omap [a: 1]'])(
  '%s is refused: a configuration has strings, numbers, lists and mappings',
  (value) => {
    expect(report(`x-value: ${value}\n`)).toContain('agent.yaml:1:10: Unresolved tag')
  },
)

test('Windows line ends change neither values nor columns', () => {
  expect(value('a: 1\r\nb: |\r\n  x\r\n  y\r\n')).toEqual({ a: 1, b: 'x\ny\n' })
  expect(place('a: 1\r\nb: 2\r\n', ['b'])).toBe('2:4\n  b: 2\n     ^')
})

test('__proto__ is an ordinary key', () => {
  const parsed = value('__proto__: { polluted: true }\n') as object
  expect(Object.keys(parsed)).toEqual(['__proto__'])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
})

const TOOLS = `tools:
  - name: one
    exec: cat \${a} | wc
  - name: two
    shell: |
      set -e

      cat \${b}
  - name: three
    exec: 'cat \${c}'
  - name: four
    exec: "a\\tb \${d}"
  - name: five
    shell:
`

test('a place in a value is found again in the file, through every kind of quoting', () => {
  expect(place(TOOLS, ['tools', 0, 'exec'], { column: 10 })).toBe(
    '3:20\n  exec: cat ${a} | wc\n                 ^',
  )
  expect(place(TOOLS, ['tools', 1, 'shell'], { line: 3, column: 5 })).toBe('8:11\n  cat ${b}\n      ^')
  expect(place(TOOLS, ['tools', 2, 'exec'], { column: 5 })).toBe("10:16\n  exec: 'cat ${c}'\n             ^")
})

test('where escapes move the text, the string itself is the place', () => {
  expect(place(TOOLS, ['tools', 3, 'exec'], { column: 5 })).toBe('12:11\n  exec: "a\\tb ${d}"\n        ^')
})

test('what is missing is placed where it should have been', () => {
  expect(place(TOOLS, ['tools', 4, 'shell'])).toBe('14:5\n  shell:\n  ^')
  expect(place(TOOLS, ['tools', 4, 'command', 0])).toBe('13:5\n  - name: five\n    ^')
  expect(place(TOOLS, ['llm', 'model'])).toBe('1:1\n  tools:\n  ^')
})

test('a long line is cut around the place, and control characters do not reach the terminal', () => {
  const long = `name: x\ndescription: "${'a'.repeat(200)}\u001b[31m" x`
  const [, excerpt = '', caret = ''] = report(long).split('\n')
  expect(excerpt.length).toBeLessThan(130)
  expect(excerpt).not.toContain('\u001b')
  expect(excerpt[caret.length - 1]).toBe('x')
})

test('JSON with tabs is read as JSON, and its mistakes have places all the same', () => {
  const read = (text: string) => parseYaml(text, { path: '/a/x.json', name: 'x.json' })
  const good = read('{\n\t"tools": [\n\t\t{ "name": "a" }\n\t]\n}')
  expect(good.file?.value).toEqual({ tools: [{ name: 'a' }] })
  expect(good.file?.locate(['tools', 0, 'name'])).toMatchObject({ file: 'x.json', line: 3 })
  const bad = read('{ "tools": [ }')
  expect(bad.problems[0]).toMatchObject({ file: 'x.json', line: 1, column: 14 })
})

test('the caret stands under the place, also behind characters that are two columns wide', () => {
  expect(place('描述: 数える\n', ['描述'])).toBe('1:5\n  描述: 数える\n        ^')
})

test('tens of thousands of keys are compared by name, not each with all before it', () => {
  const keys = Array.from({ length: 60_000 }, (_, index) => `key_${index}: 1\n`)
  expect(report(`${keys.join('')}key_7: 2\n`)).toContain('The other one is on line 8.')
})

test('brackets nested without end are refused, not followed', () => {
  expect(report('['.repeat(50_000))).toContain('agent.yaml:1:')
})
