import { expect, test } from 'vitest'
import { type Files, load, texts } from './agents.js'

/** The warnings about one tool, written as a line of YAML. */
async function warningsAbout(tool: string, more: Files = {}): Promise<string[]> {
  const { warnings, home } = await load({
    'agent.yaml': `name: a\nllm: { model: x }\ntools:\n  - ${tool}\n`,
    ...more,
  })
  return texts(warnings, home).map((text) => text.replace('agent/agent.yaml:4: ', ''))
}

test.each([
  [
    "{ name: list, command: [ls, '${directory}'] }",
    'tools[0].command[1]: "${directory}" is not replaced here, but passed as it is written. For the value of "directory" add substitute: true to the tool; the text itself is then \\${directory}.',
  ],
  [
    "{ name: list, command: ['${AGENT_HOM}/list.sh'] }",
    'tools[0].command[0]: "${AGENT_HOM}" is not replaced here. Write ${AGENT_HOME}.',
  ],
  [
    "{ name: list, command: [ls, '$CWD/a'] }",
    'tools[0].command[1]: "$CWD" is not replaced here. Write ${CWD}.',
  ],
  [
    '{ name: list, command: [ls, ~/notes] }',
    'tools[0].command[1]: "~" is not replaced here. Write the path out; a shell is run with ["sh", "-c", "…"].',
  ],
  [
    "{ name: read, exec: 'cat ${RUN_DIR}/log' }",
    'tools[0].exec: "${RUN_DIR}" is a parameter here, which the model fills. Commands find the run\'s directory in their environment: shell: with "$RUN_DIR".',
  ],
  [
    "{ name: read, shell: 'cat ${AGENT_HOM}/log' }",
    'tools[0].shell: "${AGENT_HOM}" is a parameter here, which the model fills. Did you mean ${AGENT_HOME}?',
  ],
  [
    "{ name: a, exec: 'ls ${f}', parameters: [{ name: f, pattern: '(a+|b)+' }] }",
    'tools[0].parameters[0].pattern: repeats a repeat, which can take very long to find that a value does not match. Write one repeat: [ab]+ for (a+|b+)+.',
  ],
  [
    "{ name: a, exec: ls, stdin: json, parameters: [{ name: f, type: array, items: { properties: { b: { pattern: '(a+)+' } } } }] }",
    'tools[0].parameters[0].items.properties.b.pattern: repeats a repeat, which can take very long to find that a value does not match. Write one repeat: [ab]+ for (a+|b+)+.',
  ],
  [
    "{ name: a, exec: ls, stdin: json, input_schema: { type: object, properties: { b: { pattern: '^(a+)+$' } } } }",
    'tools[0].input_schema.properties.b.pattern: repeats a repeat, which can take very long to find that a value does not match. Write one repeat: [ab]+ for (a+|b+)+.',
  ],
  [
    '{ name: sort, command: [sort], parameters: [{ name: key, option_name: --key }] }',
    'tools[0].parameters[0].option_name: means nothing without inject_as: option. Say inject_as: option beside it.',
  ],
  [
    "{ name: sort, exec: 'sort ${key}', parameters: [{ name: key, option_name: --key }] }",
    'tools[0].parameters[0].option_name: means nothing without inject_as: option. Write --key=${key} in exec:, and remove it.',
  ],
  [
    '{ name: sort, command: [sort], parameters: [{ name: text, inject_as: stdin, option_name: --text }] }',
    'tools[0].parameters[0].option_name: means nothing without inject_as: option. Remove it.',
  ],
  [
    "{ name: top, exec: 'head -n ${count}', parameters: [{ name: count, required: true, default: 5 }] }",
    'tools[0].parameters[0].required: is true, but "count" has a default and may be left out. Remove one of the two.',
  ],
  [
    '{ name: top, exec: "head -n ${count}", parameters: [{ name: count, type: integer, default: "5" }] }',
    'tools[0].parameters[0].default: is a text, but the type is integer. Write it without quotes: default: 5',
  ],
  [
    '{ name: top, exec: "head -n ${count}", parameters: [{ name: count, type: integer, enum: [1, "5"] }] }',
    'tools[0].parameters[0].enum[1]: is a text, but the type is integer. Write it without quotes: 5',
  ],
])('a tool that is probably not the one that was meant is warned of: %s', async (tool, warning) => {
  expect(await warningsAbout(tool)).toEqual([warning])
})

test.each([
  "{ name: a, command: ['${AGENT_HOME}/a.sh', '${CWD}'] }",
  "{ name: a, command: [sh, -c, 'echo ${HOME} $CWD ~', '~'] }",
  "{ name: a, command: [echo, '${word}', '\\${CWDS}'], substitute: true }",
  "{ name: a, exec: 'cat ${RUN_DIR}', parameters: [{ name: RUN_DIR }] }",
  "{ name: a, exec: 'ls ${cwd} ${HOME}' }",
  "{ name: a, shell: 'ls $RUN_DIR ${HOME}' }",
  '{ name: a, exec: "head ${n}", parameters: [{ name: n, type: integer, default: 5, enum: [1, 5] }] }',
  '{ name: a, exec: "head ${n}", parameters: [{ name: n, default: "5", enum: ["5"] }] }',
  '{ name: a, shell: "head ${n}", parameters: [{ name: n, type: integer, required: false }] }',
])('what is meant so is not warned of: %s', async (tool) => {
  expect(await warningsAbout(tool)).toEqual([])
})

test('the warning about a parameter stands where the template uses it', async () => {
  const agent = `name: a
llm: { model: x }
tools:
  - name: read
    shell: |
      cd /tmp
      cat \${AGENT_HOM}/log
`
  const { warnings } = await load({ 'agent.yaml': agent })
  expect(warnings).toMatchObject([{ line: 7, column: 11 }])
})

test('commands of hooks have no shell either, and know no other variables than tools', async () => {
  const hooks = `on_error: { command: ['\${AGENT_HOM}/notify', '\${RUN_DIR}', '$HOME', '~'] }
on_run_end: { command: [sh, -c, 'echo $RUN_DIR \${AGENT_HOM}'] }
`
  const { warnings, home } = await load({ 'hooks.yaml': hooks })
  expect(texts(warnings, home)).toEqual([
    'agent/hooks.yaml:1: on_error.command[0]: "${AGENT_HOM}" is not replaced here. Write ${AGENT_HOME}.',
    'agent/hooks.yaml:1: on_error.command[1]: "${RUN_DIR}" is not replaced here, but passed as it is written. Replaced are ${AGENT_HOME}, ${CWD}; a shell is run with ["sh", "-c", "…"].',
    'agent/hooks.yaml:1: on_error.command[2]: "$HOME" is not replaced here, but passed as it is written. Replaced are ${AGENT_HOME}, ${CWD}; a shell is run with ["sh", "-c", "…"].',
    'agent/hooks.yaml:1: on_error.command[3]: "~" is not replaced here. Write the path out; a shell is run with ["sh", "-c", "…"].',
    'agent/hooks.yaml:2: on_run_end.command[2]: "${AGENT_HOM}" is not replaced here. Write ${AGENT_HOME}.',
  ])
})
