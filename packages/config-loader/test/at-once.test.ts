import { expect, test } from 'vitest'
import { complaint, MINIMAL } from './agents.js'

/** The first lines of all problems, and of the warnings behind them. */
async function problems(files: Record<string, string>): Promise<string[]> {
  const message = await complaint(files)
  return message.split('\n').filter((line) => /^agent\/|^Warnings:/.test(line))
}

test('a repeated key is told with everything else that is wrong in its file, and with where the other one is', async () => {
  const text = 'name: 5\nllm: { model: x }\nname: 6\nmax_iterations: no\n'
  expect(await complaint({ 'agent.yaml': text })).toBe(`agent/agent.yaml:3:1: The key "name" is given twice.
  name: 6
  ^
The other one is on line 1. Remove one of the two.

agent/agent.yaml:3:7: name: must be a text, not 6.
  name: 6
        ^
Write it in quotes.

agent/agent.yaml:4:17: max_iterations: must be a number, not "no".
  max_iterations: no
                  ^

3 problems.`)
})

test.each([
  ['a pattern without quotes', 'glob: *.py\n', 'No anchor &.py stands before the alias *.py.'],
  ['a tag', 'glob: !py x\n', 'Unresolved tag: !py.'],
  ['a second document', '---\nx: 1\n', 'The file holds several YAML documents.'],
])('%s does not hide what is wrong elsewhere in the file', async (_, line, message) => {
  const found = await problems({ 'agent.yaml': `name: 5\nllm: { model: x }\n${line}` })
  expect(found[0]).toBe('agent/agent.yaml:1:7: name: must be a text, not 5.')
  expect(found[1]).toContain(message)
})

test('a wrong import does not hide the others, nor what is wrong in their files', async () => {
  const found = await problems({
    'agent.yaml': `${MINIMAL['agent.yaml']}imports:\n  - 5\n  - { path: a.yaml }\n  - a.yaml\n  - none.yaml\n`,
    'a.yaml': 'imports: [b.yaml]\ntools: 7\n',
    'b.yaml': 'tools: [{ name: b, exec: "x | y" }]\n',
  })
  expect(found).toEqual([
    'agent/agent.yaml:4:5: imports[0]: must be a text or a map with "atip", not 5.',
    'agent/agent.yaml:5:5: imports[1]: must be a path, or { atip: <file> } for a description in ATIP.',
    'agent/agent.yaml:7:5: imports[3]: "none.yaml" does not exist in agent.',
    'agent/a.yaml:2:8: tools: must be a list, not 7.',
    'agent/b.yaml:1:29: tools[0] "b": Shell metacharacter \'|\' not allowed in exec: mode. Use shell: mode or remove pipe.',
  ])
})

test('a tool with a wrong template is looked at as a whole, and a second one of its name is found', async () => {
  const tools = `tools:
  - { name: a, exec: "x | y", timeout_ms: soon, critcal: true }
  - { name: a, exec: ls }
`
  expect(await problems({ 'agent.yaml': `${MINIMAL['agent.yaml']}${tools}` })).toEqual([
    'agent/agent.yaml:4:25: tools[0] "a": Shell metacharacter \'|\' not allowed in exec: mode. Use shell: mode or remove pipe.',
    'agent/agent.yaml:4:43: tools[0].timeout_ms: must be whole milliseconds, 0 for no limit, not "soon".',
    'agent/agent.yaml:5:13: tools[1]: the tool "a" is already defined on line 4.',
    'Warnings:',
    'agent/agent.yaml:4:49: tools[0]: unknown key "critcal".',
  ])
})

test('a recipe, a policy and hooks with several mistakes have each of them told', async () => {
  const found = await problems({
    'agent.yaml': `${MINIMAL['agent.yaml']}policy: { allow_netwrok: false, allow_billable: maybe }\n`,
    'context.yaml': `sources:
  - { type: fle, path: x }
  - { type: file, path: '\${AGENT_HOME}/none.md' }
  - { type: file, path: '\${HOME}/x' }
`,
    'hooks.yaml': 'on_error: { command: notify me, timeout_ms: soon }\n',
  })
  expect(found).toEqual([
    'agent/agent.yaml:3:11: policy: there is no rule "allow_netwrok"; it would protect nothing.',
    'agent/agent.yaml:3:49: policy.allow_billable: must be true or false, not "maybe".',
    'agent/hooks.yaml:1:22: on_error.command: must be a list, not "notify me".',
    'agent/hooks.yaml:1:45: on_error.timeout_ms: must be a number, not "soon".',
    'agent/context.yaml:2:13: sources[0].type: must be one of file, text, computed_file, journal, not "fle".',
    'agent/context.yaml:3:25: agent/none.md does not exist.',
    'agent/context.yaml:4:25: sources[2].path: there is no variable ${HOME}.',
  ])
})

test('a list in place of agent.yaml is one problem, not two', async () => {
  expect(await problems({ 'agent.yaml': '- name: a\n' })).toEqual([
    'agent/agent.yaml:1:1: must be a map with "name", not a list.',
  ])
})
