import { join } from 'node:path'
import { expect, test } from 'vitest'
import { complaint, load, MINIMAL, texts } from './agents.js'

const GH = JSON.stringify({
  atip: '0.6',
  name: 'gh',
  version: '2.0.0',
  description: 'GitHub on the command line',
  trust: { source: 'vendor' },
  commands: {
    pr: {
      description: 'Pull requests',
      commands: {
        list: { description: 'List them', effects: { network: true, idempotent: true }, options: [] },
        merge: {
          description: 'Merge one',
          arguments: [{ name: 'number', type: 'integer', description: 'Which' }],
          effects: { network: true, reversible: false },
        },
      },
    },
  },
})
const importing = (entry: string) => `${MINIMAL['agent.yaml']}imports:\n  - ${entry}\n`

test('a program that describes itself is imported by its description, with the effects it declares', async () => {
  const { agent } = await load({ 'agent.yaml': importing('./gh.atip.json'), 'gh.atip.json': GH })
  expect([...agent.tools.keys()]).toEqual(['gh_pr_list', 'gh_pr_merge'])
  const merge = agent.tools.get('gh_pr_merge')
  expect(merge?.expanded.command).toEqual(['gh', 'pr', 'merge'])
  expect(merge?.settings).toMatchObject({ trust: 'inferred', effects: { network: true, reversible: false } })
})

test('the importer chooses commands, a prefix, and how far the description is trusted', async () => {
  const entry = '{ atip: ./gh.atip.json, commands: [pr list], trust: org, prefix: github }'
  const { agent } = await load({ 'agent.yaml': importing(entry), 'gh.atip.json': GH })
  expect([...agent.tools.keys()]).toEqual(['github_pr_list'])
  expect(agent.tools.get('github_pr_list')?.settings.trust).toBe('org')
})

const EFFECTS = 'imports[0].effects'

test.each<[string, string]>([
  [
    '{ atip: gh.atip.json, commands: [issue] }',
    ':4:38: imports[0].commands[0]: There is no command "issue".',
  ],
  [
    '{ atip: tools.yaml }',
    ':4:5: imports[0]: agent/tools.yaml is not an ATIP file: it has no "atip" member.',
  ],
  ['x.json', 'agent/x.json:1:1: Missing required field "name"'],
  [
    '{ atip: gh.atip.json, trust: full }',
    'imports[0].trust: must be one of native, vendor, org, community, user, inferred, got "full".',
  ],
  [
    '{ atip: gh.atip.json, effects: { gh_pr_lst: { network: false } } }',
    `:4:38: ${EFFECTS}: no tool of this import is called "gh_pr_lst".`,
  ],
  ['{ atip: gh.atip.json, effects: { gh_pr_lst: {} } }', 'Did you mean "gh_pr_list"?'],
  [
    '{ atip: gh.atip.json, effects: { gh_pr_list: { network: maybe } } }',
    `:4:61: ${EFFECTS}.gh_pr_list.network: must be true or false, got "maybe".`,
  ],
])('a mistake in an import is shown where it is: %s', async (entry, expected) => {
  const files = { 'gh.atip.json': GH, 'tools.yaml': 'tools: []\n', 'x.json': '{"atip":"0.6"}' }
  expect(await complaint({ ...files, 'agent.yaml': importing(entry) })).toContain(expected)
})

test('two programs with a command of one name are refused: no import chooses silently between them', async () => {
  const other = GH.replace('"name":"gh"', '"name":"gh","binary":"other-gh"')
  const both = (entry: string) => ({
    'agent.yaml': `${importing('./gh.atip.json')}  - ${entry}\n`,
    'gh.atip.json': GH,
    'other.atip.json': other,
  })
  const message = await complaint(both('./other.atip.json'))
  expect(message).toContain(
    'agent/other.atip.json: "gh_pr_list" would be two commands: one of this file and one of agent/gh.atip.json.',
  )
  expect(message).toContain('Give one import a "prefix:", or choose its "commands:".')

  const { agent } = await load(both('{ atip: other.atip.json, prefix: other }'))
  expect([...agent.tools.keys()]).toEqual(['gh_pr_list', 'gh_pr_merge', 'other_pr_list', 'other_pr_merge'])
})

