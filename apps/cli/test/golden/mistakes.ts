import { CONTEXT, type Story } from './story.js'

const HEAD = 'name: tried\nllm: { provider: script, script: script.yaml }\n'

/** An `agent.yaml` with a mistake. */
const AGENTS: Readonly<Record<string, string>> = {
  tab: `${HEAD}tools:\n\t- name: x\n`,
  'missing colon': `${HEAD}tools:\n  - name: x\n    exec 'ls'\n`,
  'too deep': `${HEAD}tools:\n  - name: x\n    exec: ls\n     description: Lists.\n`,
  'open quote': `${HEAD}description: "half\n`,
  'open bracket': `${HEAD}tools: [\n  - name: x\n`,
  'double key': `${HEAD}max_iterations: 3\nmax_iterations: 4\n`,
  'colon in a value': `${HEAD}description: does this: that\n`,
  'unknown key': `${HEAD}toools: []\n`,
  'other key': `${HEAD}model: gpt\n`,
  'no name': 'llm: { provider: script, script: script.yaml }\n',
  'no llm': 'name: tried\n',
  empty: '',
  list: '- name: tried\n',
  'text for number': `${HEAD}max_iterations: many\n`,
  'negative number': `${HEAD}max_iterations: -1\n`,
  'wrong provider': 'name: tried\nllm: { provider: opnai, model: m }\n',
  'no script': 'name: tried\nllm: { provider: script, script: none.yaml }\n',
  'key in the file': 'name: tried\nllm: { model: m, api_key: sk-not-real }\n',
  'bad base url': 'name: tried\nllm: { model: m, base_url: "localhost:8000" }\n',
  'undefined alias': `${HEAD}tools: *common\n`,
  'two documents': `${HEAD}---\nname: second\n`,
  'parameters as mapping': `${HEAD}tools:\n  - { name: x, exec: 'ls \${d}', parameters: { d: { type: string } } }\n`,
  'exec as list': `${HEAD}tools:\n  - { name: x, exec: [ls, '\${d}'] }\n`,
  'tools as mapping': `${HEAD}tools:\n  count: { exec: ls }\n`,
  'two modes': `${HEAD}tools:\n  - { name: x, exec: ls, shell: ls }\n`,
  'no mode': `${HEAD}tools:\n  - { name: x, description: Does. }\n`,
  'same name': `${HEAD}tools:\n  - { name: x, exec: ls }\n  - { name: x, exec: pwd }\n`,
  'bad tool name': `${HEAD}tools:\n  - { name: 'a tool', exec: ls }\n`,
  'unknown type': `${HEAD}tools:\n  - { name: x, exec: 'ls \${d}', parameters: [{ name: d, type: text }] }\n`,
  'default not in enum': `${HEAD}tools:\n  - { name: x, exec: 'ls \${d}', parameters: [{ name: d, enum: [a, b], default: c }] }\n`,
  'bad pattern': `${HEAD}tools:\n  - { name: x, exec: 'ls \${d}', parameters: [{ name: d, pattern: '(' }] }\n`,
  'unused parameter': `${HEAD}tools:\n  - { name: x, exec: ls, parameters: [{ name: d }] }\n`,
  'unknown stdin': `${HEAD}tools:\n  - { name: x, exec: ls, stdin: [a, b] }\n`,
  'missing import': `${HEAD}imports: [none.yaml]\n`,
  'import outside': `${HEAD}imports: [../other.yaml]\n`,
  'empty policy': `${HEAD}policy:\n`,
  'unknown policy': `${HEAD}policy: { allow_netwrk: false }\n`,
  'bad sandbox': `${HEAD}tools:\n  - { name: x, exec: ls, sandbox: { writ: [CWD] } }\n`,
  several: `${HEAD}max_iterations: many\ntoools: []\ntools:\n  - { name: x }\n  - { name: y, exec: 'ls | wc' }\n`,
}

