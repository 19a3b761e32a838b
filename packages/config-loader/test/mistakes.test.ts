import { expect, test } from 'vitest'
import { complaint, type Files, load, MINIMAL, texts } from './agents.js'

// Whole messages with excerpts are in apps/cli/test/golden: "mistakes in agent.yaml", "mistakes in context.yaml and hooks.yaml".

const MAIN = MINIMAL['agent.yaml']
const llm = (keys: string) => ({ 'agent.yaml': `name: a\nllm: { model: x, ${keys} }\n` })
const tool = (text: string) => ({ 'agent.yaml': `${MAIN}tools:\n  - ${text}\n` })

/** The report without excerpts and hints. */
async function problems(files: Files): Promise<string[]> {
  return (await complaint(files)).split('\n').filter((line) => /^agent\/|^Warnings:/.test(line))
}

test.each<[string, Files, string[]]>([
  [
    'agent.yaml, hooks.yaml, context.yaml',
    {
      'agent.yaml': 'name: 5\nllm: {}\ntools:\n  - exec: ls\npolicy: { allow_netwrok: false }\n',
      'hooks.yaml': 'on_eror: { command: [x] }\non_error: { command: notify me, timeout_ms: soon }\n',
      'context.yaml': `sources:
  - { type: fle, path: x }
  - { type: file, path: '\${AGENT_HOME}/none.md' }
  - { type: file, path: '\${HOME}/x' }
`,
    },
    [
      'agent/agent.yaml:1:7: name: must be a string, got 5.',
      'agent/agent.yaml:2:1: llm.model: missing; the provider openai needs it.',
      expect.stringMatching(/^agent\/agent\.yaml:4:5: tools\[0\]: name /),
      'agent/agent.yaml:5:11: policy: there is no rule "allow_netwrok"; it would protect nothing.',
      'agent/hooks.yaml:1:1: There is no hook "on_eror"; it would never be called.',
      'agent/hooks.yaml:2:22: on_error.command: must be a list, got "notify me".',
      'agent/hooks.yaml:2:45: on_error.timeout_ms: must be a number, got "soon".',
      'agent/context.yaml:2:13: sources[0].type: must be one of file, text, computed_file, skills, journal, got "fle".',
      'agent/context.yaml:3:25: agent/none.md does not exist.',
      'agent/context.yaml:4:25: sources[2].path: there is no variable ${HOME}.',
    ],
  ],
  [
    'a wrong import, the others, and their files',
    {
      'agent.yaml': `${MAIN}imports:\n  - 5\n  - { path: a.yaml }\n  - a.yaml\n  - none.yaml\nmcp_servers: {}\n`,
      'a.yaml': 'imports: [b.yaml]\ntools: 7\n',
      'b.yaml': 'tools: [{ name: b, exec: "x | y" }]\n',
    },
    [
      'agent/agent.yaml:4:5: imports[0]: must be a string or a mapping with "atip", got 5.',
      'agent/agent.yaml:5:5: imports[1]: must be a path, or { atip: <file> } for a description in ATIP (Agent Tool Introspection Protocol).',
      'agent/agent.yaml:7:5: imports[3]: "none.yaml" does not exist in agent.',
      'agent/agent.yaml:8:1: unknown key "mcp_servers".',
      'agent/a.yaml:2:8: tools: must be a list, got 7.',
      'agent/b.yaml:1:29: tools[0] "b": Shell metacharacter \'|\' not allowed in exec: mode. Use shell: mode or remove pipe.',
    ],
  ],
  [
    'a stdin that names none of the parameters, where all of them stand nowhere',
    {
      'agent.yaml': `${MAIN}tools:
  - { name: a, exec: x, stdin: jsn, parameters: [{ name: b }, { name: c }] }
  - { name: d, exec: 'x \${b}', stdin: text, parameters: [{ name: b }, { name: c }] }
`,
    },
    [
      expect.stringMatching(
        /^agent\/agent\.yaml:4:\d+: tools\[0\] "a": stdin: jsn is none of the parameters: b, c\.$/,
      ),
      expect.stringMatching(
        /^agent\/agent\.yaml:5:\d+: tools\[1\] "d": Parameter 'c' not found in template\.$/,
      ),
    ],
  ],
  [
    'every part of a tool, and a second one of its name',
    {
      'agent.yaml': `${MAIN}tools:
  - { name: a, exec: "x | y", timeout_ms: soon, critcal: true }
  - { name: a, exec: ls }
`,
    },
    [
      'agent/agent.yaml:4:25: tools[0] "a": Shell metacharacter \'|\' not allowed in exec: mode. Use shell: mode or remove pipe.',
      'agent/agent.yaml:4:43: tools[0].timeout_ms: must be whole milliseconds, 0 for no limit, got "soon".',
      'agent/agent.yaml:5:13: tools[1]: the tool "a" is already defined on line 4.',
      'Warnings:',
      'agent/agent.yaml:4:49: tools[0]: unknown key "critcal".',
    ],
  ],
  ...[
    ['a pattern without quotes', 'glob: *.py\n', '3:7: No anchor &.py stands before the alias *.py.'],
    ['a tag', 'glob: !py x\n', '3:7: Unresolved tag: !py.'],
    ['a second document', '---\nx: 1\n', '3:1: The file holds several YAML documents.'],
    ['a repeated key', 'name: 5\n', '3:1: The key "name" is given twice.'],
  ].map(([what, line, message]): [string, Files, string[]] => [
    `${what}, and what is wrong elsewhere in the file`,
    { 'agent.yaml': `name: 5\nllm: { model: x }\n${line}` },
    expect.arrayContaining([
      expect.stringMatching(/^agent\/agent\.yaml:[13]:7: name: must be a string, got 5\.$/),
      `agent/agent.yaml:${message}`,
    ]),
  ]),
  [
    'limits of numbers',
    {
      'agent.yaml': `${MAIN}max_iterations: 1e300\ntool_concurrency: { a: 1 }\nmax_tool_calls: 0\naccept_empty: maybe\n`,
    },
    [
      'agent/agent.yaml:3:17: max_iterations: must be at most 9007199254740991, got 1e+300.',
      'agent/agent.yaml:4:19: tool_concurrency: must be a number, got a mapping.',
      'agent/agent.yaml:5:17: max_tool_calls: must be at least 1, got 0.',
      'agent/agent.yaml:6:15: accept_empty: must be true or false, got "maybe".',
    ],
  ],
  [
    'every setting of the model',
    {
      'agent.yaml': `name: a
llm:
  provider: opnai
  model: ''
  base_url: 5
  command: [a, 1]
  timeout_ms: soon
  max_attempts: 0
  api: messages
  retry: { max_wait: 6 hours, max_wat: 5 }
  headers: { x-api-key: sk-12345, a: 5 }
  api_key_env: sk-12345
  messages: []
`,
    },
    [
      'agent/agent.yaml:3:13: llm.provider: must be one of openai, anthropic, command, script, replay, got "opnai".',
      'agent/agent.yaml:4:10: llm.model: must not be empty.',
      'agent/agent.yaml:5:13: llm.base_url: must be a string, got 5.',
      'agent/agent.yaml:6:16: llm.command[1]: must be a string, got 1.',
      'agent/agent.yaml:7:15: llm.timeout_ms: must be a number, got "soon".',
      'agent/agent.yaml:8:17: llm.max_attempts: must be at least 1, got 0.',
      'agent/agent.yaml:9:8: llm.api: must be one of chat, responses, got "messages".',
      'agent/agent.yaml:10:22: llm.retry.max_wait: must be a time such as 90s, 15m, 6h, or milliseconds, got "6 hours".',
      'agent/agent.yaml:11:14: llm.headers.x-api-key: keys do not belong in agent.yaml.',
      'agent/agent.yaml:11:38: llm.headers.a: must be a string, got 5.',
      'agent/agent.yaml:12:16: llm.api_key_env: must be the name of a variable, in capitals.',
      'agent/agent.yaml:13:3: llm.messages: cannot be set: the engine fills it in for every request.',
      'Warnings:',
      'agent/agent.yaml:10:31: llm.retry: unknown key "max_wat".',
    ],
  ],
  [
    'every turn of a script',
    {
      'agent.yaml': 'name: a\nllm: { provider: script, script: s.yaml }\n',
      's.yaml': `- Hello.
- {}
- { content: 5 }
- { contents: Hello. }
- { tool_calls: { name: read } }
- { tool_calls: [null, { arguments: {} }, { name: read, arguments: [a] }, { name: read, args: {} }] }
`,
    },
    [
      'agent/s.yaml:1:3: [0]: must be a mapping, got "Hello.".',
      'agent/s.yaml:2:3: [1]: A turn needs content or tool_calls, or both.',
      'agent/s.yaml:3:14: [2].content: must be a string, got 5.',
      'agent/s.yaml:4:3: [3]: A turn needs content or tool_calls, or both.',
      'agent/s.yaml:4:5: [3]: unknown key "contents".',
      'agent/s.yaml:5:17: [4].tool_calls: must be a list, got a mapping.',
      'agent/s.yaml:6:18: [5].tool_calls[0]: must be a mapping with "name", got nothing.',
      'agent/s.yaml:6:24: [5].tool_calls[1]: "name" is missing.',
      'agent/s.yaml:6:68: [5].tool_calls[2].arguments: must be a mapping, or a string that is passed on as it is, got a list.',
      'agent/s.yaml:6:89: [5].tool_calls[3]: unknown key "args".',
    ],
  ],
  [
    'temperature and max_tokens before any request',
    llm('temperature: "0.7", max_tokens: 4k'),
    [
      'agent/agent.yaml:2:31: llm.temperature: must be a number, got "0.7".',
      'agent/agent.yaml:2:50: llm.max_tokens: must be a number, got "4k".',
    ],
  ],
  [
    'a hook under both of its names',
    { 'hooks.yaml': 'pre_llm_req: { command: [a] }\npre_llm_request: { command: [b] }\n' },
    [
      'agent/hooks.yaml:2:1: "pre_llm_request" is given under both of its names.',
      'Warnings:',
      'agent/hooks.yaml:1:1: [DEPRECATION WARNING] The hook "pre_llm_req" is now called "pre_llm_request".',
    ],
  ],
  [
    'the hooks of agent.yaml under both of their names',
    {
      'agent.yaml': `${MAIN}lifecycle_hooks: { on_error: { command: [a] } }\nhooks: { on_run_end: { command: [b] } }\n`,
    },
    [
      'agent/agent.yaml:4:1: "hooks" and "lifecycle_hooks" mean the same; only one of them can be given.',
      'Warnings:',
      'agent/agent.yaml:3:1: [DEPRECATION WARNING] "lifecycle_hooks" now belongs in hooks.yaml.',
    ],
  ],
  [
    'a hook beside lifecycle_hooks, which would be overlooked',
    {
      'hooks.yaml':
        'lifecycle_hooks:\n  on_error: { command: [a] }\npre_tool_execution: { command: [guard] }\n',
    },
    ['agent/hooks.yaml:3:1: "pre_tool_execution" stands beside "lifecycle_hooks:" and would not be read.'],
  ],
  ...['hooks', 'context'].map((name): [string, Files, string[]] => [
    `${name}.yml, which would not be read`,
    { [`${name}.yml`]: 'x: 1\n', ...(name === 'context' && { 'context.yaml': undefined }) },
    [`agent/${name}.yml: Not read by this name.`],
  ]),
])('reported at once: %s', async (_, files, expected) => {
  expect(await problems(files)).toEqual(expected)
})

