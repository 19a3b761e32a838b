import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

// The first search tool of everybody finds the journal of its own run.

/** What lint says of the journal in a tool that is described, with its exit code. */
async function lint(tool: object): Promise<{ found: string[]; exitCode: number | null }> {
  const tools = [{ name: 'search', description: 'x', ...tool }]
  await using files = await temporaryWorkspace({ 'tools.json': JSON.stringify(tools) })
  const { stdout, exitCode } = await delta(['tool', 'lint', `${files.path}/tools.json`, '--json'])
  const findings: { rule: string; column: number; message: string }[] = JSON.parse(stdout)
  const found = findings.filter(({ rule }) => rule === 'finds-journal')
  return { found: found.map(({ column, message }) => `${column} ${message.split('\n').at(-1)}`), exitCode }
}

test('a search through the whole workspace is named, for it finds the journal of its own run', async () => {
  await using files = await temporaryWorkspace({
    'tools.yaml': 'tools:\n  - { name: search, description: x, exec: "grep -rn hello ." }\n',
  })
  expect(await delta(['tool', 'lint', 'tools.yaml'], { cwd: files.path })).toMatchObject({
    exitCode: 1,
    stdout: `tools.yaml:2: search: exec: grep also searches .delta, which holds the journal of the run. (finds-journal)
  exec: "grep -rn hello ."
         ^
Add --exclude-dir=.delta.
`,
    stderr: '1 tool, 1 finding\n',
  })
})

test.each([
  [{ exec: 'grep -rn ${word}' }, '1 Add --exclude-dir=.delta.'],
  [{ exec: 'egrep -rn -- ${word}' }, '1 Add --exclude-dir=.delta.'],
  [{ exec: 'grep -rn -e ${word} ${directory}' }, '1 Add --exclude-dir=.delta.'],
  [{ shell: 'cd x; grep --recursive -- ${word} . | head' }, '7 Add --exclude-dir=.delta.'],
  [{ exec: 'find ${CWD} -type f' }, "1 Add -not -path '*/.delta/*'."],
  [{ exec: "find -name '*.md'" }, "1 Add -not -path '*/.delta/*'."],
  [{ exec: 'rg --hidden -- ${word}' }, "1 Add -g '!.delta'."],
])('lint says of %j what keeps it out of .delta', async (tool, advice) => {
  expect((await lint(tool)).found).toEqual([advice])
})

test.each([
  { exec: 'grep -rn --exclude-dir=.delta -- ${word} .' },
  { exec: 'grep -n -- ${word} ${file}' },
  { exec: 'grep -rn -- ${word} src' },
  { exec: 'grep -rn -e ${word} src' },
  { exec: 'grep -rn -- -v src' },
  { exec: 'grep -rn -- ${word} ${AGENT_HOME}/notes' },
  { exec: 'find src -type f' },
  { exec: 'find . -maxdepth 1 -type f' },
  { exec: 'rg -- ${word} .' },
  { shell: 'echo "grep -r x ." | wc -l' },
])('lint has nothing to say of %j, which does not look into .delta', async (tool) => {
  expect((await lint(tool)).found).toEqual([])
})

test('what lint advises finds the file, and no line of the journal', async () => {
  await using files = await temporaryWorkspace({ 'a.txt': 'hello', '.delta/r/journal.jsonl': 'hello' })
  const agent = (exec: string) => ({
    'agent/agent.yaml': JSON.stringify({
      name: 'a',
      llm: { provider: 'script', script: 's.yaml' },
      tools: [{ name: 't', exec }],
    }),
    'agent/system_prompt.md': 'x',
    'agent/context.yaml': 'sources: [{ type: journal }]\n',
    'agent/s.yaml': '- tool_calls: [{ name: t }]\n- content: "{{last_observation}}"\n',
  })
  for (const exec of ['grep -rl --exclude-dir=.delta hello .', "find . -type f -not -path '*/.delta/*'"]) {
    await using home = await temporaryWorkspace(agent(exec))
    const run = await delta([
      'run',
      '--agent',
      `${home.path}/agent`,
      '-m',
      'Go',
      '-w',
      files.path,
      '--new',
      '-q',
    ])
    expect(run).toMatchObject({ exitCode: 0, stdout: './a.txt\n' })
  }
})