test('one program imported twice, and a tool of the author with a name of its, replace as ever', async () => {
  const twice = `${importing('./gh.atip.json')}  - { atip: gh.atip.json, trust: org, commands: [pr list] }\n`
  const own = 'tools:\n  - { name: gh_pr_merge, exec: "gh pr merge --squash" }\n'
  const { agent } = await load({ 'agent.yaml': `${twice}${own}`, 'gh.atip.json': GH })
  expect(agent.tools.get('gh_pr_list')?.settings.trust).toBe('org')
  expect(agent.tools.get('gh_pr_merge')?.expanded.command).toEqual(['gh', 'pr', 'merge', '--squash'])
})

test.each([
  ['./bin/gh', 'tools/bin/gh'],
  ['bin/gh', 'tools/bin/gh'],
  ['hub', undefined],
])(
  'the program %s is found from its description; one without a directory, on the PATH',
  async (binary, inAgent) => {
    const description = GH.replace('"name":"gh"', `"name":"gh","binary":"${binary}"`)
    const files = { 'tools/gh.atip.json': description, 'tools/hub': '' }
    const { agent } = await load({ 'agent.yaml': importing('./tools/gh.atip.json'), ...files })
    const program = agent.tools.get('gh_pr_list')?.expanded.command[0]
    expect(program).toBe(inAgent === undefined ? binary : join(agent.home, inAgent))
  },
)

test('a description of a newer version is used, with a warning', async () => {
  const newer = GH.replace('"0.6"', '"0.10"')
  const { agent, warnings, home } = await load({
    'agent.yaml': importing('./gh.json'),
    'gh.json': newer,
  })
  expect(agent.tools.size).toBe(2)
  expect(texts(warnings, home)).toEqual([
    'agent/gh.json:1: This is ATIP 0.10; what is newer than 0.6 in it has no effect here.',
  ])
})

test('an import of no commands is not silent', async () => {
  const files = { 'gh.json': GH, 'none.json': JSON.stringify({ ...JSON.parse(GH), commands: {} }) }
  const agentYaml = importing('{ atip: gh.json, commands: [] }\n  - ./none.json')
  const { warnings, home } = await load({ 'agent.yaml': agentYaml, ...files })
  expect(texts(warnings, home)).toEqual([
    `agent/agent.yaml:4: imports[0]: nothing is imported from ${home}/gh.json.`,
    `agent/agent.yaml:5: imports[1]: nothing is imported from ${home}/none.json.`,
  ])
})

test('an import says effects that count in place of those of the file: by the name of a tool, or * for all', async () => {
  const effects = '{ "*": { destructive: false }, gh_pr_merge: { reversible: true, idempotent: true } }'
  const entry = `{ atip: ./gh.atip.json, effects: ${effects} }`
  const { agent } = await load({ 'agent.yaml': importing(entry), 'gh.atip.json': GH })
  expect(agent.tools.get('gh_pr_list')?.settings.effects).toEqual({
    network: true,
    idempotent: true,
    destructive: false,
  })
  const merge = agent.tools.get('gh_pr_merge')
  expect(merge?.settings.effects).toEqual({
    network: true,
    reversible: true,
    idempotent: true,
    destructive: false,
  })
  // the author's word, not that of the program
  expect(merge?.settings.onInterrupt).toBe('rerun')
})

test('an unknown effect is a warning', async () => {
  const { warnings, home } = await load({
    'agent.yaml': importing('{ atip: ./gh.atip.json, effects: { gh_pr_list: { netwrk: false } } }'),
    'gh.atip.json': GH,
  })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:4: imports[0].effects.gh_pr_list: unknown key "netwrk". Did you mean "network"?',
  ])
})
