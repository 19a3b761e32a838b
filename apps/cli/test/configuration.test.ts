import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'

const MISTYPED = 'name: mistyped\nllm: { provider: script, script: script.yaml }\nmax_iteration: 3\n'

function mistypedAgent(): Promise<TemporaryWorkspace> {
  return temporaryAgent({ files: { 'my-agent/agent.yaml': MISTYPED, ...OTHER_FILES } })
}

const OTHER_FILES = {
  'my-agent/context.yaml': 'sources: [{ type: journal }]\n',
  'my-agent/script.yaml': '- content: Done.\n',
}

test('a warning of the configuration has file and line, as the directory was typed, and what to do', async () => {
  await using parent = await mistypedAgent()
  await using workspace = await temporaryWorkspace({})
  const run = ['run', '--agent', 'my-agent', '-m', 'Go', '-w', workspace.path]
  const { stderr, exitCode } = await delta(run, { cwd: parent.path })
  expect(exitCode).toBe(0)
  expect(stderr).toMatch(/^my-agent\/agent\.yaml:3:1: .*max_iteration/m)
  expect(stderr).toMatch(/^ {2}max_iteration: 3\n {2}\^$/m)
  expect(stderr).toMatch(/^Did you mean "max_iterations"\?$/m)
})

test('an error of the configuration names files as they were typed', async () => {
  await using parent = await mistypedAgent()
  const config = await delta(['config', '--agent', 'my-agent', '--strict'], { cwd: parent.path })
  expect(config.exitCode).toBe(2)
  expect(config.stderr).toContain('Error: my-agent/agent.yaml:3:1: ')

  const list = await delta(['tool', 'lint', './my-agent'], { cwd: parent.path })
  expect(list.stderr).toContain('Error: my-agent/agent.yaml:1:1: ')
})

/** An agent whose own `read` replaces an imported one, with an address that the agent's `.env` replaces. */
function layeredAgent(): Promise<TemporaryWorkspace> {
  return temporaryAgent({
    baseUrl: 'http://127.0.0.1:1/v1',
    files: {
      'agent.yaml': `name: layered
llm:
  model: gpt-4o
  base_url: http://127.0.0.1:1/v1
  session_token: not-for-anyone
imports: [tools/more.yaml]
tools:
  - name: read
    exec: cat \${file}
`,
      'tools/more.yaml': 'tools:\n  - name: read\n    exec: less ${file}\n  - name: list\n    exec: ls\n',
      'hooks.yaml': 'on_error:\n  command: ["true"]\n',
      '.env': 'DELTA_API_KEY=not-for-anyone\nDELTA_BASE_URL=http://127.0.0.1:2/v1?token=not-for-anyone\n',
    },
  })
}

test('config --show-origin lists every value with the file and line it comes from, or default', async () => {
  await using agent = await layeredAgent()
  const config = ['config', '--agent', '.', '--show-origin']
  const { stdout, exitCode } = await delta(config, { cwd: agent.path })
  expect(exitCode).toBe(0)
  const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' | '))
  expect(lines).toEqual(
    expect.arrayContaining([
      'ORIGIN | SETTING',
      'agent.yaml:1 | name: "layered"',
      'agent.yaml:3 | llm.model: "gpt-4o"',
      'agent.yaml:5 | llm.session_token: "***"',
      'default | tool_concurrency: 1',
      expect.stringMatching(/^tools\/more\.yaml:4 \| tools\.list: /),
      expect.stringMatching(/^agent\.yaml:8 \| tools\.read: .*"cat"/),
      'tools/more.yaml:2 | tools.read: replaced by agent.yaml:8',
      'hooks.yaml:1 | hooks.on_error: {"command":["true"],"timeout_ms":30000}',
      expect.stringMatching(/^context\.yaml:2 \| context\.sources\[0\]: /),
    ]),
  )
  expect(stdout).not.toContain('not-for-anyone')
})

test('config --show-origin --json says which .env the key and the address are from, and what they replace', async () => {
  await using agent = await layeredAgent()
  await using workspace = await temporaryWorkspace({})
  const config = ['config', '--agent', agent.path, '-w', workspace.path, '--show-origin', '--json']
  const { stdout } = await delta(config)
  const settings = JSON.parse(stdout) as { path: string }[]
  expect(settings).toContainEqual(expect.objectContaining({ path: 'llm.provider', origin: 'default' }))
  expect(settings.filter(({ path }) => /^environment|base_url/.test(path))).toEqual([
    { path: 'environment.DELTA_API_KEY', value: '***', origin: `${agent.path}/.env` },
    {
      path: 'environment.DELTA_BASE_URL',
      value: 'http://127.0.0.1:2/v1',
      origin: `${agent.path}/.env`,
      replaces: [`${agent.path}/agent.yaml:4`],
    },
  ])
})

test('config refuses an endpoint of the workspace, and takes the option that it names', async () => {
  await using parent = await mistypedAgent()
  await using workspace = await temporaryWorkspace({ '.env': 'DELTA_BASE_URL=http://example.com/v1\n' })
  const config = ['config', '--agent', 'my-agent', '-w', workspace.path, '--show-origin']
  const refused = await delta(config, { cwd: parent.path })
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    `${workspace.path}/.env:1:1: The endpoint http://example.com/v1 (DELTA_BASE_URL)`,
  )
  const [option = ''] = /--trust[\w-]+/.exec(refused.stderr) ?? []
  const trusted = await delta([...config, option], { cwd: parent.path })
  expect(trusted.exitCode).toBe(0)
  expect(trusted.stdout).toMatch(/\.env +environment\.DELTA_BASE_URL: "http:\/\/example\.com\/v1"$/m)
})