test.each([
  ['before_everything: { command: [x] }\n', 'The hooks are pre_llm_request, post_llm_response, '],
  ['- on_error: { command: [x] }\n', 'must be a mapping from hook names to commands.'],
  ['on_error: { command: [sleep, 5] }\n', 'command[1]: must be a string, got 5.\n'],
  ['on_error: notify me\n', 'Write: { command: ["notify","me"] }'],
  ['on_error: ls | wc\n', 'Write: { command: ["sh","-c","ls | wc"] }'],
  ['on_error:\n  command: notify me\n', 'Write: command: ["notify","me"]'],
  ['on_error: {}\n', 'on_error: "command" is missing.'],
])('hooks written as %j are answered with how to write them', async (text, expected) => {
  expect(await complaint({ 'hooks.yaml': text })).toContain(expected)
})

test.each(['promt.md', 'You are helpful.', '|\n  You are helpful.\n  Be brief.'])(
  'a prompt file that does not exist is answered with what belongs there: %j',
  async (text) => {
    const message = await complaint({ 'agent.yaml': `${MAIN}system_prompt: ${text}\n` })
    expect(message).toMatch(
      /^agent\/agent\.yaml:[34]:\d+: system_prompt: the file "[^"]*" does not exist\.$/m,
    )
    expect(message).toContain(
      "\nWrite the agent's instructions into a file of its directory, such as system_prompt.md, and name that file here.",
    )
  },
)

