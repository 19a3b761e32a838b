import { expect, test } from 'vitest'
import { complaint, load } from './agents.js'

/** What is wrong with one tool, without the excerpts. */
async function problemsOf(tool: string): Promise<string[]> {
  const text = await complaint({ 'agent.yaml': `name: a\nllm: { model: x }\ntools:\n  - ${tool}\n` })
  return text.split('\n\n').map((block) => block.replace(/\n {2}.*\n {2}.*$|\n {2}.*\n {2}.*(?=\n)/, ''))
}

test.each([
  ['int', 'integer'],
  ['Bool', 'boolean'],
  ['str', 'string'],
  ['float', 'number'],
  ['interger', 'integer'],
])('type: %s is said to mean %s', async (type, meant) => {
  const [problem] = await problemsOf(
    `{ name: a, exec: 'ls \${n}', parameters: [{ name: n, type: ${type} }] }`,
  )
  expect(problem).toMatch(/parameters\[0\]\.type must be one of: .*\n/)
  expect(problem).toContain(`\nDid you mean "${meant}"?`)
})

test('a value of the wrong form does not hide what else is wrong with its tool', async () => {
  const tool = `{ name: a b, exec: 'ls \${n}', parameters: [{ name: n, type: list, default: [5], enum: [[]] }, { name: other }] }`
  expect((await problemsOf(tool)).map((text) => text.split('\n')[0])).toEqual([
    'agent/agent.yaml:4:13: tools[0] "a b": name must be 1 to 64 letters, digits, _ or -.',
    'agent/agent.yaml:4:65: tools[0] "a b": parameters[0].type must be one of: string, integer, number, boolean, array, object.',
    'agent/agent.yaml:4:92: tools[0] "a b": parameters[0].enum[0] must be a text or a number.',
    `agent/agent.yaml:4:107: tools[0] "a b": Parameter 'other' not found in template.`,
    '4 problems.',
  ])
})

test.each([
  '{ name: a, exec: [ls], parameters: [{ name: n, type: integer }] }',
  "{ name: a, exec: 'ls ${n}', parameters: [{ name: 5, type: integer }] }",
  "{ name: a, exec: 'ls ${n}', parameters: [n] }",
  '5',
])('what cannot be judged behind a mistake is not: %s', async (tool) => {
  expect(await problemsOf(tool)).toHaveLength(1)
})

test.each([
  ['cmd: [ls]', 'cmd', 'command'],
  ['cmd: ls -l', 'cmd', 'exec'],
  ['run: ls | wc', 'run', 'shell'],
  ['exce: ls', 'exce', 'exec'],
])(
  'a tool that says what it runs by an unknown key is told of that key, and of nothing else: %s',
  async (written, key, meant) => {
    const [first, ...others] = await problemsOf(`{ name: a, ${written} }`)
    expect(others).toEqual([])
    expect(first).toBe(
      `agent/agent.yaml:4:16: tools[0] "a": unknown key "${key}". Tool must specify exactly one of: exec, shell, or command.\nDid you mean "${meant}"?`,
    )
  },
)

test.each([
  ['ls -l ${directory}', 'exec: ls -l ${directory}'],
  ['ls | wc -l', 'shell: ls | wc -l'],
])('a command in one text is told how a text is written: %s', async (command, form) => {
  const [problem] = await problemsOf(`{ name: a, command: '${command}' }`)
  expect(problem).toMatch(/"a": command must be a list\.\n/)
  expect(problem).toContain(`\nAs one text it is written ${form}`)
})

test.each([
  ['exec: [ls, -l, "${directory}"]', 'As one text it is written exec: ls -l ${directory}'],
  ['shell: [ls, "|", wc]', 'Write the whole command as one text. A list of words is what command: takes.'],
  ['exec: true', 'Quote it: exec: "true"'],
  ['exec: 7', 'Quote it: exec: "7"'],
  ['shell: { run: ls }', 'Write the whole command as one text. A list of words is what command: takes.'],
])('a command that is no text is told how it is written as one: %s', async (written, way) => {
  const [problem, ...others] = await problemsOf(`{ name: a, ${written} }`)
  expect(others).toEqual([])
  expect(problem).toMatch(/"a": (exec|shell) must be a text\.\n/)
  expect(problem?.split('\n').at(-1)).toBe(way)
})