/** A tool whose template is refused or reported. */
const TEMPLATES: Readonly<Record<string, string>> = {
  pipe: "exec: 'ls ${d} | wc'",
  'quoted pipe': `exec: "jq '.[] | .name' \${file}"`,
  'name with a blank': "exec: 'ls ${a dir}'",
  'open brace': "exec: 'ls ${dir'",
  eval: "shell: 'eval ${code}'",
  'shell in shell': 'shell: \'sh -c "echo ${x}"\'',
  'shell in exec': `exec: "sh -c 'echo \${x}'"`,
  arithmetic: "shell: 'echo $((${n} + 1))'",
  'double brackets': "shell: '[[ ${n} -gt 5 ]] && echo more'",
  'single brackets': "shell: '[ ${n} -gt 5 ] && echo more'",
  'here-document': 'shell: "cat <<\'EOF\'\\n${HOME}\\nEOF\\n"',
  'value in a value': "shell: 'echo ${x/${a}/${b}}'",
  awk: `exec: "awk '{ print \${what} }' file"`,
  python: `exec: 'python3 -c "print(\${x})"'`,
  ssh: "exec: 'ssh host ls ${dir}'",
  'unclosed quote': `shell: "echo 'half \${x}"`,
}

/** A `context.yaml` or `hooks.yaml` with a mistake. */
const OTHERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'no context': { 'context.yaml': '' },
  'unknown source': { 'context.yaml': 'sources:\n  - { type: fil, path: a.md }\n' },
  'source without path': { 'context.yaml': 'sources:\n  - { type: file, id: a }\n' },
  'unknown variable': { 'context.yaml': "sources:\n  - { type: file, path: '${AGENT_HOM}/a.md' }\n" },
  'missing file': { 'context.yaml': "sources:\n  - { type: file, path: '${AGENT_HOME}/none.md' }\n" },
  'unknown hook': { 'hooks.yaml': 'pre_tool: { command: [ls] }\n' },
  'hook as text': { 'hooks.yaml': 'on_error: ls\n' },
}

const FLAGS = [
  'delta rnu',
  'delta run --mesage Go',
  'delta run',
  'delta run -m',
  'delta run --agent nowhere -m Go',
  'delta run --agent tab -m Go -w work',
  'delta run --task Go',
  'delta run --agent good -m Go -w work --format jsn',
  'delta run --agent good -m Go -w work --max-iterations few',
  'delta run --agent good -m Go -w work --run-id ../x',
  'delta run --agent good -m Go -w work -messagee',
  'delta run --agent good -m Go -w work stray',
  'delta run --agent good -m @none.txt -w work',
  'delta continue',
  'delta continue -w nowhere',
  'delta continue -w good',
  'delta show --step x -w good',
  'delta list-runs --josn',
  'delta tool',
  'delta tool expnd good',
  'delta tool expand good none',
  'delta context build --agent nowhere',
  "delta $'\\033[31mred'",
]

const directoryOf = (name: string) => name.replaceAll(' ', '-')

/** The files of agents with these parts instead of good ones, each in a directory of its name. */
function agents(parts: Readonly<Record<string, Readonly<Record<string, string>>>>): Record<string, string> {
  const good = { 'agent.yaml': HEAD, 'context.yaml': CONTEXT, 'script.yaml': '- { content: Done. }\n' }
  return Object.fromEntries(
    Object.entries(parts).flatMap(([name, more]) =>
      Object.entries({ ...good, ...more })
        .filter(([file, content]) => content !== '' || file === 'agent.yaml')
        .map(([file, content]) => [`${directoryOf(name)}/${file}`, content]),
    ),
  )
}

/** The same for each of these texts, as what `agent.yaml` holds. */
function agentsOf(
  texts: Readonly<Record<string, string>>,
  yaml = (text: string) => text,
): Record<string, string> {
  return agents(
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { 'agent.yaml': yaml(text) }])),
  )
}

const looksAt = (names: Readonly<Record<string, unknown>>) =>
  Object.keys(names).map((name) => `delta config --agent ${directoryOf(name)} --strict > /dev/null`)

/** What people get wrong, by where. */
export const MISTAKES: Readonly<Record<string, Story>> = {
  'mistakes in agent.yaml': { files: agentsOf(AGENTS), lines: looksAt(AGENTS) },
  'mistakes in templates': {
    files: agentsOf(TEMPLATES, (tool) => `${HEAD}tools:\n  - name: tried\n    ${tool}\n`),
    lines: looksAt(TEMPLATES),
  },
  'mistakes in context.yaml and hooks.yaml': {
    files: agents(OTHERS),
    lines: [
      ...looksAt(OTHERS),
      'delta run --agent missing-file -w work -m Go --run-id one',
      'delta config --agent none',
    ],
  },
  'mistakes on the command line': {
    files: agentsOf({ good: HEAD, tab: AGENTS.tab ?? '' }),
    lines: FLAGS,
  },
}