/** Tools that run, but probably not as intended. */
const TOOL_WARNINGS: [string, string][] = []
const GOOD_TOOLS = [
  "{ name: a, command: ['${AGENT_HOME}/a.sh', '${CWD}'] }",
  "{ name: a, command: [sh, -c, 'echo ${HOME} $CWD ~', '~'] }",
  "{ name: a, command: [echo, '${word}', '\\${CWDS}'], substitute: true }",
  "{ name: a, exec: 'cat ${RUN_DIR}', parameters: [{ name: RUN_DIR }] }",
  "{ name: a, exec: 'ls ${cwd} ${HOME}' }",
  "{ name: a, shell: 'ls $RUN_DIR ${HOME}' }",
]

test.each<[string, Files, string[]]>([
  ...TOOL_WARNINGS.map(([text, warning]): [string, Files, string[]] => [
    text,
    tool(text),
    [`agent/agent.yaml:4: tools[0].${warning}`],
  ]),
  ...GOOD_TOOLS.map((text): [string, Files, string[]] => [text, tool(text), []]),
  [
    "unknown keys at every level, but not keys that are the author's own",
    {
      'agent.yaml': `name: a
llm: { model: x }
license: MIT
x-owner: me
tools:
  - name: list
    exec: ls \${directory}
    cmd: [ls]
    parameters:
      - { name: directory, requird: false, mine: 1, metadata: { unit: null }, x-mine: 1 }
    effects: { netwrk: true }
    output: { max_char: 5 }
`,
      'context.yaml': `${MINIMAL['context.yaml']}rights: all\n`,
    },
    [
      expect.stringMatching(/^agent\/agent\.yaml:3: unknown key "license"\. Known here: name, /),
      'agent/agent.yaml:8: tools[0]: unknown key "cmd". Did you mean "command"?',
      'agent/agent.yaml:10: tools[0].parameters[0]: unknown key "requird". Did you mean "required"?',
      'agent/agent.yaml:10: tools[0].parameters[0]: unknown key "mine". Put what is your own under metadata:, or begin the key with x-.',
      'agent/agent.yaml:11: tools[0].effects: unknown key "netwrk". Did you mean "network"?',
      'agent/agent.yaml:12: tools[0].output: unknown key "max_char". Did you mean "max_chars"?',
      expect.stringMatching(/^agent\/context\.yaml:4: unknown key "rights"\. Known here: sources, /),
    ],
  ],
  [
    'option_name without inject_as: option',
    {
      'agent.yaml': `${MAIN}tools:
  - { name: a, command: [ls], parameters: [{ name: d, option_name: --dir }, { name: e, inject_as: option }] }
  - { name: b, exec: 'ls \${d}', parameters: [{ name: d, option_name: --dir }] }
`,
    },
    [
      'agent/agent.yaml:4: tools[0].parameters[0]: option_name has no effect without inject_as: option. Add inject_as: option.',
      'agent/agent.yaml:5: tools[1].parameters[0]: option_name has no effect without inject_as: option. Write --dir into the template, before the value.',
    ],
  ],
  [
    'a script of the agent that is looked for in the workspace',
    {
      'agent.yaml': `${MAIN}tools:
  - { name: a, exec: './checks/a.sh \${file}' }
  - { name: b, command: [python3, checks/b.py] }
  - { name: c, exec: ./checks/a.sh, cwd: '\${AGENT_HOME}' }
  - { name: d, exec: ./made-later.sh }
`,
      'hooks.yaml':
        'pre_tool_execution: { command: [./checks/a.sh] }\non_error: { command: [sh, guard.sh] }\n',
      'checks/a.sh': '',
      'checks/b.py': '',
      'guard.sh': '',
    },
    [
      'agent/agent.yaml:4: tools[0].exec: "./checks/a.sh" starts at the workspace, but lies in the agent\'s directory. Write ${AGENT_HOME}/checks/a.sh.',
      'agent/agent.yaml:5: tools[1].command: "checks/b.py" starts at the workspace, but lies in the agent\'s directory. Write ${AGENT_HOME}/checks/b.py.',
      'agent/hooks.yaml:1: pre_tool_execution.command: "./checks/a.sh" starts at the workspace, but lies in the agent\'s directory. Write ${AGENT_HOME}/checks/a.sh.',
      'agent/hooks.yaml:2: on_error.command: "guard.sh" starts at the workspace, but lies in the agent\'s directory. Write ${AGENT_HOME}/guard.sh.',
    ],
  ],
  ...[
    ['temprature', 'temperature'],
    ['maxTokens', 'max_tokens'],
    ['baseURL', 'base_url'],
    ['timeout', 'timeout_ms'],
  ].map(([key, suggested]): [string, Files, string[]] => [
    `llm.${key}`,
    llm(`${key}: 1`),
    [
      `agent/agent.yaml:2: llm: unknown key "${key}"; it would be sent to the API as it is. Did you mean "${suggested}"?`,
    ],
  ]),
  [
    'parameters of an API that are near to a setting',
    llm('models: [a], min_tokens: 1, top_k: 2, temp: 1'),
    [],
  ],
  [
    'a parameter that Anthropic has under another name',
    llm('provider: anthropic, max_tokens: 9, stop: [a]'),
    ['agent/agent.yaml:2: llm.stop: the Messages API calls it stop_sequences.'],
  ],
  [
    'a temperature that most servers refuse',
    llm('temperature: 2.5'),
    ['agent/agent.yaml:2: llm.temperature: most servers take numbers from 0 to 2.'],
  ],
  ...['0', '2', 'null'].map((value): [string, Files, string[]] => [
    `temperature: ${value}`,
    llm(`temperature: ${value}`),
    [],
  ]),
  [
    'a prompt that no source reads',
    { 'context.yaml': 'sources:\n  - { type: journal }\n' },
    [
      "agent/context.yaml:1: No source reads system_prompt.md; the model will not see it. Add a source: { type: file, path: '${AGENT_HOME}/system_prompt.md' }",
    ],
  ],
  [
    'a source that may be missing, is conditional, is computed or lies in the workspace',
    {
      'context.yaml': `${MINIMAL['context.yaml']}  - { type: file, path: '\${AGENT_HOME}/a.md', on_missing: skip }
  - { type: file, path: '\${AGENT_HOME}/b.md', condition: { when: env_set, name: B } }
  - { type: computed_file, output_path: '\${AGENT_HOME}/c.md', generator: { command: [c] } }
  - { type: file, path: '\${AGENT_HOME}/c.md' }
  - { type: file, path: '\${CWD}/DELTA.md' }
`,
    },
    [],
  ],
])('warnings about %s', async (_, files, expected) => {
  const { warnings, home } = await load(files)
  expect(texts(warnings, home)).toEqual(expected)
})

