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
])('what is meant so is not warned of: %s', async (tool) => {
  expect(await warningsAbout(tool)).toEqual([])
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