test.each([
  [
    'exec: cat $file',
    'Write ${file} for a parameter, shell: for a variable of the environment, single quotes for the text.',
  ],
  [
    'exec: cat $HOME/x',
    'Write shell: for a variable of the environment, ${HOME} for a parameter, single quotes for the text.',
  ],
  ['exec: cat $CWD/x', 'Write ${CWD}.'],
])('a dollar in exec: is told how a parameter is written: %s', async (written, hint) => {
  const [problem] = await problemsOf(`{ name: a, ${written} }`)
  expect(problem?.split('\n').at(-1)).toBe(hint)
})

test.each([
  [
    "exec: 'sort ${reverse} ${file}', parameters: [{ name: reverse, type: boolean, inject_as: option }]",
    'Options are for command:. Instead of exec: write command: [sort] and parameters: [{ name: reverse, type: boolean, inject_as: option }, { name: file }]',
  ],
  [
    "exec: 'sort ${file}', parameters: [{ name: key, inject_as: option, option_name: -k }]",
    'Options are for command:. Instead of exec: write command: [sort] and parameters: [{ name: key, inject_as: option, option_name: -k }, { name: file }]',
  ],
  [
    "exec: 'sort --key=${key} x', parameters: [{ name: key, inject_as: option }]",
    'Options are for command:, a list of words with the parameters behind it, of which { name: key, inject_as: option } becomes --key.',
  ],
  [
    "shell: 'sort ${key} x | uniq', parameters: [{ name: key, inject_as: option }]",
    'Options are for command:, which runs one program. A script writes them itself: --key=${key}',
  ],
  [
    "shell: 'sort ${reverse} x | uniq', parameters: [{ name: reverse, type: boolean, inject_as: option }]",
    'Options are for command:, which runs one program. A script writes them itself: if [ ${reverse} = true ]; then …',
  ],
])('an option in a template is told of command: %s', async (written, hint) => {
  const [problem, ...others] = await problemsOf(`{ name: a, ${written} }`)
  expect(others).toEqual([])
  expect(problem?.split('\n').at(-1)).toBe(hint)
})

test('the command: that is advised for an option loads', async () => {
  const tool =
    '{ name: a, command: [sort], parameters: [{ name: reverse, type: boolean, inject_as: option }, { name: file }] }'
  const { agent, warnings } = await load({
    'agent.yaml': `name: a\nllm: { model: x }\ntools:\n  - ${tool}\n`,
  })
  expect(agent.tools).toHaveLength(1)
  expect(warnings).toEqual([])
})

test.each([
  [
    'parameters: { type: object, properties: { path: { type: string }, lines: { type: integer } }, required: [path] }',
    'Write a list: parameters: [{ name: path, type: string }, { name: lines, type: integer, required: false }]',
  ],
  [
    'parameters: { path: string, lines: { type: integer, description: x } }',
    'Write a list: parameters: [{ name: path, type: string }, { name: lines, type: integer }]',
  ],
  ['parameters: { name: path, type: string }', 'Write - before its first key: - name: path'],
  ['parameters: path', 'Write a list: parameters: [{ name: path }]'],
])('parameters that are no list are told how one is written: %s', async (written, hint) => {
  const [problem, ...others] = await problemsOf(`{ name: a, exec: 'head \${path}', ${written} }`)
  expect(others).toEqual([])
  expect(problem).toContain('"a": parameters must be a list.\n')
  expect(problem?.split('\n').at(-1)).toBe(hint)
})