test.each<[string, Files, string]>([
  [
    'tools in agent.yaml',
    { 'agent.yaml': `${MAIN}tool: []\n` },
    'agent/agent.yaml:3:1: unknown key "tool".\n  tool: []\n  ^\nDid you mean "tools"?',
  ],
  [
    'the hooks in agent.yaml',
    { 'agent.yaml': `${MAIN}hook: {}\n` },
    'agent/agent.yaml:3:1: unknown key "hook".\n  hook: {}\n  ^\nHooks belong in hooks.yaml.',
  ],
  [
    'total_max_tokens in context.yaml',
    { 'context.yaml': `${MINIMAL['context.yaml']}total_max_token: 8000\n` },
    'agent/context.yaml:4:1: unknown key "total_max_token".\n  total_max_token: 8000\n  ^\n',
  ],
  [
    'tools in an imported file',
    { 'agent.yaml': `${MAIN}imports: [a.yaml]\n`, 'a.yaml': 'tools: []\ntool: []\n' },
    'agent/a.yaml:2:1: unknown key "tool".',
  ],
])('a misspelling of %s is an error, because half an agent would run', async (_, files, expected) => {
  expect(await complaint(files)).toContain(expected)
})

test.each([
  [
    'exec: ls, parameters: { file: { type: string } }',
    'parameters must be a list.',
    'Write parameters: [{ name: file, … }]',
  ],
  ["exec: 'cat ${file}', parameters: [file]", 'parameters[0] must be a mapping.', 'Write { name: file }'],
  ["exec: [ls, -l, '${x}', 'a b']", 'exec must be a string.', `Write exec: "ls -l \${x} 'a b'"`],
])('a tool with %s is answered with how to write it, once', async (text, said, way) => {
  const message = await complaint(tool(`{ name: a, ${text} }`))
  expect(message.split('\n')[0]).toContain(`tools[0] "a": ${said}`)
  expect(message.split('\n').at(-1)).toBe(way)
  expect(message).not.toContain('unknown key')
})