test('a value that no file gives is listed with its default, and one that is replaced is not', async () => {
  await using agent = await layeredAgent()
  const { stdout } = await delta(['config', '--agent', agent.path, '--show-origin'])
  const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' | '))
  expect(lines).toContain('default | max_iterations: 30')
  expect(lines).toContain('default | llm.max_attempts: 5')
  expect(lines).toContain('default | tools.*.timeout_ms: 600000')
  expect(stdout).not.toMatch(/^default +llm\.base_url/m)
})

test('config shows the recipe in the words of context.yaml', async () => {
  const recipe = `sources:
  - &guide { type: file, path: '\${CWD}/DELTA.md', on_missing: skip, max_tokens: 5 }
  - { <<: *guide, id: again }
  - { type: journal, max_iterations: 3 }
total_max_tokens: 1000
`
  await using parent = await temporaryAgent({
    files: { 'a/agent.yaml': 'name: a\nllm: { model: x }\n', 'a/context.yaml': recipe },
  })
  const { stdout } = await delta(['config', '--agent', 'a', '--json'], { cwd: parent.path })
  const guide = { type: 'file', path: '${CWD}/DELTA.md', on_missing: 'skip', max_tokens: 5 }
  expect(JSON.parse(stdout).context).toEqual({
    sources: [guide, { ...guide, id: 'again' }, { type: 'journal', max_iterations: 3 }],
    total_max_tokens: 1000,
  })
})

test('config tells what is deprecated also when something is wrong', async () => {
  await using parent = await temporaryAgent({
    files: {
      'a/agent.yaml': 'name: a\nllm_config: { model_name: x }\nmax_iterations: 0\n',
      'a/context.yaml': OTHER_FILES['my-agent/context.yaml'],
    },
  })
  const { stderr } = await delta(['config', '--agent', 'a'], { cwd: parent.path })
  expect(stderr).toContain('a/agent.yaml:3:17: max_iterations: must be at least 1, got 0.')
  expect(stderr).toContain('[DEPRECATION WARNING] "llm_config" is now called "llm"')
})

test.each([
  ['llm: {}', 'llm.model: The provider openai needs it.', 'For example model: gpt-4o.'],
  ['llm: { temperature: 0 }', 'llm.model: The provider openai needs it.', 'For example model: gpt-4o.'],
  ['llm: { model: }', 'llm.model: Must be a string, not nothing.', 'For example model: gpt-4o.'],
])('an llm without a model is one problem, with what to write: %j', async (llm, problem, hint) => {
  await using agent = await temporaryAgent({ files: { 'agent.yaml': `name: a\n${llm}\n` } })
  const { exitCode, stderr } = await delta(['config', '--agent', '.'], { cwd: agent.path })
  expect(exitCode).toBe(2)
  const said = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('  '))
  expect(said).toEqual([expect.stringMatching(/^Error: agent\.yaml:\d:\d+: /), hint])
  expect(said[0]?.endsWith(`: ${problem}`), said[0]).toBe(true)
})

test('what the loader calls an option of its own is told by the name of the flag', async () => {
  await using outside = await temporaryWorkspace({ 'more.yaml': 'tools: []\n' })
  await using agent = await temporaryAgent({ agent: { imports: [`${outside.path}/more.yaml`] } })
  for (const command of [
    ['config', '--agent'],
    ['tool', 'lint'],
  ]) {
    const { stderr, stdout } = await delta([...command, agent.path])
    expect(stdout + stderr).toContain(`To allow it: --import-root ${outside.path}\n`)
  }
})

test('config --strict refuses a value that becomes code of another language, and names its way out', async () => {
  const tools = [
    { name: 'sed', exec: 'sed s/${v}/b/ f' },
    { name: 'awk', shell: 'awk "{ print ${v} }" f' },
    { name: 'python', shell: 'python3 -c "print(${v})"' },
    { name: 'perl', shell: 'perl -e "print ${v}"' },
    { name: 'jq', exec: 'jq .${v} f' },
    { name: 'ssh', shell: 'ssh host "ls ${v}"' },
  ]
  await using agent = await temporaryAgent({ tools, turns: [{ content: 'Done.' }] })
  const config = ['config', '--agent', '.']
  expect(await delta(config, { cwd: agent.path })).toMatchObject({ exitCode: 0, stderr: '' })
  const strict = await delta([...config, '--strict'], { cwd: agent.path })
  expect(strict).toMatchObject({ exitCode: 2, stdout: '' })
  expect(strict.stderr.match(/part of a program for \w+/g)).toEqual(
    ['sed', 'awk', 'python3', 'perl', 'jq', 'ssh'].map((name) => `part of a program for ${name}`),
  )
  for (const way of ['$ENV{A}', 'ENVIRON["N"]', 'sys.argv[1]', '$ARGV[0]', 'jq --arg', 'read -r file'])
    expect(strict.stderr).toContain(way)

  const beside = [
    { name: 'awk', exec: 'awk -v n=${v} "{ print n }" f' },
    { name: 'jq', exec: "jq --arg name ${v} '.[$name]' f" },
    { name: 'python', exec: "python3 -c 'import sys' ${v}" },
  ]
  await using plain = await temporaryAgent({ tools: beside, turns: [{ content: 'Done.' }] })
  expect(await delta(['config', '--agent', plain.path, '--strict'])).toMatchObject({
    exitCode: 0,
    stderr: '',
  })
})