test('a parameter that is only its name is told how it is written', async () => {
  const [problem] = await problemsOf("{ name: a, exec: 'wc ${lines}', parameters: [lines] }")
  expect(problem).toContain('"a": parameters[0] must be a map.\n')
  expect(problem?.split('\n').at(-1)).toBe('Write - name: lines')
})

test.each([
  ['show file', 'Write name: show_file.'],
  ['ask_human', 'ask_human is a tool of the engine itself. Give yours another name.'],
  ['ファイル', 'Write name: list_files.'],
])('a name that no tool can have is told of one that it can: %s', async (name, hint) => {
  const [problem] = await problemsOf(`{ name: ${name}, exec: ls }`)
  expect(problem?.split('\n').at(-1)).toBe(hint)
})

test.each([
  ['', 'text'],
  [', parameters: [{ name: content }]', 'content'],
])('stdin: true is told that it takes a name%s', async (parameters, name) => {
  const [problem] = await problemsOf(`{ name: a, exec: wc, stdin: true${parameters} }`)
  expect(problem?.split('\n').at(-1)).toBe(
    `It takes the name of the parameter whose value the command reads: stdin: ${name}`,
  )
})

test('a stdin: that names a parameter wrongly is what is told, with its line', async () => {
  const [problem] = await problemsOf('{ name: a, exec: wc, stdin: txt, parameters: [{ name: text }] }')
  expect(problem).toContain("Parameter 'text' not found in template")
  expect(problem?.split('\n').at(-1)).toBe(
    'stdin: txt on line 4 is the name of another parameter. Did you mean stdin: text?',
  )
})

test.each([
  ["exec: 'cat {file}'", '{file}', 'plain text'],
  ["exec: 'cat {{ file }}'", '{{ file }}', 'plain text'],
  ['shell: \'cat "$file"\'', '$file', 'a variable of the shell'],
  ["exec: 'cat \\${file}'", '\\${file}', 'plain text'],
])('a parameter that stands in the template as elsewhere is told so: %s', async (template, written, what) => {
  const [problem] = await problemsOf(`{ name: a, ${template}, parameters: [{ name: file }] }`)
  expect(problem).toContain("Parameter 'file' not found in template")
  expect(problem?.split('\n').at(-1)).toBe(`${written} stands there, which is ${what}. Write \${file}.`)
})

/** The warnings of one tool. */
async function warningsOf(tool: string): Promise<string[]> {
  const text = `name: a\nllm: { model: x }\ntools:\n  - ${tool}\n`
  const { warnings } = await load({ 'agent.yaml': text })
  return warnings.map(({ message, hint }) => `${message} ${hint ?? ''}`.trimEnd())
}

test('the rest of a text with a comma, taken for a key, is told to be quoted', async () => {
  const parameter = '{ name: column, description: Which column, from 1 }'
  expect(await warningsOf(`{ name: cut, exec: 'cut -f \${column}', parameters: [${parameter}] }`)).toEqual([
    'tools[0]: unknown key "parameters[0].from 1". Inside of { } a comma ends a text without quotes. Quote the whole text: description: "Which column, from 1"',
  ])
  expect(await warningsOf('{ name: b, description: Sort, then cut , exec: ls }')).toEqual([
    'tools[0]: unknown key "then cut". Inside of { } a comma ends a text without quotes. Quote the whole text: description: "Sort, then cut"',
  ])
  expect(await warningsOf('{ name: b, description: "Sort", then cut, exec: ls }')).toEqual([
    'tools[0]: unknown key "then cut". Inside of { } a comma ends a text without quotes. Quote the whole text.',
  ])
})

test('a key with a colon is an unknown key, in { } too', async () => {
  expect(await warningsOf('{ name: b, exec: ls, "time out": 5, critcal: true }')).toEqual([
    'tools[0]: unknown key "time out". Did you mean "timeout_ms"?',
    'tools[0]: unknown key "critcal". Did you mean "critical"?',
  ])
})