test('a misspelt exec: is the mistake, and not that there is none', async () => {
  expect(await complaint(tool('{ name: a, exce: ls }'))).toBe(
    'agent/agent.yaml:4:16: tools[0]: unknown key "exce".\n  - { name: a, exce: ls }\n               ^\nDid you mean "exec"?',
  )
})

test('a tool named ask_human is answered with what every agent has', async () => {
  expect(await complaint(tool('{ name: ask_human, exec: ls }'))).toMatch(
    /name is reserved by the engine\.\n.*\n *\^\nEvery agent has this tool: remove it here, or give yours another name\.$/,
  )
})

test('a policy below a tool, which would protect nothing, is an error that says where it belongs', async () => {
  const message = await complaint(tool('{ name: a, exec: ls, policy: { allow_network: false }, licence: x }'))
  expect(message).toMatch(
    /^agent\/agent\.yaml:4:26: tools\[0\]\.policy: a policy below a tool decides nothing\.\n.*\n *\^\nMove it to the first level of agent\.yaml/,
  )
  expect(message).toContain('Known here: ')
  expect(message).not.toMatch(/__meta|checked_words/)
})

test('a misspelt key keeps its proposal beside other mistakes of its tool', async () => {
  for (const other of [
    'timeout_ms: soon',
    'descripton: x',
    'parameters: [{ name: d, type: strng }]',
    'output: imge',
  ])
    expect(await complaint(tool(`{ name: a, exce: ls, ${other} }`))).toContain('Did you mean "exec"?')
})

