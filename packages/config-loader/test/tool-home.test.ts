import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineAgent, loadAgent, loadToolsFile } from '../src/index.js'
import { agentOf, complaintAbout, directoryOf, MINIMAL } from './agents.js'

const importing = (...entries: string[]) =>
  `${MINIMAL['agent.yaml']}imports:\n${entries.map((entry) => `  - ${entry}\n`).join('')}`
const tool = (name: string) =>
  `tools:\n  - { name: ${name}, exec: "node \${TOOL_HOME}/${name}.mjs \${x}", cwd: "\${TOOL_HOME}", env: { LIB: "\${TOOL_HOME}/lib" } }\n`

test('each tool knows the directory of its file: seen from the agent inside of it, absolute elsewhere', async () => {
  const shared = await directoryOf({ 'shared.yaml': tool('shared') })
  const home = await agentOf({
    'agent.yaml': `${importing('tools/a.yaml', join(shared, 'shared.yaml'))}${tool('own')}  - { name: plain, exec: ls }\n`,
    'tools/a.yaml': `imports: [deep/b.yaml]\n${tool('a')}`,
    'tools/deep/b.yaml': tool('b'),
  })
  const { agent } = await loadAgent(home, { env: {}, importRoots: [shared] })
  const homes = [...agent.tools].map(([name, { home }]) => [name, home])
  expect(homes).toEqual([
    ['b', 'tools/deep'],
    ['a', 'tools'],
    ['shared', shared],
    ['own', ''],
    ['plain', undefined],
  ])
  expect(agent.tools.get('a')?.expanded.command).toEqual(['node', '${TOOL_HOME}/a.mjs'])
})

test('the run records the path, and what was set counts for it, too', async () => {
  const shared = await directoryOf({ 'shared.yaml': tool('shared') })
  const home = await agentOf({
    'agent.yaml': importing('tools/a.yaml', join(shared, 'shared.yaml')),
    'tools/a.yaml': tool('a'),
  })
  const { agent } = await loadAgent(home, {
    env: {},
    importRoots: [shared],
    overrides: ['tools.a.exec=node ${TOOL_HOME}/other.mjs --to=${x}'],
  })
  const [a, other] = agent.snapshot.config.tools as object[]
  expect(a).toMatchObject({
    command: ['node', '${AGENT_HOME}/tools/other.mjs', '--to=${x}'],
    cwd: '${AGENT_HOME}/tools',
    env: { LIB: '${AGENT_HOME}/tools/lib' },
  })
  expect(other).toMatchObject({
    command: ['node', `${shared}/shared.mjs`],
    cwd: shared,
    env: { LIB: `${shared}/lib` },
    __meta: { template: 'node ${TOOL_HOME}/shared.mjs ${x}' },
  })
  expect(agent.tools.get('a')?.home).toBe('tools')
})

test('a path with what looks like a variable stays that path in the record', async () => {
  const shared = await directoryOf({
    '${x}/$&/shared.yaml': 'tools: [{ name: t, exec: "${TOOL_HOME}/t --a=${a}" }]\n',
  })
  const file = join(shared, '${x}/$&/shared.yaml')
  const home = await agentOf({ 'agent.yaml': importing(JSON.stringify(file)) })
  const { agent } = await loadAgent(home, { env: {}, importRoots: [shared] })
  expect(agent.snapshot.config.tools).toMatchObject([{ command: [`${shared}/\\\${x}/$&/t`, '--a=${a}'] }])
})

test('a lone file of tools is expanded with the variable, and its tools know where it lies', async () => {
  const path = await directoryOf({
    'lib/tools.yaml': `imports: [more/b.yaml]\n${tool('a')}`,
    'lib/more/b.yaml': tool('b'),
  })
  const { document, tools } = await loadToolsFile(join(path, 'lib/tools.yaml'), { env: {} })
  expect(document).toMatchObject({
    tools: [{ command: ['node', '${TOOL_HOME}/b.mjs'] }, { cwd: '${TOOL_HOME}' }],
  })
  expect([...tools.values()].map(({ home }) => home)).toEqual(['more', ''])
})

test('an agent of a program has it in its own directory, and none without one', async () => {
  const home = await directoryOf({})
  const tools = [{ name: 't', exec: 'node ${TOOL_HOME}/t.mjs' }]
  const about = { name: 'x', llm: { model: 'gpt-4o' }, system: 'You test.', tools }
  const agent = defineAgent({ ...about, home })
  expect(agent.tools.get('t')?.home).toBe('')
  expect(agent.snapshot.files['agent.yaml']).toContain(JSON.stringify(`${home}/t.mjs`))
  expect(() => defineAgent(about)).toThrow(
    'tools[0].exec: ${TOOL_HOME} needs the directory of the agent, and none was given.',
  )
})

test('a working directory names no other variable', async () => {
  const home = await agentOf({
    'agent.yaml': `${MINIMAL['agent.yaml']}tools: [{ name: t, exec: ls, cwd: "\${HOME}/x" }]\n`,
  })
  expect(await complaintAbout(home)).toContain(
    'only ${AGENT_HOME}, ${TOOL_HOME} and ${CWD} are replaced here',
  )
})