test('with strict, an unknown key is an error', async () => {
  const complain = (files: Files) => complaint(files, { strict: true })
  expect(await complain({ 'hooks.yaml': 'on_error: { command: [x], timeout: 5 }\n' })).toContain(
    'on_error: unknown key "timeout".',
  )
  expect(await complain(llm('temprature: 1'))).toContain(
    'agent/agent.yaml:2:18: llm: unknown key "temprature"',
  )
})

test.each([
  'key: sk-12345',
  'openai_api_key: "sk-\\"12345"',
  "api-key: 'sk-''12345' # mine",
  'api_key: [sk-12345]',
  'api_key: $sk-12345',
  'authorization: Bearer sk-1,2345',
  'Authorization: "Bearer sk-12345',
  "headers: { Authorization: 'Bearer sk-12345' }",
  'extra_headers: { X-Mine: sk-12345, X-Yours: sk-12345 }',
  'api_key_env: sk-12345',
  'default_headers:\n    X-Mine: sk-12345',
  'api_key:\n    sk-12345',
  'key: |\n    sk-12345',
])('llm: { %s } is refused, and shown without its value', async (line) => {
  const [key = '', value = ''] = line.split('\n')[0]?.split(/(?<=:) ?/) ?? []
  for (const next of ['', '  modle: y\n', '  extra_body: {}\n']) {
    const message = await complaint({ 'agent.yaml': `name: a\nllm:\n  model: x\n  ${line}\n${next}` })
    expect(message).toContain(`\n  ${key}${value && ' …'}\n`)
    expect(message).not.toMatch(/sk-|2345/)
  }
  if (line.includes('\n')) return
  const flow = await complaint({ 'agent.yaml': `name: a\nllm: { modle: x, ${line}, temperature: hot }\n` })
  expect(flow).not.toMatch(/sk-|2345/)
})

test.each([
  '  api_key:\n  sk-12345\n  temperature: 1',
  '  api_key: # mine\n\n    sk-12345: x: y',
  '  api_key: |\n  sk-12345',
  '  token: |\r\n    first line\r\n   sk-12345',
])('the line of a mistake below a secret without a value is not quoted: %j', async (lines) => {
  const message = await complaint({ 'agent.yaml': `name: a\nllm:\n  model: x\n${lines}\n` })
  expect(message).toMatch(/^agent\/agent\.yaml:[5-7]:\d+: Not valid YAML: /)
  expect(message).not.toMatch(/sk-|2345/)
})

test('a variable in place of a secret is shown, and so are the name of one and a number of tokens', async () => {
  expect(await complaint(llm('api_key_env: GROQ_API_KEY, temperature: hot'))).toContain(
    '\n  llm: { model: x, api_key_env: GROQ_API_KEY, temperature: hot }\n',
  )
  for (const line of [
    'curl -H "Authorization: Bearer ${token}"',
    'curl -H "X-Api-Key: $KEY"',
    'http ${token}: ${url}',
  ]) {
    expect(await complaint(tool(`{ name: get, exec: '${line} | cat' }`))).toContain(line)
  }
})

test.each(['https://me:secret@api.example.com/v1', 'https://api.example.com/v1?v=1&api_key=secret'])(
  'credentials inside of base_url %s are an error that points to .env',
  async (url) => {
    const text = `name: a\nllm:\n  model: x\n  base_url: ${url}\n`
    const message = await complaint({ 'agent.yaml': text })
    expect(message).toContain('agent/agent.yaml:4:13: llm.base_url: ')
    expect(message).not.toContain('secret')
    expect(message).toContain('.env')
  },
)
